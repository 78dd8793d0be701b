"""Sample states of a Stewart platform: its home pose, and random states around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import SingularityError
from tauforge.robots.stewart.pose_search import default_guess

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

REACH, TILT = 0.08, 0.15  # of the base's size; rad: how far random poses are from home, at most
HOME_HEIGHTS = np.linspace(0.2, 2.0, 91)  # of the base's size: heights that are tried for the home pose
WELL_HELD = 1e3  # condition number of H below which a random pose is taken
MAX_DRAWS = 200  # most rounds of drawing poses


def home_pose(platform: StewartPlatform) -> Array:
    """(6,): all legs at mid-stroke; without strokes, level above the base at the height where H is best conditioned."""
    if platform.stroke is not None:
        return platform.forward_kinematics(np.mean(platform.stroke, axis=1))
    size = _size(platform)
    poses = np.repeat(default_guess(platform, np.full(6, size))[None], len(HOME_HEIGHTS), axis=0)
    poses[:, 2] = np.mean(platform.base_points, axis=0)[2] + size * HOME_HEIGHTS
    return np.asarray(poses[int(np.argmin(platform.condition_number(poses, size)))])


def random_states(platform: StewartPlatform, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Poses around home within the limits, twists and accelerations of order one: (count, 6) each, base frame.

    It raises SingularityError if there are no poses around home that the legs can hold.
    """
    random = np.random.default_rng(seed)
    home = home_pose(platform)
    spread = np.r_[np.full(3, REACH * _size(platform)), np.full(3, TILT)]
    poses = np.empty((0, 6))
    for _ in range(MAX_DRAWS):
        tried = home + spread * random.uniform(-1, 1, (count, 6))
        held = platform.condition_number(tried) < WELL_HELD
        poses = np.concatenate([poses, tried[held & platform.within_limits(tried).hold]])[:count]
        if len(poses) == count:
            twist, acceleration = random.normal(size=(2, count, 6))
            return poses, twist, acceleration
    raise SingularityError(
        f"{platform.name}: no pose near home is within the limits and away from singularities",
        pose=home.tolist(),
        condition_number=float(platform.condition_number(home)),
    )


def _size(platform: StewartPlatform) -> float:
    return float(np.ptp(np.array(platform.base_points), axis=0).max())
