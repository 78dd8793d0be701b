"""Objects of a platform behind the contract's capabilities: poses, sensors, formulations, the moved body.

Beside them are the home pose and random states around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.dual import derivative, seeded
from tauforge.algebra.rotations import angle_rates
from tauforge.algebra.scalars import Scalars
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import SingularityError, UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.stewart import EXACT, FIXED_BASE_MODELS, MASSLESS, MODELS, STEWART_MODELS
from tauforge.formulations.stewart.dasgupta1998 import DasguptaCorrections
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.capabilities import Sensors
from tauforge.robots.formulations import Formulations, Simplification
from tauforge.robots.poses import pose_of, pose_rates, transforms, twists
from tauforge.robots.positions import MovedBody, Positions
from tauforge.robots.records import Sensor
from tauforge.robots.stewart import formulas
from tauforge.robots.stewart.field_checks import SPHERICAL, UNIVERSAL
from tauforge.robots.stewart.limits import pictured_pose, pose_within_limits
from tauforge.robots.stewart.model import PlatformModel
from tauforge.robots.stewart.pose_search import default_guess

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

REACH, TILT = 0.08, 0.15  # of the base's size; rad: how far random poses are from home, at most
HOME_HEIGHTS = np.linspace(0.2, 2.0, 91)  # of the base's size: heights that are tried for the home pose
WELL_HELD = 1e3  # condition number of H below which a random pose is taken
MAX_DRAWS = 200  # most rounds of drawing poses


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


@ours
class LegSensors(Sensors):
    """The lengths of the legs."""

    robot: StewartPlatform

    quantities = tuple(Sensor(f"l{i}", "m") for i in range(1, LEGS + 1))

    def motion(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        moved = self.robot.leg_motion(position, velocity)
        return moved.lengths, moved.rates

    def poses(self, measured: Array, guess: ArrayLike | None = None) -> Array:
        return self.robot.track(measured, default_guess(self.robot, measured[0]) if guess is None else guess)

    def check_guess(self, guess: ArrayLike | None) -> None:
        """Several poses have the same lengths."""


@ours
class MovedPlatform(MovedBody):
    """The matrix H maps the forces of the legs to the wrench on the platform."""

    robot: StewartPlatform
    name = "platform"
    maps_forces = True

    def frames(self, position: Array) -> Array:
        return transforms(position)

    def towards(self, pose: Array, near: Array) -> Array:
        return pose_within_limits(self.robot, near, self.robot.positions.error(pose_of(pose), near))

    def condition(self, position: Array, characteristic_length: float | None = None) -> Array:
        return self.robot.condition_number(position, characteristic_length)

    def velocity_matrix(self, model: PlatformModel, position: Scalars) -> Sequence[Scalars]:
        return formulas.force_matrix(model, position)

    def singularity(self, position: Array) -> Array:
        """det H."""
        return np.asarray(np.linalg.det(self.robot.force_matrix(position)))


def fitting(platform: PlatformDescription) -> tuple[str, ...]:
    """Models that fit the base joints."""
    universal = platform.base_joint == UNIVERSAL
    return tuple(name for name in STEWART_MODELS if universal or name == EXACT or not MODELS[name].universal_only)


def corrections(model: str, given: Any) -> tuple[str, ...]:
    """The names of the corrections; UnsupportedFeatureError unless the model has them."""
    known = MODELS[model].corrections if model in MODELS else ()
    iterable = isinstance(given, Iterable) and not isinstance(given, str)
    names = tuple(given) if iterable else (given,)
    unknown = [name for name in names if not iterable or name not in known]
    if unknown:
        if not known:
            problem = f"the model {model} takes no corrections, got {unknown[0]!r}"
            raise UnsupportedFeatureError(problem, field="corrections")
        remedy = f"Give a sequence of names among {', '.join(known)}"
        raise UnsupportedFeatureError(f"{model} has no correction {unknown[0]!r}", field="corrections", remedy=remedy)
    return names


def check_moving_base(platform: PlatformDescription, model: str = EXACT) -> None:
    """UnsupportedFeatureError where the model, or the friction of the platform, needs a base at rest."""
    if model in FIXED_BASE_MODELS:
        problem = f"{model} does not take a moving base"
        remedy = f"Use one of {', '.join(name for name in fitting(platform) if name not in FIXED_BASE_MODELS)}"
        raise UnsupportedFeatureError(problem, field="base_motion", remedy=remedy)
    if platform.base_joint == SPHERICAL and platform.friction[0] != 0:
        raise UnsupportedFeatureError(
            f"on a base that turns, the friction of spherical base joints, {platform.friction[0]:g} N m s, would turn "
            "a leg about itself, and nothing holds its spin",
            field="base_motion",
            remedy="Give 0 as the first coefficient of friction. An acceleration alone is a change of gravity",
        )


DASGUPTA, PEDRAMMEHR = "Dasgupta & Mruthyunjaya 1998", "Pedrammehr et al. 2012"
SPIN, ALONG_C, TWICE = DasguptaCorrections._fields
SIMPLIFICATIONS = (
    Simplification(
        "massless legs, joints and drives without friction and rotors", f"Fichter 1986; {DASGUPTA} eq. 41", MASSLESS, ()
    ),
    Simplification("no leg spin", f"{DASGUPTA} eqs 6, 8, 9", "dasgupta1998", (ALONG_C, TWICE)),
    Simplification("moment along the leg", f"{DASGUPTA} eqs 17, 20, 21, 29", "dasgupta1998", (SPIN, TWICE)),
    Simplification(
        "parallel axis counted twice, upper part along the leg", f"{DASGUPTA} eq. 16", "dasgupta1998", (SPIN, ALONG_C)
    ),
    Simplification(
        "parallel axis counted twice, both parts of the legs",
        f"{PEDRAMMEHR} eqs 32, 33",
        "pedrammehr2012",
        ("platform_once",),
    ),
    Simplification("parallel axis counted twice, platform", f"{PEDRAMMEHR} eq. 50", "pedrammehr2012", ("legs_once",)),
    Simplification(f"{DASGUPTA} as published", "all of its own", "dasgupta1998", ()),
    Simplification(f"{PEDRAMMEHR} as published", "all of its own, vector form", "pedrammehr2012", ()),
    Simplification(f"{PEDRAMMEHR}, closed form as published", "eqs 41-43, 48, 51", "pedrammehr2012-closed", ()),
)


@ours
class PlatformFormulations(Formulations):
    """Those of `tauforge.STEWART_MODELS` that fit the platform."""

    robot: StewartPlatform
    option = "model"

    def __init__(self, robot: StewartPlatform) -> None:
        super().__init__(robot)
        self.names = fitting(robot)

    def check(self, name: object) -> None:
        if name not in STEWART_MODELS:
            remedy = f"Use one of {', '.join(STEWART_MODELS)}"
            raise UnsupportedFeatureError(f"unknown model {name!r}", field="model", remedy=remedy)
        if name not in self.names:
            problem = (
                f"{name} has the equations of universal joints at the base; {self.robot.name} has"
                f" {self.robot.base_joint} ones"
            )
            raise UnsupportedFeatureError(problem, field="model", remedy=f"Use one of {', '.join(self.names)}")

    @property
    def simplifications(self) -> tuple[Simplification, ...]:
        return tuple(entry for entry in SIMPLIFICATIONS if entry.model in self.names)


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
    problem = f"{platform.name}: no pose near home is within the limits and away from singularities"
    raise SingularityError(problem, pose=home.tolist(), condition_number=float(platform.condition_number(home)))


def _size(platform: StewartPlatform) -> float:
    return float(np.ptp(np.array(platform.base_points), axis=0).max())
