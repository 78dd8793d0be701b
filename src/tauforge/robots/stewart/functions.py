"""The functions of a Stewart platform as formulas over any scalar, and their table.

Every function takes the platform's model, then lists of scalars (a pose is x, y, z, theta_x, theta_y, theta_z with
R = Rz Ry Rx; a twist v, omega), and returns nested lists of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from tauforge.algebra import condition as conditions
from tauforge.algebra.linear import elimination
from tauforge.algebra.rotations import Quaternion, angles_of, angular_velocity, quaternion_of, rotation_of
from tauforge.algebra.scalars import Scalar, absolute, sqrt
from tauforge.algebra.vectors import E_Z, IDENTITY, ZERO, Matrix, Vector, cross, dot
from tauforge.evaluation.functions import Argument, Doubtful, Function, FunctionTable, Guard
from tauforge.formulations.bodies import NO_WRENCH, Wrench, body_of
from tauforge.formulations.stewart import (
    closed_form,
    dasgupta1998,
    derivatives,
    exact,
    forward_kinematics,
    lumping,
    massless_legs,
    pedrammehr2012,
    pedrammehr2012_closed,
    universal_coordinates,
)
from tauforge.formulations.stewart import energy as energies
from tauforge.formulations.stewart import limits as limits_of
from tauforge.formulations.stewart import reactions as joint_reactions_of
from tauforge.formulations.stewart.kinematics import leg_motion as motion_of
from tauforge.formulations.stewart.kinematics import leg_vector
from tauforge.formulations.stewart.limits import PlatformLimits
from tauforge.formulations.stewart.lumping import LumpedPlatform
from tauforge.formulations.stewart.moving_base import FIXED_BASE, MovingBase
from tauforge.formulations.stewart.parameters import LEGS, PlatformMotion, PlatformParameters, with_payload
from tauforge.formulations.stewart.platform_equations import force_matrix as matrix_of
from tauforge.formulations.stewart.platform_equations import leg_vectors
from tauforge.robots.loads import BASE_MOTION, PAYLOAD
from tauforge.robots.stewart import guards

Scalars = Sequence[Scalar]
TINY = 1e-300  # NaN and results that overflow count as doubtful, others of any size do not
LARGE = 1e6  # of twists beside the legs' speeds: the condition number is looked at
EXACT, MASSLESS, VECTORS = "exact", "massless-legs", "exact-vectors"
TRACKING_STEPS = 5  # of one call of the tracking kernel: enough from a centimetre and a degree away


class PlatformModel(NamedTuple):
    """The platform as described, and as the cheapest form wants it; and its limits."""

    parameters: PlatformParameters
    lumped: LumpedPlatform
    limits: PlatformLimits = PlatformLimits()
    platform_axes: tuple[Vector, ...] = (E_Z,) * LEGS  # of the platform joints, in the platform's frame


def motion(pose: Scalars, twist: Scalars | None = None, acceleration: Scalars | None = None) -> PlatformMotion:
    def halves(x: Scalars | None) -> tuple[Vector, Vector]:
        return (ZERO, ZERO) if x is None else (Vector(*x[:3]), Vector(*x[3:]))

    return PlatformMotion(Vector(*pose[:3]), rotation_of(Vector(*pose[3:])), *halves(twist), *halves(acceleration))


def external(R: Matrix, wrench: Scalars | None, platform_axes: bool) -> Wrench:
    if wrench is None:
        return NO_WRENCH
    force, moment = Vector(*wrench[:3]), Vector(*wrench[3:])
    return Wrench(R @ force, R @ moment) if platform_axes else Wrench(force, moment)


def model_carrying(model: PlatformModel, payload: Scalars | None) -> PlatformModel:
    """The model with the payload fixed to the platform.

    payload: mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the platform's frame
    """
    if payload is None:
        return model
    body = body_of(payload)
    return model._replace(
        parameters=with_payload(model.parameters, body), lumped=lumping.with_payload(model.lumped, body)
    )


def moving(base_motion: Scalars | None) -> MovingBase:
    if base_motion is None:
        return FIXED_BASE
    return MovingBase(Vector(*base_motion[:3]), Vector(*base_motion[3:6]), Vector(*base_motion[6:]))


class Model(NamedTuple):
    """A model of inverse dynamics, and the names of its switches.

    universal_only: its equations are those of a universal joint's axes at the base
    moving_base:    it takes a base that moves
    """

    inverse_dynamics: Callable[..., list[Scalar]]
    corrections: tuple[str, ...] = ()
    universal_only: bool = False
    moving_base: bool = False


def _dasgupta(p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool]) -> list[Scalar]:
    return dasgupta1998.inverse_dynamics(p, m, w, dasgupta1998.DasguptaCorrections(**chosen))


def _pedrammehr(p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool]) -> list[Scalar]:
    return pedrammehr2012.inverse_dynamics(p, m, w, pedrammehr2012.PedrammehrCorrections(**chosen))


def _closed(p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool]) -> list[Scalar]:
    terms = {name: value for name, value in chosen.items() if name in pedrammehr2012_closed.Terms._fields}
    rest = {name: value for name, value in chosen.items() if name not in terms}
    corrections = pedrammehr2012.PedrammehrCorrections(**rest)
    return pedrammehr2012_closed.inverse_dynamics(p, m, w, pedrammehr2012_closed.Terms(**terms), corrections)


def _vectors(
    p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool], base: MovingBase = FIXED_BASE
) -> list[Scalar]:
    return exact.inverse_dynamics(p, m, w, base)


def _massless(
    p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool], base: MovingBase = FIXED_BASE
) -> list[Scalar]:
    return massless_legs.inverse_dynamics(p, m, w, base)


MODELS = {
    "dasgupta1998": Model(_dasgupta, dasgupta1998.DasguptaCorrections._fields),
    "pedrammehr2012": Model(_pedrammehr, pedrammehr2012.PedrammehrCorrections._fields, universal_only=True),
    "pedrammehr2012-closed": Model(
        _closed,
        (*pedrammehr2012_closed.Terms._fields, *pedrammehr2012.PedrammehrCorrections._fields),
        universal_only=True,
    ),
    MASSLESS: Model(_massless, moving_base=True),
    VECTORS: Model(_vectors, moving_base=True),
}
FIXED_BASE_MODELS = frozenset(name for name, model in MODELS.items() if not model.moving_base)


def inverse_dynamics(
    platform: PlatformModel,
    /,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    model: str = EXACT,
    corrections: str = "",
    platform_axes: bool = False,
) -> Doubtful:
    """corrections: names of the model's switches, separated by blanks

    On a base that moves the exact model is evaluated in its vector form.
    """
    platform, m = model_carrying(platform, payload), motion(pose, twist, acceleration)
    w = external(m.R, external_wrench, platform_axes)
    if model == EXACT and base_motion is None:
        forces, doubt = universal_coordinates.inverse_dynamics_and_doubt(platform.lumped, m, w)
    else:
        chosen = dict.fromkeys(corrections.split(), True)
        more = () if base_motion is None else (moving(base_motion),)
        used = MODELS[VECTORS if model == EXACT else model]
        forces = used.inverse_dynamics(platform.parameters, m, w, chosen, *more)
        doubt = partial(doubt_of, platform, m, legs_turn=model != MASSLESS)
    return Doubtful(forces, lambda: doubt() + absolute(forces[0]) * TINY)


def doubt_of(platform: PlatformModel, m: PlatformMotion, *, legs_turn: bool = True) -> Scalar:
    """At least 1 where H may be singular or a leg may lie along its axis.

    It costs little: a model's own elimination is the same.
    """
    pivots = elimination(matrix_of(leg_vectors(platform.parameters, m)), [0.0] * LEGS)[1]
    legs = platform.parameters.legs if legs_turn else ()
    across = [cross(leg.k, leg_vector(leg, m.X, m.R).s) for leg in legs if leg.k is not None]
    return universal_coordinates.doubt(pivots, [sqrt(dot(x, x)) for x in across])


def forward_dynamics(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    leg_forces: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    platform_axes: bool = False,
) -> Doubtful:
    carrying, m = model_carrying(model, payload), motion(pose, twist)
    w = external(m.R, external_wrench, platform_axes)
    if base_motion is None:
        a, alpha, doubt = closed_form.forward_dynamics(carrying.lumped, m, leg_forces, w)
    else:
        base = moving(base_motion)
        a, alpha, doubt = closed_form.forward_dynamics_on_moving_base(
            carrying.lumped, carrying.parameters, m, leg_forces, base, w
        )
    return Doubtful([*a, *alpha], lambda: doubt + absolute(alpha.z) * TINY)


def mass_matrix(model: PlatformModel, pose: Scalars, payload: Scalars | None = None) -> list[list[Scalar]]:
    m = motion(pose)
    return closed_form.mass_matrix(model_carrying(model, payload).lumped, m.X, m.R)


def bias_wrench(model: PlatformModel, pose: Scalars, twist: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    return closed_form.bias_wrench(model_carrying(model, payload).lumped, motion(pose, twist))


def force_matrix(model: PlatformModel, pose: Scalars) -> list[list[Scalar]]:
    return matrix_of(leg_vectors(model.parameters, motion(pose)))


def inverse_kinematics(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    m = motion(pose)
    return [leg_vector(leg, m.X, m.R).L for leg in model.parameters.legs]


def leg_motion(model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars) -> list[list[Any]]:
    """Lengths, rates, accelerations, spins, spin rates; angular velocities and accelerations, directions, base axes;
    angles of the universal joints, 0 where there are none, and of the platform joints.
    """
    m = motion(pose, twist, acceleration)
    columns = []
    for leg, axis in zip(model.parameters.legs, model.platform_axes, strict=True):
        l = motion_of(leg, m)
        about = [0.0, 0.0] if leg.k is None else list(limits_of.universal_angles(leg.k, l.s))
        across = limits_of.angle_between(l.s, m.R @ axis)
        columns.append([l.L, l.Ldot, l.Lddot, l.spin, l.spin_rate, [*l.W], [*l.A], [*l.s], about, across])
    return [list(row) for row in zip(*columns, strict=True)]


def limit_margins(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    m = motion(pose)
    return limits_of.margins(model.parameters.legs, model.limits, m.X, m.R)


def nearest_limits(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    """What `within_limits` tells of a pose, side by side."""
    m = motion(pose)
    return limits_of.nearest(model.parameters.legs, model.limits, m.X, m.R)


def limit_tests(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    """Numbers with the signs of `limit_margins`, for less."""
    m = motion(pose)
    return limits_of.tests(model.parameters.legs, model.limits, m.X, m.R)


def condition_number(model: PlatformModel, pose: Scalars, characteristic_length: Scalars | None = None) -> Doubtful:
    """That of H, whose moments may be divided by a length."""
    H = force_matrix(model, pose)
    if characteristic_length is not None:
        scale = 1.0 / characteristic_length[0]
        H = [*H[:3], *([x * scale for x in row] for row in H[3:])]
    found = conditions.condition(H)
    return Doubtful([found.ratio], lambda: found.doubt)


def joint_reactions(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    platform_axes: bool = False,
) -> Doubtful:
    """Wrenches of the base, prismatic and platform joints of every leg."""
    m = motion(pose, twist, acceleration)
    w = external(m.R, external_wrench, platform_axes)
    legs = joint_reactions_of.reactions(model_carrying(model, payload).parameters, m, w, moving(base_motion))
    wrenches = [[[*leg[joint].force, *leg[joint].moment] for leg in legs] for joint in range(3)]
    return Doubtful(wrenches, lambda: doubt_of(model, m) + absolute(legs[0][0].force.x) * TINY)


def energy(model: PlatformModel, pose: Scalars, twist: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    """Kinetic, potential."""
    return list(energies.energies(model_carrying(model, payload).parameters, motion(pose, twist)))


def unit_turns(pose: Scalars) -> Matrix:
    """Its columns: the angular velocities of the three angles of the pose, each at unit rate."""
    return Matrix([angular_velocity(Vector(*pose[3:]), rates) for rates in IDENTITY.rows]).T


def inverse_dynamics_derivatives(
    model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars, payload: Scalars | None = None
) -> Doubtful:
    """dF/dpose, dF/dtwist and dF/dacceleration."""
    lumped, m = model_carrying(model, payload).lumped, motion(pose, twist, acceleration)
    slopes, doubt = derivatives.inverse_dynamics_slopes(lumped, m, unit_turns(pose))
    return Doubtful(list(slopes), lambda: doubt + absolute(slopes.pose[0][0]) * TINY)


def forward_dynamics_derivatives(
    model: PlatformModel, pose: Scalars, twist: Scalars, leg_forces: Scalars, payload: Scalars | None = None
) -> Doubtful:
    """da/dpose, da/dtwist and da/dF."""
    lumped, m = model_carrying(model, payload).lumped, motion(pose, twist)
    slopes, doubt = derivatives.forward_dynamics_slopes(lumped, m, leg_forces, unit_turns(pose))
    return Doubtful(list(slopes), lambda: doubt + absolute(slopes.pose[0][0]) * TINY)


def twist_of(model: PlatformModel, pose: Scalars, rates: Scalars) -> Doubtful:
    """The platform's twist from the rates of its legs. The doubt is how much faster than these it moves."""
    twist = forward_kinematics.twist(model.parameters, motion(pose), rates)
    fastest, slowest = (sum(absolute(x) for x in values) for values in (twist, rates))
    return Doubtful(twist, lambda: fastest / (slowest + TINY))


