"""What may vary of a platform, and its model with other values than its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, NO_DISPLACEMENT, Matrix, Vector, unit
from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.formulations.bodies import BodyParameters, heavier
from tauforge.formulations.stewart.limits import Cones, PlatformLimits
from tauforge.formulations.stewart.lumping import lumped
from tauforge.formulations.stewart.parameters import (
    LEGS,
    Friction,
    LegParameters,
    PlatformParameters,
    default_axes,
)
from tauforge.robots.loads import body_of_arrays
from tauforge.robots.stewart.description import PlatformDescription
from tauforge.robots.stewart.functions import PlatformModel
from tauforge.robots.stewart.spherical_legs import UNIVERSAL, off_axis

if TYPE_CHECKING:
    from tauforge.robots.loads import Payload

Scalars = Sequence[Scalar]
LEG_PARTS = ("lower", "upper")
BODY: dict[str, tuple[int, ...]] = {"mass": (), "com": (3,), "inertia": (3, 3)}
FIELD_SHAPES: dict[str, tuple[int, ...]] = {
    "base_points": (LEGS, 3),
    "platform_points": (LEGS, 3),
    "universal_axes": (LEGS, 3),
    **{f"{part}_{field}": (LEGS, *shape) for part in LEG_PARTS for field, shape in BODY.items()},
    "reflected_mass": (LEGS,),
    **{f"platform_{field}": shape for field, shape in BODY.items()},
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


def fields_of(platform: PlatformDescription) -> dict[str, tuple[int, ...]]:
    """The fields that may vary, with their shapes."""
    return {field: shape for field, shape in FIELD_SHAPES.items() if _refusal(platform, field) is None}


def check(platform: PlatformDescription, fields: Sequence[str]) -> None:
    """UnsupportedFeatureError where these fields cannot vary. A varying value is not checked, so none may spin a leg
    that nothing holds.
    """
    for field in fields:
        refusal = _refusal(platform, field)
        if refusal is not None:
            why, instead = refusal
            remedy = instead or f"Use one of {', '.join(fields_of(platform))}, or `replace`"
            raise UnsupportedFeatureError(f"{field!r} cannot vary where {why}", field="varying", remedy=remedy)


def _refusal(platform: PlatformDescription, field: str) -> tuple[str, str] | None:
    """Why a field cannot vary, and what to do, if there is something; None where it can."""
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


def carrying(platform: PlatformDescription, payload: Payload, given: Mapping[str, Array]) -> dict[str, Array]:
    """Mass, mass centre and inertia (N, ...) of the platform, or those given, with payloads fixed to it.

    Identity: those of `platform.carrying(payload)`, row by row.
    """
    fields = [f"platform_{field}" for field in BODY]
    own = [given.get(field, np.array(getattr(platform, field))) for field in fields]
    held = body_of_arrays(payload.mass, payload.com, payload.inertia)
    both = heavier(body_of_arrays(*own), held, NO_DISPLACEMENT)
    shape = np.broadcast_shapes(*(np.shape(x) for x in (both.mass, *both.com, *both.inertia.rows[0])))

    def stacked(scalars: Iterable[Scalar]) -> Array:
        return np.stack([np.broadcast_to(x, shape) for x in scalars], axis=-1)

    tensor = stacked(x for row in both.inertia.rows for x in row).reshape(*shape, 3, 3)
    values = (np.array(np.broadcast_to(both.mass, shape)), stacked(both.com), tensor)
    return dict(zip(fields, values, strict=True))


def varied_model(platform: PlatformDescription, values: Mapping[str, Scalars]) -> PlatformModel:
    """The platform with these fields, each a flat list of scalars, instead of its own.

    Universal axes that are the default of the base points follow those that vary.
    """
    own, limits = platform.parameters, _limits(platform, values)
    axes = tuple(map(unit, _vectors(_value(platform, "platform_joint_axes", values)) or (E_Z,) * LEGS))
    if not values.keys() - set(LIMIT_FIELDS):
        return PlatformModel(own, lumped(own), limits, axes)
    axes_follow = platform.axes_are_default
    legs = tuple(_leg(leg, i, values) for i, leg in enumerate(own.legs))
    if axes_follow and "base_points" in values and "universal_axes" not in values:
        followed = default_axes([leg.b for leg in legs])
        legs = tuple(leg._replace(k=unit(k)) for leg, k in zip(legs, followed, strict=True))
    body = _body(own.body, {field: values[f"platform_{field}"] for field in BODY if f"platform_{field}" in values})
    friction = Friction(*values["friction"]) if "friction" in values else own.friction
    gravity = Vector(*values["gravity"]) if "gravity" in values else own.gravity
    parameters = PlatformParameters(legs, body, friction, gravity)
    return PlatformModel(parameters, lumped(parameters), limits, axes)


def _value(platform: PlatformDescription, field: str, values: Mapping[str, Scalars]) -> Scalars | None:
    """What varies, or the platform's own, as a flat list; None where it has none."""
    own = getattr(platform, field)
    return values.get(field, None if own is None else np.ravel(own).tolist())


def _vectors(flat: Scalars | None) -> tuple[Vector, ...] | None:
    return None if flat is None else tuple(Vector(*flat[3 * i : 3 * i + 3]) for i in range(len(flat) // 3))


def _limits(platform: PlatformDescription, values: Mapping[str, Scalars]) -> PlatformLimits:
    stroke, base, top, angles, radius, force = (_value(platform, field, values) for field in LIMIT_FIELDS)
    base_axes, platform_axes = _vectors(base), _vectors(top)
    cones = None
    if angles is not None:
        assert base_axes is not None  # the description asks for them
        assert platform_axes is not None
        cones = Cones(tuple(map(unit, base_axes)), tuple(map(unit, platform_axes)), *angles)
    pairs = None if stroke is None else tuple((stroke[2 * i], stroke[2 * i + 1]) for i in range(LEGS))
    return PlatformLimits(pairs, cones, None if radius is None else radius[0], None if force is None else tuple(force))


def _leg(leg: LegParameters, i: int, values: Mapping[str, Scalars]) -> LegParameters:
    def share(field: str) -> Scalars:
        size = len(values[field]) // LEGS
        return values[field][i * size : (i + 1) * size]

    if "base_points" in values:
        leg = leg._replace(b=Vector(*share("base_points")))
    if "platform_points" in values:
        leg = leg._replace(p=Vector(*share("platform_points")))
    if "universal_axes" in values:
        leg = leg._replace(k=unit(Vector(*share("universal_axes"))))
    if "reflected_mass" in values:
        leg = leg._replace(reflected_mass=share("reflected_mass")[0])
    lower, upper = (
        {field: share(f"{part}_{field}") for field in BODY if f"{part}_{field}" in values} for part in LEG_PARTS
    )
    return leg._replace(lower=_body(leg.lower, lower), upper=_body(leg.upper, upper))


def _body(body: BodyParameters, given: Mapping[str, Scalars]) -> BodyParameters:
    if "mass" in given:
        body = body._replace(mass=given["mass"][0])
    if "com" in given:
        body = body._replace(com=Vector(*given["com"]))
    if "inertia" in given:  # symmetric: the upper triangle is read
        xx, xy, xz, _, yy, yz, _, _, zz = given["inertia"]
        body = body._replace(inertia=Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
    return body
