"""The functions of an arm as formulas over any scalar: formulations with loads, rotors and friction.

Every formula takes the arm's model, then the state as lists of scalars, and returns nested lists of scalars.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tauforge.algebra.condition import condition
from tauforge.algebra.dual import Dual, derivative, seeded
from tauforge.algebra.linear import factored, inverse, solved
from tauforge.algebra.scalars import Scalar, Scalars, absolute
from tauforge.algebra.vectors import ZERO, Matrix, Transform, Vector, cross
from tauforge.evaluation.functions import Doubtful
from tauforge.formulations import drives
from tauforge.formulations.bodies import NO_WRENCH, Wrench, body_of
from tauforge.formulations.serial import (
    DEFAULT_FORMULATION,
    FIXED_BASE_ONLY,
    INVERSE_DYNAMICS,
    coriolis,
    kinematics,
    levenberg_marquardt,
    newton_euler,
)
from tauforge.formulations.serial import energy as energies
from tauforge.formulations.serial import regressor as regressors
from tauforge.formulations.serial.frame_choice import Chain, chain_carrying, in_joint_frames
from tauforge.formulations.serial.joint_frames import inverse_dynamics_of
from tauforge.formulations.serial.outward_inward import MassCentre, outward
from tauforge.formulations.serial.parameters import (
    ArmParameters,
    base_at_rest,
    into_frame_0,
    moving_base,
    with_payload,
)
from tauforge.formulations.trees import composite_inertia
from tauforge.formulations.trees.recursion import BaseState
from tauforge.robots.serial.model import ArmModel
from tauforge.tracing.differentiation import jacobian as jacobian_of
from tauforge.tracing.graph import trace

INVERSE_KINEMATICS_STEPS = 3  # of one call: more are compiled longer, fewer are called more often


def loads_of(
    model: ArmModel,
    q: Scalars,
    tip_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    tool_axes: bool = False,
) -> tuple[ArmParameters, Wrench, BaseState]:
    """The arm with the payload fixed to its tool, the wrench on its last link, and the motion of its base.

    payload: mass, com, Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the tool frame
    """
    arm, tip = model.parameters, NO_WRENCH
    if payload is not None:
        arm = with_payload(arm, body_of(payload))
    if tip_wrench is not None:
        given = Wrench(Vector(*tip_wrench[:3]), Vector(*tip_wrench[3:]))
        tip = kinematics.wrench_on_last_link(arm, q, given, world_axes=not tool_axes)
    if base_motion is None:
        return arm, tip, base_at_rest(arm)
    omega, alpha, a = (Vector(*base_motion[k : k + 3]) for k in (0, 3, 6))
    return arm, tip, moving_base(arm, omega, alpha, a)


def rigid_inverse_dynamics(
    model: ArmModel,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    payload: Scalars | None = None,
    formulation: str = DEFAULT_FORMULATION,
    **loads: Any,
) -> list[Scalar]:
    """Without friction and rotors. The default formulation runs in the cheapest frames, the others in the arm's own."""
    arm, tip, base = loads_of(model, q, payload=payload, **loads)
    if formulation == DEFAULT_FORMULATION:
        return inverse_dynamics_of(with_load(model.chain, model, payload), q, qd, qdd, tip, base)
    more = () if formulation in FIXED_BASE_ONLY else (base,)
    return INVERSE_DYNAMICS[formulation](arm, q, qd, qdd, tip, *more)


def inverse_dynamics(model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, **loads: Any) -> list[Scalar]:
    rigid = rigid_inverse_dynamics(model, q, qd, qdd, **loads)
    rotors = drives.rotor_forces(model.drives, qdd)
    friction = friction_forces(model, qd)
    return [a + b + c for a, b, c in zip(rigid, rotors, friction, strict=True)]


def bias_forces(model: ArmModel, q: Scalars, qd: Scalars, **loads: Any) -> list[Scalar]:
    """C qd + g: inverse dynamics at zero acceleration, without friction."""
    return rigid_inverse_dynamics(model, q, qd, [0.0] * model.n, **loads)


def gravity_forces(model: ArmModel, q: Scalars, **loads: Any) -> list[Scalar]:
    return bias_forces(model, q, [0.0] * model.n, **loads)


def friction_forces(model: ArmModel, qd: Scalars) -> list[Scalar]:
    return drives.friction_forces(model.drives, qd, model.coulomb_speed)


def with_load(chain: Chain, model: ArmModel, payload: Scalars | None) -> Chain:
    """A chain of the model, with the payload on its last link."""
    return chain if payload is None else chain_carrying(chain, body_of(payload), model.parameters.tool)


