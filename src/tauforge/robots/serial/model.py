"""The arm as the formulas see it: numbers over any scalar, in its own frames and in the cheapest ones.

Fields that vary, such as masses, are lists of scalars in the place of the arm's own numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import NO_DISPLACEMENT, ZERO, Transform, Vector, rotation_about_x, rotation_about_z
from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.formulations.bodies import BodyParameters, body_with
from tauforge.formulations.drives import DriveParameters
from tauforge.formulations.serial.frame_choice import Chain, placed_for_mass_matrix
from tauforge.formulations.serial.joint_frames import base_chain, cheapest_chain
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters
from tauforge.robots.loads import BODY_SHARES, Payload, with_payload
from tauforge.validation import to_transform

if TYPE_CHECKING:
    from tauforge.robots.serial.description import ArmDescription

Shape = tuple[int, ...]


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
    body: BodyParameters  # in link frame i
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
        mass, com, inertia = joint.body
        bodies.append(BodyParameters(mass, R @ com + p, rotated(inertia, R)))
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
    """The point of joint wrenches, which is always on the joint's axis."""
    points: dict[str, Vector | None] = {"standard": None, "modified": after.translation, "general": ZERO}
    return points[convention]


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


# ------------------------------------------------------------------------------------------------ fields that vary

DH_FIELDS = DHRow._fields
DRIVE_FIELDS = ("viscous", "motor_inertia", "gear_ratio")
# fields of a joint, and the shape of one joint's share
JOINT_SHARES = {**BODY_SHARES, "offset": (), "coulomb": (2,), **dict.fromkeys((*DRIVE_FIELDS, *DH_FIELDS), ())}


def varying_fields(arm: ArmDescription) -> dict[str, Shape]:
    """For every joint "mass", "com" (3,), "inertia" (3, 3), "offset", "viscous", "coulomb" (2,), "motor_inertia",
    "gear_ratio", and with DH parameters "alpha", "a", "d", "theta"; "gravity" (3,) of the arm.
    """
    absent = () if _has_dh(arm) else DH_FIELDS
    shapes = {field: (arm.n, *share) for field, share in JOINT_SHARES.items() if field not in absent}
    return {"gravity": (3,), **shapes}


def _has_dh(arm: ArmDescription) -> bool:
    return all(joint.dh is not None for joint in arm.joints)


def check_varying(arm: ArmDescription, fields: Sequence[str]) -> None:
    """UnsupportedFeatureError where these fields of the arm cannot vary together."""
    geometry = set(fields) & set(DH_FIELDS)
    if geometry and not _has_dh(arm):
        problem = f"{arm.name} is not described by DH parameters"
        remedy = f"Build it with from_dh, or use one of {', '.join(varying_fields(arm))}"
        raise UnsupportedFeatureError(problem, field="varying", remedy=remedy)
    if geometry and "offset" in fields:
        raise UnsupportedFeatureError(
            "'offset' cannot vary together with DH parameters, because it is one of them",
            field="varying",
            remedy="Vary theta of revolute and d of prismatic joints instead",
        )


def own_value(arm: ArmDescription, field: str) -> Array:
    """The arm's own value of a field, (n, ...), or (3,) of gravity."""
    if field == "gravity":
        return np.array(arm.gravity)
    return np.array([getattr(joint.dh if field in DH_FIELDS else joint, field) for joint in arm.joints])


def fields_carrying(arm: ArmDescription, payload: Payload, fields: Mapping[str, Array]) -> dict[str, Array]:
    """Masses, centres and inertias (N, n, ...) of the arm, or those given, with payloads fixed to the tool.

    Identity: those of `arm.carrying(payload)`, row by row.
    """
    bodies = {field: fields.get(field, own_value(arm, field)) for field in BODY_SHARES}
    return with_payload(bodies, arm.n - 1, payload, to_transform(arm.tool))


def varied_model(arm: ArmDescription, values: Mapping[str, Scalars]) -> ArmModel:
    """The model of the arm with these fields, each a flat list of scalars, instead of its own."""
    numbers, of_joints = arm._numbers, dict(values)
    if (gravity := of_joints.pop("gravity", None)) is not None:
        numbers = numbers._replace(gravity=Vector(*gravity))
    if not of_joints:
        return arm_model(numbers)
    joints = []
    for i, joint in enumerate(numbers.joints):
        sizes = {field: len(flat) // arm.n for field, flat in of_joints.items()}
        shares = {field: of_joints[field][i * size : (i + 1) * size] for field, size in sizes.items()}
        joints.append(_varied(joint, arm, i, shares))
    return arm_model(numbers._replace(joints=tuple(joints)))


def _varied(joint: JointNumbers, arm: ArmDescription, i: int, shares: Mapping[str, Scalars]) -> JointNumbers:
    drive = {field: shares[field][0] for field in DRIVE_FIELDS if field in shares}
    if "coulomb" in shares:
        drive["coulomb_plus"], drive["coulomb_minus"] = shares["coulomb"]
    joint = joint._replace(body=body_with(joint.body, shares), drive=joint.drive._replace(**drive))
    if "offset" in shares:
        joint = joint._replace(offset=shares["offset"][0])
    row = arm.joints[i].dh
    geometry = {field: shares[field][0] for field in DH_FIELDS if field in shares}
    if geometry and row is not None:
        before, after, offset = dh_displacements(arm.joints[i].kind, arm.convention, row._replace(**geometry))
        joint = joint._replace(before=before, after=after, offset=offset)
    return joint
