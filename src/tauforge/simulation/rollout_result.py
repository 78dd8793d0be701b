"""Results of rollouts: arrays of all rows, single rows as recordings, and files."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.evaluation.arguments import in_rows
from tauforge.evaluation.array_libraries import arithmetic_of
from tauforge.files import written_whole
from tauforge.kernels.cuda.arrays import is_on_gpu
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import check_robot
from tauforge.simulation.closed_loop import ClosedLoop, RecordingBuilder, error_of_tool
from tauforge.simulation.compiled_loop import Force
from tauforge.simulation.events import STOPPED, Event, singular_crossing
from tauforge.simulation.integrators import RAN_AWAY
from tauforge.simulation.method_loop import plant_of_row
from tauforge.simulation.recording import MACHINE_CODE, MAX_RECORDING_BYTES, Recording
from tauforge.simulation.recording_files import ROLLOUT_ARRAYS, read_rollout, write_rollout
from tauforge.simulation.task import RolloutTask, TimeGrid
from tauforge.validation import counted


@dataclass(frozen=True, eq=False, repr=False)
class Rollout:
    """N runs at the k recorded control instants. A row that ran away, beyond 1e9 rad, m or a rate, is NaN from then on.

    time:            (k,) s
    position:        (N, k, n) rad or m; of a platform poses; of a mechanism with loops all of its joints
    velocity:        (N, k, n) rad/s or m/s; of a platform twists
    force:           (N, k, m) N m or N, of the actuators on the robot
    target_position: (k, n) of the motion to follow
    places:          (n,) of the coordinates among the entries of a position; None where it has no others
    clipped:         (N, k, m) which actuators give less than is wanted; None without force limits
    target_velocity: (k, n) likewise; None where it is not known
    wrench:          (k, 6) or (N, k, 6) of the disturbance; None without one
    task:            what ran; None in a file and in a pickle
    reasons:         why rows are NaN from some instant on, by their numbers; None on a GPU
    stepped_by:      as in `Recording`; files do not keep it
    """

    time: Array
    position: Array
    velocity: Array
    force: Array
    target_position: Array
    places: Array | None = None
    clipped: Array | None = None
    target_velocity: Array | None = None
    wrench: Array | None = None
    task: RolloutTask | None = None
    reasons: dict[int, str] | None = None
    stepped_by: str = MACHINE_CODE

    def __getstate__(self) -> dict[str, Any]:
        """Without the task, which may hold functions of the user that cannot be pickled."""
        return {**vars(self), "task": None}

    def __repr__(self) -> str:
        runs, instants = self.position.shape[:2]
        lost = int((~self.finite).sum())
        span = float(self.time[-1] - self.time[0]) if instants else 0.0
        text = f"{counted(runs, 'run')}, {counted(instants, 'instant')}, {span:.6g} s"
        return f"Rollout({text}, {lost} not finite)" if lost else f"Rollout({text})"

    @property
    def error(self) -> Array:
        """target_position - position, (N, k, n); (N, k, 6) of a law that moves the tool, as `Recording.tool_error`.

        The latter is NaN in a file, which does not keep the motion.
        """
        task = self.task
        if task is not None and task.controller is not None and task.controller.task_space and task.motion is not None:
            found = error_of_tool(task.plant, self.position, task.motion.sample(self.time).position)
            if found is not None:
                return found
        _, constant = arithmetic_of(self.position)
        position = self.position if self.places is None else self.position[..., self.places]
        error: Array = constant(self.target_position) - position
        return error

    @property
    def finite(self) -> Array:
        """(N,) which rows did not run away."""
        xp, _ = arithmetic_of(self.position)
        finite: Array = xp.isfinite(self.position).all(axis=(1, 2)) & xp.isfinite(self.velocity).all(axis=(1, 2))
        return finite

    def recording(self, row: int, robot: Robot | None = None) -> Recording:
        """A row as `simulate` records it, up to the last instant at which it has a state.

        robot: what moved in this row; default the rollout's plant with the row's own numbers. Those from a file and
               from a GPU do not know it

        Its rows are the instants that were recorded. Events are those that can be seen from them.
        Identity: equal to the recording by `simulate`, where that is kept at these instants, except for events.
        """
        rows = len(self.position)
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not -rows <= row < rows:
            raise ShapeError("row", expected=f"the number of one of {counted(rows, 'row')}", got=repr(row))
        row %= rows
        if robot is None and self.task is not None and not self.task.on_gpu:
            plant = self.task.plant
            robot = plant_of_row(plant, in_rows(plant, self.task.plant_fields, rows), row)
        if robot is None:
            remedy = "Give the robot that moved in this row"
            raise ModelError("the robot is not kept on a GPU and in files", field="robot", remedy=remedy)
        check_robot("robot", robot)
        position, velocity, force = (_on_processor(x[row]) for x in (self.position, self.velocity, self.force))
        clipped = np.zeros(force.shape, bool) if self.clipped is None else _on_processor(self.clipped[row])
        sound = np.asarray(np.isfinite(np.concatenate([position, velocity], axis=-1)).all(axis=-1))
        known = len(sound) if sound.all() else int(sound.argmin())
        reason = (self.reasons or {}).get(row, RAN_AWAY)
        if not known:
            raise ModelError(f"row {row} has no state: {reason}", field="row")
        times, position, velocity = self.time[:known], position[:known].astype(float), velocity[:known].astype(float)
        step = float(times[-1]) or 1.0
        task = RolloutTask(
            None, robot, None, position[:1], velocity[:1], {}, {}, None, None, TimeGrid(step, step, 1, 1, 1)
        )
        builder = RecordingBuilder(ClosedLoop(None, task), 1, known - 1, self.stepped_by)
        states, given = robot.state_space.pack(position, velocity), force[:known].astype(float)
        rates = None
        if self.wrench is not None:
            wrench = (self.wrench if self.wrench.ndim == 2 else self.wrench[row])[:known]
            rates = robot.state_space.rates_under(states, given, wrench)
        builder.write(times, states, Force(given, clipped[:known]), rates)
        crossing = singular_crossing(robot, times, position)
        if crossing is not None:
            builder.watch.add(crossing[1])
        targets = (self.target_position, self.target_velocity)
        target_position, target_velocity = (np.full_like(velocity, np.nan) if x is None else x[:known] for x in targets)
        found = replace(
            builder.recording(),
            position=position,
            velocity=velocity,
            target_position=target_position,
            target_velocity=target_velocity,
            stepped_by=self.stepped_by,
        )
        return found if known == len(sound) else found.with_event(Event(float(times[-1]), STOPPED, reason))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .npz file, whole or not at all."""
        target = Path(path)
        if target.suffix.lower() != ".npz":
            raise ModelError(f"unknown suffix {target.suffix!r}", file=target, remedy="Use .npz")
        arrays = {name: getattr(self, name) for name in ROLLOUT_ARRAYS}
        known = {name: _on_processor(x) for name, x in arrays.items() if x is not None}
        with written_whole(target) as file:
            write_rollout(known, self.reasons, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int = MAX_RECORDING_BYTES) -> Rollout:
        """The rollout in a file that `save` wrote.

        max_bytes: that its arrays may take, 1 GiB unless you say more

        Identity: equal to what was saved. ModelError where the file is anything else.
        """
        return cls(**read_rollout(Path(path), max_bytes), stepped_by="")


def _on_processor(x: Any) -> Array:
    return np.asarray(x.get() if is_on_gpu(x) else x)
