"""One joint and the link it carries."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from tauforge import validation
from tauforge.algebra.vectors import Matrix, Vector
from tauforge.errors import ModelError
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.drives import DriveParameters
from tauforge.robots.serial.model import DHRow, JointNumbers, dh_displacements
from tauforge.validation import IDENTITY_ROWS, ZERO_INERTIA, Floats, Rows, to_transform

KIND_NAMES = {"R": "revolute", "P": "prismatic"}
CONVENTIONS = ("standard", "modified")


@dataclass(frozen=True, kw_only=True)
class Joint:
    """A joint and its link: T_{i-1}^i = before Rot(z, q + offset) after, or Trans(z, q + offset).

    kind:          "R" or "P"
    before:        4 x 4, link frame i-1 <- joint; the joint's axis is its z
    after:         4 x 4, moved joint <- link frame i
    offset:        rad or m, added to q
    mass:          kg
    com:           (3,) m, in frame i
    inertia:       kg m^2, about the centre of mass, frame-i axes; (3,) principal moments or (3, 3)
    viscous:       N m s, motor side (of a prismatic joint too: its motor turns)
    coulomb:       (plus, minus) magnitudes >= 0, N m, motor side; one number for both
    motor_inertia: kg m^2, motor side
    gear_ratio:    G, motor turns per joint turn, with sign; rad/m for a prismatic joint. The joint feels viscous G^2,
                   coulomb |G| and motor_inertia G^2. With G = 1 the numbers are the joint's own, in N s/m, N and kg for
                   a prismatic one
    limits:        (lower, upper), rad or m, or None
    max_speed, max_force: of the joint, or None; kept for simulation, never used by the dynamics
    """

    kind: str = "R"
    before: Rows = IDENTITY_ROWS
    after: Rows = IDENTITY_ROWS
    offset: float = 0.0
    mass: float = 0.0
    com: Floats = (0.0, 0.0, 0.0)
    inertia: Rows = ZERO_INERTIA
    viscous: float = 0.0
    coulomb: Floats = (0.0, 0.0)
    motor_inertia: float = 0.0
    gear_ratio: float = 1.0
    limits: Floats | None = None
    max_speed: float | None = None
    max_force: float | None = None
    name: str = ""
    dh: DHRow | None = None

    def __post_init__(self) -> None:
        def where(field: str) -> str:
            return f"{self.name}.{field}" if self.name else field

        def put(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        validation.text(self.name, "name")
        if not isinstance(self.kind, str) or self.kind not in KIND_NAMES:
            problem = f"unknown joint letter {self.kind!r}"
            raise ModelError(problem, field=where("kind"), remedy="Use R for revolute or P for prismatic")
        put("before", validation.transform(self.before, where("before")))
        put("after", validation.transform(self.after, where("after")))
        for field in ("offset", "gear_ratio"):
            put(field, validation.real(getattr(self, field), where(field)))
        if self.gear_ratio == 0:
            raise ModelError("expected a gear ratio other than 0", field=where("gear_ratio"))
        for field in ("mass", "viscous", "motor_inertia"):
            put(field, validation.non_negative(getattr(self, field), where(field)))
        put("com", validation.vector(self.com, where("com")))
        put("inertia", validation.inertia(self.inertia, where("inertia")))
        given: Any = self.coulomb
        both = (given, given) if isinstance(given, int | float) else given
        pair = validation.array(both, (2,), where("coulomb")).tolist()
        put("coulomb", tuple(validation.non_negative(x, where("coulomb")) for x in pair))
        if self.limits is not None:
            try:
                lower, upper = validation.array(self.limits, (2,), where("limits")).tolist()
            except ModelError as error:
                raise ModelError(error.problem, field=error.field, remedy="Give None if there are no limits") from None
            if lower > upper:
                raise ModelError(f"the lower limit {lower} is above the upper limit {upper}", field=where("limits"))
            put("limits", (lower, upper))
        for field in ("max_speed", "max_force"):
            if getattr(self, field) is not None:
                put(field, validation.non_negative(getattr(self, field), where(field)))

    @property
    def link_name(self) -> str:
        """The name that warnings and declared exceptions give to the link that it moves."""
        return f"link of {self.name}"

    @property
    def as_numbers(self) -> JointNumbers:
        """Numbers of the joint for the formulas."""
        plus, minus = self.coulomb
        return JointNumbers(
            self.kind == "R",
            to_transform(self.before),
            to_transform(self.after),
            self.offset,
            BodyParameters(self.mass, Vector(*self.com), Matrix.of(self.inertia)),
            DriveParameters(self.viscous, plus, minus, self.motor_inertia, self.gear_ratio),
        )

    @classmethod
    def from_dh(
        cls,
        kind: str,
        *,
        alpha: float,
        a: float,
        d: float,
        theta: float,
        convention: str = "standard",
        name: str = "",
        **other: Any,
    ) -> Joint:
        """A joint from Denavit-Hartenberg parameters; alpha and a belong to the same row of the table as d and theta.

        standard: Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha); modified: Rot(x, alpha) Trans(x, a) first.
        q is added to theta of a revolute joint and to d of a prismatic one.
        """
        if convention not in CONVENTIONS:
            raise ModelError(
                f"unknown convention {convention!r}", field="convention", remedy=f"Use one of {', '.join(CONVENTIONS)}"
            )
        where = f"{name}." if name else ""
        given = {"alpha": alpha, "a": a, "d": d, "theta": theta}
        dh = DHRow(**{key: validation.real(value, where + key) for key, value in given.items()})
        before, after, offset = dh_displacements(kind, convention, dh)
        return cls(
            kind=kind,
            before=validation.from_transform(before),
            after=validation.from_transform(after),
            offset=offset,
            name=name,
            dh=dh,
            **other,
        )


JOINT_FIELDS = tuple(field.name for field in fields(Joint))
