"""The public functions of a Stewart platform as formulas over any scalar.

Every function takes the platform's model, then lists of scalars (a pose is x, y, z, theta_x, theta_y, theta_z with
R = Rz Ry Rx; a twist v, omega), and returns nested lists of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from tauforge.algebra.linear import elimination
from tauforge.algebra.rotations import Quaternion, angles_of, angular_velocity, quaternion_of, rotation_of
from tauforge.algebra.scalars import Scalar, sqrt
from tauforge.algebra.vectors import IDENTITY, ZERO, Matrix, Vector, cross, dot
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
from tauforge.formulations.stewart import reactions as joint_reactions_of
from tauforge.formulations.stewart.kinematics import leg_motion as motion_of
from tauforge.formulations.stewart.kinematics import leg_vector
from tauforge.formulations.stewart.lumping import LumpedPlatform
from tauforge.formulations.stewart.moving_base import AT_REST, MovingBase
from tauforge.formulations.stewart.parameters import LEGS, PlatformMotion, PlatformParameters, with_payload
from tauforge.formulations.stewart.platform_equations import force_matrix as matrix_of
from tauforge.formulations.stewart.platform_equations import leg_vectors

Scalars = Sequence[Scalar]
EXACT, MASSLESS, VECTORS = "exact", "massless-legs", "exact-vectors"
NEWTON_STEPS = 5  # of one call of the tracking kernel: enough from a centimetre and a degree away


class PlatformModel(NamedTuple):
    """The platform as described, and as the cheapest form wants it."""

    parameters: PlatformParameters
    lumped: LumpedPlatform


def motion(pose: Scalars, twist: Scalars | None = None, acceleration: Scalars | None = None) -> PlatformMotion:
    def halves(x: Scalars | None) -> tuple[Vector, Vector]:
        return (ZERO, ZERO) if x is None else (Vector(*x[:3]), Vector(*x[3:]))

    return PlatformMotion(Vector(*pose[:3]), rotation_of(Vector(*pose[3:])), *halves(twist), *halves(acceleration))


def external(R: Matrix, wrench: Scalars | None, platform_axes: bool) -> Wrench:
    if wrench is None:
        return NO_WRENCH
    force, moment = Vector(*wrench[:3]), Vector(*wrench[3:])
    return Wrench(R @ force, R @ moment) if platform_axes else Wrench(force, moment)


def loaded(model: PlatformModel, payload: Scalars | None) -> PlatformModel:
    """payload: mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the platform's frame."""
    if payload is None:
        return model
    body = body_of(payload)
    return PlatformModel(with_payload(model.parameters, body), lumping.with_payload(model.lumped, body))


def moving(base_motion: Scalars | None) -> MovingBase:
    if base_motion is None:
        return AT_REST
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
    return dasgupta1998.inverse_dynamics(p, m, w, dasgupta1998.Corrections(**chosen))


def _pedrammehr(p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool]) -> list[Scalar]:
    return pedrammehr2012.inverse_dynamics(p, m, w, pedrammehr2012.Corrections(**chosen))


def _closed(p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool]) -> list[Scalar]:
    terms = {name: value for name, value in chosen.items() if name in pedrammehr2012_closed.Terms._fields}
    rest = {name: value for name, value in chosen.items() if name not in terms}
    corrections = pedrammehr2012.Corrections(**rest)
    return pedrammehr2012_closed.inverse_dynamics(p, m, w, pedrammehr2012_closed.Terms(**terms), corrections)


def _vectors(
    p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool], base: MovingBase = AT_REST
) -> list[Scalar]:
    return exact.inverse_dynamics(p, m, w, base)


def _massless(
    p: PlatformParameters, m: PlatformMotion, w: Wrench, chosen: dict[str, bool], base: MovingBase = AT_REST
) -> list[Scalar]:
    return massless_legs.inverse_dynamics(p, m, w, base)


MODELS = {
    "dasgupta1998": Model(_dasgupta, dasgupta1998.Corrections._fields),
    "pedrammehr2012": Model(_pedrammehr, pedrammehr2012.Corrections._fields, universal_only=True),
    "pedrammehr2012-closed": Model(
        _closed, (*pedrammehr2012_closed.Terms._fields, *pedrammehr2012.Corrections._fields), universal_only=True
    ),
    MASSLESS: Model(_massless, moving_base=True),
    VECTORS: Model(_vectors, moving_base=True),
}
FIXED_BASE_ONLY = frozenset(name for name, model in MODELS.items() if not model.moving_base)


