"""The natural orthogonal complement: Angeles, chapter 7, section 7.5.

The twists of all links, t, obey K t = 0 (A7.50) and t = T qd (A7.54), with K T = 0 (A7.55a, A7.55b). T' eliminates the
constraint wrenches from the uncoupled Newton-Euler equations (A7.48) and leaves those of Euler and Lagrange:

    I qdd = - T' (M T_dot + W M T) qd + T' (w^A + w^D + w^G)                                             (A7.57)

All vectors are in frame-0 axes; a twist is (omega, c_dot), c the centre of mass. Gravity enters as an acceleration of
the base (A7.44) instead of w^G (A7.49), so that a moving base (the book's 7.5.2) is no special case.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, IDENTITY, NO_DISPLACEMENT, ZERO, Matrix, Vector, cross, dot, skew
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.kinematics import link_transform
from tauforge.formulations.serial.parameters import ArmParameters, base_at_rest
from tauforge.formulations.trees.recursion import BaseState


class Twist(NamedTuple):
    """(omega, c_dot) of a link, or the derivative of one."""

    angular: Vector
    linear: Vector


class TwistAndRate(NamedTuple):
    """t_i and t_dot_i of a link; the acceleration of its mass centre is less gravity."""

    twist: Twist
    rate: Twist


class Geometry(NamedTuple):
    """Axes, origins, mass centres and rotations, in frame-0 axes."""

    e: list[Vector]  # axis of joint i
    o: list[Vector]  # origin of frame i-1, on that axis; one more at the end for the origin of frame n
    c: list[Vector]  # centre of mass of link i
    R: list[Matrix]  # frame 0 <- frame i


def geometry(arm: ArmParameters, q: Scalars) -> Geometry:
    e, o, c, rotations = [], [ZERO], [], []
    frame = NO_DISPLACEMENT
    for joint, body, q_i in zip(arm.joints, arm.bodies, q, strict=True):
        e.append(frame.rotation @ E_Z)
        frame = frame.then(link_transform(joint, q_i))
        o.append(frame.translation)
        c.append(frame.rotation @ body.com + frame.translation)
        rotations.append(frame.rotation)
    return Geometry(e, o, c, rotations)


def twist_shaping_matrix(arm: ArmParameters, q: Scalars) -> list[list[Scalar]]:
    """T (A7.54), 6n x n."""
    return in_rows(twist_blocks(arm, geometry(arm, q)))


def in_rows(blocks: list[list[Twist]]) -> list[list[Scalar]]:
    """A 6n x n matrix of the blocks on and below its diagonal."""
    none = (0.0,) * (len(blocks) - 1)
    return [
        [*row, *none[len(row) - 1 :]]
        for b in blocks
        for part in zip(*b, strict=True)
        for row in zip(*part, strict=True)
    ]


def twist_blocks(arm: ArmParameters, g: Geometry) -> list[list[Twist]]:
    """Block (i, j) of T: the twist of link i per unit speed of joint j; zero beyond the diagonal."""
    return [
        [
            Twist(g.e[j], cross(g.e[j], g.c[i] - g.o[j])) if arm.joints[j].revolute else Twist(ZERO, g.e[j])
            for j in range(i + 1)
        ]
        for i in range(arm.n)
    ]


def constraint_matrix(arm: ArmParameters, q: Scalars) -> list[list[Scalar]]:
    """K (A7.50), 6n x 6n: six rows for each joint, in terms of the twists of the two links that it connects.

    Revolute: e x (omega_i - omega_{i-1}) = 0 and c_dot_i - omega_i x rho_i = c_dot_{i-1} + omega_{i-1} x delta_{i-1}.
    Prismatic: omega_i = omega_{i-1} and e x (c_dot_i - c_dot_{i-1} - omega_i x (c_i - c_{i-1})) = 0.
    Identity: K T = 0.
    """
    g = geometry(arm, q)
    n = arm.n
    K: list[list[Scalar]] = [[0.0] * (6 * n) for _ in range(6 * n)]

    def put(joint: int, equation: int, link: int, part: int, block: Matrix) -> None:
        for a in range(3):
            for b in range(3):
                K[6 * joint + 3 * equation + a][6 * link + 3 * part + b] = block[a, b]

    turning, shifting = 0, 1  # the two equations of a joint
    angular, linear = 0, 1  # the two parts of a twist
    for i, joint in enumerate(arm.joints):
        E = skew(g.e[i])
        c_before = g.c[i - 1] if i else ZERO
        if joint.revolute:
            put(i, turning, i, angular, E)
            put(i, shifting, i, angular, skew(g.c[i] - g.o[i]))
            put(i, shifting, i, linear, IDENTITY)
            if i:
                put(i, turning, i - 1, angular, E * -1.0)
                put(i, shifting, i - 1, angular, skew(g.o[i] - c_before))
                put(i, shifting, i - 1, linear, IDENTITY * -1.0)
        else:
            put(i, turning, i, angular, IDENTITY)
            put(i, shifting, i, angular, E.times(skew(g.c[i] - c_before)))
            put(i, shifting, i, linear, E)
            if i:
                put(i, turning, i - 1, angular, IDENTITY * -1.0)
                put(i, shifting, i - 1, linear, E * -1.0)
    return K


def generalized_inertia(arm: ArmParameters, q: Scalars) -> list[list[Scalar]]:
    """I = T' M T (A7.58).

    Identity: equals `composite_inertia.mass_matrix`.
    """
    g = geometry(arm, q)
    T = twist_blocks(arm, g)
    n = arm.n
    inertia: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i, body in enumerate(arm.bodies):
        for j in range(i + 1):
            angular = g.R[i] @ (body.inertia @ (g.R[i].T @ T[i][j].angular))
            linear = T[i][j].linear * body.mass
            for k in range(j + 1):
                inertia[j][k] = inertia[j][k] + dot(T[i][k].angular, angular) + dot(T[i][k].linear, linear)
                inertia[k][j] = inertia[j][k]
    return inertia


def twist_rates(arm: ArmParameters, g: Geometry, qd: Scalars, omega: Vector) -> tuple[list[Twist], list[list[Twist]]]:
    """t of every link, and the blocks of T_dot as in `twist_blocks`. omega: angular velocity of the base"""
    e_dot, o_dot = [], [ZERO]  # rates of the axes and of the origins that T's vectors start from
    twists: list[Twist] = []
    for j, joint in enumerate(arm.joints):
        e_dot.append(cross(omega, g.e[j]))
        turning = g.e[j] * qd[j] if joint.revolute else ZERO
        sliding = ZERO if joint.revolute else g.e[j] * qd[j]
        omega = omega + turning
        o_dot.append(o_dot[j] + cross(omega, g.o[j + 1] - g.o[j]) + sliding)
        twists.append(Twist(omega, o_dot[j + 1] + cross(omega, g.c[j] - g.o[j + 1])))

    blocks: list[list[Twist]] = []
    for i, (_, c_dot) in enumerate(twists):
        blocks.append([])
        for j, joint in enumerate(arm.joints[: i + 1]):
            if joint.revolute:
                T_dot = Twist(e_dot[j], cross(e_dot[j], g.c[i] - g.o[j]) + cross(g.e[j], c_dot - o_dot[j]))
            else:
                T_dot = Twist(ZERO, e_dot[j])
            blocks[i].append(T_dot)
    return twists, blocks


def motions(
    arm: ArmParameters, g: Geometry, T: list[list[Twist]], qd: Scalars, qdd: Scalars, base: BaseState
) -> list[TwistAndRate]:
    """t and t_dot = T qdd + T_dot qd (A7.56) of every link; the base's own motion is added."""
    omega_0, alpha_0, a_0 = base
    twists, T_dot = twist_rates(arm, g, qd, omega_0)
    result = []
    for i, twist in enumerate(twists):
        alpha = alpha_0
        c_ddot = a_0 + cross(alpha_0, g.c[i]) + cross(omega_0, twist.linear)
        for j in range(i + 1):
            alpha = alpha + T[i][j].angular * qdd[j]
            c_ddot = c_ddot + T[i][j].linear * qdd[j]
            alpha, c_ddot = alpha + T_dot[i][j].angular * qd[j], c_ddot + T_dot[i][j].linear * qd[j]
        result.append(TwistAndRate(twist, Twist(alpha, c_ddot)))
    return result


