"""Parts of a mechanism: bodies, joints and springs, in the world frame and in the assembled home position."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tauforge import validation
from tauforge.algebra.vectors import IDENTITY, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formulations.drives import DriveParameters
from tauforge.validation import ZERO_INERTIA, Floats, Rows

GROUND_NAME = "ground"
SHORTEST_AXIS = 1e-12
POSE_LABELS = ("x", "y", "z", "theta_x", "theta_y", "theta_z")


def _name(value: Any, field: str) -> str:
    if not isinstance(value, str) or not value:
        raise ModelError(f"expected a name, got {validation.shown(value)}", field=field)
    return validation.text(value, field)


def check_known(what: str, name: object, known: Collection[str], field: str) -> None:
    """Refuses the name of a body or joint that there is none of."""
    if name not in known:
        raise ModelError(f"there is no {what} {name!r}", field=field, remedy=validation.known_names(name, known))


def body_in_text(name: str, joints: Container[str | None]) -> str:
    """The name of a body, with the word body before it where a joint has the same name."""
    return f"body {name}" if name in joints else name


class _Part:
    """A frozen dataclass that checks its fields."""

    def _put(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)


@dataclass(frozen=True)
class Body(_Part):
    """A rigid body.

    name:    of the body; "ground" is the base and no body of its own
    mass:    kg
    com:     (3,) m, centre of mass, world frame, home position
    inertia: kg m^2, about the centre of mass, world axes, home position; (3,) principal moments or (3, 3)
    origin:  (3,) m, of the body's frame, world frame, home position; its axes are the world's there. Default com
    frame:   (4, 4) world <- the body's frame, home position, instead of `origin` where its axes are turned there
    """

    name: str
    mass: float = 0.0
    com: Floats = (0.0, 0.0, 0.0)
    inertia: Rows = ZERO_INERTIA
    origin: Floats | None = None
    frame: Rows | None = None

    def __post_init__(self) -> None:
        self._put("name", _name(self.name, "name"))
        if self.name == GROUND_NAME:
            raise ModelError("'ground' is the base, which needs no Body", field="name")
        self._put("mass", validation.non_negative(self.mass, f"{self.name}.mass"))
        self._put("com", validation.vector(self.com, f"{self.name}.com"))
        self._put("inertia", validation.inertia(self.inertia, f"{self.name}.inertia"))
        origin = self.com if self.origin is None else validation.vector(self.origin, f"{self.name}.origin")
        if self.frame is not None:
            frame = validation.transform(self.frame, f"{self.name}.frame")
            own = tuple(row[3] for row in frame[:3])
            if self.origin is not None and origin != own:
                raise ModelError("origin and frame differ", field=f"{self.name}.frame", remedy="Leave out origin")
            self._put("frame", frame)
            origin = own
        self._put("origin", origin)

    @property
    def home_frame(self) -> Transform:
        """World <- the body's frame, home position."""
        if self.frame is not None:
            return validation.to_transform(self.frame)
        assert self.origin is not None
        return Transform(IDENTITY, Vector(*self.origin))