def inverse_dynamics(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    which: str = EXACT,
    corrections: str = "",
    platform_axes: bool = False,
    trapped: bool = False,
) -> list[Scalar]:
    """which: model; corrections: names of its switches, separated by blanks.

    On a base that moves the exact model is evaluated in its vector form.
    trapped: the first force is not a number where H looks singular, for a closer look.
    """
    model, m = loaded(model, payload), motion(pose, twist, acceleration)
    w = external(m.R, external_wrench, platform_axes)
    if which == EXACT and base_motion is None:
        return universal_coordinates.inverse_dynamics(model.lumped, m, w, trapped=trapped)
    chosen = dict.fromkeys(corrections.split(), True)
    more = () if base_motion is None else (moving(base_motion),)
    forces = MODELS[VECTORS if which == EXACT else which].inverse_dynamics(model.parameters, m, w, chosen, *more)
    if trapped:  # costs little: the model's own elimination is the same
        pivots = elimination(matrix_of(leg_vectors(model.parameters, m)), [0.0] * LEGS)[1]
        forces[0] = universal_coordinates.trap(pivots, forces[0])
        if which != MASSLESS:
            legs = model.parameters.legs
            across = [cross(leg.k, leg_vector(leg, m.X, m.R).s) for leg in legs if leg.k is not None]
            sines = [sqrt(dot(x, x)) for x in across]
            forces[0] = universal_coordinates.off_axis(sines, forces[0])
    return forces


def forward_dynamics(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    leg_forces: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    platform_axes: bool = False,
    trapped: bool = False,
) -> list[Scalar]:
    """trapped: the last acceleration is not a number where M looks singular, for a closer look."""
    (whole, lumped), m = loaded(model, payload), motion(pose, twist)
    w = external(m.R, external_wrench, platform_axes)
    if base_motion is None:
        a, alpha = closed_form.forward_dynamics(lumped, m, leg_forces, w, trapped=trapped)
    else:
        a, alpha = closed_form.forward_dynamics_on_moving_base(
            lumped, whole, m, leg_forces, moving(base_motion), w, trapped=trapped
        )
    return [*a, *alpha]


def mass_matrix(model: PlatformModel, pose: Scalars, payload: Scalars | None = None) -> list[list[Scalar]]:
    m = motion(pose)
    return closed_form.mass_matrix(loaded(model, payload).lumped, m.X, m.R)


