"""What a Stewart platform is: a frozen, validated description, and the changes one may ask of it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from tauforge import validation
from tauforge.algebra.vectors import Vector
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.bodies import body_of
from tauforge.formulations.stewart.parameters import LEGS, PlatformParameters, default_axes, with_payload
from tauforge.plugins import save
from tauforge.robots import plausibility
from tauforge.robots.loads import Payload, one_payload
from tauforge.robots.plausibility import warn_of_far_masses
from tauforge.robots.records import KnownException, Source
from tauforge.robots.robot import Robot
from tauforge.robots.stewart import spherical_legs
from tauforge.robots.stewart.model import platform_parameters
from tauforge.robots.stewart.spherical_legs import BASE_JOINTS, SPHERICAL, UNIVERSAL
from tauforge.validation import Floats, Rows

COINCIDENT = 1e-9  # of the platform's size: points nearer than that are one
AXIS_TOLERANCE = 1e-9  # sine of the angle below which an axis is taken to lie along another
MASSES = (
    "lower_mass",
    "upper_mass",
    "lower_com",
    "upper_com",
    "lower_inertia",
    "upper_inertia",
    "platform_mass",
    "platform_com",
    "platform_inertia",
)


@ours
@dataclass(frozen=True, kw_only=True)
class PlatformDescription(Robot):
    """Six extensible legs between universal or spherical joints on a base and spherical joints on a platform.

    SI units, radians.

    base_points:     (6, 3) m, base joints, base frame
    platform_points: (6, 3) m, platform joints, platform frame
    universal_axes:  (6, 3) fixed axes of the universal joints, base frame, made unit vectors; the sign counts, for it
                     turns the leg's axes by half a turn. Default z x (b_i - mean b), which follows base points that are
                     changed or vary; none where the base joints are spherical
    lower_mass, upper_mass:       kg, one for all legs or (6,)
    lower_com, upper_com:         m, (3,) or (6, 3), in leg axes (x along the leg, y along k x leg), the lower part's
                                  from the base joint, the upper part's from the platform joint
    lower_inertia, upper_inertia: kg m^2 about the mass centre, leg axes: (3, 3) for all legs, (6, 3, 3), or (6, 3)
                                  principal moments
    platform_mass, platform_com, platform_inertia: of the platform and what is fixed to it, platform frame
    friction:        viscous, of base (N m s), prismatic (N s/m) and platform joints (N m s)
    gravity:         (3,) m/s^2, acceleration of free fall, base frame
    stroke:          (2,) or (6, 2) m, shortest and longest length of a leg between its joints
    force_limit:     N, largest size of a leg force, one or (6,)
    base_joint_axes, platform_joint_axes: (6, 3) axes of the joints' cones, from base to platform, in the base's and the
                     platform's frame
    cone_angles:     (2,) rad, half angles of the base's and the platform's cones
    leg_radius:      m, for the clearance between legs
    reflected_mass:  kg, what a rotor or a ball screw adds to the sliding of a leg, one or (6,)
    base_joint:      "universal", or "spherical": nothing holds a leg's spin then. It is taken as zero at the start, and
                     stays zero where both parts of the leg are symmetric about the leg and the platform joints have no
                     friction; what would spin a leg is refused. A reflected mass must not be of parts that turn about
                     the leg

    Masses may be absent, all of them: the platform has a geometry then, and no dynamics.
    """

    base_points: Rows
    platform_points: Rows
    universal_axes: Rows | None = None
    lower_mass: Floats | None = None
    upper_mass: Floats | None = None
    lower_com: Rows | None = None
    upper_com: Rows | None = None
    lower_inertia: tuple[Rows, ...] | None = None
    upper_inertia: tuple[Rows, ...] | None = None
    platform_mass: float | None = None
    platform_com: Floats | None = None
    platform_inertia: Rows | None = None
    friction: Floats = (0.0, 0.0, 0.0)
    gravity: Floats = (0.0, 0.0, -9.81)
    stroke: Rows | None = None
    force_limit: Floats | None = None
    base_joint_axes: Rows | None = None
    platform_joint_axes: Rows | None = None
    cone_angles: Floats | None = None
    leg_radius: float | None = None
    reflected_mass: Floats | None = None
    base_joint: str = UNIVERSAL
    name: str = "platform"
    known_exceptions: tuple[KnownException, ...] = ()
    sources: tuple[Source, ...] = dataclasses.field(default=(), compare=False)

    def __post_init__(self) -> None:
        def put(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        validation.text(self.name, "name")
        if not isinstance(self.base_joint, str) or self.base_joint not in BASE_JOINTS:
            raise UnsupportedFeatureError(
                f"unknown kind of base joints {validation.shown(self.base_joint)}",
                field="base_joint",
                remedy=f"Use one of {', '.join(BASE_JOINTS)}",
            )
        for field in ("base_points", "platform_points"):
            points = validation.array(getattr(self, field), (LEGS, 3), field)
            _refuse_coincident(points, field)
            put(field, validation.rows(points))
        if self.base_joint == UNIVERSAL:
            put("universal_axes", validation.rows(self._axes()))
        self._put_masses(put)
        put(
            "friction",
            tuple(
                validation.non_negative(x, "friction")
                for x in validation.array(self.friction, (3,), "friction").tolist()
            ),
        )
        put("gravity", validation.vector(self.gravity, "gravity"))
        rotors = 0.0 if self.reflected_mass is None else self.reflected_mass
        put("reflected_mass", _per_leg_numbers(rotors, "reflected_mass"))
        self._put_limits(put)
        if self.base_joint == SPHERICAL:
            spherical_legs.check(self)
        self._check_bodies()

    def _axes(self) -> Array:
        if self.universal_axes is None:
            k = self._default_axes()
            if (np.linalg.norm(k, axis=1) < COINCIDENT * np.ptp(self.base_points, axis=0).max()).any():
                raise ModelError(
                    "there is no default axis for a base point at the centre of the others",
                    field="universal_axes",
                    remedy="Give (6, 3) axes",
                )
        else:
            k = validation.array(self.universal_axes, (LEGS, 3), "universal_axes")
        return _unit(k, "universal_axes")

    def _put_masses(self, put: Any) -> None:
        given = [field for field in MASSES if getattr(self, field) is not None]
        if not given:
            return
        missing = [field for field in MASSES if getattr(self, field) is None]
        if missing:
            raise ModelError(
                f"masses are given without {', '.join(missing)}",
                field=missing[0],
                remedy="Give all of them, or none for a geometry without dynamics",
            )
        for part in ("lower", "upper"):
            put(f"{part}_mass", _per_leg_numbers(getattr(self, f"{part}_mass"), f"{part}_mass"))
            put(f"{part}_com", validation.rows(_per_leg(getattr(self, f"{part}_com"), (3,), f"{part}_com")))
            put(f"{part}_inertia", _inertias(getattr(self, f"{part}_inertia"), f"{part}_inertia"))
        put("platform_mass", validation.non_negative(self.platform_mass, "platform_mass"))
        put("platform_com", validation.vector(self.platform_com, "platform_com"))
        put("platform_inertia", validation.inertia(self.platform_inertia, "platform_inertia"))

    def _put_limits(self, put: Any) -> None:
        if self.stroke is not None:
            stroke = _per_leg(self.stroke, (2,), "stroke")
            if (stroke[:, 0] < 0).any() or (stroke[:, 0] >= stroke[:, 1]).any():
                raise ModelError(
                    f"expected 0 <= shortest < longest, got {validation.shown(self.stroke)}", field="stroke"
                )
            put("stroke", validation.rows(stroke))
        if self.force_limit is not None:
            put("force_limit", _per_leg_numbers(self.force_limit, "force_limit"))
        for field in ("base_joint_axes", "platform_joint_axes"):
            if getattr(self, field) is not None:
                put(field, validation.rows(_unit(validation.array(getattr(self, field), (LEGS, 3), field), field)))
        if self.cone_angles is not None:
            angles = validation.array(self.cone_angles, (2,), "cone_angles")
            if (angles <= 0).any() or (angles > np.pi).any():
                raise ModelError(
                    f"expected angles in (0, pi], got {validation.shown(self.cone_angles)}", field="cone_angles"
                )
            if self.base_joint_axes is None or self.platform_joint_axes is None:
                raise ModelError(
                    "the cones have no axes",
                    field="cone_angles",
                    remedy="Give base_joint_axes and platform_joint_axes",
                )
            put("cone_angles", tuple(angles.tolist()))
        if self.leg_radius is not None:
            put("leg_radius", validation.non_negative(self.leg_radius, "leg_radius"))

    def _check_bodies(self) -> None:
        if not all(isinstance(exception, KnownException) for exception in self.known_exceptions):
            raise ModelError("expected a sequence of KnownException", field="known_exceptions")
        bodies: dict[str, Rows] = {}
        if self.has_masses:
            bodies["platform"] = cast(Rows, self.platform_inertia)
            distances = {"platform": math.hypot(*cast(Floats, self.platform_com))}
            for part in ("lower", "upper"):
                tensors = cast(tuple[Rows, ...], getattr(self, f"{part}_inertia"))
                alike = len(set(tensors)) == 1
                distances[f"{part} part"] = max(math.hypot(*com) for com in getattr(self, f"{part}_com"))
                bodies |= {f"{part} part" if alike else f"{part} part of leg {i + 1}": t for i, t in enumerate(tensors)}
            warn_of_far_masses(self.name, distances)
        unknown = {exception.body for exception in self.known_exceptions} - set(bodies)
        if unknown:
            raise ModelError(
                f"there is no body named {', '.join(sorted(unknown))}",
                field="known_exceptions",
                remedy=f"Known: {', '.join(bodies) or 'none, the platform has no masses'}",
            )
        plausibility.warn_of_faults(self.name, bodies, {exception.body for exception in self.known_exceptions})

    # ---------------------------------------------------------------------------------------------------- questions

    @property
    def has_masses(self) -> bool:
        return self.platform_mass is not None

    @computed_once
    def parameters(self) -> PlatformParameters:
        """The platform as the formulations see it; without masses all of them are 0."""
        return platform_parameters(self)

    # ------------------------------------------------------------------------------------------------------ changes

    def replace(self, **changes: Any) -> Self:
        """A changed copy. Universal axes that are the default of the base points follow those that are changed.

        Another base_joint takes the default axes, or none.
        """
        known = {field.name for field in dataclasses.fields(self)}
        if unknown := sorted(set(changes) - known):
            raise ModelError(
                f"unknown field {unknown[0]!r}",
                field="replace",
                remedy=f"{validation.did_you_mean(unknown[0], known)}Known: {', '.join(sorted(known))}",
            )
        other_joints = isinstance(joint := changes.get("base_joint"), str) and joint != self.base_joint
        if "universal_axes" not in changes and (other_joints or ("base_points" in changes and self.axes_are_default)):
            changes["universal_axes"] = None
        changed = {part for part in ("lower", "upper", "platform") if f"{part}_inertia" in changes}
        if changed and "known_exceptions" not in changes:
            changes["known_exceptions"] = tuple(
                exception for exception in self.known_exceptions if exception.body.split()[0] not in changed
            )
        return dataclasses.replace(self, **changes)

    def _default_axes(self) -> Array:
        return np.array([list(k) for k in default_axes([Vector(*b) for b in self.base_points])])

    @property
    def axes_are_default(self) -> bool:
        """Whether the universal axes are those that follow from the base points, whether they were given or not."""
        if self.universal_axes is None:
            return False
        bare = self._default_axes()
        size = np.linalg.norm(bare, axis=1, keepdims=True)
        return bool((size > 0).all() and np.abs(bare / size - np.array(self.universal_axes)).max() < AXIS_TOLERANCE)

    def without_friction(self) -> Self:
        """The same platform with no friction in its joints."""
        return self.replace(friction=(0.0, 0.0, 0.0))

    def carrying(self, payload: Payload) -> Self:
        """The same platform with one payload fixed to it, which is given in the platform's frame.

        Identity: every dynamic quantity equals that of this platform with payload=.
        """
        numbers = one_payload(payload).numbers()
        if not self.has_masses:
            raise ModelError(
                f"{self.name} has a geometry but no masses",
                field="payload",
                remedy="Give lower_mass, upper_mass, platform_mass and so on",
            )
        both = with_payload(self.parameters, body_of(numbers.tolist())).body
        return self.replace(
            platform_mass=float(both.mass),
            platform_com=tuple(float(x) for x in both.com),
            platform_inertia=tuple(tuple(float(x) for x in row) for row in both.inertia.rows),
            known_exceptions=self.known_exceptions,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, 6 legs, {self.base_joint} base joints)"

    def save(self, path: str | Path) -> None:
        """Write the platform as TOML; `tauforge.load` reads it back equal."""
        save(self, Path(path))


def _refuse_coincident(points: Array, field: str) -> None:
    size = np.ptp(points, axis=0).max()
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(LEGS) * (1.0 + size)
    i, j = np.unravel_index(int(apart.argmin()), apart.shape)
    if apart[i, j] <= COINCIDENT * size:
        raise ModelError(f"points {i + 1} and {j + 1} coincide", field=field)


def _unit(axes: Array, field: str) -> Array:
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    if (length == 0).any():
        raise ModelError(f"axis {int((length == 0).argmax()) + 1} is zero", field=field)
    whole = np.abs(length - 1) < 4 * np.finfo(float).eps  # left as they are, so that saved models load unchanged
    return np.where(whole, axes, axes / length)


def _shape(value: Any) -> tuple[int, ...] | None:
    """None where rows differ in length."""
    try:
        return tuple(np.shape(value))
    except ValueError:
        return None


def _per_leg(value: Any, core: tuple[int, ...], field: str) -> Array:
    """(6, *core) from one for all legs or one for each."""
    if _shape(value) == core:
        return np.broadcast_to(validation.array(value, core, field), (LEGS, *core))
    return validation.array(value, (LEGS, *core), field)


def _per_leg_numbers(value: Any, field: str) -> Floats:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    shared = _shape(value) == () and not isinstance(value, str)
    given = [value] * LEGS if shared else validation.array(value, (LEGS,), field).tolist()
    return tuple(validation.non_negative(x, field) for x in given)


def _inertias(value: Any, field: str) -> tuple[Rows, ...]:
    shape = _shape(value)
    if shape in ((3,), (3, 3)):
        return (validation.inertia(value, field),) * LEGS
    if shape not in ((LEGS, 3), (LEGS, 3, 3)):
        got = f"shape {shape}" if shape is not None else validation.shown(value)
        raise ModelError(f"expected (3,), (3, 3), (6, 3) or (6, 3, 3) numbers, got {got}", field=field)
    return tuple(validation.inertia(tensor, field) for tensor in value)
