"""The description of a Stewart platform: frozen and validated, with changed copies."""

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
from tauforge.formulations.stewart.parameters import default_axes, with_payload
from tauforge.plugins import save
from tauforge.robots import plausibility
from tauforge.robots.loads import Payload, one_payload
from tauforge.robots.records import KnownException, Source
from tauforge.robots.robot import Robot
from tauforge.robots.stewart.field_checks import (
    BASE_JOINTS,
    COINCIDENT,
    FIELDS,
    LEG_PARTS,
    MASSES,
    REQUIRED,
    SPHERICAL,
    UNIVERSAL,
    check_free_legs,
    unit_axes,
)
from tauforge.robots.stewart.model import platform_parameters
from tauforge.validation import Floats, Rows

AXIS_TOLERANCE = 1e-9  # sine of the angle below which an axis is taken to lie along another


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
        validation.text(self.name, "name")
        if not isinstance(self.base_joint, str) or self.base_joint not in BASE_JOINTS:
            problem = f"unknown kind of base joints {validation.shown(self.base_joint)}"
            raise UnsupportedFeatureError(problem, field="base_joint", remedy=f"Use one of {', '.join(BASE_JOINTS)}")
        missing = [field for field in MASSES if getattr(self, field) is None]
        if 0 < len(missing) < len(MASSES):
            problem = f"masses are given without {', '.join(missing)}"
            remedy = "Give all of them, or none for a geometry without dynamics"
            raise ModelError(problem, field=missing[0], remedy=remedy)
        if self.reflected_mass is None:
            object.__setattr__(self, "reflected_mass", 0.0)
        for field, checked in FIELDS.items():
            if (value := getattr(self, field)) is not None or field in REQUIRED:
                object.__setattr__(self, field, checked(value, field))
        if self.base_joint == UNIVERSAL:
            object.__setattr__(self, "universal_axes", self._axes())
        if self.cone_angles is not None and (self.base_joint_axes is None or self.platform_joint_axes is None):
            raise ModelError(
                "the cones have no axes", field="cone_angles", remedy="Give base_joint_axes and platform_joint_axes"
            )
        if self.base_joint == SPHERICAL:
            check_free_legs(self)
        self._check_bodies()

    def _axes(self) -> Rows:
        if self.universal_axes is not None:
            return unit_axes(self.universal_axes, "universal_axes")
        axes = self._default_axes()
        if (np.linalg.norm(axes, axis=1) < COINCIDENT * np.ptp(self.base_points, axis=0).max()).any():
            problem = "there is no default axis for a base point at the centre of the others"
            raise ModelError(problem, field="universal_axes", remedy="Give (6, 3) axes")
        return unit_axes(axes, "universal_axes")

    def _check_bodies(self) -> None:
        bodies: dict[str, Rows] = {}
        if self.has_masses:
            bodies["platform"] = cast(Rows, self.platform_inertia)
            distances = {"platform": math.hypot(*cast(Floats, self.platform_com))}
            for part in LEG_PARTS:
                tensors = cast(tuple[Rows, ...], getattr(self, f"{part}_inertia"))
                alike = len(set(tensors)) == 1
                distances[f"{part} part"] = max(math.hypot(*com) for com in getattr(self, f"{part}_com"))
                bodies |= {f"{part} part" if alike else f"{part} part of leg {i + 1}": t for i, t in enumerate(tensors)}
            plausibility.warn_of_far_masses(self.name, distances)
        plausibility.check_bodies(self.name, bodies, self.known_exceptions)

    # ---------------------------------------------------------------------------------------------------- questions

    @property
    def has_masses(self) -> bool:
        return self.platform_mass is not None

    def _check_masses(self, field: str) -> None:
        """ModelError for a field or function that needs masses, where there are none."""
        if not self.has_masses:
            problem = f"{self.name} has a geometry but no masses"
            raise ModelError(problem, field=field, remedy="Give lower_mass, upper_mass, platform_mass and so on")

    parameters = computed_once(platform_parameters)

    # ------------------------------------------------------------------------------------------------------ changes

    def replace(self, **changes: Any) -> Self:
        """A changed copy. Universal axes that are the default of the base points follow those that are changed.

        Another base_joint takes the default axes, or none.
        """
        known = {field.name for field in dataclasses.fields(self)}
        if unknown := sorted(set(changes) - known):
            problem = f"unknown field {unknown[0]!r}"
            remedy = f"{validation.did_you_mean(unknown[0], known)}Known: {', '.join(sorted(known))}"
            raise ModelError(problem, field="replace", remedy=remedy)
        other_joints = isinstance(joint := changes.get("base_joint"), str) and joint != self.base_joint
        if "universal_axes" not in changes and (other_joints or ("base_points" in changes and self.axes_are_default)):
            changes["universal_axes"] = None
        changed = {part for part in ("lower", "upper", "platform") if f"{part}_inertia" in changes}
        if changed and "known_exceptions" not in changes:
            changes["known_exceptions"] = tuple(x for x in self.known_exceptions if x.body.split()[0] not in changed)
        return dataclasses.replace(self, **changes)

    def _default_axes(self) -> Array:
        return np.array([list(k) for k in default_axes([Vector(*b) for b in self.base_points])])

    @property
    def axes_are_default(self) -> bool:
        """True where the universal axes are those that follow from the base points, given or not."""
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
        self._check_masses("payload")
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
