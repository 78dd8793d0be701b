"""What may vary of an arm, and its model with other values than its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.robots.loads import BODY_SHARES, with_payload
from tauforge.robots.serial.model import ArmModel, DHRow, JointNumbers, arm_model, dh_displacements
from tauforge.validation import to_transform

if TYPE_CHECKING:
    from tauforge.robots.loads import Payload
    from tauforge.robots.serial.description import ArmDescription

Shape = tuple[int, ...]
Scalars = Sequence[Scalar]
DH = ("alpha", "a", "d", "theta")
DRIVE_FIELDS = ("viscous", "motor_inertia", "gear_ratio")
# fields of a joint, and the shape of one joint's share
JOINT_SHARES: dict[str, Shape] = {
    **BODY_SHARES,
    "offset": (),
    "coulomb": (2,),
    **dict.fromkeys((*DRIVE_FIELDS, *DH), ()),
}


def varying_fields(arm: ArmDescription) -> dict[str, Shape]:
    """Fields of an arm that may vary, each for every joint; gravity is one vector."""
    own = JOINT_SHARES if _has_dh(arm) else {field: share for field, share in JOINT_SHARES.items() if field not in DH}
    return {"gravity": (3,), **{field: (arm.n, *share) for field, share in own.items()}}


def _has_dh(arm: ArmDescription) -> bool:
    return all(joint.dh is not None for joint in arm.joints)


def check(arm: ArmDescription, fields: Sequence[str]) -> None:
    """UnsupportedFeatureError where these fields of the arm cannot vary together."""
    geometry = set(fields) & set(DH)
    if geometry and not _has_dh(arm):
        raise UnsupportedFeatureError(
            f"{arm.name} is not described by DH parameters",
            field="varying",
            remedy=f"Build it with from_dh, or use one of {', '.join(varying_fields(arm))}",
        )
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
    return np.array([getattr(joint.dh if field in DH else joint, field) for joint in arm.joints])


def carrying(arm: ArmDescription, payload: Payload, given: Mapping[str, Array]) -> dict[str, Array]:
    """Masses, centres and inertias (N, n, ...) of the arm, or those given, with payloads fixed to the tool.

    Identity: those of `arm.carrying(payload)`, row by row.
    """
    fields = {field: given.get(field, own_value(arm, field)) for field in BODY_SHARES}
    return with_payload(fields, arm.n - 1, payload, to_transform(arm.tool))


def varied_model(arm: ArmDescription, values: Mapping[str, Scalars]) -> ArmModel:
    """The arm with these fields, each a flat list of scalars, instead of its own."""
    numbers = arm._numbers
    if not values:
        return arm_model(numbers)
    if "gravity" in values:
        numbers = numbers._replace(gravity=Vector(*values["gravity"]))
    joints = []
    for i, joint in enumerate(numbers.joints):
        shares = {}
        for field, flat in values.items():
            if field != "gravity":
                size = len(flat) // arm.n
                shares[field] = list(flat[i * size : (i + 1) * size])
        joints.append(_varied(joint, arm, i, shares))
    return arm_model(numbers._replace(joints=tuple(joints)))


def _varied(joint: JointNumbers, arm: ArmDescription, i: int, shares: dict[str, list[Scalar]]) -> JointNumbers:
    for field, share in shares.items():
        match field:
            case "mass" | "offset":
                joint = joint._replace(**{field: share[0]})
            case "com":
                joint = joint._replace(com=Vector(*share))
            case "inertia":  # symmetric: the upper triangle is read
                xx, xy, xz, _, yy, yz, _, _, zz = share
                joint = joint._replace(inertia=Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
            case "coulomb":
                joint = joint._replace(drive=joint.drive._replace(coulomb_plus=share[0], coulomb_minus=share[1]))
            case _ if field in DRIVE_FIELDS:
                joint = joint._replace(drive=joint.drive._replace(**{field: share[0]}))
    row = arm.joints[i].dh
    geometry = {field: share[0] for field, share in shares.items() if field in DH}
    if geometry and row is not None:
        given = DHRow(**{**row._asdict(), **geometry})
        before, after, offset = dh_displacements(arm.joints[i].kind, arm.convention, given)
        joint = joint._replace(before=before, after=after, offset=offset)
    return joint
