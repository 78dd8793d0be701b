"""Where a simulation is written down, block after block, with no more memory than the rows that are kept."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.motion.motion import Motion
from tauforge.simulation.closed_loop import ClosedLoop, Force
from tauforge.simulation.events import Watch
from tauforge.simulation.recording import Recording
from tauforge.tables.robot_columns import state_columns

TOGETHER = 512  # rows that are looked at and completed at once
COLUMNS = ("position", "velocity", "acceleration", "force")


class RecordingBuilder:
    """Rows of states in, a recording out; every row is looked at for events, one in `every` and the last are kept."""

    def __init__(self, loop: ClosedLoop, every: int, steps: int) -> None:
        self.loop, self.robot, self.every = loop, loop.robot, every
        self.watch = Watch(self.robot, [actuator.name for actuator in self.robot.actuators])
        count = -(-steps // every) + 1
        self._times = np.empty(count)
        n, robot = self.robot.n, self.robot
        widths = dict(zip(COLUMNS, (robot.positions.size, n, n, len(robot.actuators)), strict=True))
        self._columns = {name: np.empty((count, width)) for name, width in widths.items()}
        self._pending: list[tuple[Array, Array, Array, Array]] = []
        self._seen = self._kept = 0

    @property
    def begun(self) -> bool:
        return bool(self._seen or self._pending)

    def write(self, times: Array, rows: Array, force: Force) -> None:
        """Rows at the first of the times, under these forces; where the law is asked in between, a row at a time."""
        if not len(rows):
            return
        if sum(len(block[0]) for block in self._pending) >= TOGETHER:  # what comes last stays to be kept
            self._flush()
        shape = (len(rows), len(force.given))
        forces = np.broadcast_to(force.given, shape), np.broadcast_to(force.clipped, shape)
        self._pending.append((times[: len(rows)], rows, *forces))

    def _flush(self, *, end: bool = False) -> None:
        if not self._pending:
            return
        times, rows, force, clipped = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending.clear()
        space = self.loop.space
        position, velocity = space.position(rows), space.velocity(rows)
        self.watch.look(times, position, velocity, clipped)
        kept = np.arange((-self._seen) % self.every, len(times), self.every)
        if end and (not len(kept) or kept[-1] != len(times) - 1):
            kept = np.append(kept, len(times) - 1)
        wrench = None
        if self.loop.disturbance is not None and len(kept):
            wrench = np.array([self.loop.wrench(t) for t in times[kept].tolist()])
        found = {
            "position": position[kept],
            "velocity": velocity[kept],
            "acceleration": space.velocity(space.rates_under(rows[kept], force[kept], wrench)),
            "force": force[kept],
        }
        place = slice(self._kept, self._kept + len(kept))
        self._times[place] = times[kept]
        for name, values in found.items():
            self._columns[name][place] = values
        self._seen += len(times)
        self._kept = place.stop

    def recording(self, motion: Motion | None) -> Recording:
        self._flush(end=True)
        times, columns = self._times[: self._kept], {k: x[: self._kept] for k, x in self._columns.items()}
        controller = self.loop.controller
        if motion is None or (isinstance(controller, Controller) and controller.task_space):  # of the tool, not joints
            target_position = target_velocity = np.full_like(columns["velocity"], np.nan)
        else:
            target_position, target_velocity, _ = motion.sample(times)
        robot = self.robot
        return Recording(
            time=times,
            **columns,
            target_position=np.array(target_position),
            target_velocity=np.array(target_velocity),
            names=tuple(entry.name for entry in robot.positions.entries),
            force_names=tuple(actuator.name for actuator in robot.actuators),
            units=tuple(entry.unit for entry in robot.positions.entries),
            force_units=tuple(actuator.unit for actuator in robot.actuators),
            robot=robot.name,
            events=tuple(sorted(self.watch.events)),
            columns=tuple(column.name for group in state_columns(robot) for column in group),
            wrapped=tuple(entry.name for entry in robot.positions.entries if entry.wraps),
            coordinates=()
            if robot.positions.entries == robot.coordinates
            else tuple(c.name for c in robot.coordinates),
        )
