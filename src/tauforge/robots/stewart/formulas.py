"""The functions of a Stewart platform as formulas over any scalar.

Every formula takes the platform's model, then lists of scalars (a pose is x, y, z, theta_x, theta_y, theta_z with
R = Rz Ry Rx; a twist v, omega), and returns nested lists of scalars.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tauforge.algebra import condition as conditions
from tauforge.algebra.inertias import rotated
from tauforge.algebra.linear import elimination
from tauforge.algebra.rotations import Quaternion, angles_of, angular_velocity, quaternion_of
from tauforge.algebra.scalars import Scalar, Scalars, absolute, sqrt
from tauforge.algebra.vectors import IDENTITY, Matrix, Vector, cross, dot
from tauforge.evaluation.functions import Doubtful
from tauforge.formulations.bodies import NO_WRENCH, Wrench, body_of
from tauforge.formulations.stewart import (
    EXACT,
    MASSLESS,
    MODELS,
    VECTORS,
    closed_form,
    derivatives,
    exact,
    kinematics,
    lumping,
    universal_coordinates,
)
from tauforge.formulations.stewart import limits as limits_of
from tauforge.formulations.stewart.parameters import FIXED_BASE, LEGS, MovingBase, PlatformMotion, motion, with_payload
from tauforge.robots.stewart.model import PlatformModel

TINY = 1e-300  # NaN and results that overflow count as doubtful, others of any size do not
TRACKING_STEPS = 5  # of one call of the tracking kernel: enough from a centimetre and a degree away


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


def loads_of(
    R: Matrix, external_wrench: Scalars | None = None, base_motion: Scalars | None = None, platform_axes: bool = False
) -> tuple[Wrench, MovingBase]:
    """The external wrench in base axes, and the motion of the base."""
    base = FIXED_BASE if base_motion is None else MovingBase(*(Vector(*base_motion[k : k + 3]) for k in (0, 3, 6)))
    return external(R, external_wrench, platform_axes), base


def inverse_dynamics(
    platform: PlatformModel,
    /,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    payload: Scalars | None = None,
    model: str = EXACT,
    corrections: str = "",
    **loads: Any,
) -> Doubtful:
    """corrections: names of the model's switches, separated by blanks

    On a base that moves the exact model is evaluated in its vector form.
    """
    carrying, m = model_carrying(platform, payload), motion(pose, twist, acceleration)
    w, base = loads_of(m.R, **loads)
    if model == EXACT and base is FIXED_BASE:
        forces, doubt = universal_coordinates.inverse_dynamics_and_doubt(carrying.lumped, m, w)
    else:
        used = MODELS[VECTORS if model == EXACT else model]
        forces = used.forces(carrying.parameters, m, w, corrections.split(), base)
        doubt = partial(doubt_of, carrying, m, legs_turn=model != MASSLESS)
    return Doubtful(forces, lambda: doubt() + absolute(forces[0]) * TINY)


def doubt_of(platform: PlatformModel, m: PlatformMotion, *, legs_turn: bool = True) -> Scalar:
    """At least 1 where H may be singular or a leg may lie along its axis.

    It costs little: a model's own elimination is the same.
    """
    pivots = elimination(kinematics.force_matrix(kinematics.leg_vectors(platform.parameters, m)), [0.0] * LEGS)[1]
    legs = platform.parameters.legs if legs_turn else ()
    across = [cross(leg.k, kinematics.leg_vector(leg, m.X, m.R).s) for leg in legs if leg.k is not None]
    return universal_coordinates.doubt(pivots, [sqrt(dot(x, x)) for x in across])


def forward_dynamics(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    leg_forces: Scalars,
    payload: Scalars | None = None,
    **loads: Any,
) -> Doubtful:
    return forward_dynamics_at(model, motion(pose, twist), leg_forces, payload, **loads)


def forward_dynamics_at(
    model: PlatformModel, m: PlatformMotion, leg_forces: Scalars, payload: Scalars | None = None, **loads: Any
) -> Doubtful:
    carrying = model_carrying(model, payload)
    w, base = loads_of(m.R, **loads)
    if base is FIXED_BASE:
        a, alpha, doubt = closed_form.forward_dynamics(carrying.lumped, m, leg_forces, w)
    else:
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
    return kinematics.force_matrix(kinematics.leg_vectors(model.parameters, motion(pose)))


def inverse_kinematics(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    m = motion(pose)
    return [kinematics.leg_vector(leg, m.X, m.R).L for leg in model.parameters.legs]


def leg_motion(
    model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars, spin: bool = True
) -> list[list[Any]]:
    """By `LegMotions`; zeros where there is no universal joint."""
    m = motion(pose, twist, acceleration)
    columns = []
    for leg, axis in zip(model.parameters.legs, model.platform_axes, strict=True):
        l = kinematics.leg_motion(leg, m, spin=spin)
        about = [0.0, 0.0] if leg.k is None else list(limits_of.universal_angles(leg.k, l.s))
        across = limits_of.angle_between(l.s, m.R @ axis)
        of_axes = [[l.omega_u, l.omega_v], [dot(l.A, l.u), dot(l.A, l.v)]]
        moving = [l.L, l.Ldot, l.Lddot, l.spin, l.spin_rate, [*l.W], [*l.A], [*l.s]]
        columns.append([*moving, about, across, *of_axes, [*l.S_ddot]])
    return [list(row) for row in zip(*columns, strict=True)]


def leg_bodies(model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars) -> list[list[Any]]:
    """By `LegBodies`."""
    m = motion(pose, twist, acceleration)
    columns = []
    for leg in model.parameters.legs:
        l = kinematics.leg_motion(leg, m)
        r_d, a_d, r_u, a_u = kinematics.centre_accelerations(leg, l)
        inertias = [rotated(part.inertia, l.T) for part in (leg.lower, leg.upper)]
        vectors = [[*x] for x in (leg.b + r_d, leg.b + r_u, a_d, a_u)]
        columns.append([list(map(list, l.T.rows)), *vectors, *(list(map(list, I.rows)) for I in inertias)])
    return [list(row) for row in zip(*columns, strict=True)]


def limit_margins(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    m = motion(pose)
    return limits_of.margins(model.parameters.legs, model.limits, m.X, m.R)


def nearest_limits(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    """The numbers of `within_limits` side by side."""
    m = motion(pose)
    return limits_of.nearest(model.parameters.legs, model.limits, m.X, m.R)


def limit_tests(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    """Numbers with the signs of `limit_margins`, for less."""
    m = motion(pose)
    return limits_of.tests(model.parameters.legs, model.limits, m.X, m.R)


def condition_number(model: PlatformModel, pose: Scalars, characteristic_length: Scalars | None = None) -> Doubtful:
    """Condition number of H, whose moments may be divided by a length."""
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
    payload: Scalars | None = None,
    **loads: Any,
) -> Doubtful:
    """Wrenches of the base, prismatic and platform joints of every leg."""
    m = motion(pose, twist, acceleration)
    w, base = loads_of(m.R, **loads)
    legs = exact.reactions(model_carrying(model, payload).parameters, m, w, base)
    wrenches = [[[*leg[joint].force, *leg[joint].moment] for leg in legs] for joint in range(3)]
    return Doubtful(wrenches, lambda: doubt_of(model, m) + absolute(legs[0][0].force.x) * TINY)


def energy(model: PlatformModel, pose: Scalars, twist: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    """Kinetic, potential."""
    return list(exact.energies(model_carrying(model, payload).parameters, motion(pose, twist)))


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
    twist = kinematics.twist_of_rates(model.parameters, motion(pose), rates)
    fastest, slowest = (sum(absolute(x) for x in values) for values in (twist, rates))
    return Doubtful(twist, lambda: fastest / (slowest + TINY))


def acceleration_of(model: PlatformModel, pose: Scalars, twist: Scalars, accelerations: Scalars) -> list[Scalar]:
    """The platform's acceleration from those of its legs."""
    return kinematics.acceleration_of_rates(model.parameters, motion(pose, twist), accelerations)


def tracked_pose(model: PlatformModel, lengths: Scalars, guess: Scalars) -> list[Any]:
    """The pose after a few steps of Newton's method, and its residual."""
    X, turn, residual = newton(model, lengths, guess[:3], quaternion_of(Vector(*guess[3:])))
    return [[*X, *angles_of(turn.rotation())], residual]


def newton(model: PlatformModel, lengths: Scalars, X: Scalars, turn: Quaternion) -> tuple[Vector, Quaternion, Scalar]:
    """Place and orientation after a few steps from these, and the residual."""
    state = kinematics.PoseGuess(Vector(*X), turn)
    for _ in range(TRACKING_STEPS):
        state = kinematics.newton_step(model.parameters.legs, lengths, state)
    return *state, kinematics.length_error(model.parameters.legs, lengths, state)


def refine(model: PlatformModel, lengths: Scalars, state: Scalars) -> list[Any]:
    """A few steps on x, y, z and a quaternion, for many starts at once: the new state and its residual."""
    X, turn, residual = newton(model, lengths, state[:3], Quaternion(*state[3:]))
    return [[*X, *turn], residual]
