"""Positions and coordinates of a robot, loops that must close, and the body that it moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Capability
from tauforge.robots.records import Coordinate

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot


@ours
class Positions(Capability):
    """Positions (..., N) and coordinates (..., n) of a robot, its velocities and the rates of coordinates.

    By default a position is its coordinates, and velocities are their rates.
    """

    @property
    def entries(self) -> tuple[Coordinate, ...]:
        """One for each number of a position."""
        found: tuple[Coordinate, ...] = self.robot.coordinates
        return found

    @computed_once
    def size(self) -> int:
        """N, the number of entries."""
        return len(self.entries)

    @property
    def pose(self) -> Sequence[int]:
        """Places of the six coordinates that are the pose of the moved body: x, y, z and three angles.

        Velocities are then its twists. Empty where coordinates are no pose.
        """
        return ()

    @property
    def turning(self) -> Sequence[Sequence[int]]:
        """Places among the coordinates of angles whose velocities are angular velocities, joint by joint.

        All other velocities are the rates of their coordinates.
        """
        return ()

    @property
    def default(self) -> Array:
        """(N,) where pictures show the robot, and maps hold what they do not vary.

        A little beside the middle of each range, to one side and the other in turn: links do not hide one another.
        """
        low, high = np.transpose([c.usual_range for c in self.robot.coordinates])
        return np.asarray(low + np.where(np.arange(self.robot.n) % 2, 0.4, 0.6) * (high - low))

    def coordinates(self, position: Array) -> Array:
        """The coordinates (..., n) of positions (..., N)."""
        return position

    def at(self, coordinates: Array, near: Array | None = None, *, on_failure: str = "raise") -> Array:
        """Positions (..., N) from coordinates (..., n), or from positions that are nearly right.

        near:       (..., N) decides where there are several
        on_failure: "raise", or "nan" for rows where there is none
        """
        return coordinates

    def slopes(self, position: Array) -> Array:
        """(..., N, n) derivatives of positions (..., N) by their coordinates."""
        return np.broadcast_to(np.eye(self.robot.n), (*position.shape, self.robot.n))

    def error(self, target: Array, position: Array) -> Array:
        """target - position, (..., n), the short way round. target: coordinates (..., n), as motions give them"""
        error, wrapped = np.asarray(target - position), self._wrapped
        if wrapped:
            error[..., wrapped] = np.remainder(error[..., wrapped] + np.pi, 2 * np.pi) - np.pi
        return error

    @computed_once
    def _wrapped(self) -> list[int]:
        """The places of coordinates that a full turn leaves unchanged."""
        return [i for i, coordinate in enumerate(self.robot.coordinates) if coordinate.wraps]

    def rates(self, position: Array, velocity: Array, acceleration: Array | None = None) -> tuple[Array, Array]:
        """First and second time derivatives of the coordinates, (..., n) each; the second without acceleration is that
        of a motion whose acceleration is 0.
        """
        return velocity, np.zeros_like(velocity) if acceleration is None else acceleration

    def from_rates(self, position: Array, rates: Array, second_rates: Array) -> tuple[Array, Array]:
        """Velocity and acceleration from the time derivatives of the coordinates. Identity: undoes `rates`."""
        return rates, second_rates

    def rate_derivatives(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        """Derivatives of the coordinates' first rates by position and by velocity, each (..., n, n)."""
        n = self.robot.n
        shape = (*np.broadcast_shapes(np.shape(position)[:-1], np.shape(velocity)[:-1]), n, n)
        return np.zeros(shape), np.array(np.broadcast_to(np.eye(n), shape))


@ours
class Loops(Capability, ABC):
    """Loops that must be closed: some coordinates have no position, others have several, one for each assembly."""

    @abstractmethod
    def condition(self, position: Array) -> Array:
        """(...) infinite where two ways to assemble the robot meet, and only there; large near that."""


@ours
class MovedBody(Capability, ABC):
    """The body that the actuators move: the tool of an arm, the platform of a hexapod.

    name:        as drawings call its frame
    maps_forces: which way `velocity_matrix` maps
    """

    maps_forces: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def frames(self, position: Array) -> Array:
        """(..., 4, 4) world <- body at positions (..., N), as drawings show it."""

    @abstractmethod
    def towards(self, pose: Array, near: Array) -> Array:
        """The position (N,) from which the body is nearest to a pose, within the limits and from a position near.

        pose: (4, 4) world <- body; near: (N,)
        """

    def jacobian(self, position: Array) -> Array | None:
        """(..., 6, n) velocity of the body's origin and its angular velocity, by the velocity, world axes, at positions
        (..., N). None where it is not known.
        """
        return None

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array | None:
        """(...) ratio of the largest and smallest singular values of the matrix between the velocities of the actuators
        and of the body, in SI units: large near a singularity. None where there is no such matrix.

        characteristic_length: m, multiplies angular velocities and divides moments; None is 1 m
        """
        return None

    def velocity_matrix(self, model: Any, position: Scalars) -> Sequence[Scalars] | None:
        """The matrix between the velocities of the actuators and of the body, or its transpose, over any scalar.

        model: as `Robot.varied_model` gives it. None where there is none.
        It maps velocities of the actuators to (6,) velocity and angular velocity of the body, or, where `maps_forces`,
        forces of the actuators to (6,) force and moment on the body.
        Identity: `condition` is the condition number of this matrix.
        """
        return None

    def singularity(self, position: Array) -> Array | None:
        """(k,) a number that changes its sign where the actuators lose control of the body; None if they never do."""
        return None


def body_name(robot: Robot) -> str:
    """The name of the moved body, or nothing."""
    return "" if robot.moved_body is None else robot.moved_body.name


def body_of(robot: Robot, field: str = "inverse_kinematics", lacking: str = "inverse kinematics") -> MovedBody:
    """UnsupportedFeatureError where a robot moves no body."""
    if robot.moved_body is None:
        raise UnsupportedFeatureError(f"{robot.name} has no {lacking}", field=field)
    return robot.moved_body


def condition(robot: Robot, position: Array, characteristic_length: float | None = None) -> Array | None:
    """(...) of the moved body; None where there is none, or it has none."""
    return None if robot.moved_body is None else robot.moved_body.condition(position, characteristic_length)


def singularity(robot: Robot, position: Array) -> Array | None:
    """(k,) of the moved body; None where there is none, or it has none."""
    return None if robot.moved_body is None else robot.moved_body.singularity(position)
