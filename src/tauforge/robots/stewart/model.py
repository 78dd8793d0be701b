"""The platform as the formulas see it: numbers over any scalar, as described and as the cheapest form wants them.

Fields that vary, such as masses, are lists of scalars in the place of the platform's own numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalars
from tauforge.algebra.vectors import E_Z, NO_DISPLACEMENT, Matrix, Vector, unit
from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.formulations.bodies import MASSLESS_BODY, BodyParameters, body_with
from tauforge.formulations.stewart.limits import Cones, PlatformLimits
from tauforge.formulations.stewart.lumping import LumpedPlatform, lumped
from tauforge.formulations.stewart.parameters import LEGS, Friction, LegParameters, PlatformParameters, default_axes
from tauforge.robots.loads import BODY_SHARES, Payload, with_payload
from tauforge.robots.stewart.field_checks import LEG_PARTS, UNIVERSAL, off_axis

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription

FIELD_SHAPES: dict[str, tuple[int, ...]] = {
    "base_points": (LEGS, 3),
    "platform_points": (LEGS, 3),
    "universal_axes": (LEGS, 3),
    **{f"{part}_{field}": (LEGS, *shape) for part in LEG_PARTS for field, shape in BODY_SHARES.items()},
    "reflected_mass": (LEGS,),
    **{f"platform_{field}": shape for field, shape in BODY_SHARES.items()},
    "friction": (3,),
    "gravity": (3,),
    "stroke": (LEGS, 2),
    "base_joint_axes": (LEGS, 3),
    "platform_joint_axes": (LEGS, 3),
    "cone_angles": (2,),
    "leg_radius": (),
    "force_limit": (LEGS,),
}
LIMIT_FIELDS = ("stroke", "base_joint_axes", "platform_joint_axes", "cone_angles", "leg_radius", "force_limit")

SPINNING = ("universal_axes", "lower_com", "upper_com", "lower_inertia", "upper_inertia", "friction")


class PlatformModel(NamedTuple):
    """The platform as described and as the cheapest form wants it, and its limits."""

    parameters: PlatformParameters
    lumped: LumpedPlatform
    limits: PlatformLimits = PlatformLimits()
    platform_axes: tuple[Vector, ...] = (E_Z,) * LEGS  # of the platform joints, in the platform's frame


def platform_parameters(platform: PlatformDescription) -> PlatformParameters:
    """The platform as the formulations see it; without masses all of them are 0."""

    def body(name: str, i: int | tuple[()] = ()) -> BodyParameters:
        if not platform.has_masses:
            return MASSLESS_BODY
        mass, com, inertia = (np.array(getattr(platform, f"{name}_{field}"))[i].tolist() for field in BODY_SHARES)
        return BodyParameters(mass, Vector(*com), Matrix.of(inertia))

    axes, rotors = platform.universal_axes, np.array(platform.reflected_mass).tolist()
    legs = tuple(
        LegParameters(
            Vector(*platform.base_points[i]),
            Vector(*platform.platform_points[i]),
            None if axes is None else Vector(*axes[i]),
            body("lower", i),
            body("upper", i),
            rotors[i],
        )
        for i in range(LEGS)
    )
    return PlatformParameters(legs, body("platform"), Friction(*platform.friction), Vector(*platform.gravity))


# ------------------------------------------------------------------------------------------------ fields that vary


def varying_fields(platform: PlatformDescription) -> dict[str, tuple[int, ...]]:
    """Such as "platform_mass" (), "lower_inertia" (6, 3, 3), "gravity" (3,); those that the platform has.

    Universal axes that are the default of the base points follow varying ones; "universal_axes" (6, 3) may vary
    themselves.
    """
    return {field: shape for field, shape in FIELD_SHAPES.items() if _refusal(platform, field) is None}


def check_varying(platform: PlatformDescription, fields: Sequence[str]) -> None:
    """UnsupportedFeatureError where these fields cannot vary. A varying value is not checked, so none may spin a leg
    that nothing holds.
    """
    for field in fields:
        refusal = _refusal(platform, field)
        if refusal is not None:
            why, instead = refusal
            remedy = instead or f"Use one of {', '.join(varying_fields(platform))}, or `replace`"
            raise UnsupportedFeatureError(f"{field!r} cannot vary where {why}", field="varying", remedy=remedy)


def _refusal(platform: PlatformDescription, field: str) -> tuple[str, str] | None:
    """The reason why a field cannot vary, and a remedy or ""; None where it can."""
    spherical, part = platform.base_joint != UNIVERSAL, field.removesuffix("_mass")
    if spherical and field in SPINNING:
        return "legs have spherical joints at both ends: it could spin them", ""
    if field in FIELD_SHAPES and getattr(platform, field) is None:
        return "the platform has none", f"Give it {field} first, by `replace`"
    if spherical and part in LEG_PARTS and platform.has_masses and any(off_axis(platform, part)):
        return (
            f"legs have spherical joints at both ends and {part}_com, of a part without mass, is off the leg's axis: "
            "a mass there would spin them",
            f"Give {part}_com with y = z = 0",
        )
    return None


def fields_carrying(platform: PlatformDescription, payload: Payload, fields: Mapping[str, Array]) -> dict[str, Array]:
    """Mass, mass centre and inertia (N, ...) of the platform, or those given, with payloads fixed to it.

    Identity: those of `platform.carrying(payload)`, row by row.
    """
    own = {}
    for field, share in BODY_SHARES.items():
        value = fields.get(f"platform_{field}", np.array(getattr(platform, f"platform_{field}")))
        own[field] = np.expand_dims(value, value.ndim - len(share))  # a row of one body
    both = with_payload(own, 0, payload, NO_DISPLACEMENT)
    return {f"platform_{field}": value.squeeze(-1 - len(BODY_SHARES[field])) for field, value in both.items()}


def varied_model(platform: PlatformDescription, values: Mapping[str, Scalars]) -> PlatformModel:
    """The model of the platform with these fields, each a flat list of scalars, instead of its own.

    Universal axes that are the default of the base points follow those that vary.
    """
    own, limits = platform.parameters, _limits(platform, values)
    axes = tuple(map(unit, _vectors(_value(platform, "platform_joint_axes", values)) or (E_Z,) * LEGS))
    if not values.keys() - set(LIMIT_FIELDS):
        return PlatformModel(own, lumped(own), limits, axes)
    legs = tuple(_leg(leg, i, values) for i, leg in enumerate(own.legs))
    if platform.axes_are_default and "base_points" in values and "universal_axes" not in values:
        followed = default_axes([leg.b for leg in legs])
        legs = tuple(leg._replace(k=unit(k)) for leg, k in zip(legs, followed, strict=True))
    body = body_with(own.body, _of_body("platform", values))
    friction = Friction(*values["friction"]) if "friction" in values else own.friction
    gravity = Vector(*values["gravity"]) if "gravity" in values else own.gravity
    parameters = PlatformParameters(legs, body, friction, gravity)
    return PlatformModel(parameters, lumped(parameters), limits, axes)


def _value(platform: PlatformDescription, field: str, values: Mapping[str, Scalars]) -> Scalars | None:
    """The varying value of a field, or the platform's own, as a flat list; None where it has none."""
    own = getattr(platform, field)
    return values.get(field, None if own is None else np.ravel(own).tolist())


