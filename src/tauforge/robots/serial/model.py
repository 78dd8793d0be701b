"""The arm as the formulas see it: numbers over any scalar, in its own frames and in the cheapest ones."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import (
    NO_DISPLACEMENT,
    ZERO,
    Matrix,
    Transform,
    Vector,
    rotation_about_x,
    rotation_about_z,
)
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.drives import DriveParameters
from tauforge.formulations.serial.frame_choice import placed_for_mass_matrix
from tauforge.formulations.serial.joint_frames import base_chain, cheapest_chain
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters
from tauforge.formulations.serial.regrouping import Chain


class DHRow(NamedTuple):
    """Denavit-Hartenberg parameters of one joint; `Joint` keeps them so that `save` writes what was read."""

    alpha: Scalar
    a: Scalar
    d: Scalar
    theta: Scalar


class JointNumbers(NamedTuple):
    """A joint and its link, as in `Joint`, over any scalar."""

    revolute: bool
    before: Transform
    after: Transform
    offset: Scalar
    mass: Scalar
    com: Vector
    inertia: Matrix
    drive: DriveParameters


class ArmNumbers(NamedTuple):
    """An arm as it is described, over any scalar."""

    joints: tuple[JointNumbers, ...]
    gravity: Vector
    base: Transform
    tool: Transform
    coulomb_speed: Scalar
    convention: str


class ArmModel(NamedTuple):
    """All that the formulas need: the arm in its own frames and in the cheapest ones, its drives and link frames."""

    parameters: ArmParameters
    chain: Chain  # in the cheapest frames, without a payload
    mass_chain: Chain  # in those that are cheapest for the mass matrix
    drives: tuple[DriveParameters, ...]
    coulomb_speed: Scalar
    befores: tuple[Transform, ...]  # link frame i-1 <- joint i
    afters: tuple[Transform, ...]  # moved joint i <- link frame i
    reaction_points: tuple[Vector | None, ...]  # of joint wrenches, in moved joint i; None is the origin of frame i-1

    @property
    def n(self) -> int:
        return self.parameters.n


def arm_model(arm: ArmNumbers) -> ArmModel:
    befores, afters = [joint.before for joint in arm.joints], [joint.after for joint in arm.joints]
    joints, bodies = [], []
    # frame i of the formulations is link frame i carried on to the axis of the next joint
    for joint, onward in zip(arm.joints, [*befores[1:], NO_DISPLACEMENT], strict=True):
        joints.append(JointParameters(joint.revolute, joint.offset, joint.after.then(onward)))
        R, p = onward.inverse()
        bodies.append(BodyParameters(joint.mass, R @ joint.com + p, rotated(joint.inertia, R)))
    parameters = ArmParameters(tuple(joints), tuple(bodies), arm.gravity, arm.base, befores[0], arm.tool)
    return ArmModel(
        parameters,
        cheapest_chain(parameters),
        placed_for_mass_matrix(base_chain(parameters)),
        tuple(joint.drive for joint in arm.joints),
        arm.coulomb_speed,
        tuple(befores),
        tuple(afters),
        tuple(reaction_point(arm.convention, after) for after in afters),
    )


def reaction_point(convention: str, after: Transform) -> Vector | None:
    """Where joint wrenches are taken: always on the joint's axis."""
    match convention:
        case "standard":
            return None
        case "modified":
            return after.translation
        case _:
            return ZERO


def dh_displacements(kind: str, convention: str, row: DHRow) -> tuple[Transform, Transform, Scalar]:
    """before, after and offset of a joint given by Denavit-Hartenberg parameters.

    standard: Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha); modified: Rot(x, alpha) Trans(x, a) first.
    """
    across = Transform(rotation_about_x(row.alpha), Vector(row.a, 0.0, 0.0))
    if kind == "P":
        along, offset = Transform(rotation_about_z(row.theta), ZERO), row.d
    else:
        along, offset = Transform(NO_DISPLACEMENT.rotation, Vector(0.0, 0.0, row.d)), row.theta
    if convention == "standard":
        return NO_DISPLACEMENT, along.then(across), offset
    return across, along, offset
