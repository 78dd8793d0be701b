"""The handle by which a hand drags the tool or the platform."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.drawing import Drawing
from tauforge.robots.positions import body_name
from tauforge.robots.robot import Robot
from tauforge.viewer.figure import quaternions, rotation

if TYPE_CHECKING:
    from tauforge.viewer.session import Session

SCALE = 0.16  # of the robot's extent
LETS_GO = 0.6  # s without a message: the hand has let go, or its tab is gone


class Gizmo:
    """It follows the moved body, but for the time that somebody drags it; then the body follows it."""

    def __init__(self, scene: Any, robot: Robot, size: float, session: Session) -> None:
        self._name, self._session = body_name(robot), session
        self._dragged_at: float | None = None
        self._controls: Any = None
        drawing = robot.drawing(np.asarray(robot.positions.default, float))
        if robot.moved_body is None or self._pose(drawing) is None:
            return
        self._controls = scene.add_transform_controls("/gizmo", scale=SCALE * size, depth_test=False, opacity=0.6)
        self._controls.on_update(self._moved)
        self.follow(drawing, visible=True)

    @property
    def patience(self) -> float | None:
        """s until it must be looked at again; None for never."""
        return None if self._dragged_at is None else LETS_GO

    def follow(self, drawing: Drawing, visible: bool) -> None:
        """To where the moved body is, unless it is being dragged."""
        if self._controls is None:
            return
        self._controls.visible = visible
        if self._dragged_at is not None and time.perf_counter() - self._dragged_at < LETS_GO:
            return
        self._dragged_at = None
        pose = self._pose(drawing)
        if pose is not None:
            self._controls.position, self._controls.wxyz = pose[:3, 3], quaternions(pose[:3, :3])

    async def _moved(self, event: Any) -> None:
        if event.phase == "end":
            self._dragged_at = -np.inf
            self._session.let_go()
            return
        if event.phase == "update":
            self._dragged_at = time.perf_counter()
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = rotation(np.asarray(event.target.wxyz, float)), event.target.position
            self._session.drag(pose)

    def _pose(self, drawing: Drawing) -> Array | None:
        """(4, 4) world <- moved body."""
        return next((frame.transform for frame in drawing.frames if frame.name == self._name), None)
