"""Matrices of an arm that papers derive its dynamics from: twists and constraints of its links, derivatives of frames.

Sources: Angeles, section 7.5; Turney, Mudge & Lee 1980, section 1; Lee et al. 1982, section 2.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.algebra.vectors import ZERO, ZERO_MATRIX, Matrix, Vector
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import checked, finite_rows
from tauforge.evaluation.reference import reference
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.serial import lagrange_euler
from tauforge.formulations.serial import orthogonal_complement as complement
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.robots.robot import check_robot
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm


@summarised
@with_field_docs
class OrthogonalComplement(NamedTuple):
    """The uncoupled Newton-Euler equations M t' + W M t = w^A + w^C + w^G of n links, and what couples them.

    Twists are (omega, c') of every link, wrenches (moment, force) at its mass centre, both in world axes and stacked to
    6 n. There are no rotors and there is no friction.

    M:                   (..., 6n, 6n) inertias and masses
    W:                   (..., 6n, 6n) omega x for each link's angular velocity, zero for its mass centre
    t:                   (..., 6n)     twists, T qd
    T:                   (..., 6n, n)  the twist-shaping matrix
    T_dot:               (..., 6n, n)  its time derivative: t' = T qdd + T_dot qd
    K:                   (..., 6n, 6n) the constraint matrix, six rows for each joint: K t = 0
    gravity_wrenches:    (..., 6n)     w^G
    actuator_wrenches:   (..., 6n)     w^A, those of both its joints' actuators on a link: T' w^A is the actuator forces
    constraint_wrenches: (..., 6n)     w^C, nonworking
    multipliers:         (..., 6n)     lambda, w^C = K' lambda. With the force f and the moment n that a joint of axis e
                         exerts on its link: e x n about the joint and f (revolute); n about the mass centre of the link
                         before and e x f (prismatic)
    """

    M: Array
    W: Array
    t: Array
    T: Array
    T_dot: Array
    K: Array
    gravity_wrenches: Array
    actuator_wrenches: Array
    constraint_wrenches: Array
    multipliers: Array


def orthogonal_complement(
    arm: SerialArm, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None
) -> OrthogonalComplement:
    """Twists, constraints and the constraint wrenches of an arm by the natural orthogonal complement.

    q, qd, qdd: (..., n) rad or m and its rates; qdd is zero by default
    Identities: K T = 0; T' w^C = 0; T' M T is mass_matrix(q) without rotors.
    Source: Angeles, section 7.5, eqs 7.47-7.58.
    """
    given = {"q": q, "qd": qd, "qdd": np.zeros(check_arm(arm).n) if qdd is None else qdd}
    state = checked(arm.name, arm.functions["link_motions"], given)
    n, parameters = arm.n, arm.model.parameters
    big, tall, long = (6 * n, 6 * n), (6 * n, n), (6 * n,)
    K, T, T_dot, w_C, multipliers = reference(partial(_constraints, parameters), state, (big, tall, tall, long, long))
    turn = np.kron(np.eye(2 * n), _frame_0(arm)[:3, :3])  # into world axes
    K, T, T_dot, w_C, multipliers = turn @ K @ turn.T, turn @ T, turn @ T_dot, w_C @ turn.T, multipliers @ turn.T
    t, t_dot = (_times(T, state["qd"]), _times(T, state["qdd"]) + _times(T_dot, state["qd"]))
    R = arm.link_frames(state["q"])[..., 1:, :3, :3]
    M, W = (np.zeros((*T.shape[:-2], n, 6, n, 6)) for _ in range(2))
    for i, joint in enumerate(arm.joints):
        M[..., i, :3, i, :3] = R[..., i, :, :] @ joint.inertia @ np.swapaxes(R[..., i, :, :], -1, -2)
        M[..., i, 3:, i, 3:] = joint.mass * np.eye(3)
        W[..., i, :3, i, :3] = np.cross(np.eye(3), t[..., None, 6 * i : 6 * i + 3])
    M, W = (x.reshape(*T.shape[:-2], *big) for x in (M, W))
    w_G = _times(M, np.tile([0.0, 0.0, 0.0, *arm.gravity], n))
    w_A = _times(M, t_dot) + _times(W @ M, t) - w_G - w_C
    found = OrthogonalComplement(M, W, t, T, T_dot, K, w_G, w_A, w_C, multipliers)
    for out in found:
        out[~finite_rows(state)] = np.nan
    return found


def _constraints(arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Any]:
    """K, T, T_dot, w^C and lambda in frame-0 axes."""
    g = complement.geometry(arm, q)
    _, T_dot = complement.twist_rates(arm, g, qd, ZERO)
    wrenches = complement.constraint_wrenches(arm, q, qd, qdd)
    return [
        complement.constraint_matrix(arm, q),
        complement.twist_shaping_matrix(arm, q),
        complement.in_rows(T_dot),
        [(moment, force) for force, moment in wrenches],
        complement.multipliers(arm, g, wrenches),
    ]


def _times(matrix: Array, vector: Array) -> Array:
    product: Array = (matrix @ vector[..., None])[..., 0]
    return product


def _frame_0(arm: SerialArm) -> Array:
    """World <- frame 0 of the formulations, (4, 4)."""
    frame: Array = np.array(arm.base) @ np.array(arm.joints[0].before)
    return frame


@summarised
@with_field_docs
class FrameDerivatives(NamedTuple):
    """Derivatives of `link_frames` by the joint coordinates.

    first:  (..., n, n, 4, 4)    [i, j]: of world <- frame i + 1 by q_j; zero for j > i
    second: (..., n, n, n, 4, 4) [i, j, k]: by q_j and q_k
    """

    first: Array
    second: Array


def frame_derivatives(arm: SerialArm, q: ArrayLike) -> FrameDerivatives:
    """First and second derivatives of the transformations T_0^i from the links' frames to the world.

    Identity: M_ij = sum_q Tr{first[q, i] J_q first[q, j]'} without rotors, J_q of `pseudo_inertias`.
    Source: Turney, Mudge & Lee 1980, eqs 1.5-1.19; Lee et al. 1982, eqs 2.6-2.14.
    """
    n = check_arm(arm).n
    state = checked(arm.name, arm.functions["link_frames"], {"q": q})
    formula = partial(_derivatives, arm.model.parameters)
    found = reference(formula, state, ((n, n, 4, 4), (n, n, n, 4, 4)))
    onward = np.array([*(joint.before for joint in arm.joints[1:]), np.eye(4)])  # link frame i <- formulations' frame i
    inward = np.linalg.inv(onward)
    first, second = (_frame_0(arm) @ D for D in found)
    return FrameDerivatives(first @ inward[:, None], second @ inward[:, None, None])


def _derivatives(arm: ArmParameters, q: Scalars) -> list[Any]:
    U, n = lagrange_euler.partials(arm, q), arm.n
    none = lagrange_euler.Derivative(ZERO_MATRIX, ZERO)

    def rows(D: lagrange_euler.Derivative) -> list[Any]:
        return [*([*row, x] for row, x in zip(D.R.rows, D.p, strict=True)), [0.0] * 4]

    first = [[rows(found[j] if j < len(found) else none) for j in range(n)] for found in U.first]
    pairs = [[(min(j, k), max(j, k)) for k in range(n)] for j in range(n)]
    return [first, [[[rows(found.get(pair, none)) for pair in row] for row in pairs] for found in U.second]]


def pseudo_inertias(arm: SerialArm) -> Array:
    """J^a of every link, (n, 4, 4): second moments, first moments m r and mass, about the origin of its frame.

    Source: Turney, Mudge & Lee 1980, eqs 1.24-1.28; Lee et al. 1982, eqs 2.18-2.22; with the products of inertia.
    """
    found = []
    for joint in check_arm(arm).joints:
        body = BodyParameters(joint.mass, Vector(*joint.com), Matrix.of(joint.inertia))
        J, m_r, m = lagrange_euler.pseudo_inertia(body)
        found.append([*([*row, x] for row, x in zip(J.rows, m_r, strict=True)), [*m_r, m]])
    return np.array(found)


def check_arm(arm: SerialArm) -> SerialArm:
    """UnsupportedFeatureError unless the robot is a chain of links."""
    if "link_motions" not in check_robot("arm", arm).functions:
        problem = f"expected a serial arm; {arm.name} is a {arm.kind}"
        raise UnsupportedFeatureError(problem, field="arm", remedy="Use explicit_model, which takes any robot")
    return arm
