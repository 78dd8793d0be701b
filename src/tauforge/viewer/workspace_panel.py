"""The workspace as coloured points: where ways end, or where sampled positions bring a tool."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import TauforgeError
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.viewer import colours
from tauforge.workspace.criteria import criteria_of
from tauforge.workspace.pictures import limit_colours
from tauforge.workspace.reaching import pose_of_tool
from tauforge.workspace.sampled_volume import sampled_positions
from tauforge.workspace.surfaces import surface

CLOUD_SAMPLES = 20_000
POINT_SIZE = 0.006  # of the size of the surroundings


class PointCloud(NamedTuple):
    """points: (k, 3) m, in the frame of the robot's drawing; limits: (k,) what ends the way there, or is exceeded."""

    points: Array
    limits: Array


def has_workspace(robot: Robot) -> bool:
    """True if the robot has limits, and tells where its moved body is."""
    try:
        criteria_of(robot)
    except TauforgeError:
        return False
    return robot.moved_body is not None


def point_cloud(robot: Robot, home: Array, *, payload: Payload | None = None) -> PointCloud:
    """The surface where straight ways from home end, for poses; else places of the tool at sampled positions.

    home:    (N,) must hold for poses; else it says how the robot is assembled
    payload: held by the robot
    """
    if robot.positions.pose:
        found = surface(robot, home, payload=payload)
        ended = np.isfinite(found.distance)
        return PointCloud(found.places[ended], found.limits[ended])
    criteria = criteria_of(robot, payload=payload)
    positions = np.concatenate(list(sampled_positions(robot, home, CLOUD_SAMPLES)))
    positions = positions[np.isfinite(positions).all(axis=-1)]  # one that does not close is nowhere
    names = np.array([criteria.name(int(code)) for code in criteria.codes(positions)])
    return PointCloud(pose_of_tool(robot, positions)[:, :3], names)


class WorkspacePanel:
    """A button that shows the workspace from the state that is shown, one that hides it, and a legend."""

    def __init__(self, server: Any, robot: Robot, size: float, session: Any) -> None:
        self.robot, self._scene, self._session, self._size = robot, server.scene, session, size
        self._busy = threading.Lock()
        self.cloud: Any = None
        self._start = server.gui.add_button("Where it can go from here")
        self._hide = server.gui.add_button("Hide", disabled=True)
        self.legend = server.gui.add_html("")
        self._start.on_click(self._pressed)
        self._hide.on_click(lambda _: self.hide())

    def _pressed(self, event: Any) -> None:  # in a thread of viser's pool: this may take a while
        if event.client is None or not self._busy.acquire(blocking=False):
            return
        note = event.client.add_notification("Workspace", "computing", loading=True, with_close_button=False)
        try:
            self.show()
        except TauforgeError as error:
            event.client.add_notification("No workspace", str(error), color="red")
        finally:
            note.remove()
            self._busy.release()

    def show(self) -> PointCloud:
        """Shows the workspace from the present state, with its payload where actuators have force limits."""
        state = self._session.state
        held = Payload(state.payload) if state.payload and np.isfinite(self.robot.max_forces).any() else None
        found = point_cloud(self.robot, np.asarray(state.position, float), payload=held)
        chosen = limit_colours(sorted(set(found.limits.tolist())))
        points = found.points.astype(np.float32)
        paint = colours.rgb_rows([chosen[name] for name in found.limits])
        self.hide()
        look = {"point_size": POINT_SIZE * self._size, "point_shape": "circle"}
        self.cloud = self._scene.add_point_cloud("/workspace", points, paint, **look)
        self.legend.content = legend_html(chosen)
        self._hide.disabled = False
        return found

    def hide(self) -> None:
        """Takes the points away."""
        if self.cloud is not None:
            self.cloud.remove()
            self.cloud = None
        self.legend.content = ""
        self._hide.disabled = True


def legend_html(chosen: Mapping[str, str]) -> str:
    """A coloured square and a name for each limit."""
    rows = (
        f'<div><span style="color:{colour};background:#8a8f98">&#9632;</span> {escape(name)}</div>'
        for name, colour in chosen.items()
    )
    return f'<div style="padding:0 .9em;font-size:12px">{"".join(rows)}</div>'
