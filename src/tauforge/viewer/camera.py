"""A tab's eye: how far away it must be to see all of something."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tauforge.arrays import Array

MARGIN = 1.1  # of the ball about what is to be seen


def frame(camera: Any, low: Array, high: Array) -> None:
    """Looks at a box (3,), (3,) m from the same side as before, from where all of it is in sight.

    camera: viser's, of one tab
    """
    middle = (low + high) / 2
    radius = MARGIN * float(np.linalg.norm(high - low)) / 2
    way = np.asarray(camera.position) - np.asarray(camera.look_at)
    distance = radius / math.sin(half_angle(camera.fov, camera.aspect))
    look(camera, middle + distance * way / np.linalg.norm(way), middle)


def look(camera: Any, eye: Array, at: Array) -> None:
    """From a place (3,) to another (3,) m, whatever the tab has told of its eye before.

    camera: viser's, of one tab
    """
    camera.position = eye  # viser moves with it what is looked at, so that is said last
    camera.look_at = at


def half_angle(field_of_view: float, aspect: float) -> float:
    """rad, half of the narrower of the two fields of view; the vertical one is given.

    aspect: width over height of the picture
    """
    vertical = field_of_view / 2
    return min(vertical, math.atan(aspect * math.tan(vertical)))
