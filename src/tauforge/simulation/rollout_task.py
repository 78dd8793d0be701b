"""Arguments of a rollout, checked before it starts: rows, law, plant and schedule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control.controller import Controller, memory_of, parameters
from tauforge.control.traceable_robot import why_not_compiled
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge.evaluation.arguments import check_names, check_values
from tauforge.evaluation.unmodified import method_is_ours
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.arrays import KERNEL_DTYPES, is_on_gpu
from tauforge.kernels.specification import Shape
from tauforge.motion.motion import Motion, MotionSample, in_velocities_of, positive
from tauforge.robots.capabilities import Fields
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState
from tauforge.simulation import checks
from tauforge.simulation.disturbances import Disturbance, WrenchFunction, wrench_load
from tauforge.simulation.sensors import Actuation, Sensing, Sensors
from tauforge.simulation.stability import warn_of_sampling
from tauforge.simulation.step_adjoint import StepAdjoint
from tauforge.simulation.step_formulas import Given, field_shape
from tauforge.simulation.varying_payload import VaryingPayload
from tauforge.validation import did_you_mean

ONE_BY_ONE = "Call tf.rollout once for each value, with a law that has it"
MOST_WAITING = 2000  # numbers that a kernel of a law passes on for delays: it takes seconds to compile
VARYING = "tf.simulate also takes a function of the time"
AS_A_CLASS = (
    "Subclass tauforge.control.Controller and define force(t, position, velocity, target) for the states (N, n) of all "
    "rows, or use tf.simulate, which takes any callable"
)


class Schedule(NamedTuple):
    """Duration and resolution of a rollout.

    step:     s, of the integrator
    period:   s, between two questions to the law
    substeps: in a period
    periods:  in the rollout
    every:    periods from one record to the next
    """

    step: float
    period: float
    substeps: int
    periods: int
    every: int

    @property
    def kept(self) -> list[int]:
        """The instants that are recorded, counted in periods; the last always is."""
        return [*range(0, self.periods, self.every), self.periods]


class RolloutTask(NamedTuple):
    """A rollout of N rows. The arrays are NumPy arrays, or CuPy arrays on one GPU and of one precision.

    position, velocity: (N, n)
    gains:              arrays (N, *core) or (*core) in place of the law's own, by name
    fields:             of the plant, likewise
    payload:            what the plant holds; in `simulate` it may vary
    forces:             (N, periods, m) or (periods, m), added to those of the law
    limits:             (N, m) or (m,), largest sizes of the forces
    sensing:            what the law sees, if not the state
    delay:              control periods from the moment the law is asked to that at which its forces act
    disturbance:        a wrench on each row
    """

    controller: Controller | None
    plant: Robot
    motion: Motion | None
    position: Any
    velocity: Any
    gains: Fields
    fields: Fields
    payload: Payload | VaryingPayload | None
    forces: Any | None
    schedule: Schedule
    limits: Any | None = None
    sensing: Sensing | None = None
    delay: int = 0
    disturbance: Disturbance | None = None

    @property
    def rows(self) -> int:
        return len(self.position)

    @property
    def on_gpu(self) -> bool:
        return is_on_gpu(self.position)

    @property
    def device(self) -> AbstractContextManager[Any]:
        """Context in which new arrays lie beside the states."""
        return self.position.device if self.on_gpu else nullcontext()

    @property
    def why_not_compiled(self) -> str | None:
        """Reason for which law and dynamics have no kernels; None if they may, once the law is recorded."""
        plant, push = self.plant, self.disturbance
        if self.sensing is not None and self.sensing.own is not None:
            return "the sensors have a method read of their own"
        waiting = self.delay * len(plant.actuators) + (
            0 if self.sensing is None else math.prod(self.sensing.history_shape)
        )
        if waiting > MOST_WAITING:
            return f"delays have {waiting} numbers wait, more than {MOST_WAITING}"
        if push is not None and push.of_state and not push.traceable:
            return "the disturbance is a function of the state that does not say traceable = True"
        if push is not None and not wrench_load(plant, None):
            return f"formulas of {plant.name} take no external wrench"
        if self.payload is not None:
            dynamics = [name for name in ("forward_dynamics", "inverse_dynamics") if name in plant.functions]
            taken = all(PAYLOAD in plant.functions[name].optional for name in dynamics)
            if not (taken and method_is_ours(type(plant), "_fields_carrying")):  # a method may say otherwise
                return f"formulas of {plant.name} take no payload"
        return why_not_compiled(self.controller, plant)

    @property
    def may_refuse(self) -> bool:
        """True if the steps of a kernel may leave rows to the plant's own methods."""
        return type(self.plant.state_space) is not PlainState

    @property
    def plant_numbers(self) -> Fields:
        """The fields, and the payload's numbers, as kernels of steps take them."""
        return self.fields if self.payload is None else {**self.fields, PAYLOAD.name: self.payload.numbers()}

    @property
    def plant_fields(self) -> Fields:
        """The fields, and those that the payload changes."""
        return self.fields_in(0)

    def fields_in(self, period: int) -> Fields:
        """`plant_fields` in a control period."""
        if self.payload is None:
            return self.fields
        payload = self.payload.at(period) if isinstance(self.payload, VaryingPayload) else self.payload
        return {**self.fields, **self.plant._fields_carrying(payload, self.fields)}

    @property
    def constants(self) -> list[Any]:
        """Further arguments of formulas, in their order: gains, `plant_numbers` and limits, for all rows or each."""
        return [*self.gains.values(), *self.plant_numbers.values(), *([] if self.limits is None else [self.limits])]

    def formulas(self, *, alone: bool = False) -> StepAdjoint:
        """NoKernelError where the law cannot be recorded, or there are no formulas of the plant."""
        if self.why_not_compiled is not None:
            raise NoKernelError(self.why_not_compiled)
        limits = self.limits is not None
        numbers = (tuple(self.gains), tuple(self.plant_numbers), self.forces is not None, limits)
        push = self.disturbance
        given = Given(*numbers, self.sensing, self.delay, push is not None and not push.of_state)
        traced = push if push is not None and push.of_state else None
        return StepAdjoint(self.controller, self.plant, given, self.schedule.step, alone=alone, disturbance=traced)

    @property
    def memory(self) -> list[Array]:
        """The memory of the law and of what is around it when the run begins, (N, numbers) or (1, numbers) each."""
        if self.controller is None:
            return []
        own = [x.reshape(1, -1) for x in memory_of(self.controller).values()]
        if self.sensing is None and not self.delay:
            return own
        return own + Actuation(self.plant, self.sensing, None, self.delay, self.position).memory

    def target(self, k: int) -> MotionSample | None:
        """At instant k; None without a law."""
        if self.controller is None or self.motion is None:
            return None
        return self.motion.sample(self.schedule.period * k)

    def added(self, k: int) -> Any | None:
        """The forces of period k, (N, m) or (m,), 0 after the last; None if none are given."""
        if self.forces is None:
            return None
        return self.forces[..., k, :] if k < self.schedule.periods else np.zeros(len(self.plant.actuators))

    def targets(self) -> tuple[Array, Array]:
        """Positions and velocities (k, n) of the motion at the recorded instants; NaN where it is of the tool."""
        kept = self.schedule.kept
        if self.motion is None or (self.controller is not None and self.controller.task_space):
            return (np.full((len(kept), self.plant.n), np.nan),) * 2
        return self.motion.sample(self.schedule.period * np.array(kept))[:2]


class RowGradients(NamedTuple):
    """Gradients row by row; the arrays are those of the rollout's library.

    position, velocity: (N, n), by the initial state
    gains, plant:       (N, ...) by the gains, and by the fields and the payload's numbers, by name
    forces:             (N, periods, m), or None
    """

    position: Any
    velocity: Any
    gains: dict[str, Any]
    plant: dict[str, Any]
    forces: Any | None


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
    schedule = Schedule(h, period, substeps, periods, every)
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
