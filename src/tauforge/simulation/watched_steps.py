"""Steps by kernels whose rows may be refused: these take the same step by the plant's own methods."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.motion.motion import MotionSample
from tauforge.simulation.batch_steps import BatchSteps
from tauforge.simulation.compiled_steps import CompiledSteps, StagedSteps, State


class WatchedSteps:
    """A row that a kernel refuses is NaN after it. It is stepped again by `own`, from the state before."""

    def __init__(self, compiled: CompiledSteps | StagedSteps, own: BatchSteps) -> None:
        self.compiled, self.own, self.reasons = compiled, own, own.reasons
        self.start, self.read = compiled.start, compiled.read

    def controlled(
        self, t: float, state: State, target: MotionSample | None, added: Array | None
    ) -> tuple[State, Array]:
        reached, force = self.compiled.controlled(t, state, target, added)
        return self._mended(state, force, reached), force

    def held(self, t: float, state: State, force: Array) -> State:
        return self._mended(state, force, self.compiled.held(t, state, force))

    def _mended(self, before: State, force: Array, reached: State) -> State:
        refused = np.isnan(reached[0][:, 0])
        if not refused.any():
            return reached
        rows = np.flatnonzero(refused)
        y = np.concatenate([part[rows] for part in before], axis=-1)
        alive = np.isfinite(y).all(axis=-1)
        if alive.any():
            rows = rows[alive]
            found = self.own.some_held(rows, y[alive], force[rows])
            for part, better in zip(reached, self.compiled.parted(found), strict=True):
                part[rows] = better
        return reached
