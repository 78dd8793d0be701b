"""What a rollout is asked for, checked before it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.control.controller import Controller
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.varying import check_names, check_values
from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.arrays import is_on_gpu
from tauforge.kernels.cuda.kernel import DTYPES
from tauforge.kernels.specification import Shape
from tauforge.motion.motion import Motion, in_velocities_of, positive
from tauforge.robots.payload import PAYLOAD, Payload
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import (
    check_law,
    check_plant,
    enough_steps,
    given_or_start,
    kind_of,
    numbers,
    order,
    pair_of,
    position_sizes,
    run_time,
    whole_number,
    whole_steps,
)
from tauforge.simulation.compiled_steps import Fields
from tauforge.simulation.rollout_task import RolloutTask, Schedule
from tauforge.simulation.sampled_stability import warn_of_sampling
from tauforge.simulation.step_formulas import field_shape
from tauforge.validation import did_you_mean

AS_A_CLASS = (
    "Subclass tauforge.control.Controller and define force(t, position, velocity, target) for the states (N, n) of all "
    "rows, or use tf.simulate, which takes any callable"
)


def rollout_task(
    robot: Robot,
    controller: Controller | None,
    motion: Motion | None,
    *,
    initial: tuple[ArrayLike, ArrayLike] | None,
    duration: float | None,
    step: float,
    control_period: float,
    plant: Robot | None,
    varying: Mapping[str, ArrayLike] | None,
    payload: Payload | None,
    gains: Mapping[str, ArrayLike] | None,
    forces: ArrayLike | None,
    record_every: int,
) -> RolloutTask:
    """The arguments of `rollout`, checked."""
    real = robot if plant is None else plant
    if controller is not None and not isinstance(controller, Controller):
        raise UnsupportedFeatureError(
            f"rollouts need a Controller or None, got {kind_of(controller)}",
            field="controller",
            remedy=order(controller) or AS_A_CLASS,
        )
    check_plant(robot, real)
    check_law(controller, motion, initial, control_period, real)
    motion = None if motion is None else in_velocities_of(real, motion)
    h, period = positive("step", step), positive("control_period", control_period)
    substeps = whole_steps("control_period", period, h)
    added = None if forces is None else _forces(forces, len(real.actuators))
    if duration is None and motion is None and added is not None:
        periods = added.shape[-2]
    else:
        periods = enough_steps("duration", run_time(duration, motion), period)
    if added is not None and added.shape[-2] != periods:
        raise ShapeError("forces", expected=f"forces for {periods} control periods", got=str(added.shape[-2]))
    every = min(whole_number("record_every", record_every), periods)
    schedule = Schedule(h, period, substeps, periods, every)
    fields = _fields(real, _mapping("varying", varying))
    own_gains = _gains(controller, _mapping("gains", gains))
    if payload is not None and not isinstance(payload, Payload):
        raise ShapeError("payload", expected="a Payload", got=repr(payload))
    state = pair_of(given_or_start(initial, motion))
    shapes = _leading(real, fields, payload, own_gains, controller)
    if added is not None:
        shapes["forces"] = added.shape[:-2]
    q, qd = (_on_gpu if any(map(is_on_gpu, state)) else _on_processor)(state, shapes, real)
    task = RolloutTask(controller, real, motion, q, qd, own_gains, fields, payload, added, schedule)
    if payload is not None and not task.on_gpu:
        real.varied_by_payload(payload, fields)  # says so where the plant cannot carry one
    if own_gains and not task.compiles:
        raise UnsupportedFeatureError(
            "gains can be given for our own laws only, of robots whose steps are compiled", field="gains"
        )
    _check_places(task)
    if not own_gains:
        warn_of_sampling(controller, real, None if task.on_gpu else q[0], period, periods)
    return task


def _mapping(name: str, given: Any) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise ShapeError(name, expected="arrays by name, such as {'mass': ...}", got=repr(given))
    return given or {}


def _forces(given: Any, m: int) -> Any:
    array = given if is_on_gpu(given) else numbers(given)
    if array.ndim not in (2, 3) or array.shape[-1] != m or not array.shape[-2]:
        raise ShapeError("forces", expected=f"(N, periods, {m}) or (periods, {m})", got=str(array.shape))
    if not is_on_gpu(array) and not np.isfinite(array).all():
        raise ShapeError("forces", expected="finite numbers", got="NaN or infinity")
    return array


def _fields(real: Robot, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values on a GPU are not looked at, for that would copy them."""
    there = {name: value for name, value in given.items() if is_on_gpu(value)}
    here = check_values(real, {name: value for name, value in given.items() if name not in there})
    check_names(real, tuple(given))
    for name, value in there.items():
        _check_core(name, value, real.varying_fields[name])
    fields: dict[str, Any] = {name: there[name] if name in there else here[name] for name in given}
    if real.dissipation is not None:
        real.dissipation.check_integrable(fields)
    return fields