def bias_wrench(model: PlatformModel, pose: Scalars, twist: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    return closed_form.bias_wrench(loaded(model, payload).lumped, motion(pose, twist))


def force_matrix(model: PlatformModel, pose: Scalars) -> list[list[Scalar]]:
    return matrix_of(leg_vectors(model.parameters, motion(pose)))


def inverse_kinematics(model: PlatformModel, pose: Scalars) -> list[Scalar]:
    m = motion(pose)
    return [leg_vector(leg, m.X, m.R).L for leg in model.parameters.legs]


def leg_motion(model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars) -> list[list[Any]]:
    """Lengths, rates, accelerations, spins, spin rates; angular velocities and accelerations, directions, base axes."""
    m = motion(pose, twist, acceleration)
    legs = [motion_of(leg, m) for leg in model.parameters.legs]
    columns = [[l.L, l.Ldot, l.Lddot, l.spin, l.spin_rate, [*l.W], [*l.A], [*l.s]] for l in legs]
    return [list(row) for row in zip(*columns, strict=True)]


def joint_reactions(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    platform_axes: bool = False,
) -> list[list[Any]]:
    """Wrenches of the base, prismatic and platform joints of every leg."""
    m = motion(pose, twist, acceleration)
    w = external(m.R, external_wrench, platform_axes)
    legs = joint_reactions_of.reactions(loaded(model, payload).parameters, m, w, moving(base_motion))
    return [[[*leg[joint].force, *leg[joint].moment] for leg in legs] for joint in range(3)]


def energy(model: PlatformModel, pose: Scalars, twist: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    """Kinetic, potential."""
    return list(energies.energies(loaded(model, payload).parameters, motion(pose, twist)))


def unit_turns(pose: Scalars) -> Matrix:
    """Its columns: the angular velocities of the three angles of the pose, each at unit rate."""
    return Matrix([angular_velocity(Vector(*pose[3:]), rates) for rates in IDENTITY.rows]).T


def inverse_dynamics_derivatives(
    model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars, payload: Scalars | None = None
) -> list[list[list[Scalar]]]:
    """dF/dpose, dF/dtwist and dF/dacceleration."""
    lumped, m = loaded(model, payload).lumped, motion(pose, twist, acceleration)
    return list(derivatives.inverse_dynamics_slopes(lumped, m, unit_turns(pose)))


def forward_dynamics_derivatives(
    model: PlatformModel, pose: Scalars, twist: Scalars, leg_forces: Scalars, payload: Scalars | None = None
) -> list[list[list[Scalar]]]:
    """da/dpose, da/dtwist and da/dF."""
    lumped, m = loaded(model, payload).lumped, motion(pose, twist)
    return list(derivatives.forward_dynamics_slopes(lumped, m, leg_forces, unit_turns(pose)))


def leg_slopes(
    model: PlatformModel, pose: Scalars, twist: Scalars, acceleration: Scalars, leg_forces: Scalars
) -> list[list[Scalar]]:
    """What both kinds of derivatives need of the legs, a row each: no payload changes it."""
    m = motion(pose, twist, acceleration)
    tips = derivatives.tips_of(model.lumped, m)
    return derivatives.as_numbers(model.lumped, derivatives.slopes_of_legs(model.lumped, m, tips, leg_forces))


def force_slopes(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    legs: Scalars,
    payload: Scalars | None = None,
) -> list[list[list[Scalar]]]:
    """`inverse_dynamics_derivatives` from the rows of `leg_slopes`."""
    return _slopes(derivatives.force_slopes, model, pose, twist, acceleration, legs, payload)


def acceleration_slopes(
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    legs: Scalars,
    payload: Scalars | None = None,
) -> list[list[list[Scalar]]]:
    """`forward_dynamics_derivatives` from the rows of `leg_slopes`, at the acceleration that the forces produce."""
    return _slopes(derivatives.acceleration_slopes, model, pose, twist, acceleration, legs, payload)


def _slopes(
    assembled: Callable[..., derivatives.StateSlopes],
    model: PlatformModel,
    pose: Scalars,
    twist: Scalars,
    acceleration: Scalars,
    legs: Scalars,
    payload: Scalars | None,
) -> list[list[list[Scalar]]]:
    lumped, m = loaded(model, payload).lumped, motion(pose, twist, acceleration)
    given = derivatives.from_numbers(lumped, legs)
    return list(assembled(lumped, m, unit_turns(pose), derivatives.tips_of(lumped, m), given))


def twist_of(model: PlatformModel, pose: Scalars, rates: Scalars) -> list[Scalar]:
    return forward_kinematics.twist(model.parameters, motion(pose), rates)


def acceleration_of(model: PlatformModel, pose: Scalars, twist: Scalars, accelerations: Scalars) -> list[Scalar]:
    return forward_kinematics.acceleration(model.parameters, motion(pose, twist), accelerations)


def tracked_pose(model: PlatformModel, lengths: Scalars, guess: Scalars) -> list[Any]:
    """The pose after a few steps of Newton's method, and its residual."""
    state = forward_kinematics.Guess(Vector(*guess[:3]), quaternion_of(Vector(*guess[3:])))
    state = newton(model, lengths, state, NEWTON_STEPS)
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
    found = newton(model, lengths, found, NEWTON_STEPS)
    residual = forward_kinematics.residual(model.parameters.legs, lengths, found)
    return [[*found.X, *found.orientation], residual]


class Function(NamedTuple):
    """Arguments with their sizes, results, and options of a plain call."""

    arguments: Mapping[str, int]
    results: list[tuple[int, ...]]
    options: Mapping[str, Any] = MappingProxyType({})


POSE, TWIST, ACCELERATION = {"pose": 6}, {"twist": 6}, {"acceleration": 6}
STATE = {**POSE, **TWIST, **ACCELERATION}
PLAIN = {"which": EXACT, "corrections": "", "platform_axes": False, "trapped": True}
FUNCTIONS = {
    "inverse_dynamics": Function(STATE, [(LEGS,)], PLAIN),
    "forward_dynamics": Function(
        {**POSE, **TWIST, "leg_forces": LEGS}, [(6,)], {"platform_axes": False, "trapped": True}
    ),
    "mass_matrix": Function(POSE, [(6, 6)]),
    "bias_wrench": Function({**POSE, **TWIST}, [(6,)]),
    "force_matrix": Function(POSE, [(6, LEGS)]),
    "inverse_kinematics": Function(POSE, [(LEGS,)]),
    "leg_motion": Function(STATE, [(LEGS,)] * 5 + [(LEGS, 3)] * 3),
    "joint_reactions": Function(STATE, [(LEGS, 6)] * 3, {"platform_axes": False}),
    "energy": Function({**POSE, **TWIST}, [(), ()]),
    "inverse_dynamics_derivatives": Function(STATE, [(LEGS, 6)] * 3),
    "forward_dynamics_derivatives": Function({**POSE, **TWIST, "leg_forces": LEGS}, [(6, 6), (6, 6), (6, LEGS)]),
    "twist_of": Function({**POSE, "rates": LEGS}, [(6,)]),
    "acceleration_of": Function({**POSE, **TWIST, "accelerations": LEGS}, [(6,)]),
    "tracked_pose": Function({"lengths": LEGS, "guess": 6}, [(6,), ()]),
    "refine": Function({"lengths": LEGS, "state": 7}, [(7,), ()]),
}
