"""Parameters of an arm for the formulations: plain tuples over any scalar, unvalidated.

Frame 0 is fixed in the base with z along the axis of joint 1; frame i is fixed in link i, and its z axis is
the axis of joint i+1 (Denavit & Hartenberg's rule, as in Turney, Lee and Angeles). Joint i turns or slides by
q_i + offset about or along z_{i-1}; then a constant displacement leads to frame i:

    T_{i-1}^i = Rot(z, q_i + offset_i) C_i   or   Trans(z, q_i + offset_i) C_i.

Standard DH has C_i = Trans(z, d) Trans(x, a) Rot(x, alpha); any serial chain fits with a general C_i.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Transform, Vector, cross
from tauforge.formulations.bodies import BodyParameters, heavier
from tauforge.formulations.trees.recursion import BaseState


class JointParameters(NamedTuple):
    revolute: bool
    offset: Scalar  # rad or m, added to q
    constant: Transform  # C_i: frame i seen from the moved joint axes


class ArmParameters(NamedTuple):
    joints: tuple[JointParameters, ...]
    bodies: tuple[BodyParameters, ...]
    gravity: Vector  # m/s^2, acceleration of free fall, world axes
    base: Transform = NO_DISPLACEMENT  # world <- base
    mount: Transform = NO_DISPLACEMENT  # base <- frame 0
    tool: Transform = NO_DISPLACEMENT  # frame n <- tool

    @property
    def n(self) -> int:
        return len(self.joints)


def base_at_rest(arm: ArmParameters) -> BaseState:
    """Gravity as an upward acceleration of the base, after Luh, Walker & Paul (A7.44), and no motion (A7.27, A7.35)."""
    return BaseState(ZERO, ZERO, into_frame_0(arm, -arm.gravity))


def moving_base(arm: ArmParameters, omega: Vector, alpha: Vector, acceleration: Vector) -> BaseState:
    """From the motion of the base frame, world axes, `acceleration` being that of the base frame's origin."""
    omega_0, alpha_0 = into_frame_0(arm, omega), into_frame_0(arm, alpha)
    r = arm.mount.rotation.T @ arm.mount.translation
    a_0 = into_frame_0(arm, acceleration - arm.gravity)
    return BaseState(omega_0, alpha_0, a_0 + cross(alpha_0, r) + cross(omega_0, cross(omega_0, r)))


def into_frame_0(arm: ArmParameters, v: Vector) -> Vector:
    """World axes to frame-0 axes."""
    return arm.mount.rotation.T @ (arm.base.rotation.T @ v)


def with_payload(arm: ArmParameters, payload: BodyParameters) -> ArmParameters:
    """The arm whose last link carries the payload, which is given in the tool frame.

    Identity: every dynamic quantity of the result equals that of an arm whose last body was built with both masses.
    """
    return arm._replace(bodies=(*arm.bodies[:-1], heavier(arm.bodies[-1], payload, arm.tool)))
