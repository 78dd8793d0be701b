"""One step of anybody's law as a function: from the state, the target and the memory to the forces and the next memory.

The reference is the law itself, asked for one state after another.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.control.controller import Controller, memory_of, parameters
from tauforge.control.law_graph import TARGETS, TIME, LawGraph, gain_argument, memory_argument
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.export.functions import COMPUTED_TORQUE, NO_EXTRA, SPREAD, Wanted
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.c99.function import Described
from tauforge.kernels.specification import Shape, Specification
from tauforge.motion.motion import MotionSample
from tauforge.robots.robot import Robot
from tauforge.tracing.graph import trace
from tauforge.validation import did_you_mean

NO_LAWS: Mapping[str, Controller] = {}
NEAR = 0.05  # rad or m and their rates: targets of the states that a step is tried on


def law_steps(robot: Robot, laws: Mapping[str, Controller], gains: Sequence[str]) -> dict[str, Wanted]:
    """ModelError or UnsupportedFeatureError where one cannot be written."""
    known = {name for law in laws.values() for name in parameters(law)}
    for gain in gains:
        if gain not in known:
            remedy = f"{did_you_mean(gain, known)}Use one of {', '.join(sorted(known))}" if known else None
            raise UnsupportedFeatureError(f"no law has a gain {gain!r}", field="gains", remedy=remedy)
    for name, law in laws.items():
        if name in robot.functions or name == COMPUTED_TORQUE:
            raise ModelError(f"{name!r} is a function already", field="laws", remedy="Name the law otherwise")
        if not isinstance(law, Controller) or not law.traceable:
            problem = f"{name}: expected a Controller that says traceable = True, got {type(law).__name__}"
            raise UnsupportedFeatureError(problem, field="laws")
    return {name: LawStep(robot, name, law, gains).wanted() for name, law in laws.items()}


class LawStep:
    """One law, whose arguments are named as its graph names them."""

    def __init__(self, robot: Robot, name: str, law: Controller, gains: Sequence[str]) -> None:
        self.robot, self.name, self.law = robot, name, law
        own = parameters(law)
        self.gains = {k: own[k] for k in own if k in gains}
        try:
            self.graph = LawGraph(law, robot, tuple(self.gains))
        except NoKernelError as error:
            raise UnsupportedFeatureError(f"{name}: {error}", field="laws") from None
        self.memory = memory_of(law)
        state = {"position": (robot.positions.size,), "velocity": (robot.n,)}
        self.arguments: dict[str, Shape] = {**state, **self.graph.targets, **self.graph.gains, **self.graph.memory}

    def wanted(self) -> Wanted:
        results = ((len(self.robot.actuators),), *self.graph.memory.values())
        sizes = {name: math.prod(shape) for name, shape in self.arguments.items()}
        doc = f"one step of the law {type(self.law).__name__}"
        step = Specification(
            self.name, doc, lambda: trace(self._step, sizes), tuple(self.arguments.items()), results, None
        )
        return Wanted(step, self._described(), NO_EXTRA, self._random_arguments, self._reference)

    def _step(self, *columns: Sequence[Scalar]) -> list[Scalar]:
        given = dict(zip(self.arguments, columns, strict=True))
        force, _ = self.graph.forces(given)
        return [*force, *self.graph.renewed(given, force)[0]]

    def _described(self) -> Described:
        said = {"position": "measured position", "velocity": "measured velocity", TIME: "s"}
        said |= dict(zip(TARGETS, ("target position", "target velocity", "target acceleration"), strict=True))
        said |= {gain_argument(k): f"{k} of the law; its own: {_listed(x)}" for k, x in self.gains.items()}
        said |= {memory_argument(k): f"{k} of the law's memory; at first: {_listed(x)}" for k, x in self.memory.items()}
        notes = ["Keep the results next_... and give them to the next call, one period later."] if self.memory else []
        if self.law.period is not None:
            notes.append(f"The period of the law is {self.law.period:g} s.")
        units = ", ".join(dict.fromkeys(actuator.unit for actuator in self.robot.actuators))
        results = [("force", units), *((f"next_{k}", f"{k} of the next call") for k in self.memory)]
        summary = f"One step of the law {type(self.law).__name__}: forces of the actuators."
        return Described(summary, [said[name] for name in self.arguments], results, notes)

    def _random_arguments(self, count: int) -> list[Array]:
        random = np.random.default_rng(0)
        position, velocity, acceleration = self.robot.random_states(count)
        target = [self.robot.positions.coordinates(position), velocity]
        target = [x + NEAR * random.normal(size=x.shape) for x in target]
        if self.law.task_space:
            target = [random.normal(size=(count, 6)) for _ in target]
            acceleration = random.normal(size=(count, 6))
        found = dict(zip(("position", "velocity", *TARGETS), (position, velocity, *target, acceleration), strict=True))
        found[TIME] = random.uniform(0, 1, (count, 1))
        spread = random.uniform(1 - SPREAD, 1 + SPREAD, (count, 1))
        found |= {gain_argument(k): spread * x.ravel() for k, x in self.gains.items()}
        found |= {
            memory_argument(k): x.ravel() + NEAR * random.normal(size=(count, x.size)) for k, x in self.memory.items()
        }
        return [found[name] for name in self.arguments]

    def _reference(self, arguments: Sequence[Array]) -> tuple[Array, ...]:
        rows = [self._asked(row) for row in zip(*(x.astype(float) for x in arguments), strict=True)]
        return tuple(np.array(column) for column in zip(*rows, strict=True))

    def _asked(self, row: Sequence[Array]) -> list[Array]:
        """Forces and next memory at one state, by the law."""
        given = {name: x.reshape(self.arguments[name]) for name, x in zip(self.arguments, row, strict=True)}
        law: Any = copy.copy(self.law)
        vars(law).update({k: given[gain_argument(k)] for k in self.gains})
        vars(law).update({k: given[memory_argument(k)] for k in self.memory})
        target = MotionSample(*(given[name] for name in TARGETS))
        state = float(given.get(TIME, np.array(0.0))), given["position"], given["velocity"], target
        force = np.asarray(law.force(*state), float)
        renewed = law.update(*state, force) if self.memory else {}
        return [force, *(np.asarray(renewed[k], float) for k in self.memory)]


def _listed(x: Array) -> str:
    return ", ".join(f"{number:.9g}" for number in x.flat)