def mass_matrix(model: ArmModel, q: Scalars, payload: Scalars | None = None) -> list[list[Scalar]]:
    M = composite_inertia.mass_matrix(with_load(model.mass_chain, model, payload).frames, q)
    for i, drive in enumerate(model.drives):
        M[i][i] = M[i][i] + drives.reflected_inertia(drive)
    return M


def coriolis_matrix(model: ArmModel, q: Scalars, qd: Scalars, payload: Scalars | None = None) -> list[list[Scalar]]:
    return coriolis.coriolis_matrix(with_load(model.chain, model, payload).frames, q, qd)


def coriolis_coefficients(model: ArmModel, q: Scalars, payload: Scalars | None = None) -> list[list[list[Scalar]]]:
    return coriolis.coriolis_coefficients(with_load(model.chain, model, payload).frames, q)


def forward_dynamics(
    model: ArmModel, q: Scalars, qd: Scalars, tau: Scalars, payload: Scalars | None = None, **loads: Any
) -> Doubtful:
    """The doubt is the size of the accelerations: huge ones come from a mass matrix that is nearly singular."""
    bias = bias_forces(model, q, qd, payload=payload, **loads)
    friction = friction_forces(model, qd)
    free = [t - b - f for t, b, f in zip(tau, bias, friction, strict=True)]
    qdd = solved(factored(mass_matrix(model, q, payload)), free)
    return Doubtful(qdd, partial(sum_of_magnitudes, qdd))


def sum_of_magnitudes(values: Scalars) -> Scalar:
    return sum((absolute(x) for x in values[1:]), absolute(values[0]))


def joint_wrenches(model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, **loads: Any) -> list[list[Scalar]]:
    """Six components across every joint, link frame i-1 axes."""
    arm, tip, base = loads_of(model, q, **loads)
    result = []
    for i, w in enumerate(newton_euler.link_wrenches(arm, q, qd, qdd, tip, base)):
        joint = arm.joints[i]
        turn = kinematics.joint_rotation(joint, q[i])
        f, n = (kinematics.out_of_link(joint, turn, v) for v in w)
        point = model.reaction_points[i]
        if point is not None:
            n = n - cross(turn @ point + kinematics.joint_travel(joint, q[i]), f)
        R = model.befores[i].rotation
        result.append([*(R @ f), *(R @ n)])
    return result


def link_motions(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, base_motion: Scalars | None = None
) -> list[list[Vector]]:
    """omega, omega', c, c' and c'' of every link (A7.4.1), turned from its own axes into those of the world.

    C_0 is the origin of the base frame.
    """
    arm = model.parameters
    numbers = [0.0] * 9 if base_motion is None else base_motion
    base = BaseState(*(into_frame_0(arm, Vector(*numbers[k : k + 3])) for k in (0, 3, 6)))
    C_0, delta_0 = into_frame_0(arm, arm.base.translation), arm.mount.rotation.T @ arm.mount.translation
    found = []
    for link, frame in zip(
        outward(arm, q, qd, qdd, base, MassCentre(C_0, ZERO), delta_0), kinematics.link_frames(arm, q)[1:], strict=True
    ):
        assert link.centre is not None
        motion = (link.omega, link.omega_dot, *link.centre, link.c_ddot)
        found.append([frame.rotation @ v for v in motion])
    return [list(vectors) for vectors in zip(*found, strict=True)]


