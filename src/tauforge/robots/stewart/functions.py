"""The table of a platform's functions: formulas with their arguments, guards, and results with names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.algebra.condition import SURE
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.evaluation.condition import by_singular_values, condition_numbers
from tauforge.evaluation.functions import Argument, Function, FunctionTable, Guard, Verdict
from tauforge.formulations.stewart import EXACT, MASSLESS
from tauforge.formulations.stewart.universal_coordinates import ALONG_AXIS
from tauforge.robots.loads import BASE_MOTION, PAYLOAD
from tauforge.robots.stewart import formulas
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

SINGULAR_FORCE_MATRIX = 1e12  # condition number of H above which there is no answer
SINGULAR_MASS = 1e15  # of a mass matrix without an inverse
SUSPICIOUS_SPEED = 1e6  # of twists beside the legs' speeds: the condition number is looked at
Arguments = Mapping[str, Array]
Results = tuple[Array, ...]


def judge_force_matrix(
    platform: StewartPlatform, arguments: Arguments, results: Results, options: Mapping[str, Any], turning: bool = True
) -> Verdict:
    """Refuses rows where H is singular, or a leg lies along its universal joint's fixed axis and cannot turn.

    turning: False for rates of the legs alone, which do not turn them
    """
    poses = arguments["pose"].astype(float)
    H = platform.force_matrix(poses)
    conditions = condition_numbers(H)
    sines = np.ones(H.shape[:-1])
    if turning and options.get("model") != MASSLESS and platform.universal_axes is not None:
        axes = np.array(platform.universal_axes)
        sines = np.linalg.norm(np.cross(axes, np.swapaxes(H[..., :3, :], -1, -2)), axis=-1)
    along = sines < ALONG_AXIS
    lost = np.isnan(conditions) | (conditions > SINGULAR_FORCE_MATRIX)
    reasons = [
        f"leg {int(np.argmin(sine)) + 1} lies along the fixed axis of its universal joint"
        if (sine < ALONG_AXIS).any() and not singular
        else "the legs cannot hold the platform"
        for sine, singular in zip(sines, lost, strict=True)
    ]
    refused = lost | along.any(axis=-1) | _spoilt(results)
    return Verdict(refused, reasons, poses, np.where(np.isnan(conditions), np.inf, conditions))


def judge_mass_matrix(
    platform: StewartPlatform, arguments: Arguments, results: Results, options: Mapping[str, Any]
) -> Verdict:
    """Refuses rows whose mass matrix has no inverse."""
    own = {name: arguments[name].astype(float) for name in ("pose", "payload") if name in arguments}
    conditions = condition_numbers(platform._evaluator("mass_matrix", own)[0])
    conditions = np.where(np.isnan(conditions), np.inf, conditions)
    refused = (conditions > SINGULAR_MASS) | _spoilt(results)
    return Verdict(refused, ["the mass matrix has no inverse"] * len(refused), own["pose"], conditions)


def _spoilt(results: Results) -> Array:
    """(k,) rows with a result that is not finite."""
    return np.asarray(
        ~np.all([np.isfinite(result).reshape(len(result), -1).all(axis=-1) for result in results], axis=0)
    )


def better_condition_numbers(platform: StewartPlatform, arguments: Mapping[str, Array]) -> tuple[Array, ...]:
    H = np.array(platform._evaluator("force_matrix", {"pose": arguments["pose"]})[0])
    if "characteristic_length" in arguments:
        H[:, 3:] /= arguments["characteristic_length"][:, :, None]
    return (by_singular_values(H),)


@summarised
@with_field_docs
class LegMotions(NamedTuple):
    """Motion of each of the six legs; vectors in base axes. D and P are the papers' equations.

    lengths:                 (..., 6) m, between the joints of a leg
    rates:                   (..., 6) m/s, of the lengths
    accelerations:           (..., 6) m/s^2, of the lengths
    spins:                   (..., 6) rad/s, of the leg about itself; 0 between two spherical joints
    spin_rates:              (..., 6) rad/s^2, of the leg about itself
    angular_velocities:      (..., 6, 3) rad/s, of the leg
    angular_accelerations:   (..., 6, 3) rad/s^2, of the leg
    directions:              (..., 6, 3) unit vectors s from the base joint to the platform joint
    universal_angles:        (..., 6, 2) rad, about the fixed axis, from the base's z; and out of the plane across it;
                             None where the base joints are spherical, which have no axis
    spherical_angles:        (..., 6) rad, between the leg and the platform joint's axis (default the platform's z)
    universal_rates:         (..., 6, 2) rad/s, of the leg about the joint's fixed axis u and about the moving one
                             v = u x s / |u x s| (P13, P14); None as above
    universal_accelerations: (..., 6, 2) rad/s^2, components of the angular acceleration along u and v (P18-P21); that
                             along u x v is the product of both rates; None as above
    joint_accelerations:     (..., 6, 3) m/s^2, of the platform joints (D7)
    """

    lengths: Array
    rates: Array
    accelerations: Array
    spins: Array
    spin_rates: Array
    angular_velocities: Array
    angular_accelerations: Array
    directions: Array
    universal_angles: Array | None
    spherical_angles: Array
    universal_rates: Array | None
    universal_accelerations: Array | None
    joint_accelerations: Array


@summarised
@with_field_docs
class LegBodies(NamedTuple):
    """Both parts of each of the six legs, in base axes. The lower part turns in the base joint, the upper one slides.

    axes:                (..., 6, 3, 3) base <- leg (D10): x along the leg, y along k x leg
    lower_centres:       (..., 6, 3) m, mass centres of the lower parts in the base frame
    upper_centres:       (..., 6, 3) m, of the upper parts
    lower_accelerations: (..., 6, 3) m/s^2, of these centres
    upper_accelerations: (..., 6, 3) m/s^2
    lower_inertias:      (..., 6, 3, 3) kg m^2, about these centres
    upper_inertias:      (..., 6, 3, 3) kg m^2
    """

    axes: Array
    lower_centres: Array
    upper_centres: Array
    lower_accelerations: Array
    upper_accelerations: Array
    lower_inertias: Array
    upper_inertias: Array


@summarised
@with_field_docs
class JointReactions(NamedTuple):
    """Force (N) and moment (N m) of one body on the next at every joint, each (..., 6 legs, 6), base axes.

    universal: of the base on the lower part of the leg, at the base joint; if that is spherical, its only moment is
               friction
    prismatic: of the lower part on the upper part of the leg, about the base joint; actuator and friction included
    spherical: of the platform on the upper part of the leg, at the platform joint
    """

    universal: Array
    prismatic: Array
    spherical: Array


MEANINGS = {
    "pose": "x, y, z, theta_x, theta_y, theta_z",
    "guess": "x, y, z, theta_x, theta_y, theta_z",
    "twist": "velocity and angular velocity",
    "acceleration": "acceleration and angular acceleration",
    "external_wrench": "force and moment at the platform's origin",
}


def six(*names: str) -> tuple[Argument, ...]:
    """Arguments of six numbers each."""
    return tuple(Argument(name, (6,), MEANINGS.get(name, "one for each leg")) for name in names)


POSE, MOVING, ACCELERATED = six("pose"), six("pose", "twist"), six("pose", "twist", "acceleration")
FORCED = six("pose", "twist", "leg_forces")
HELD, LOADS, AXES = (PAYLOAD,), (*six("external_wrench"), PAYLOAD, BASE_MOTION), {"platform_axes": False}
MODEL = {"model": EXACT, "corrections": ""}
CHARACTERISTIC_LENGTH = Argument("characteristic_length", (1,), "a length that divides the moments")
SIX, SQUARE = ((6,),), ((6, 6),)
JOINTS = ("base_joints", "prismatic_joints", "platform_joints")
BY_STATE = ("dforces_dpose", "dforces_dtwist", "dforces_dacceleration")
BY_STATE_AND_FORCES = ("dacceleration_dpose", "dacceleration_dtwist", "dacceleration_dforces")
QUATERNION_POSE = Argument("state", (7,), "x, y, z and a quaternion")
FORCES, MASSES = Guard(1.0, judge_force_matrix), Guard(1.0, judge_mass_matrix)
SPEEDS = Guard(SUSPICIOUS_SPEED, partial(judge_force_matrix, turning=False))
RATIO = Guard(SURE, mend=better_condition_numbers)
by_steps = partial(Function, quick=False)  # the method does more than to call the kernel
PLATFORM_FUNCTIONS: dict[str, Function] = {
    "inverse_dynamics": Function(
        formulas.inverse_dynamics, ACCELERATED, SIX, LOADS, MODEL | AXES, FORCES, names=("leg_forces",)
    ),
    "forward_dynamics": Function(formulas.forward_dynamics, FORCED, SIX, LOADS, AXES, MASSES, names=("acceleration",)),
    "inverse_dynamics_derivatives": Function(
        formulas.inverse_dynamics_derivatives, ACCELERATED, SQUARE * 3, HELD, guard=FORCES, names=BY_STATE
    ),
    "forward_dynamics_derivatives": Function(
        formulas.forward_dynamics_derivatives, FORCED, SQUARE * 3, HELD, guard=MASSES, names=BY_STATE_AND_FORCES
    ),
    "mass_matrix": Function(formulas.mass_matrix, POSE, SQUARE, HELD),
    "bias_wrench": Function(formulas.bias_wrench, MOVING, SIX, HELD),
    "force_matrix": Function(formulas.force_matrix, POSE, SQUARE),
    "inverse_kinematics": Function(formulas.inverse_kinematics, POSE, SIX, names=("lengths",)),
    "leg_motion": by_steps(
        formulas.leg_motion,
        ACCELERATED,
        (*SIX * 5, *((6, 3),) * 3, (6, 2), (6,), (6, 2), (6, 2), (6, 3)),
        options={"spin": True},
        names=LegMotions._fields,
    ),
    "leg_bodies": by_steps(
        formulas.leg_bodies, ACCELERATED, ((6, 3, 3), *((6, 3),) * 4, *((6, 3, 3),) * 2), names=LegBodies._fields
    ),
    "condition_number": Function(formulas.condition_number, POSE, ((),), (CHARACTERISTIC_LENGTH,), guard=RATIO),
    "joint_reactions": by_steps(formulas.joint_reactions, ACCELERATED, SQUARE * 3, LOADS, AXES, FORCES, names=JOINTS),
    "energy": Function(formulas.energy, MOVING, ((), ()), HELD, names=("kinetic", "potential")),
    "twist_of": by_steps(formulas.twist_of, six("pose", "rates"), SIX, guard=SPEEDS, names=("twist",)),
    "acceleration_of": by_steps(
        formulas.acceleration_of, six("pose", "twist", "accelerations"), SIX, names=("acceleration",)
    ),
    "tracked_pose": by_steps(formulas.tracked_pose, six("lengths", "guess"), ((6,), ()), names=("pose", "residual")),
    "refine": by_steps(formulas.refine, (*six("lengths"), QUATERNION_POSE), ((7,), ()), names=("refined", "residual")),
}


@cache
def function_table(limits: int, told: int) -> FunctionTable:
    """The functions of a platform with so many limits of its pose, of which `nearest_limits` tells so many numbers."""
    if not limits:
        return PLATFORM_FUNCTIONS
    return {
        **PLATFORM_FUNCTIONS,
        "limit_margins": Function(formulas.limit_margins, POSE, ((limits,),), names=("margins",)),
        "nearest_limits": Function(formulas.nearest_limits, POSE, ((told,),), names=("nearest",)),
    }