def needed_wrenches(
    arm: ArmParameters, g: Geometry, T: list[list[Twist]], qd: Scalars, qdd: Scalars, tip: Wrench, base: BaseState
) -> list[Wrench]:
    """M t_dot + W M t less what the environment exerts: w^A + w^C of every link (A7.47, A7.48), at its mass centre."""
    wrenches = []
    for body, R, motion in zip(arm.bodies, g.R, motions(arm, g, T, qd, qdd, base), strict=True):
        omega, alpha = motion.twist.angular, motion.rate.angular
        I_omega, I_alpha = R @ (body.inertia @ (R.T @ omega)), R @ (body.inertia @ (R.T @ alpha))
        wrenches.append(Wrench(motion.rate.linear * body.mass, I_alpha + cross(omega, I_omega)))

    f_tip, n_tip = g.R[-1] @ tip.force, g.R[-1] @ tip.moment
    last = wrenches[-1]
    wrenches[-1] = Wrench(last.force - f_tip, last.moment - n_tip - cross(g.o[arm.n] - g.c[-1], f_tip))
    return wrenches


def projected(T: list[list[Twist]], wrenches: list[Wrench]) -> list[Scalar]:
    """T' w."""
    n = len(wrenches)
    tau: list[Scalar] = []
    for j in range(n):
        total: Scalar = 0.0
        for i in range(j, n):
            total = total + dot(T[i][j].angular, wrenches[i].moment) + dot(T[i][j].linear, wrenches[i].force)
        tau.append(total)
    return tau


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors): T' (M t_dot + W M t - w), A7.57 solved for w^A.

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    g = geometry(arm, q)
    T = twist_blocks(arm, g)
    return projected(T, needed_wrenches(arm, g, T, qd, qdd, tip, base or base_at_rest(arm)))