def state_derivatives(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, payload: Scalars | None, reverse: bool
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """dtau/dq and dtau/dqd of inverse dynamics, by dual numbers or by sweeping back over its graph.

    Forward is cheaper for arms with many right angles and zeros, reverse for general ones.
    """
    n = model.n
    if reverse:
        given = {"q": q, "qd": qd, "qdd": qdd} | ({} if payload is None else {"payload": payload})
        graph = trace(
            lambda *state: inverse_dynamics(model, **dict(zip(given, state, strict=True))),
            {name: len(vector) for name, vector in given.items()},
        )
        inputs = {f"{name}{k}": x for name, vector in given.items() for k, x in enumerate(vector)}
        rows = jacobian_of(graph, inputs, [f"{name}{k}" for name in ("q", "qd") for k in range(n)])
    else:
        tau = inverse_dynamics(model, seeded(q), seeded(qd, n), qdd, payload=payload)
        rows = [[derivative(t, k) for k in range(2 * n)] for t in tau]
    return [row[:n] for row in rows], [row[n:] for row in rows]


def inverse_dynamics_slope(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, dq: Scalars, dqd: Scalars, payload: Scalars | None = None
) -> list[Scalar]:
    """The derivative of inverse dynamics in one direction: dtau/dq dq + dtau/dqd dqd."""
    moved, faster = ([Dual(x, {0: dx}) for x, dx in zip(*pair, strict=True)] for pair in ((q, dq), (qd, dqd)))
    return [derivative(t, 0) for t in inverse_dynamics(model, moved, faster, qdd, payload=payload)]


def solution(model: ArmModel, matrix: Scalars, right: Scalars) -> list[Scalar]:
    """x with A x = right, for a symmetric positive definite A, row after row."""
    n = len(right)
    return solved(factored([matrix[i * n : (i + 1) * n] for i in range(n)]), right)


def inverse_dynamics_derivatives(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, payload: Scalars | None = None, reverse: bool = False
) -> list[list[list[Scalar]]]:
    """dtau/dq, dtau/dqd and dtau/dqdd, the last being the mass matrix."""
    return [*state_derivatives(model, q, qd, qdd, payload, reverse), mass_matrix(model, q, payload)]


def forward_dynamics_derivatives(
    model: ArmModel, q: Scalars, qd: Scalars, tau: Scalars, payload: Scalars | None = None, reverse: bool = False
) -> Doubtful:
    """dqdd/dx = - M^-1 dtau/dx of inverse dynamics at the qdd that tau produces, x = q, qd; and dqdd/dtau = M^-1.

    The doubt is the trace of M^-1: no entry is larger.
    """
    n = model.n
    factors = factored(mass_matrix(model, q, payload))
    bias, friction = bias_forces(model, q, qd, payload=payload), friction_forces(model, qd)
    qdd = solved(factors, [t - b - f for t, b, f in zip(tau, bias, friction, strict=True)])
    results = []
    for slope in state_derivatives(model, q, qd, qdd, payload, reverse):
        columns = [solved(factors, [-row[k] for row in slope]) for k in range(n)]
        results.append([list(row) for row in zip(*columns, strict=True)])
    by_tau = inverse(factors)
    return Doubtful([*results, by_tau], partial(sum_of_magnitudes, [by_tau[k][k] for k in range(n)]))


def regressor(
    model: ArmModel, q: Scalars, qd: Scalars, qdd: Scalars, qd_ref: Scalars | None = None
) -> list[list[Scalar]]:
    arm = model.parameters
    return regressors.regressor(
        in_joint_frames(arm).frames, model.afters, q, qd, qd if qd_ref is None else qd_ref, qdd, base_at_rest(arm)
    )


def link_frames(model: ArmModel, q: Scalars) -> list[list[list[Scalar]]]:
    """World <- link frame, 0..n, in the arm's own convention."""
    arm = model.parameters
    frames = [arm.base]
    for i, frame in enumerate(kinematics.link_frames(arm, q)[:-1]):
        moved = Transform(kinematics.joint_rotation(arm.joints[i], q[i]), kinematics.joint_travel(arm.joints[i], q[i]))
        frames.append(frame.then(moved).then(model.afters[i]))
    return [homogeneous(frame) for frame in frames]


def homogeneous(frame: Transform) -> list[list[Scalar]]:
    rows = [[*row, t] for row, t in zip(frame.rotation.rows, frame.translation, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def forward_kinematics(model: ArmModel, q: Scalars) -> list[list[Scalar]]:
    return homogeneous(kinematics.tool_frame(model.parameters, q))


def jacobian(model: ArmModel, q: Scalars) -> list[list[Scalar]]:
    columns = [[*linear, *angular] for linear, angular in kinematics.jacobian(model.parameters, q)]
    return [list(row) for row in zip(*columns, strict=True)]


def condition_number(model: ArmModel, q: Scalars) -> Doubtful:
    """Condition number of the Jacobian."""
    found = condition(jacobian(model, q))
    return Doubtful([found.ratio], lambda: found.doubt)


def inverse_kinematics_steps(
    model: ArmModel, target: Scalars, q: Scalars, asked: Scalars, lower: Scalars, upper: Scalars, length: Scalars
) -> list[Any]:
    """The joints after a few steps of damped least squares, and their residual.

    target: the upper three rows of world <- tool, one after another; the others as in `levenberg_marquardt.PoseTask`
    """
    rotation = Matrix.of([target[0:3], target[4:7], target[8:11]])
    pose = Transform(rotation, Vector(target[3], target[7], target[11]))
    task = levenberg_marquardt.PoseTask(pose, asked, lower, upper, length[0])
    for _ in range(INVERSE_KINEMATICS_STEPS):
        q = levenberg_marquardt.step(model.parameters, task, q)
    return [q, levenberg_marquardt.residual(model.parameters, task, q)]


def energy(model: ArmModel, q: Scalars, qd: Scalars, payload: Scalars | None = None) -> list[Scalar]:
    """Kinetic, potential."""
    arm, _, _ = loads_of(model, q, payload=payload)
    return [energies.kinetic_energy(arm, model.drives, q, qd), energies.potential_energy(arm, q)]
