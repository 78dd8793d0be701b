"""Thousands of simulations at once: controller, dynamics and integrator traced together into one kernel.

A rollout is the arm under computed torque, sampled and held, integrated by the paper's Runge-Kutta, for every row of
initial states and of varying numbers of the plant: a Monte Carlo study is one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.algebra.scalars import Scalar
from tauforge.control.computed_torque import ComputedTorque
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge.kernels.kernel import Kernel, kernel_of
from tauforge.motion.motion import Motion, positive
from tauforge.robots import serial_formulas as formulas
from tauforge.robots import varying as families
from tauforge.robots.arm_model import ArmModel
from tauforge.robots.serial_arm import SerialArm
from tauforge.simulation.integrators import rk4
from tauforge.simulation.simulate import check_friction, whole_steps
from tauforge.tracing.graph import Graph, trace

Array = NDArray[Any]
Scalars = Sequence[Scalar]
STATE, TARGET = ("q", "qd"), ("target", "target_rate", "target_acceleration")


class Rollout(NamedTuple):
    """At every control instant: time (k,), position, velocity and force (N, k, n); target_position (k, n)."""

    time: Array
    position: Array
    velocity: Array
    force: Array
    target_position: Array

    @property
    def error(self) -> Array:
        """(N, k, n)."""
        return np.asarray(self.target_position - self.position)


def rollout(
    arm: SerialArm,
    controller: ComputedTorque,
    motion: Motion,
    *,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    step: float = 1e-3,
    control_period: float = 0.01,
    plant: SerialArm | None = None,
    varying: Mapping[str, ArrayLike] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Rollout:
    """One simulation for each row of the initial states and of the varying numbers.

    initial:  (positions, velocities), each (N, n) or (n,); default the motion's start
    plant:    the arm that really moves, default `arm`
    varying:  fields of the plant, an array with a leading N each, as in `SerialArm.kernel`: {"mass": (N, n)}
    progress: called with the share done, from 0 to 1, after every control period
    Identity: every row equals `simulate` with method="rk4" and the same control period.
    """
    real = arm if plant is None else plant
    for robot in (arm, real):
        if not isinstance(robot, SerialArm):
            raise UnsupportedFeatureError("rollouts are for arms", field="robot", remedy="Use tauforge.simulate")
    if not isinstance(controller, ComputedTorque) or not isinstance(controller.robot, SerialArm):
        raise UnsupportedFeatureError("rollouts need a ComputedTorque of an arm", field="controller")
    if motion.of_poses:
        raise ModelError(f"{real.name} needs a motion of joint coordinates, not poses", field="motion")
    check_friction(real)
    h = positive("step", step)
    substeps = whole_steps("control_period", positive("control_period", control_period), h)
    periods = whole_steps("duration", motion.duration, control_period)
    fields = {name: np.asarray(value, float) for name, value in (varying or {}).items()}
    families.check(real, tuple(fields))
    first = _kernel("controlled_step", _controlled_step(controller, real, tuple(fields), h), real, fields, TARGET)
    later = _kernel("held_step", _held_step(real, tuple(fields), h), real, fields, ("force",))
    start = motion.sample(0.0)
    given = (start.position, start.velocity) if initial is None else initial
    q, qd = _batch(given, fields, real)
    times = control_period * np.arange(periods + 1)
    targets = motion.sample(times)
    shape = (len(q), periods + 1, real.n)
    position, velocity, force = (np.empty(shape) for _ in range(3))
    for k in range(periods + 1):
        wanted = [np.ascontiguousarray(x[k]) for x in targets]
        position[:, k], velocity[:, k] = q, qd
        q, qd, force[:, k] = first(q, qd, *wanted, *fields.values())
        if k == periods:
            break
        for _ in range(substeps - 1):
            q, qd = later(q, qd, force[:, k], *fields.values())
        if progress is not None:
            progress((k + 1) / periods)
    return Rollout(times, position, velocity, force, targets.position)


def _batch(given: tuple[ArrayLike, ArrayLike], fields: Mapping[str, Array], arm: SerialArm) -> tuple[Array, Array]:
    """Initial states (N, n)."""
    states = [np.asarray(x, float) for x in given]
    cores = {name: len(families.core_shape(name, arm.n)) for name in fields}
    leading = [x.shape[:-1] for x in states] + [x.shape[: x.ndim - cores[name]] for name, x in fields.items()]
    if any(x.shape[-1:] != (arm.n,) for x in states):
        raise ShapeError("initial", expected=f"(N, {arm.n}) or ({arm.n},)", got=str([x.shape for x in states]))
    try:
        batch = np.broadcast_shapes(*leading, (1,))
    except ValueError:
        raise ShapeError("varying", expected="arrays with the same leading N", got=str(leading)) from None
    if len(batch) != 1:
        raise ShapeError("varying", expected="one leading dimension N", got=str(batch))
    q, qd = (np.array(np.broadcast_to(x, (*batch, arm.n))) for x in states)
    return q, qd


Formula = Callable[..., list[Scalar]]


def _kernel(name: str, formula: Formula, arm: SerialArm, fields: Mapping[str, Array], more: tuple[str, ...]) -> Kernel:
    n = arm.n
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*STATE, *more), (n,))
    shapes |= {field: families.core_shape(field, n) for field in fields}
    for field, value in fields.items():
        if value.shape[value.ndim - len(shapes[field]) :] != shapes[field]:
            expected = f"(N, {', '.join(map(str, shapes[field]))})"
            raise ShapeError(field, expected=expected, got=str(value.shape))

    def graph() -> Graph:
        sizes = {argument: int(np.prod(core)) for argument, core in shapes.items()}
        return trace(lambda *columns: formula(**dict(zip(shapes, columns, strict=True))), sizes)

    results: list[tuple[int, ...]] = [(n,)] * (3 if name == "controlled_step" else 2)
    identity = f"{formula.__doc__} {tuple(shapes.items())} {arm.as_numbers!r}"
    return kernel_of(name, f"{name} of a rollout", graph, list(shapes.items()), results, identity)


def _plant(arm: SerialArm, values: dict[str, Scalars]) -> ArmModel:
    return families.varied_model(arm, values) if values else arm.model


def _controlled_step(controller: ComputedTorque, arm: SerialArm, fields: tuple[str, ...], h: float) -> Formula:
    own = controller.robot
    assert isinstance(own, SerialArm)

    def controlled_step(
        q: Scalars, qd: Scalars, target: Scalars, target_rate: Scalars, target_acceleration: Scalars, **more: Scalars
    ) -> list[Scalar]:
        e = [a - b for a, b in zip(target, q, strict=True)]
        e_dot = [a - b for a, b in zip(target_rate, qd, strict=True)]
        corrected = [
            a + _row(kv, e_dot) + _row(kp, e)
            for a, kv, kp in zip(target_acceleration, controller.kv, controller.kp, strict=True)
        ]
        tau = formulas.inverse_dynamics(own.model, q, qd, corrected)
        return [*_step(_plant(arm, {name: more[name] for name in fields}), q, qd, tau, h), *tau]

    controlled_step.__doc__ = f"{h!r} {controller.kp.tolist()} {controller.kv.tolist()} {own.as_numbers!r}"
    return controlled_step


def _held_step(arm: SerialArm, fields: tuple[str, ...], h: float) -> Formula:
    def held_step(q: Scalars, qd: Scalars, force: Scalars, **more: Scalars) -> list[Scalar]:
        return _step(_plant(arm, {name: more[name] for name in fields}), q, qd, force, h)

    held_step.__doc__ = repr(h)
    return held_step


def _row(gains: Array, errors: Scalars) -> Scalar:
    total: Scalar = 0.0
    for gain, error in zip(gains.tolist(), errors, strict=True):
        total = total + error * gain
    return total


def _step(model: ArmModel, q: Scalars, qd: Scalars, tau: Scalars, h: float) -> list[Scalar]:
    """`integrators.rk4` over arrays of whatever scalars these are."""
    n = len(q)

    def rates(_: float, y: Array) -> Array:
        return np.array([*y[n:], *formulas.forward_dynamics(model, list(y[:n]), list(y[n:]), tau)], dtype=object)

    return list(rk4(rates, 0.0, np.array([*q, *qd], dtype=object), h))