def _vectors(flat: Scalars | None) -> tuple[Vector, ...] | None:
    return None if flat is None else tuple(Vector(*flat[3 * i : 3 * i + 3]) for i in range(len(flat) // 3))


def _limits(platform: PlatformDescription, values: Mapping[str, Scalars]) -> PlatformLimits:
    stroke, base, top, angles, radius, force = (_value(platform, field, values) for field in LIMIT_FIELDS)
    base_axes, platform_axes = _vectors(base), _vectors(top)
    cones = None
    if angles is not None and base_axes is not None and platform_axes is not None:  # the description asks for all
        cones = Cones(tuple(map(unit, base_axes)), tuple(map(unit, platform_axes)), *angles)
    pairs = None if stroke is None else tuple((stroke[2 * i], stroke[2 * i + 1]) for i in range(LEGS))
    return PlatformLimits(pairs, cones, None if radius is None else radius[0], None if force is None else tuple(force))


def _of_body(name: str, values: Mapping[str, Scalars]) -> dict[str, Scalars]:
    """The fields of one body, such as "platform" or "lower", by "mass", "com" and "inertia"."""
    return {field: values[f"{name}_{field}"] for field in BODY_SHARES if f"{name}_{field}" in values}


def _leg(leg: LegParameters, i: int, values: Mapping[str, Scalars]) -> LegParameters:
    shares = {field: flat[i * len(flat) // LEGS : (i + 1) * len(flat) // LEGS] for field, flat in values.items()}
    if "base_points" in values:
        leg = leg._replace(b=Vector(*shares["base_points"]))
    if "platform_points" in values:
        leg = leg._replace(p=Vector(*shares["platform_points"]))
    if "universal_axes" in values:
        leg = leg._replace(k=unit(Vector(*shares["universal_axes"])))
    if "reflected_mass" in values:
        leg = leg._replace(reflected_mass=shares["reflected_mass"][0])
    lower, upper = (_of_body(part, shares) for part in LEG_PARTS)
    return leg._replace(lower=body_with(leg.lower, lower), upper=body_with(leg.upper, upper))