def acceleration_of(model: PlatformModel, pose: Scalars, twist: Scalars, accelerations: Scalars) -> list[Scalar]:
    """The platform's acceleration from those of its legs."""
    return forward_kinematics.acceleration(model.parameters, motion(pose, twist), accelerations)


def tracked_pose(model: PlatformModel, lengths: Scalars, guess: Scalars) -> list[Any]:
    """The pose after a few steps of Newton's method, and its residual."""
    state = forward_kinematics.Guess(Vector(*guess[:3]), quaternion_of(Vector(*guess[3:])))
    state = newton(model, lengths, state, TRACKING_STEPS)
    pose = [*state.X, *angles_of(state.orientation.rotation())]
    return [pose, forward_kinematics.residual(model.parameters.legs, lengths, state)]


def newton(
    model: PlatformModel, lengths: Scalars, state: forward_kinematics.Guess, steps: int
) -> forward_kinematics.Guess:
    for _ in range(steps):
        state = forward_kinematics.step(model.parameters.legs, lengths, state)
    return state


def refine(model: PlatformModel, lengths: Scalars, state: Scalars) -> list[Any]:
    """A few steps on x, y, z and a quaternion, for many starts at once: the new state and its residual."""
    found = forward_kinematics.Guess(Vector(*state[:3]), Quaternion(*state[3:]))
    found = newton(model, lengths, found, TRACKING_STEPS)
    residual = forward_kinematics.residual(model.parameters.legs, lengths, found)
    return [[*found.X, *found.orientation], residual]


