"""Positions of a platform: poses, beside whose numbers velocities are twists."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tauforge.algebra.dual import derivative, seeded
from tauforge.algebra.rotations import angle_rates
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.evaluation.unmodified import ours
from tauforge.robots.poses import pose_rates, twists
from tauforge.robots.positions import Positions
from tauforge.robots.stewart.fitting_pose import pictured_pose

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


@ours
class PoseCoordinates(Positions):
    """Poses of the platform, with the twists of its origin."""

    robot: StewartPlatform
    pose = range(6)
    turning = ((3, 4, 5),)

    @computed_once
    def default(self) -> Array:
        return pictured_pose(self.robot)

    def rates(self, position: Array, velocity: Array, acceleration: Array | None = None) -> tuple[Array, Array]:
        return pose_rates(position, velocity, acceleration)

    def from_rates(self, position: Array, rates: Array, second_rates: Array) -> tuple[Array, Array]:
        return twists(position, rates, second_rates)

    def rate_derivatives(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        given = np.broadcast_arrays(position, velocity)
        pose, twist = (seeded(np.moveaxis(x, -1, 0), 6 * k) for k, x in enumerate(given))
        rates = [*twist[:3], *angle_rates(Vector(*pose[3:]), Vector(*twist[3:]))]
        slopes = np.empty((*given[0].shape[:-1], 6, 12))
        for (i, rate), k in product(enumerate(rates), range(12)):
            slopes[..., i, k] = derivative(rate, k)
        return slopes[..., :6], slopes[..., 6:]