def constraint_wrenches(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Wrench]:
    """w^C of every link (A7.48): the wrench of both its joints, without their actuators, at its mass centre.

    The actuator of a prismatic joint pushes along the line through the origin of frame i-1.
    Identity: T' w^C = 0 (A7.51), and w^C = K' lambda (A7.52, A7.53).
    """
    g = geometry(arm, q)
    T = twist_blocks(arm, g)
    wrenches = needed_wrenches(arm, g, T, qd, qdd, tip, base or base_at_rest(arm))
    for j, tau in enumerate(projected(T, wrenches)):
        active = g.e[j] * tau
        for link, sign in ((j, 1.0), (j - 1, -1.0)):  # the actuator of joint j acts on link j and reacts on link j-1
            if link < 0:
                continue
            force, moment = wrenches[link]
            if arm.joints[j].revolute:
                moment = moment - active * sign
            else:
                force, moment = force - active * sign, moment - cross(g.o[j] - g.c[link], active) * sign
            wrenches[link] = Wrench(force, moment)
    return wrenches


def multipliers(arm: ArmParameters, g: Geometry, wrenches: list[Wrench]) -> list[list[Vector]]:
    """lambda (A7.53), two vectors for each joint, from w^C of every link: w^C = K' lambda.

    With f and n the constraint's force on link i and its moment: e x n about O_i and f of a revolute joint, n about
    C_{i-1} and e x f of a prismatic one. Along e the others could be anything, and are zero.
    """
    f, n, result = ZERO, ZERO, []  # of joint i, at C_i
    for i in reversed(range(arm.n)):
        f, n = f + wrenches[i].force, n + wrenches[i].moment
        c_before = g.c[i - 1] if i else ZERO
        n_before = n + cross(g.c[i] - c_before, f)
        if arm.joints[i].revolute:
            result.append([cross(g.e[i], n + cross(g.c[i] - g.o[i], f)), f])
        else:
            result.append([n_before, cross(g.e[i], f)])
        n = n_before
    return result[::-1]
