"""Surroundings of the robot: its extent, the ground, light, and the camera, far enough away to see all of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.pictures.animation_frames import drawing_of, upward
from tauforge.pictures.in_space import FLAT, STEEP
from tauforge.robots.robot import Robot
from tauforge.viewer.figure import turns_from_z

GROUND_SIDE = 3.0  # of the robot's extent
CELLS = 24
EYE = np.array([1.0, -1.25, 0.75])  # direction from the robot to the eye, with z up
EYE_DISTANCE = 1.75  # of the robot's extent
FIELD_OF_VIEW = 0.75  # rad
AT_THE_START = 1e-3  # of the robot's extent: so near the eye is where it began
# Light from all sides, with its colours, and a lamp above and to the left of the eye. Together they give a side that
# the eye sees about pi, and then it has the colour that the legend says.
SKY, EARTH, SKY_LIGHT = (255, 255, 255), (185, 192, 205), 2.2
LAMP, LAMP_LIGHT = np.array([-0.7, 1.0, 1.0]), 2.2  # its direction: along right, up and eye
VIEW_MARGIN = 1.1  # of the ball about what is to be seen


class Surroundings(NamedTuple):
    """size: m, the robot's extent; middle: (3,) of it; up: (3,) against gravity; ground: (3,) on the ground.

    eye: (3,) unit vector, the direction from the robot to the eye
    """

    size: float
    middle: Array
    up: Array
    ground: Array
    eye: Array


def surroundings(robot: Robot, extent: tuple[Array, Array] | None = None) -> Surroundings:
    """Measures the surroundings of a robot; UnsupportedFeatureError for one without a drawing.

    extent: (3,) the smallest and the largest coordinates to be seen, m; default those of the drawing
    """
    drawing = drawing_of(robot, np.asarray(robot.positions.default, float))
    low, high = drawing.extent if extent is None else extent
    up, middle = upward(robot), (low + high) / 2
    foot = next((frame.transform[:3, 3] for frame in drawing.frames if frame.name == "base"), low)
    size = float(np.linalg.norm(high - low)) or 1.0
    side = EYE / np.linalg.norm(EYE)
    if np.abs(up) @ (high - low) < FLAT * size:  # what lies flat is seen from above
        level = np.array([*side[:2], 0.0]) / np.linalg.norm(side[:2])
        side = np.cos(np.radians(STEEP)) * level + np.sin(np.radians(STEEP)) * np.array([0.0, 0.0, 1.0])
    return Surroundings(size, middle, up, middle + up * (up @ (foot - middle)), _upright(up) @ side)


def furnish(server: Any, around: Surroundings) -> None:
    """Sets ground, light, up direction and camera of viser's server."""
    server.scene.set_up_direction(tuple(around.up))
    _light(server.scene, around)
    side = GROUND_SIDE * around.size
    cells = {"cell_size": side / CELLS, "section_size": side / CELLS * 4}
    turn = turns_from_z(around.up[None])[0]
    server.scene.add_grid("/ground", side, side, **cells, wxyz=turn, position=around.ground)
    eye = around.middle + EYE_DISTANCE * around.size * around.eye
    camera = server.initial_camera
    camera.up, camera.look_at, camera.position = tuple(around.up), tuple(around.middle), tuple(eye)
    camera.fov = FIELD_OF_VIEW

    async def step_back(tab: Any) -> None:
        """Moves the eye farther away in a tall window, as a phone's, so that the robot is whole.

        A tab says when its eye is at the place that all begin at: at first, perhaps before it knows its own size, and
        after "Reset view". What it does before is overridden there.
        """
        begins = np.allclose(tab.position, eye, rtol=0, atol=AT_THE_START * around.size)
        if begins and 0 < tab.aspect < 1 - AT_THE_START:
            look(tab, around.middle + (eye - around.middle) / tab.aspect, around.middle)

    async def connected(client: Any) -> None:
        client.camera.on_update(step_back)
        await step_back(client.camera)

    server.on_client_connect(connected)


def _light(scene: Any, around: Surroundings) -> None:
    """Adds light without shadows and reflections, which take most of the time where a browser has no GPU."""
    scene.configure_default_lights(enabled=False, cast_shadow=False)
    scene.configure_environment_map(None)
    look = {"sky_color": SKY, "ground_color": EARTH, "intensity": SKY_LIGHT}
    scene.add_light_hemisphere("/sky", **look, position=tuple(around.up))
    right = np.cross(around.up, around.eye)
    lamp = LAMP @ np.array([right / np.linalg.norm(right), around.up, around.eye])
    scene.add_light_directional("/lamp", intensity=LAMP_LIGHT, position=tuple(lamp))


def _upright(up: Array) -> Array:
    """(3, 3) a rotation whose third column is up."""
    beside = np.cross(np.eye(3)[np.abs(up).argmin()], up)
    beside /= np.linalg.norm(beside)
    return np.column_stack([np.cross(beside, up), beside, up]) if abs(up[2]) < 1 else np.diag([1.0, 1.0, up[2]])


def frame(camera: Any, low: Array, high: Array) -> None:
    """Looks at a box (3,), (3,) m from the same side as before, from where all of it is in sight.

    camera: viser's, of one tab
    """
    middle = (low + high) / 2
    radius = VIEW_MARGIN * float(np.linalg.norm(high - low)) / 2
    way = np.asarray(camera.position) - np.asarray(camera.look_at)
    distance = radius / math.sin(half_angle(camera.fov, camera.aspect))
    look(camera, middle + distance * way / np.linalg.norm(way), middle)


def look(camera: Any, eye: Array, at: Array) -> None:
    """Makes the camera look from a place (3,) to another (3,) m, whatever the tab has told of its eye before.

    camera: viser's, of one tab
    """
    camera.position = eye  # viser moves with it what is looked at, so that is said last
    camera.look_at = at


def half_angle(field_of_view: float, aspect: float) -> float:
    """Half of the narrower of the two fields of view, rad; the vertical one is given.

    aspect: width over height of the picture
    """
    vertical = field_of_view / 2
    return min(vertical, math.atan(aspect * math.tan(vertical)))
