"""Where a simulation is written down, block after block, with no more memory than the rows that are kept."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller, Robot
from tauforge.motion.motion import Motion
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.closed_loop import ClosedLoop, Force
from tauforge.simulation.events import Watch
from tauforge.simulation.recording import Recording

POSE = ("x", "y", "z", "theta_x", "theta_y", "theta_z")
TOGETHER = 512  # rows that are looked at and completed at once
COLUMNS = ("position", "velocity", "acceleration", "force")


class RecordingBuilder:
    """Rows of states in, a recording out; every row is looked at for events, one in `every` is kept."""

    def __init__(self, loop: ClosedLoop, robot: Robot, every: int, steps: int) -> None:
        self.loop, self.robot, self.every = loop, robot, every
        self.watch = Watch(robot, force_names(robot))
        count = steps // every + 1
        self._times = np.empty(count)
        self._columns = {name: np.empty((count, loop.space.n)) for name in COLUMNS}
        self._pending: list[tuple[Array, Array, Array, Array]] = []
        self._seen = self._kept = 0

    @property
    def begun(self) -> bool:
        return bool(self._seen or self._pending)

    def write(self, times: Array, rows: Array, force: Force) -> None:
        """Rows at the first of the times, under these forces; where the law is asked in between, a row at a time."""
        if not len(rows):
            return
        shape = (len(rows), len(force.given))
        forces = np.broadcast_to(force.given, shape), np.broadcast_to(force.clipped, shape)
        self._pending.append((times[: len(rows)], rows, *forces))
        if sum(len(block[0]) for block in self._pending) >= TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        times, rows, force, clipped = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending.clear()
        space = self.loop.space
        position, velocity = space.position(rows), space.velocity(rows)
        self.watch.look(times, position, velocity, clipped)
        kept = slice((-self._seen) % self.every, None, self.every)
        wrench = None
        if self.loop.disturbance is not None and len(times[kept]):
            wrench = np.array([self.loop.wrench(t) for t in times[kept].tolist()])
        found = {
            "position": position[kept],
            "velocity": velocity[kept],
            "acceleration": space.acceleration(position[kept], velocity[kept], force[kept], wrench),
            "force": force[kept],
        }
        place = slice(self._kept, self._kept + len(times[kept]))
        self._times[place] = times[kept]
        for name, values in found.items():
            self._columns[name][place] = values
        self._seen += len(times)
        self._kept = place.stop

    def recording(self, motion: Motion | None) -> Recording:
        self._flush()
        times, columns = self._times[: self._kept], {k: x[: self._kept] for k, x in self._columns.items()}
        controller = self.loop.controller
        if motion is None or (isinstance(controller, Controller) and controller.task_space):  # of the tool, not joints
            target_position = target_velocity = np.full_like(columns["position"], np.nan)
        else:
            target_position, target_velocity, _ = motion.sample(times)
        robot, names = self.robot, coordinate_names(self.robot)
        arm = isinstance(robot, SerialArm)
        turns = [j.kind == "R" for j in robot.joints] if isinstance(robot, SerialArm) else [False] * 3 + [True] * 3
        return Recording(
            time=times,
            **columns,
            target_position=np.array(target_position),
            target_velocity=np.array(target_velocity),
            names=names,
            force_names=force_names(robot),
            units=tuple("rad" if turn else "m" for turn in turns),
            force_units=tuple("N m" if turn else "N" for turn in turns) if arm else ("N",) * 6,
            robot=robot.name,
            events=tuple(sorted(self.watch.events)),
        )


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    return tuple(j.name for j in robot.joints) if isinstance(robot, SerialArm) else POSE


def force_names(robot: Robot) -> tuple[str, ...]:
    return coordinate_names(robot) if isinstance(robot, SerialArm) else tuple(f"leg{i + 1}" for i in range(6))