def _gains(controller: Controller | None, given: Mapping[str, Any]) -> dict[str, Any]:
    known = {} if controller is None else {k: v for k, v in vars(controller).items() if isinstance(v, np.ndarray)}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            names = f"{did_you_mean(name, known)}Use one of {', '.join(known)}" if known else None
            law = "without a controller there is" if controller is None else f"{type(controller).__name__} has"
            raise UnsupportedFeatureError(f"{law} no gain {name!r}", field="gains", remedy=names)
        found[name] = value if is_on_gpu(value) else numbers(value)
        _check_core(name, found[name], known[name].shape)
        if not is_on_gpu(value) and not np.isfinite(found[name]).all():
            raise ShapeError(name, expected="finite numbers", got="NaN or infinity")
    return found


def _check_core(name: str, value: Any, core: Shape) -> None:
    if value.ndim < len(core) or tuple(value.shape[value.ndim - len(core) :]) != core:
        raise ShapeError(name, expected=f"(N, {', '.join(map(str, core))})", got=str(tuple(value.shape)))


def _leading(
    real: Robot, fields: Fields, payload: Payload | None, gains: Fields, controller: Controller | None
) -> dict[str, Shape]:
    """The leading shape of everything that may differ from row to row."""
    cores = {name: (value, field_shape(real, name)) for name, value in fields.items()}
    cores |= {} if payload is None else {PAYLOAD.name: (payload.numbers(), PAYLOAD.core)}
    cores |= {name: (value, vars(controller)[name].shape) for name, value in gains.items()}
    return {name: tuple(value.shape[: value.ndim - len(core)]) for name, (value, core) in cores.items()}


def _batch(states: Sequence[Any], shapes: Mapping[str, Shape], robot: Robot) -> Shape:
    """(N,)"""
    n, sizes = robot.n, position_sizes(robot)
    if tuple(states[1].shape[-1:]) != (n,) or tuple(states[0].shape[-1:]) not in [(size,) for size in sizes]:
        positions = "" if len(sizes) == 1 else f"; positions may have {robot.positions.size}"
        got = str([tuple(x.shape) for x in states])
        raise ShapeError("initial", expected=f"(N, {n}) or ({n},){positions}", got=got)
    leading = {"initial": tuple(states[0].shape[:-1]), "initial velocity": tuple(states[1].shape[:-1]), **shapes}
    for name, shape in leading.items():
        if len(shape) > 1:
            raise ShapeError(name, expected="one leading dimension N", got=f"{len(shape)}, {shape}")
    try:
        batch = np.broadcast_shapes(*leading.values(), (1,))
    except ValueError:
        got = ", ".join(f"{shape[0]} of {name}" for name, shape in leading.items() if shape)
        raise ShapeError("varying", expected="arrays with the same leading N", got=got) from None
    if not batch[0]:
        raise ShapeError("initial", expected="at least one row", got=str(batch))
    return batch


def _on_processor(initial: Any, shapes: Mapping[str, Shape], robot: Robot) -> list[Any]:
    states = [numbers(x) for x in initial]
    batch = _batch(states, shapes, robot)
    whole = (robot.positions.at(states[0]), states[1])
    return [np.array(np.broadcast_to(x, (*batch, x.shape[-1]))) for x in whole]


def _on_gpu(initial: Any, shapes: Mapping[str, Shape], robot: Robot) -> list[Any]:
    """Positions and velocities on one GPU, in one precision."""
    found = [arrays.on_device("initial", x) for x in initial]
    batch = _batch(found, shapes, robot)
    if found[0].dtype != found[1].dtype or str(found[0].dtype) not in DTYPES:
        got = ", ".join(str(x.dtype) for x in found)
        raise ShapeError("initial", expected="float64 or float32 numbers, both the same", got=got)
    if found[0].device != found[1].device:
        raise ShapeError("initial", expected="arrays on one GPU", got="arrays on two")
    with found[0].device:
        if robot.positions.entries != robot.coordinates:  # loops are closed here
            whole = robot.positions.at(found[0].get().astype(np.float64))
            found[0] = arrays.cupy().asarray(whole, found[0].dtype)
        return [arrays.cupy().broadcast_to(x, (*batch, x.shape[-1])) for x in found]


def _check_places(task: RolloutTask) -> None:
    """Nothing is copied from a GPU to the processor, nor a force for every step from there."""
    everything = {"forces": task.forces, **task.gains, **task.fields}
    if task.payload is not None:
        everything[PAYLOAD.name] = task.payload.numbers()
    if not task.on_gpu:
        for name, value in everything.items():
            if is_on_gpu(value):
                raise ShapeError(name, expected="an array of NumPy, as the initial state", got="one on a GPU")
        return
    device, dtype = task.position.device, task.position.dtype
    for name, value in everything.items():
        if value is None or (name != "forces" and not is_on_gpu(value)):
            continue
        found = arrays.on_device(name, value)
        if found.dtype != dtype:
            raise ShapeError(name, expected=f"{dtype} numbers, as the initial state", got=str(found.dtype))
        if found.device != device:
            raise ShapeError(name, expected=f"an array on GPU {device.id}", got=f"one on GPU {found.device.id}")
