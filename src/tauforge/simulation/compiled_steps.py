"""Controller, dynamics and Runge-Kutta step of an arm traced together into one kernel.

The law's own text is recorded: its robot is replaced by one whose dynamics are those of the formulas, over whatever
scalars come. Only laws and arms of exactly our own classes are compiled (`can_compile`): a kernel is found again by its
identity, and of a user's class no text says all that it does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.control.controller import Controller, Robot
from tauforge.kernels.cpu.kernel import Kernel, kernel_of
from tauforge.motion.motion import MotionSample
from tauforge.robots.own_classes import is_as_written
from tauforge.robots.serial import functions as formulas
from tauforge.robots.serial import varying
from tauforge.robots.serial.model import ArmModel
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.integrators import rk4
from tauforge.tracing.graph import Graph, trace

Scalars = Sequence[Scalar]
Fields = Mapping[str, Array]
Formula = Callable[..., list[Scalar]]
STATE, TARGET = ("q", "qd"), ("target", "target_rate", "target_acceleration")
NO_TIME = math.nan  # laws that are compiled do not look at the time


def can_compile(controller: Controller, plant: Robot) -> bool:
    """Whether class, arrays and numbers tell all about the law, its model and the plant."""
    ours = all(is_as_written(x) for x in (controller, controller.robot, plant))
    if not (ours and controller.compiles and isinstance(plant, SerialArm)):
        return False
    gains = {name: value for name, value in vars(controller).items() if name != "robot"}
    return all(type(gain) is np.ndarray and gain.dtype == np.float64 for gain in gains.values())


class AnyScalarArm:
    """What a law asks of an arm, for arrays of any scalars."""

    def __init__(self, model: ArmModel, n: int) -> None:
        self.model, self.n = model, n

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        return np.array(formulas.inverse_dynamics(self.model, list(q), list(qd), list(qdd)), dtype=object)

    def gravity_forces(self, q: Array) -> Array:
        return np.array(formulas.gravity_forces(self.model, list(q)), dtype=object)


class CompiledSteps:
    """Steps of all rows by two kernels: one that asks the law, one that holds its forces.

    NoKernelError where there is no machine code to be had: too many operations, or no memory for it.
    """

    def __init__(self, controller: Controller, plant: SerialArm, fields: Fields, h: float) -> None:
        self.values = tuple(fields.values())
        names = tuple(fields)
        identity = f"{h!r} {plant.as_numbers!r}"
        own = controller.robot
        assert isinstance(own, SerialArm)
        gains = {name: np.array(value) for name, value in vars(controller).items() if name != "robot"}
        listed = {name: value.tolist() for name, value in gains.items()}
        law = f"{type(controller).__module__}.{type(controller).__qualname__} {listed} {own.as_numbers!r}"
        first = _controlled_step(controller, gains, own, plant, names, h)
        self._first = _kernel("controlled_step", first, plant.n, names, TARGET, f"{identity} {law}")
        self._later = _kernel("held_step", _held_step(plant, names, h), plant.n, names, ("force",), identity)

    def controlled(self, t: float, q: Array, qd: Array, target: MotionSample) -> tuple[Array, Array, Array]:
        q, qd, force = self._first(q, qd, *map(np.ascontiguousarray, target), *self.values)
        return q, qd, force

    def held(self, t: float, q: Array, qd: Array, force: Array) -> tuple[Array, Array]:
        q, qd = self._later(q, qd, force, *self.values)
        return q, qd


def _kernel(
    name: str, formula: Formula, n: int, fields: tuple[str, ...], more: tuple[str, ...], identity: str
) -> Kernel:
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*STATE, *more), (n,))
    shapes |= {field: varying.core_shape(field, n) for field in fields}

    def graph() -> Graph:
        sizes = {argument: int(np.prod(core)) for argument, core in shapes.items()}
        return trace(lambda *columns: formula(**dict(zip(shapes, columns, strict=True))), sizes)

    results: list[tuple[int, ...]] = [(n,)] * (3 if name == "controlled_step" else 2)
    made = kernel_of(name, f"{name} of a rollout", graph, list(shapes.items()), results, f"{identity} {shapes}")
    made.loaded(64)
    return made


def _plant(arm: SerialArm, values: dict[str, Scalars]) -> ArmModel:
    return varying.varied_model(arm, values) if values else arm.model


def _controlled_step(
    controller: Controller, gains: Fields, own: SerialArm, plant: SerialArm, fields: tuple[str, ...], h: float
) -> Formula:
    law: Any = copy.copy(controller)
    vars(law).update(gains)  # of its own: the kernel may be traced when the user's have been changed
    law.robot = AnyScalarArm(own.model, own.n)

    def controlled_step(
        q: Scalars, qd: Scalars, target: Scalars, target_rate: Scalars, target_acceleration: Scalars, **more: Scalars
    ) -> list[Scalar]:
        position, velocity, *wanted = (
            np.array(x, dtype=object) for x in (q, qd, target, target_rate, target_acceleration)
        )
        tau = list(law.force(NO_TIME, position, velocity, MotionSample(*wanted)))
        return [*_step(_plant(plant, {name: more[name] for name in fields}), q, qd, tau, h), *tau]

    return controlled_step


def _held_step(arm: SerialArm, fields: tuple[str, ...], h: float) -> Formula:
    def held_step(q: Scalars, qd: Scalars, force: Scalars, **more: Scalars) -> list[Scalar]:
        return _step(_plant(arm, {name: more[name] for name in fields}), q, qd, force, h)

    return held_step


def _step(model: ArmModel, q: Scalars, qd: Scalars, tau: Scalars, h: float) -> list[Scalar]:
    """`integrators.rk4` over arrays of whatever scalars these are."""
    n = len(q)

    def rates(_: float, y: Array) -> Array:
        return np.array([*y[n:], *formulas.forward_dynamics(model, list(y[:n]), list(y[n:]), tau)], dtype=object)

    return list(rk4(rates, 0.0, np.array([*q, *qd], dtype=object), h))