@dataclass(frozen=True)
class MechanismJoint(_Part):
    """A joint between two bodies. Its subclasses are the kinds of joints.

    name:           of the joint
    parent, child:  names of bodies, or "ground" for one of them. Coordinates are of the child, seen from the parent
    at:             (3,) m, its point, world frame, home position
    actuated:       whether its coordinates have actuators
    home:           its coordinates in the home position, rad or m
    limits:         (lower, upper) of its coordinate, or one pair for each; None for no limits
    viscous:        N m s, motor side
    coulomb:        N m, motor side; one magnitude, or (plus, minus)
    motor_inertia:  kg m^2, motor side
    gear_ratio:     G, motor turns per turn of the joint, with sign; rad/m for a slider. The joint feels viscous G^2,
                    coulomb |G| and motor_inertia G^2. With G = 1 the numbers are the joint's own, in N s/m, N and kg
                    for a slider
    max_speed, max_force: of its coordinates, or None
    mimic:          (joint, factor, offset): its coordinate is factor times that of the other joint, plus offset
    """

    name: str
    parent: str
    child: str
    at: Floats = (0.0, 0.0, 0.0)
    actuated: bool = False
    home: float | Floats = 0.0
    limits: Any = None
    viscous: float = 0.0
    coulomb: Any = (0.0, 0.0)
    motor_inertia: float = 0.0
    gear_ratio: float = 1.0
    max_speed: float | None = None
    max_force: float | None = None
    mimic: tuple[str, float, float] | None = None

    letters: ClassVar[str] = ""  # kinds of its coordinates: R angles, P lengths
    labels: ClassVar[tuple[str, ...]] = ("",)  # what follows its name in the names of its coordinates
    may_be_cut: ClassVar[bool] = False
    may_have_home: ClassVar[bool] = True  # coordinates in the home position other than those of the bodies' frames

    def _where(self, field: str) -> str:
        return f"{self.name}.{field}"

    def __post_init__(self) -> None:
        self._put("name", _name(self.name, "name"))
        for field in ("parent", "child"):
            self._put(field, _name(getattr(self, field), self._where(field)))
        if self.parent == self.child:
            raise ModelError(f"{self.parent!r} cannot be joined to itself", field=self._where("child"))
        self._put("at", validation.vector(self.at, self._where("at")))
        if not isinstance(self.actuated, bool):
            raise ModelError(f"expected True or False, got {self.actuated!r}", field=self._where("actuated"))
        n = len(self.letters)
        home: Any = [self.home] * n if np.ndim(self.home) == 0 else self.home
        self._put("home", tuple(validation.array(home, (n,), self._where("home")).tolist()) if n else ())
        if n and not self.may_have_home and np.any(self.home):
            raise ModelError("its coordinates in the home position follow from the bodies", field=self._where("home"))
        for field in ("viscous", "motor_inertia"):
            self._put(field, validation.non_negative(getattr(self, field), self._where(field)))
        self._put("gear_ratio", validation.real(self.gear_ratio, self._where("gear_ratio")))
        if self.gear_ratio == 0:
            raise ModelError("expected a gear ratio other than 0", field=self._where("gear_ratio"))
        both: Any = (self.coulomb, self.coulomb) if np.ndim(self.coulomb) == 0 else self.coulomb
        pair = validation.array(both, (2,), self._where("coulomb")).tolist()
        self._put("coulomb", tuple(validation.non_negative(x, self._where("coulomb")) for x in pair))
        for field in ("max_speed", "max_force"):
            if getattr(self, field) is not None:
                self._put(field, validation.non_negative(getattr(self, field), self._where(field)))
        self._check_limits(n)
        self._check_mimic()
        if not n and (self.actuated or self.driven):
            raise ModelError("a joint that does not move has no drive", field=self._where("actuated"))

    def _check_limits(self, n: int) -> None:
        if self.limits is None:
            return
        where, wanted = self._where("limits"), (n, 2) if np.ndim(self.limits) == 2 or n > 1 else (2,)
        pairs = validation.array(self.limits, wanted, where).reshape(-1, 2)
        for lower, upper in pairs.tolist():
            if lower > upper:
                raise ModelError(f"the lower limit {lower} is above the upper limit {upper}", field=where)
        self._put("limits", validation.rows(pairs))

    def _check_mimic(self) -> None:
        if self.mimic is None:
            return
        where = self._where("mimic")
        if not isinstance(self.mimic, tuple | list) or len(self.mimic) != 3:
            raise ModelError(f"expected (joint, factor, offset), got {validation.shown(self.mimic)}", field=where)
        if len(self.letters) != 1:
            raise ModelError("only a Hinge or a Slider can follow another joint", field=where)
        if self.actuated:
            raise ModelError("a joint that follows another has no actuator", field=self._where("actuated"))
        other, factor, offset = self.mimic
        if other == self.name:
            raise ModelError("a joint cannot follow itself", field=where, remedy="Name another joint")
        self._put("mimic", (_name(other, where), validation.real(factor, where), validation.real(offset, where)))

    @property
    def driven(self) -> bool:
        """True if it has friction or a rotor."""
        return bool(self.viscous or any(self.coulomb) or self.motor_inertia)

    @property
    def drive(self) -> DriveParameters:
        plus, minus = self.coulomb
        return DriveParameters(self.viscous, plus, minus, self.motor_inertia, self.gear_ratio)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return (self.name,) if len(self.letters) == 1 else tuple(f"{self.name}.{label}" for label in self.labels)

    def _unit(self, field: str) -> Floats:
        """The field as a unit vector."""
        v = validation.array(getattr(self, field), (3,), self._where(field))
        length = float(np.linalg.norm(v))
        if length < SHORTEST_AXIS:
            raise ModelError("expected an axis of a length other than zero", field=self._where(field))
        v = v if abs(length - 1) <= 4 * np.finfo(float).eps else v / length
        unit = tuple(v.tolist())
        self._put(field, unit)
        return unit


@dataclass(frozen=True)
class _AxisJoint(MechanismJoint):
    axis: Floats = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._unit("axis")


@dataclass(frozen=True)
class Hinge(_AxisJoint):
    """Turns about an axis through its point."""

    letters: ClassVar[str] = "R"
    may_be_cut: ClassVar[bool] = True


