"""A rollout that is to be run: its rows, its law, its plant and its schedule."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.evaluation.unmodified import method_is_ours
from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.arrays import is_on_gpu
from tauforge.kernels.specification import Shape
from tauforge.motion.motion import Motion, MotionSample
from tauforge.robots.payload import PAYLOAD, Payload
from tauforge.robots.robot import Robot
from tauforge.robots.state_space import PlainState
from tauforge.simulation.compiled_steps import Fields, can_compile
from tauforge.simulation.step_formulas import Given, StepFormulas


class Schedule(NamedTuple):
    """How long and how finely.

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
    """A rollout of N rows. The arrays are NumPy's, or CuPy's on one GPU and of one precision.

    position, velocity: (N, n)
    gains:              arrays (N, *core) or (*core) in place of the law's own, by name
    fields:             of the plant, likewise
    payload:            what the plant holds
    forces:             (N, periods, m) or (periods, m), added to those of the law
    """

    controller: Controller | None
    plant: Robot
    motion: Motion | None
    position: Any
    velocity: Any
    gains: Fields
    fields: Fields
    payload: Payload | None
    forces: Any | None
    schedule: Schedule

    @property
    def rows(self) -> int:
        return len(self.position)

    @property
    def on_gpu(self) -> bool:
        return is_on_gpu(self.position)

    @property
    def device(self) -> AbstractContextManager[Any]:
        """What is allocated inside lies beside the states."""
        device: AbstractContextManager[Any] = self.position.device if self.on_gpu else nullcontext()
        return device

    @property
    def compiles(self) -> bool:
        """Whether law, dynamics and integrator can be one kernel."""
        return can_compile(self.controller, self.plant) and (self.payload is None or self._payload_is_argument)

    @property
    def may_refuse(self) -> bool:
        """Whether a kernel's steps may leave rows to the plant's own methods."""
        return type(self.plant.state_space) is not PlainState

    @property
    def _payload_is_argument(self) -> bool:
        """Whether the formulas of the plant take payloads, and its methods do not say otherwise."""
        plant = self.plant
        dynamics = [name for name in ("forward_dynamics", "inverse_dynamics") if name in plant.functions]
        taken = all(PAYLOAD in plant.functions[name].optional for name in dynamics)
        return taken and method_is_ours(type(plant), "_fields_carrying")

    @property
    def plant_numbers(self) -> Fields:
        """The fields, and the payload's numbers, as kernels of steps take them."""
        return self.fields if self.payload is None else {**self.fields, PAYLOAD.name: self.payload.numbers()}

    @property
    def plant_fields(self) -> Fields:
        """The fields, and those that the payload changes."""
        if self.payload is None:
            return self.fields
        return {**self.fields, **self.plant._fields_carrying(self.payload, self.fields)}

    def formulas(self, *, alone: bool = False) -> StepFormulas:
        given = Given(tuple(self.gains), tuple(self.plant_numbers), self.forces is not None)
        return StepFormulas(self.controller, self.plant, given, self.schedule.step, alone=alone)

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

    def target_positions(self) -> Array:
        """(k, n) at the recorded instants; NaN where the motion does not say it in the robot's coordinates."""
        kept = self.schedule.kept
        in_space = self.controller is not None and self.controller.task_space
        if self.motion is None or in_space:
            return np.full((len(kept), self.plant.n), np.nan)
        return self.motion.sample(self.schedule.period * np.array(kept)).position


def as_rows(value: Any, core: Shape, rows: int) -> Any:
    """A share for every row, (rows, numbers)."""
    library = arrays.cupy() if is_on_gpu(value) else np
    return library.broadcast_to(value, (rows, *core)).reshape(rows, math.prod(core))
