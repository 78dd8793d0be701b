"""The formulas of a rollout's kernels: a step under control, a step with forces held, and what pulls gradients back.

The law's own source is recorded: its robot is replaced by one that evaluates the formulas of the table of functions
over whatever scalars come (`any_scalar_robot`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.kernels.specification import Shape, Specification, inputs_of
from tauforge.motion.motion import MotionSample
from tauforge.robots.functions import PAYLOAD
from tauforge.robots.own_classes import is_as_written
from tauforge.robots.own_sources import anything_replaced, model_is_ours
from tauforge.robots.robot import Robot
from tauforge.simulation.any_scalar_robot import AnyScalarRobot, results
from tauforge.simulation.integrators import rk4
from tauforge.tracing.differentiation import pulled_back
from tauforge.tracing.graph import Graph, trace

Scalars = Sequence[Scalar]
Formula = Callable[..., list[Scalar]]
Shapes = dict[str, Shape]
STATE, TARGET = ("q", "qd"), ("target", "target_rate", "target_acceleration")
FORCE, ADDED, ACCELERATION = "force", "added_force", "acceleration"
BAR = "_bar"  # ends the name of the gradient by a quantity
NO_TIME = math.nan  # laws that are compiled do not look at the time


class Given(NamedTuple):
    """What a step takes for each row besides the state.

    gains:  attributes of the law
    fields: of the plant, and "payload" for the ten numbers of what it holds
    forces: whether forces are added to those of the law
    """

    gains: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    forces: bool = False


class StepFormulas:
    """Specifications of one law (None: no forces but those given), plant and step. Their graphs are traced when needed.

    h: s, of the integrator
    """

    def __init__(self, controller: Controller | None, plant: Robot, given: Given, h: float) -> None:
        self._plant, self.given, self.h = copy.copy(plant), given, h  # kernels must not keep a robot alive
        self._law: Any = None
        self._gains: dict[str, Array] = {}
        told = not anything_replaced()
        own = _identity(plant, "forward_dynamics") if told else None
        self._origin = None if own is None else f"{h!r} {given} {own}"
        self._law_origin = self._origin
        if controller is not None:
            # copies: the kernel may be traced when the user's arrays have been changed
            self._gains = {name: np.array(value) for name, value in vars(controller).items() if name != "robot"}
            self._law = copy.copy(controller)
            self._law.robot = AnyScalarRobot(copy.copy(controller.robot))
            constant = {name: value.tolist() for name, value in self._gains.items() if name not in given.gains}
            law = f"{type(controller).__module__}.{type(controller).__qualname__} {constant}"
            model = controller.robot
            known = own if model is plant else _identity(model, "inverse_dynamics") if told else None
            self._law_origin = None if own is None or known is None else f"{self._origin} {law} {known}"

    # ------------------------------------------------------------------------------------------------- the arguments

    @property
    def state(self) -> Shapes:
        return dict.fromkeys(STATE, (self._plant.n,))

    @property
    def targets(self) -> Shapes:
        """Empty without a law."""
        return {} if self._law is None else dict.fromkeys(TARGET, (self._plant.n,))

    @property
    def added(self) -> Shapes:
        return {ADDED: self.forces_shape} if self.given.forces else {}

    @property
    def gains(self) -> Shapes:
        return {gain_argument(name): self._gains[name].shape for name in self.given.gains}

    @property
    def fields(self) -> Shapes:
        return {name: field_shape(self._plant, name) for name in self.given.fields}

    @property
    def forces_shape(self) -> Shape:
        return (len(self._plant.actuators),)

    # ---------------------------------------------------------------------------------------------- the specifications

    def controlled_step(self) -> Specification:
        """State, targets, added forces, gains, fields -> state, forces."""
        arguments = self.state | self.targets | self.added | self.gains | self.fields

        def formula(q: Scalars, qd: Scalars, **more: Scalars) -> list[Scalar]:
            force = self._forces(q, qd, more)
            return [*self._stepped(q, qd, force, more), *force]

        return self._specified(
            "controlled_step", formula, arguments, (*self.state.values(), self.forces_shape), law=True
        )

    def held_step(self) -> Specification:
        """State, forces, fields -> state."""
        arguments = self.state | {FORCE: self.forces_shape} | self.fields

        def formula(q: Scalars, qd: Scalars, force: Scalars, **more: Scalars) -> list[Scalar]:
            return self._stepped(q, qd, force, more)

        return self._specified("held_step", formula, arguments, tuple(self.state.values()))

    def law_pulled_back(self, wanted: Shapes) -> Specification:
        """State, targets, gains and the gradient by the forces -> gradients by what is wanted of state and gains."""
        law = self.state | self.targets | self.gains

        def formula(**given: Scalars) -> list[Scalar]:
            bars = given.pop(FORCE + BAR)
            graph = traced(lambda q, qd, **more: self._forces(q, qd, more), law)
            return pulled_back(graph, named(given), inputs_of(wanted.items()), bars)[1]

        arguments = law | {FORCE + BAR: self.forces_shape}
        name = f"law_pulled_back_to_{'_'.join(wanted)}"
        return self._specified(name, formula, arguments, tuple(wanted.values()), law=True)

    def acceleration(self) -> Specification:
        """State, forces, fields -> acceleration."""
        arguments, results_ = self._acceleration_arguments, (self.state["qd"],)
        return self._specified(ACCELERATION, self._acceleration, arguments, results_)

    def acceleration_pulled_back(self) -> Specification:
        """State, forces, fields, the acceleration and the gradient by it -> the gradients by state, forces and fields.

        The gradient by the forces is pulled back through forward dynamics. Because inverse_dynamics(q, qd, a) gives the
        same forces, the other gradients are -1 times that one, pulled back through inverse dynamics. This takes two
        thirds of the operations. Robots of other classes than ours, or with fewer actuators than coordinates, have all
        gradients pulled back through forward dynamics.
        """
        arguments = self._acceleration_arguments
        wanted = self.state | {FORCE: self.forces_shape} | self.fields

        def formula(acceleration: Scalars, acceleration_bar: Scalars, **given: Scalars) -> list[Scalar]:
            graph = traced(self._acceleration, arguments)
            if not self._can_invert:
                return pulled_back(graph, named(given), inputs_of(wanted.items()), acceleration_bar)[1]
            force_bar = pulled_back(
                graph, named(given), inputs_of({FORCE: self.forces_shape}.items()), acceleration_bar
            )[1]
            others = self.state | self.fields
            inverse = traced(self._inverse, self.state | {ACCELERATION: self.state["qd"]} | self.fields)
            given = {name: given[name] for name in others} | {ACCELERATION: acceleration}
            bars = iter(pulled_back(inverse, named(given), inputs_of(others.items()), [-x for x in force_bar])[1])
            by = {name: [next(bars) for _ in range(math.prod(core))] for name, core in others.items()}
            by[FORCE] = force_bar
            return [bar for name in wanted for bar in by[name]]

        more = dict.fromkeys((ACCELERATION, ACCELERATION + BAR), self.state["qd"])
        return self._specified("acceleration_pulled_back", formula, arguments | more, tuple(wanted.values()))

    # ---------------------------------------------------------------------------------------------------- the formulas

    @property
    def _acceleration_arguments(self) -> Shapes:
        return self.state | {FORCE: self.forces_shape} | self.fields

    @property
    def _can_invert(self) -> bool:
        """Whether the plant's inverse dynamics gives the forces that its forward dynamics takes."""
        plant = self._plant
        return is_as_written(plant) and "inverse_dynamics" in plant.functions and self.forces_shape == (plant.n,)

    def _forces(self, q: Scalars, qd: Scalars, more: Mapping[str, Scalars]) -> list[Scalar]:
        added = more.get(ADDED, [0.0] * self.forces_shape[0])
        if self._law is None:
            return list(added)
        law = copy.copy(self._law)
        for name, gain in self._gains.items():
            given = more.get(gain_argument(name))
            setattr(law, name, gain if given is None else np.array(given, dtype=object).reshape(gain.shape))
        position, velocity, *wanted = (np.array(x, dtype=object) for x in (q, qd, *(more[name] for name in TARGET)))
        force = law.force(NO_TIME, position, velocity, MotionSample(*wanted))
        return [f + more_f for f, more_f in zip(force, added, strict=True)] if ADDED in more else list(force)

    def _model(self, more: Mapping[str, Scalars]) -> tuple[Any, dict[str, Scalars]]:
        """The plant as formulas take it, and its loads."""
        varied = {name: more[name] for name in self.given.fields if name != PAYLOAD.name}
        loads = {PAYLOAD.name: more[PAYLOAD.name]} if PAYLOAD.name in self.given.fields else {}
        return (self._plant.varied_model(varied) if varied else self._plant.model), loads

    def _acceleration(self, q: Scalars, qd: Scalars, force: Scalars, **more: Scalars) -> list[Scalar]:
        model, loads = self._model(more)
        return results(self._plant, "forward_dynamics", model, q, qd, force, loads=loads)

    def _inverse(self, q: Scalars, qd: Scalars, acceleration: Scalars, **more: Scalars) -> list[Scalar]:
        model, loads = self._model(more)
        return results(self._plant, "inverse_dynamics", model, q, qd, acceleration, loads=loads)

    def _stepped(self, q: Scalars, qd: Scalars, force: Scalars, more: Mapping[str, Scalars]) -> list[Scalar]:
        """`integrators.rk4` over arrays of whatever scalars these are."""
        n = len(q)
        model, loads = self._model(more)

        def rates(_: float, y: Array) -> Array:
            found = results(self._plant, "forward_dynamics", model, y[:n], y[n:], force, loads=loads)
            return np.array([*y[n:], *found], dtype=object)

        return list(rk4(rates, 0.0, np.array([*q, *qd], dtype=object), self.h))

    def _specified(
        self, name: str, formula: Formula, arguments: Shapes, results_: tuple[Shape, ...], *, law: bool = False
    ) -> Specification:
        origin = self._law_origin if law else self._origin
        cores = tuple(arguments.items())
        return Specification(name, f"{name} of a rollout", lambda: traced(formula, arguments), cores, results_, origin)


def gain_argument(name: str) -> str:
    """What the kernel calls a gain: the plant may have a field of the same name."""
    return f"gain_{name}"


def field_shape(plant: Robot, name: str) -> Shape:
    return PAYLOAD.core if name == PAYLOAD.name else plant.varying_fields[name]


def traced(formula: Formula, arguments: Shapes) -> Graph:
    counts = {name: math.prod(core) for name, core in arguments.items()}
    return trace(lambda *columns: formula(**dict(zip(arguments, columns, strict=True))), counts)


def named(given: Mapping[str, Scalars]) -> dict[str, Scalar]:
    """The elements of arguments by the names of the graph's inputs."""
    return {f"{name}{k}": x for name, scalars in given.items() for k, x in enumerate(scalars)}


def _identity(robot: Robot, function: str) -> str | None:
    """A text that determines what is traced of this robot; None where our sources do not tell all of it.

    A class that is as written has all its formulas from our sources, so one of them tells for the others.
    """
    ours = is_as_written(robot) and model_is_ours(robot, robot.functions[function].formula)
    identity = robot.identity if ours else None
    return None if identity is None else f"{type(robot).__qualname__} {identity}"
