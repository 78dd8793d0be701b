"""The public functions of an arm as formulas over any scalar: formulations put together with loads, rotors, friction.

Every function takes the arm's model, then the state as lists of scalars, and returns nested lists of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tauforge.algebra.dual import derivative, primal, seeded
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Transform, Vector, cross
from tauforge.formulations.serial import (
    DEFAULT_FORMULATION,
    FIXED_BASE_ONLY,
    FORMULATIONS,
    composite_inertia,
    coriolis,
    kinematics,
    newton_euler,
)
from tauforge.formulations.serial import energy as energies
from tauforge.formulations.serial import friction as frictions
from tauforge.formulations.serial import regressor as regressors
from tauforge.formulations.serial.joint_frames import JointFrame, joint_frames, regrouped
from tauforge.formulations.serial.parameters import (
    NO_WRENCH,
    ArmParameters,
    BaseState,
    BodyParameters,
    DriveParameters,
    Wrench,
    base_at_rest,
    moving_base,
    reflected_inertia,
    rotor_forces,
    with_payload,
)

Scalars = Sequence[Scalar]


class ArmModel(NamedTuple):
    """All that the formulas need: the arm in its own frames and in the cheapest ones, its drives and link frames."""

    parameters: ArmParameters
    cheapest: ArmParameters
    drives: tuple[DriveParameters, ...]
    coulomb_speed: Scalar
    befores: tuple[Transform, ...]  # link frame i-1 <- joint i
    afters: tuple[Transform, ...]  # moved joint i <- link frame i
    reaction_points: tuple[Vector | None, ...]  # of joint wrenches, in moved joint i; None is the origin of frame i-1

    @property
    def n(self) -> int:
        return self.parameters.n


def loaded(arm: ArmParameters, payload: Scalars | None) -> ArmParameters:
    """payload: mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the tool frame."""
    if payload is None:
        return arm
    m, cx, cy, cz, xx, xy, xz, yy, yz, zz = payload
    tensor = Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return with_payload(arm, BodyParameters(m, Vector(cx, cy, cz), tensor))


def base_state(arm: ArmParameters, base_motion: Scalars | None) -> BaseState:
    if base_motion is None:
        return base_at_rest(arm)
    return moving_base(arm, Vector(*base_motion[:3]), Vector(*base_motion[3:6]), Vector(*base_motion[6:]))


def tip(arm: ArmParameters, q: Scalars, wrench: Scalars | None, tool_axes: bool) -> Wrench:
    if wrench is None:
        return NO_WRENCH
    given = Wrench(Vector(*wrench[:3]), Vector(*wrench[3:]))
    return kinematics.wrench_on_last_link(arm, q, given, world_axes=not tool_axes)


def rigid_inverse_dynamics(
    model: ArmModel,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    tip_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    formulation: str = DEFAULT_FORMULATION,
    tool_axes: bool = False,
) -> list[Scalar]:
    """Without friction and rotors. The default formulation runs in the cheapest frames, the others in the arm's own."""
    arm = loaded(model.cheapest if formulation == DEFAULT_FORMULATION else model.parameters, payload)
    more = () if formulation in FIXED_BASE_ONLY else (base_state(arm, base_motion),)
    return FORMULATIONS[formulation](arm, q, qd, qdd, tip(arm, q, tip_wrench, tool_axes), *more)


def inverse_dynamics(model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, **loads: Any) -> list[Scalar]:
    rigid = rigid_inverse_dynamics(model, q, qd, qdd, **loads)
    rotors = rotor_forces(model.drives, qdd)
    friction = friction_forces(model, qd)
    return [a + b + c for a, b, c in zip(rigid, rotors, friction, strict=True)]


def bias_forces(model: ArmModel, q: Scalars, qd: Scalars, **loads: Any) -> list[Scalar]:
    """C qd + g: inverse dynamics at zero acceleration, without friction."""
    return rigid_inverse_dynamics(model, q, qd, [0.0] * model.n, **loads)


def gravity_forces(model: ArmModel, q: Scalars, **loads: Any) -> list[Scalar]:
    return bias_forces(model, q, [0.0] * model.n, **loads)


def friction_forces(model: ArmModel, qd: Scalars) -> list[Scalar]:
    return frictions.friction_forces(model.drives, qd, model.coulomb_speed)


