"""The platform as the body that the legs move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.robots.poses import pose_of, transforms
from tauforge.robots.positions import MovedBody, Scalars
from tauforge.robots.stewart.functions import PlatformModel, force_matrix
from tauforge.robots.stewart.limits import towards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tauforge.robots.stewart.stewart_platform import StewartPlatform


@ours
class MovedPlatform(MovedBody):
    """The matrix H maps the forces of the legs to the wrench on the platform."""

    robot: StewartPlatform
    name = "platform"
    maps_forces = True

    def frames(self, position: Array) -> Array:
        return transforms(position)

    def towards(self, pose: Array, near: Array) -> Array:
        return towards(self.robot, near, self.robot.positions.error(pose_of(pose), near))

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array:
        return self.robot.condition_number(position, characteristic_length)

    def velocity_matrix(self, model: PlatformModel, position: Scalars) -> Sequence[Scalars]:
        return force_matrix(model, position)

    def singularity(self, position: Array) -> Array:
        """det H."""
        return np.asarray(np.linalg.det(self.robot.force_matrix(position)))
