"""Arguments of simulations and rollouts, checked before a run starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.control.controller import Controller, parameters
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge.evaluation.arguments import check_names, check_values
from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.arrays import KERNEL_DTYPES, is_on_gpu
from tauforge.kernels.specification import Shape
from tauforge.motion.motion import Motion, in_velocities_of, positive
from tauforge.robots.capabilities import Fields
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.robot import Robot
from tauforge.simulation import checks
from tauforge.simulation.disturbances import Disturbance, WrenchFunction
from tauforge.simulation.sensors import Sensors
from tauforge.simulation.stability import warn_of_sampling
from tauforge.simulation.step_formulas import field_shape
from tauforge.simulation.task import RolloutTask, TimeGrid, VaryingPayload
from tauforge.validation import did_you_mean

ONE_BY_ONE = "Call tf.rollout once for each value, with a law that has it"
VARYING = "tf.simulate also takes a function of the time"
AS_A_CLASS = (
    "Subclass tauforge.control.Controller and define force(t, position, velocity, target) for the states (N, n) of all "
    "rows, or use tf.simulate, which takes any callable"
)


def rollout_task(
    robot: Robot,
    controller: checks.Law = None,
    motion: Motion | None = None,
    *,
    initial: checks.State | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    control_period: Any,
    plant: Robot | None = None,
    varying: Mapping[str, ArrayLike] | None = None,
    payload: Any = None,
    gains: Mapping[str, ArrayLike] | None = None,
    forces: ArrayLike | None = None,
    force_limits: ArrayLike | str | None = None,
    sensors: Sensors | None = None,
    delay: float = 0.0,
    disturbance: WrenchFunction | None = None,
    record_every: int = 1,
    alone: bool = False,
) -> RolloutTask:
    """The arguments of `rollout`, checked; or, for a robot that is alone, those of `simulate`."""
    real = robot if plant is None else plant
    if not alone and not isinstance(controller, Controller | None):
        raise UnsupportedFeatureError(
            f"rollouts need a Controller or None, got {checks.kind_of(controller)}",
            field="controller",
            remedy=checks.order(controller) or AS_A_CLASS,
        )
    checks.check_plant(robot, real)
    changing = payload if alone and callable(payload) else None
    if alone:
        real, payload = real if changing or payload is None else carrying(real, payload), None
    checks.check_law(controller, motion, initial, control_period, real)
    motion = None if motion is None else in_velocities_of(real, motion)
    state = checks.given_or_start(initial, motion)
    if alone:
        checks.check_one_state(*state, real)
    h = positive("step", step)
    continuous = alone and control_period is None
    period = h if continuous else positive("control_period", control_period)
    substeps = checks.whole_steps("control_period", period, h)
    added, periods = prescribed(forces, real, period, duration, motion)
    if alone and added is not None and added.ndim != 2:
        raise ShapeError("forces", expected=f"(periods, {len(real.actuators)})", got=str(added.shape))
    if continuous and added is not None:
        raise ModelError("forces are held in control periods", field="forces", remedy="Give control_period=")
    every = min(checks.whole_number("record_every", record_every), periods)
    schedule = TimeGrid(h, period, substeps, periods, every)
    for name, given in (("varying", varying), ("gains", gains)):
        checks.check_by_name(name, given)
    law = controller if isinstance(controller, Controller) else None
    fields, own_gains = _fields(real, varying or {}), _gains(law, gains or {})
    if payload is not None and not isinstance(payload, Payload):
        raise ShapeError("payload", expected="a Payload", got=repr(payload), hint=VARYING)
    shapes = _leading(real, fields, payload, own_gains, law)
    if added is not None:
        shapes["forces"] = added.shape[:-2]
    sensing = checks.sensing_of(sensors, real, control_period, periods)
    late = checks.whole_delay("delay", delay, control_period, periods)
    if controller is None:  # nobody sees or asks for anything
        sensing, late = None, 0
    limits = checks.force_limits(real, force_limits, of_rows=not alone)
    if limits is not None:
        shapes["force_limits"] = limits.shape[:-1]
    q, qd = (_on_gpu if any(map(is_on_gpu, state)) else _on_processor)(state, shapes, real)
    held = VaryingPayload(changing, period) if changing else payload
    numbers = (own_gains, fields, held, added)
    push = None if disturbance is None else Disturbance(disturbance, real, None if alone else len(q))
    task = RolloutTask(law, real, motion, q, qd, *numbers, schedule, limits, sensing, late, push)
    for name, there in (("sensors", sensing), ("disturbance", push)):
        if there is not None and task.on_gpu:
            remedy = "Give the initial states as NumPy arrays"
            raise UnsupportedFeatureError("it is computed on the processor only", field=name, remedy=remedy)
    if payload is not None and not task.on_gpu:
        real._fields_carrying(payload, fields)  # says so where the plant cannot carry one
    if own_gains and task.why_not_compiled is not None:
        problem = f"gains need compiled steps: {task.why_not_compiled}"
        raise UnsupportedFeatureError(problem, field="gains", remedy=ONE_BY_ONE)
    _check_places(task)
    if not own_gains and not continuous:
        warn_of_sampling(controller, real, None if task.on_gpu else q[0], period, periods, sensing, late)
    return task


def prescribed(
    forces: ArrayLike | None, real: Robot, period: float, duration: float | None, motion: Motion | None
) -> tuple[Any | None, int]:
    """The forces (N, periods, m) or (periods, m) if any are given, and the periods of a run."""
    added = None if forces is None else _forces(forces, len(real.actuators))
    if duration is None and motion is None and added is not None:
        return added, added.shape[-2]
    periods = checks.enough_steps("duration", checks.run_time(duration, motion), period)
    if added is not None and added.shape[-2] != periods:
        raise ShapeError("forces", expected=f"forces for {periods} control periods", got=str(added.shape[-2]))
    return added, periods


def carrying(real: Robot, payload: Payload) -> Robot:
    """The plant with one payload."""
    if not isinstance(payload, Payload) or payload.numbers().ndim > 1:
        raise ShapeError("payload", expected="one Payload", got=repr(payload))
    return real.carrying(payload)


def _forces(given: Any, m: int) -> Any:
    array = given if is_on_gpu(given) else checks.numbers(given)
    if array.ndim not in (2, 3) or array.shape[-1] != m or not array.shape[-2]:
        raise ShapeError("forces", expected=f"(N, periods, {m}) or (periods, {m})", got=str(array.shape))
    if not is_on_gpu(array) and not np.isfinite(array).all():
        raise ShapeError("forces", expected="finite numbers", got="NaN or infinity")
    return array


def _fields(real: Robot, given: Mapping[str, Any]) -> dict[str, Any]:
    """Varying fields, checked; values on a GPU are not inspected, for that would copy them."""
    here = check_values(real, {name: value for name, value in given.items() if not is_on_gpu(value)})
    check_names(real, tuple(given))
    fields: dict[str, Any] = {name: here.get(name, value) for name, value in given.items()}
    for name in given.keys() - here.keys():
        _check_core(name, fields[name], real.varying_fields[name])
    if real.dissipation is not None:
        real.dissipation.check_integrable(fields)
    return fields


def _gains(controller: Controller | None, given: Mapping[str, Any]) -> dict[str, Any]:
    known = {} if controller is None else parameters(controller)
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            names = f"{did_you_mean(name, known)}Use one of {', '.join(known)}" if known else None
            law = "without a controller there is" if controller is None else f"{type(controller).__name__} has"
            raise UnsupportedFeatureError(f"{law} no gain {name!r}", field="gains", remedy=names)
        found[name] = value if is_on_gpu(value) else checks.numbers(value)
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
    own = {} if controller is None else parameters(controller)
    cores |= {name: (value, own[name].shape) for name, value in gains.items()}
    return {name: tuple(value.shape[: value.ndim - len(core)]) for name, (value, core) in cores.items()}


def _batch(states: Sequence[Any], shapes: Mapping[str, Shape], robot: Robot) -> Shape:
    """(N,)"""
    n, sizes = robot.n, checks.position_sizes(robot)
    if tuple(states[1].shape[-1:]) != (n,) or tuple(states[0].shape[-1:]) not in [(size,) for size in sizes]:
        more = "" if len(sizes) == 1 else f"; positions may have {robot.positions.size}"
        raise ShapeError("initial", expected=f"(N, {n}) or ({n},){more}", got=str([tuple(x.shape) for x in states]))
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
    states = [checks.numbers(x) for x in initial]
    batch = _batch(states, shapes, robot)
    whole = (robot.positions.at(states[0]), states[1])
    return [np.array(np.broadcast_to(x, (*batch, x.shape[-1]))) for x in whole]


def _on_gpu(initial: Any, shapes: Mapping[str, Shape], robot: Robot) -> list[Any]:
    """Positions and velocities on one GPU, in one precision."""
    found = [arrays.on_device("initial", x) for x in initial]
    batch = _batch(found, shapes, robot)
    if found[0].dtype != found[1].dtype or str(found[0].dtype) not in KERNEL_DTYPES:
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
    dtype = task.position.dtype
    for name, value in {"forces": task.forces, **task.gains, **task.plant_numbers}.items():
        if not task.on_gpu and is_on_gpu(value):
            raise ShapeError(name, expected="an array of NumPy, as the initial state", got="one on a GPU")
        if not task.on_gpu or value is None or (name != "forces" and not is_on_gpu(value)):
            continue
        found, device = arrays.on_device(name, value), task.position.device
        if found.dtype != dtype:
            raise ShapeError(name, expected=f"{dtype} numbers, as the initial state", got=str(found.dtype))
        if found.device != device:
            raise ShapeError(name, expected=f"an array on GPU {device.id}", got=f"one on GPU {found.device.id}")
