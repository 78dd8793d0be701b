"""The description of a serial arm: frozen and validated, with changed copies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tauforge import validation
from tauforge.algebra.inertias import point_mass_inertia
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.bodies import body_of, heavier
from tauforge.plugins import save
from tauforge.robots import plausibility
from tauforge.robots.drawing import Visual, check_visuals
from tauforge.robots.loads import Payload, one_payload
from tauforge.robots.records import KnownException, Source
from tauforge.robots.robot import Robot
from tauforge.robots.serial.joint import CONVENTIONS, JOINT_FIELDS, Joint
from tauforge.robots.serial.model import DH_FIELDS, ArmNumbers
from tauforge.validation import IDENTITY_ROWS, Floats, Rows, to_transform

SMALLEST_COULOMB_SPEED = 1e-9  # below, the slope of tanh at rest is beyond any drive's


@ours
@dataclass(frozen=True, kw_only=True)
class ArmDescription(Robot):
    """A chain of revolute and prismatic joints from a base to a tool. SI units, radians.

    joints:        one `Joint` each, from the base outward
    base, tool:    4 x 4: world <- base, last link frame <- tool
    gravity:       (3,) m/s^2, acceleration of free fall, world axes
    coulomb_speed: v, rad/s or m/s; above 0, Coulomb friction is (T+ + T-)/2 s + (T+ - T-)/2 s^2 with s = tanh(qd / v)
    convention:    "standard" or "modified" DH, or "general"
    visuals:       what links look like, for pictures alone: no equality, kernel or file depends on them
    """

    joints: tuple[Joint, ...]
    base: Rows = IDENTITY_ROWS
    tool: Rows = IDENTITY_ROWS
    gravity: Floats = (0.0, 0.0, -9.81)
    coulomb_speed: float = 0.0
    name: str = "arm"
    convention: str = "general"
    known_exceptions: tuple[KnownException, ...] = ()
    sources: tuple[Source, ...] = dataclasses.field(default=(), compare=False)
    visuals: tuple[Visual, ...] = dataclasses.field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        def put(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        try:
            put("joints", tuple(self.joints))
        except TypeError:
            raise ModelError(f"expected a sequence of Joint, got {self.joints!r}", field="joints") from None
        for joint in self.joints:
            if not isinstance(joint, Joint):
                raise ModelError(f"expected a sequence of Joint, got {validation.shown(joint)} in it", field="joints")
        if not self.joints:
            raise ModelError("an arm needs at least one joint", field="joints")
        if self.convention not in (*CONVENTIONS, "general"):
            raise ModelError(f"unknown convention {self.convention!r}", field="convention")
        validation.text(self.name, "name")
        named = [
            joint if joint.name else dataclasses.replace(joint, name=f"joint{i + 1}")
            for i, joint in enumerate(self.joints)
        ]
        if self.convention == "general":  # DH rows of an arm that is not described by them would not survive `save`
            named = [joint if joint.dh is None else dataclasses.replace(joint, dh=None) for joint in named]
        repeated = {joint.name for joint in named if [other.name for other in named].count(joint.name) > 1}
        if repeated:
            raise ModelError(f"joint names must differ, repeated: {', '.join(sorted(repeated))}", field="names")
        put("joints", tuple(named))
        put("base", validation.transform(self.base, "base"))
        put("tool", validation.transform(self.tool, "tool"))
        put("gravity", validation.vector(self.gravity, "gravity"))
        put("coulomb_speed", validation.non_negative(self.coulomb_speed, "coulomb_speed"))
        if 0 < self.coulomb_speed < SMALLEST_COULOMB_SPEED:
            raise ModelError(
                f"expected 0 or at least {SMALLEST_COULOMB_SPEED:g}, got {self.coulomb_speed:g}", field="coulomb_speed"
            )
        put("visuals", check_visuals(self.visuals, len(self.joints)))
        bodies = {joint.link_name: joint.inertia for joint in self.joints}
        plausibility.check_bodies(self.name, bodies, self.known_exceptions)
        heavy = {joint.link_name: math.hypot(*joint.com) for joint in self.joints if joint.mass}
        plausibility.warn_of_far_masses(self.name, heavy)

    # ------------------------------------------------------------------------------------------------ construction

    @classmethod
    def from_dh(
        cls,
        *,
        joints: str,
        alpha: ArrayLike,
        a: ArrayLike,
        d: ArrayLike,
        theta: ArrayLike | None = None,
        convention: str = "standard",
        names: Sequence[str] | None = None,
        base: ArrayLike | None = None,
        tool: ArrayLike | None = None,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        coulomb_speed: float = 0.0,
        name: str = "arm",
        **per_joint: Any,
    ) -> Self:
        """An arm from Denavit-Hartenberg tables, one entry for each joint.

        joints: letters R and P, such as "RRPRRR". Further per-joint sequences: mass, com, inertia, viscous, coulomb,
        motor_inertia, gear_ratio, limits, max_speed, max_force.
        """
        if not isinstance(joints, str) or not joints:
            raise ModelError(f"expected letters such as 'RRPRRR', got {joints!r}", field="joints")
        n = len(joints)
        allowed = set(JOINT_FIELDS) - {"kind", "before", "after", "offset", "name", "dh"}
        if unknown := sorted(set(per_joint) - allowed):
            problem = f"unknown argument {unknown[0]!r}"
            raise ModelError(problem, field="from_dh", remedy=validation.known_names(unknown[0], sorted(allowed)))
        table = {"alpha": alpha, "a": a, "d": d, "theta": [0.0] * n if theta is None else theta}
        columns = {key: validation.per_joint(value, n, key) for key, value in table.items()}
        columns |= {key: validation.per_joint(value, n, key) for key, value in per_joint.items() if value is not None}
        named = [f"joint{i + 1}" for i in range(n)] if names is None else validation.per_joint(names, n, "names")
        rows = tuple(
            Joint.from_dh(kind, convention=convention, name=named[i], **{key: x[i] for key, x in columns.items()})
            for i, kind in enumerate(joints)
        )
        frames: dict[str, Any] = {"base": base, "tool": tool, "gravity": gravity}
        return cls(joints=rows, coulomb_speed=coulomb_speed, name=name, convention=convention, **frames)

    def replace(self, **changes: Any) -> Self:
        """A changed copy: fields of the arm (gravity, tool, ...) or per-joint sequences (mass, com, viscous, ...)."""
        own = {field.name for field in dataclasses.fields(self)}
        if changes.get("convention", self.convention) != self.convention and "joints" not in changes:
            problem = f"the joints are given in the {self.convention} convention"
            remedy = "Give joints= as well, or build another arm with from_dh"
            raise ModelError(problem, field="convention", remedy=remedy)
        per_joint = {key: changes.pop(key) for key in list(changes) if key not in own}
        joints = list(changes.pop("joints", self.joints))
        if unknown := sorted(set(per_joint) - set(JOINT_FIELDS) - set(DH_FIELDS)):
            known = validation.known_names(unknown[0], (*JOINT_FIELDS, *DH_FIELDS, *own))
            raise ModelError(f"unknown field {unknown[0]!r}", field="replace", remedy=known)
        for key, value in per_joint.items():
            column = validation.per_joint(value, len(joints), key)
            for i, (joint, entry) in enumerate(zip(joints, column, strict=True)):
                joints[i] = self._changed(joint, key, entry)
        if len(joints) != self.n:  # another arm, whose links nobody has drawn
            changes.setdefault("visuals", ())
        return dataclasses.replace(self, joints=tuple(joints), **changes)

    def _changed(self, joint: Joint, key: str, value: Any) -> Joint:
        if key not in DH_FIELDS:
            change = {key: value}
            if key in ("kind", "before", "after", "offset"):
                change["dh"] = None
            return dataclasses.replace(joint, **change)
        if joint.dh is None:
            raise ModelError(f"{joint.name} has no DH parameters to change", field=key)
        rest = {name: getattr(joint, name) for name in JOINT_FIELDS if name not in ("before", "after", "offset", "dh")}
        return Joint.from_dh(**rest, **(joint.dh._asdict() | {key: value}), convention=self.convention)

    def without_friction(self) -> Self:
        """The same arm with neither viscous nor Coulomb friction; rotors stay."""
        if not any(joint.viscous or any(joint.coulomb) for joint in self.joints):
            return self
        return self.replace(viscous=[0.0] * self.n, coulomb=[(0.0, 0.0)] * self.n)

    def carrying(self, payload: Payload) -> Self:
        """The same arm with one payload fixed to its tool: part of the robot, not an argument of a call.

        Identity: every dynamic quantity equals that of this arm with payload=.
        """
        held = one_payload(payload)
        last = self.joints[-1]
        both = heavier(last.as_numbers.body, body_of(held.numbers().tolist()), to_transform(self.tool))
        own: dict[str, Any] = {"mass": both.mass, "com": [*both.com], "inertia": [[*row] for row in both.inertia.rows]}
        return dataclasses.replace(self, joints=(*self.joints[:-1], dataclasses.replace(last, **own)))

    def without_rotors(self) -> Self:
        """The same arm without motor inertias: rigid links alone, with their friction."""
        return self.replace(motor_inertia=[0.0] * self.n)

    def save(self, path: str | Path) -> None:
        """Write the arm as .toml, which `tauforge.load` reads back equal, or as .urdf or .xml (MJCF).

        Visuals are not written. A TauforgeWarning says what URDF and MJCF cannot hold.
        """
        save(self, Path(path))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.kinds}, {self.convention})"

    # ------------------------------------------------------------------------------------------------ description

    @property
    def kinds(self) -> str:
        """Joint letters, such as "RRPRRR"."""
        return "".join(joint.kind for joint in self.joints)

    @property
    def limits(self) -> Array:
        """(n, 2) lower and upper; infinite where there is none."""
        return np.array([joint.limits or (-np.inf, np.inf) for joint in self.joints])

    @computed_once
    def inertial_parameters(self) -> Array:
        """(10 n,) m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz for each link, about and in its own frame.

        `Payload.numbers()` has another order, with Ixz before Iyy, and the inertia about the centre of mass.
        """
        values = []
        for joint in self.joints:
            c = Vector(*joint.com)
            I = Matrix.of(joint.inertia) + point_mass_inertia(joint.mass, c)
            values += [joint.mass, *(c * joint.mass)]
            values += [I[a, b] for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
        result = np.array(values)
        result.flags.writeable = False
        return result

    @property
    def _numbers(self) -> ArmNumbers:
        """Numbers of the arm for the formulas."""
        return ArmNumbers(
            tuple(joint.as_numbers for joint in self.joints),
            Vector(*self.gravity),
            to_transform(self.base),
            to_transform(self.tool),
            self.coulomb_speed,
            self.convention,
        )
