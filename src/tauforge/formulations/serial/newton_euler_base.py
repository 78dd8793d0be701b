"""Newton-Euler equations with every vector in frame-0 axes: Turney, Mudge & Lee 1980, T3.1-3.13; L3.11-3.19.

A vector or tensor of link i is turned from frame i by R_0^i: Turney stars it, r_i* = R_0^i r_i. No vector is turned
again from link to link. Turning a tensor costs two matrix products for each link, which the sets in link axes avoid
(T3.14, L3.20).

Deviates from the print: a_0 = g z_0 is a vector in any direction, and the base may move. Prismatic joints, which both
papers leave out, add the terms of Angeles, A7.34f: those of T3.2 for a vector that changes in its frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import E_Z, NO_DISPLACEMENT, ZERO, Matrix, Vector, cross, dot
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.kinematics import link_transform
from tauforge.formulations.serial.parameters import ArmParameters, base_at_rest
from tauforge.formulations.trees.recursion import BaseState


class LinkState(NamedTuple):
    """Link i with its motion, in frame-0 axes, and the force and moment that it needs at its mass centre.

    R:     R_0^i, which turns frame-i components into frame-0 components
    z:     axis of joint i, z_{i-1}*
    r:     from the origin of frame i-1 to that of frame i
    r_bar: from the origin of frame i to the mass centre
    I:     inertia about the mass centre
    a:     acceleration of the origin of frame i, less gravity
    a_bar: acceleration of the mass centre, less gravity
    """

    R: Matrix
    z: Vector
    r: Vector
    r_bar: Vector
    I: Matrix
    omega: Vector
    alpha: Vector
    a: Vector
    a_bar: Vector
    F: Vector
    N: Vector


def outward(arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, base: BaseState) -> list[LinkState]:
    """States of the links, from the base to the hand."""
    omega, alpha, a = base
    frame, links = NO_DISPLACEMENT, []
    for i, (joint, body) in enumerate(zip(arm.joints, arm.bodies, strict=True)):
        z = frame.rotation @ E_Z
        following = frame.then(link_transform(joint, q[i]))
        R = following.rotation
        r, r_bar, I = following.translation - frame.translation, R @ body.com, rotated(body.inertia, R)  # T3.5
        sliding = ZERO
        if joint.revolute:
            alpha = alpha + cross(omega, z * qd[i]) + z * qdd[i]  # T3.4, L3.12, A7.25b
            omega = omega + z * qd[i]  # T3.3, L3.11, A7.25a
        else:
            sliding = cross(omega, z * (2.0 * qd[i])) + z * qdd[i]  # T3.2, A7.34f
        a = cross(omega, cross(omega, r)) + cross(alpha, r) + a + sliding  # T3.6-3.7, L3.13
        a_bar = cross(omega, cross(omega, r_bar)) + cross(alpha, r_bar) + a  # T3.8, L3.14
        N = cross(omega, I @ omega) + I @ alpha  # T3.10, L3.16
        links.append(LinkState(R, z, r, r_bar, I, omega, alpha, a, a_bar, a_bar * body.mass, N))  # L3.15
        frame = following
    return links


def inward(links: Sequence[LinkState], tip: Wrench = NO_WRENCH) -> list[Wrench]:
    """f_i, n_i: what link i-1 exerts on link i, at the origin of frame i-1, in frame-0 axes, i = 1..n.

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    """
    f, n = -(links[-1].R @ tip.force), -(links[-1].R @ tip.moment)
    wrenches = []
    for link in reversed(links):
        n = link.N + cross(link.r_bar + link.r, link.F) + cross(link.r, f) + n  # T3.11-3.12, L3.18
        f = link.F + f  # T3.9, L3.17
        wrenches.append(Wrench(f, n))
    return wrenches[::-1]


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors).

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    links = outward(arm, q, qd, qdd, base or base_at_rest(arm))
    return [
        dot(link.z, wrench.moment if joint.revolute else wrench.force)  # T3.13, L3.19
        for joint, link, wrench in zip(arm.joints, links, inward(links, tip), strict=True)
    ]
