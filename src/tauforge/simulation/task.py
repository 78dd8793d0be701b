"""Rows, law, plant and time grid of a rollout, or of a simulation, which has one row."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller, memory_of
from tauforge.control.traceable_robot import why_not_compiled
from tauforge.evaluation.unmodified import method_is_ours
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cuda.arrays import is_on_gpu
from tauforge.motion.motion import Motion, MotionSample
from tauforge.robots.capabilities import Fields
from tauforge.robots.loads import PAYLOAD, Payload, one_payload
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState
from tauforge.simulation.disturbances import Disturbance, wrench_load
from tauforge.simulation.sensors import Actuation, Sensing
from tauforge.simulation.step_adjoint import StepAdjoint
from tauforge.simulation.step_formulas import Given

MOST_WAITING = 2000  # numbers that a kernel of a law passes on for delays: it takes seconds to compile
PayloadFunction = Callable[[float], Payload]


class TimeGrid(NamedTuple):
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


class VaryingPayload:
    """A function of the time, s; in every period the payload is that of its begin. It is asked in advance."""

    def __init__(self, given: PayloadFunction, period: float) -> None:
        self._given, self._period = given, period

    def at(self, k: int) -> Payload:
        """In period k."""
        return one_payload(self._given(k * self._period))

    def numbers(self, begin: int = 0, end: int = 1) -> Array:
        """(k, 10) in these periods, as `Payload.numbers`."""
        return np.array([self.at(k).numbers() for k in range(begin, end)])


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
    schedule: TimeGrid
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