def cheap_frames(model: ArmModel, payload: Scalars | None) -> list[JointFrame]:
    return regrouped(joint_frames(loaded(model.cheapest, payload)))


def mass_matrix(model: ArmModel, q: Scalars, payload: Scalars | None = None) -> list[list[Scalar]]:
    M = composite_inertia.mass_matrix(cheap_frames(model, payload), q)
    for i, drive in enumerate(model.drives):
        M[i][i] = M[i][i] + reflected_inertia(drive)
    return M


def coriolis_matrix(model: ArmModel, q: Scalars, qd: Scalars, payload: Scalars | None = None) -> list[list[Scalar]]:
    return coriolis.coriolis_matrix(cheap_frames(model, payload), q, qd)


def forward_dynamics(
    model: ArmModel, q: Scalars, qd: Scalars, tau: Scalars, payload: Scalars | None = None, **loads: Any
) -> list[Scalar]:
    bias = bias_forces(model, q, qd, payload=payload, **loads)
    friction = friction_forces(model, qd)
    free = [t - b - f for t, b, f in zip(tau, bias, friction, strict=True)]
    return composite_inertia.solve(mass_matrix(model, q, payload), free)


def joint_wrenches(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, payload: Scalars | None = None, **loads: Any
) -> list[list[Scalar]]:
    """Six components across every joint, link frame i-1 axes."""
    arm = loaded(model.parameters, payload)
    tool_axes = loads.pop("tool_axes", False)
    at_tip = tip(arm, q, loads.pop("tip_wrench", None), tool_axes)
    base = base_state(arm, loads.pop("base_motion", None))
    result = []
    for i, w in enumerate(newton_euler.link_wrenches(arm, q, qd, qdd, at_tip, base)):
        joint = arm.joints[i]
        turn = kinematics.joint_rotation(joint, q[i])
        f, n = turn @ (joint.constant.rotation @ w.force), turn @ (joint.constant.rotation @ w.moment)
        point = model.reaction_points[i]
        if point is not None:
            n = n - cross(turn @ point + kinematics.joint_travel(joint, q[i]), f)
        R = model.befores[i].rotation
        result.append([*(R @ f), *(R @ n)])
    return result


def with_derivatives(
    formula: Callable[..., list[Scalar]], *states: Scalars
) -> tuple[list[Scalar], list[list[list[Scalar]]]]:
    """Values of formula(*states) and its Jacobian with respect to each state, by dual numbers."""
    duals, first = [], 0
    for state in states:
        duals.append(seeded(state, first))
        first += len(state)
    values = formula(*duals)
    jacobians, first = [], 0
    for state in states:
        jacobians.append([[derivative(v, first + k) for k in range(len(state))] for v in values])
        first += len(state)
    return [primal(v) for v in values], jacobians


def regressor(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, qd_ref: Scalars | None = None
) -> list[list[Scalar]]:
    arm = model.parameters
    return regressors.regressor(
        joint_frames(arm), model.afters, q, qd, qd if qd_ref is None else qd_ref, qdd, base_at_rest(arm)
    )


def link_frames(model: ArmModel, q: Scalars) -> list[Transform]:
    """World <- link frame, 0..n, in the arm's own convention."""
    arm = model.parameters
    frames = [arm.base]
    for i, frame in enumerate(kinematics.link_frames(arm, q)[:-1]):
        moved = Transform(kinematics.joint_rotation(arm.joints[i], q[i]), kinematics.joint_travel(arm.joints[i], q[i]))
        frames.append(frame.then(moved).then(model.afters[i]))
    return frames


def homogeneous(frame: Transform) -> list[list[Scalar]]:
    rows = [[*row, t] for row, t in zip(frame.rotation.rows, frame.translation, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def forward_kinematics(model: ArmModel, q: Scalars) -> list[list[Scalar]]:
    return homogeneous(kinematics.tool_frame(model.parameters, q))


def jacobian(model: ArmModel, q: Scalars) -> list[list[Scalar]]:
    columns = [[*linear, *angular] for linear, angular in kinematics.jacobian(model.parameters, q)]
    return [list(row) for row in zip(*columns, strict=True)]


def energy(model: ArmModel, q: Scalars, qd: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    """Kinetic, potential."""
    arm = loaded(model.parameters, payload)
    return [energies.kinetic_energy(arm, model.drives, q, qd), energies.potential_energy(arm, q)]