@dataclass(frozen=True)
class Slider(_AxisJoint):
    """Slides along an axis."""

    letters: ClassVar[str] = "P"


@dataclass(frozen=True)
class Cylinder(_AxisJoint):
    """Turns about an axis and slides along it: an angle and a length."""

    letters: ClassVar[str] = "RP"
    labels: ClassVar[tuple[str, ...]] = ("angle", "slide")


@dataclass(frozen=True)
class Universal(MechanismJoint):
    """Turns about two axes through its point: the first is fixed in the parent, the second in the child."""

    axes: tuple[Floats, Floats] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))

    letters: ClassVar[str] = "RR"
    labels: ClassVar[tuple[str, ...]] = ("first", "second")

    def __post_init__(self) -> None:
        super().__post_init__()
        pair = validation.array(self.axes, (2, 3), self._where("axes"))
        lengths = np.linalg.norm(pair, axis=1, keepdims=True)
        if (lengths < SHORTEST_AXIS).any():
            raise ModelError("expected axes of a length other than zero", field=self._where("axes"))
        pair = np.where(np.abs(lengths - 1) <= 4 * np.finfo(float).eps, pair, pair / lengths)
        if np.linalg.norm(np.cross(*pair)) < SHORTEST_AXIS:
            raise ModelError("the two axes are parallel", field=self._where("axes"))
        self._put("axes", validation.rows(pair))


@dataclass(frozen=True)
class Planar(MechanismJoint):
    """Slides in a plane and turns about its normal: lengths along `along` and across it, and an angle."""

    axis: Floats = (0.0, 0.0, 1.0)
    along: Floats | None = None

    letters: ClassVar[str] = "PPR"
    labels: ClassVar[tuple[str, ...]] = ("along", "across", "angle")

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = np.array(self._unit("axis"))
        if self.along is None:
            self._put("along", tuple(np.eye(3)[np.abs(normal).argmin()].tolist()))
        along = validation.array(self.along, (3,), self._where("along"))
        within = along - normal * (along @ normal)
        length = float(np.linalg.norm(within))
        if length < SHORTEST_AXIS:
            raise ModelError("expected a direction in the plane", field=self._where("along"))
        within /= length
        within -= normal * (within @ normal)  # once more: little may be left of a direction near the normal
        within /= np.linalg.norm(within)
        # left as it is where it is good, so that saved mechanisms load unchanged
        good = np.abs(within - along).max() <= 16 * np.finfo(float).eps
        self._put("along", tuple((along if good else within).tolist()))


@dataclass(frozen=True)
class Spherical(MechanismJoint):
    """A ball at its point: three angles, R = Rz(theta_z) Ry(theta_y) Rx(theta_x), of the child beside the parent.

    R turns about axes that are fixed in the parent and are the world's in the home position, where the angles are zero.
    The rates are not those of the angles: they are the angular velocity of the child beside the parent in these axes.
    """

    letters: ClassVar[str] = "RRR"
    labels: ClassVar[tuple[str, ...]] = ("theta_x", "theta_y", "theta_z")
    may_be_cut: ClassVar[bool] = True
    may_have_home: ClassVar[bool] = False


@dataclass(frozen=True)
class Free(MechanismJoint):
    """No constraint: the pose of the child's frame in the parent's, x, y, z and three angles."""

    letters: ClassVar[str] = "PPPRRR"
    labels: ClassVar[tuple[str, ...]] = POSE_LABELS
    may_have_home: ClassVar[bool] = False


@dataclass(frozen=True)
class Weld(MechanismJoint):
    """No motion."""


@dataclass(frozen=True)
class Spring(_Part):
    """A spring, with a damper beside it, between points of two bodies (or of "ground").

    point_a, point_b: (3,) m, world frame, home position
    stiffness:        N/m
    length:           m, without tension; default the distance in the home position
    damping:          N s/m
    """

    body_a: str
    point_a: Floats
    body_b: str
    point_b: Floats
    stiffness: float
    length: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        for field in ("body_a", "body_b"):
            self._put(field, _name(getattr(self, field), f"spring.{field}"))
        for field in ("point_a", "point_b"):
            self._put(field, validation.vector(getattr(self, field), f"spring.{field}"))
        self._put("stiffness", validation.non_negative(self.stiffness, "spring.stiffness"))
        self._put("damping", validation.non_negative(self.damping, "spring.damping"))
        distance = float(np.linalg.norm(np.subtract(self.point_b, self.point_a)))
        length = distance if self.length is None else validation.non_negative(self.length, "spring.length")
        self._put("length", length)