def six(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, (6,), MEANINGS.get(name, "one for each leg")) for name in names)


MEANINGS = {
    "pose": "x, y, z, theta_x, theta_y, theta_z",
    "guess": "x, y, z, theta_x, theta_y, theta_z",
    "twist": "velocity and angular velocity",
    "acceleration": "acceleration and angular acceleration",
    "external_wrench": "force and moment at the platform's origin",
}
POSE, MOVING, ACCELERATED = six("pose"), six("pose", "twist"), six("pose", "twist", "acceleration")
HELD, LOADS, AXES = (PAYLOAD,), (*six("external_wrench"), PAYLOAD, BASE_MOTION), {"platform_axes": False}
STATE_AND_FORCES = six("pose", "twist", "leg_forces")
CHARACTERISTIC_LENGTH = Argument("characteristic_length", (1,), "a length that divides the moments")
SQUARE = (6, 6)
LEG_MOTION_NAMES = (
    "lengths",
    "rates",
    "accelerations",
    "spins",
    "spin_rates",
    "angular_velocities",
    "angular_accelerations",
    "directions",
    "universal_angles",
    "spherical_angles",
)
FORCES, MASSES = Guard(1.0, guards.judge_force_matrix), Guard(1.0, guards.judge_mass_matrix)
PLATFORM_FUNCTIONS: dict[str, Function] = {
    "inverse_dynamics": Function(
        inverse_dynamics,
        ACCELERATED,
        ((LEGS,),),
        LOADS,
        {"model": EXACT, "corrections": "", **AXES},
        FORCES,
        names=("leg_forces",),
    ),
    "forward_dynamics": Function(
        forward_dynamics, STATE_AND_FORCES, ((6,),), LOADS, AXES, MASSES, names=("acceleration",)
    ),
    "inverse_dynamics_derivatives": Function(
        inverse_dynamics_derivatives,
        ACCELERATED,
        (SQUARE,) * 3,
        HELD,
        guard=FORCES,
        names=("dforces_dpose", "dforces_dtwist", "dforces_dacceleration"),
    ),
    "forward_dynamics_derivatives": Function(
        forward_dynamics_derivatives,
        STATE_AND_FORCES,
        (SQUARE,) * 3,
        HELD,
        guard=MASSES,
        names=("dacceleration_dpose", "dacceleration_dtwist", "dacceleration_dforces"),
    ),
    "mass_matrix": Function(mass_matrix, POSE, (SQUARE,), HELD),
    "bias_wrench": Function(bias_wrench, MOVING, ((6,),), HELD),
    "force_matrix": Function(force_matrix, POSE, (SQUARE,)),
    "inverse_kinematics": Function(inverse_kinematics, POSE, ((LEGS,),), names=("lengths",)),
    "leg_motion": Function(
        leg_motion,
        ACCELERATED,
        ((LEGS,),) * 5 + ((LEGS, 3),) * 3 + ((LEGS, 2), (LEGS,)),
        quick=False,
        names=LEG_MOTION_NAMES,
    ),
    "condition_number": Function(
        condition_number,
        POSE,
        ((),),
        (CHARACTERISTIC_LENGTH,),
        guard=Guard(conditions.SURE, mend=guards.better_condition_numbers),
    ),
    "joint_reactions": Function(
        joint_reactions,
        ACCELERATED,
        ((LEGS, 6),) * 3,
        LOADS,
        AXES,
        FORCES,
        quick=False,
        names=("base_joints", "prismatic_joints", "platform_joints"),
    ),
    "energy": Function(energy, MOVING, ((), ()), HELD, names=("kinetic", "potential")),
    "twist_of": Function(
        twist_of, six("pose", "rates"), ((6,),), guard=Guard(LARGE, guards.judge_rates), quick=False, names=("twist",)
    ),
    "acceleration_of": Function(
        acceleration_of, six("pose", "twist", "accelerations"), ((6,),), quick=False, names=("acceleration",)
    ),
    "tracked_pose": Function(
        tracked_pose, six("lengths", "guess"), ((6,), ()), quick=False, names=("pose", "residual")
    ),
    "refine": Function(
        refine,
        (*six("lengths"), Argument("state", (7,), "x, y, z and a quaternion")),
        ((7,), ()),
        quick=False,
        names=("refined", "residual"),
    ),
}


@cache
def function_table(limits: int, told: int) -> FunctionTable:
    """The functions of a platform with so many limits of its pose, of which `nearest_limits` tells so many numbers."""
    if not limits:
        return PLATFORM_FUNCTIONS
    return {
        **PLATFORM_FUNCTIONS,
        "limit_margins": Function(limit_margins, POSE, ((limits,),), names=("margins",)),
        "nearest_limits": Function(nearest_limits, POSE, ((told,),), names=("nearest",)),
    }
