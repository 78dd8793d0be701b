"""Checks of a platform's fields, and of legs between two spherical joints, whose spin must stay zero.

Such a leg is free to turn about itself. No moment acts about its axis where both parts are symmetric about it and the
platform joint does not rub: its spin is conserved, and zero if it was zero at the start. Otherwise weight, inertia or
friction spin it up. Its spin would then be a coordinate of its own, which this package does not carry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tauforge import validation
from tauforge.arrays import Array
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.loads import BODY_SHARES
from tauforge.validation import Floats, Rows

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription

COINCIDENT = 1e-9  # of the platform's size: points nearer than that are one
UNIVERSAL, SPHERICAL = "universal", "spherical"
BASE_JOINTS = (UNIVERSAL, SPHERICAL)
SYMMETRY_ERROR = 1e-12  # of the largest moment, or of the base's size: more than rounding is an asymmetry
OTHERWISE = 'or use base_joint = "universal"'
LEG_PARTS = ("lower", "upper")
MASSES = (
    *(f"{part}_{field}" for field in BODY_SHARES for part in LEG_PARTS),
    *(f"platform_{field}" for field in BODY_SHARES),
)


def points(value: Any, field: str) -> Rows:
    """(6, 3), no two of them at the same place."""
    given = validation.array(value, (LEGS, 3), field)
    size = np.ptp(given, axis=0).max()
    apart = np.linalg.norm(given[:, None] - given[None], axis=-1) + np.eye(LEGS) * (1.0 + size)
    i, j = np.unravel_index(int(apart.argmin()), apart.shape)
    if apart[i, j] <= COINCIDENT * size:
        raise ModelError(f"points {i + 1} and {j + 1} coincide", field=field)
    return validation.rows(given)


def unit_axes(value: Any, field: str) -> Rows:
    """(6, 3) axes, made unit vectors."""
    axes = validation.array(value, (LEGS, 3), field)
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    if (length == 0).any():
        raise ModelError(f"axis {int((length == 0).argmax()) + 1} is zero", field=field)
    whole = np.abs(length - 1) < 4 * np.finfo(float).eps  # left as they are, so that saved models load unchanged
    return validation.rows(np.where(whole, axes, axes / length))


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


def numbers_per_leg(value: Any, field: str) -> Floats:
    """Numbers >= 0, one for all legs or one for each."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    shared = _shape(value) == () and not isinstance(value, str)
    given = [value] * LEGS if shared else validation.array(value, (LEGS,), field).tolist()
    return tuple(validation.non_negative(x, field) for x in given)


def vectors_per_leg(value: Any, field: str) -> Rows:
    return validation.rows(_per_leg(value, (3,), field))


def inertias_per_leg(value: Any, field: str) -> tuple[Rows, ...]:
    shape = _shape(value)
    if shape in ((3,), (3, 3)):
        return (validation.inertia(value, field),) * LEGS
    if shape not in ((LEGS, 3), (LEGS, 3, 3)):
        got = f"shape {shape}" if shape is not None else validation.shown(value)
        raise ModelError(f"expected (3,), (3, 3), (6, 3) or (6, 3, 3) numbers, got {got}", field=field)
    return tuple(validation.inertia(tensor, field) for tensor in value)


def friction_coefficients(value: Any, field: str) -> Floats:
    return tuple(validation.non_negative(x, field) for x in validation.array(value, (3,), field).tolist())


def strokes(value: Any, field: str) -> Rows:
    ends = _per_leg(value, (2,), field)
    if (ends[:, 0] < 0).any() or (ends[:, 0] >= ends[:, 1]).any():
        raise ModelError(f"expected 0 <= shortest < longest, got {validation.shown(value)}", field=field)
    return validation.rows(ends)


def half_angles(value: Any, field: str) -> Floats:
    angles = validation.array(value, (2,), field)
    if (angles <= 0).any() or (angles > np.pi).any():
        raise ModelError(f"expected angles in (0, pi], got {validation.shown(value)}", field=field)
    return tuple(angles.tolist())


PER_LEG = {"mass": numbers_per_leg, "com": vectors_per_leg, "inertia": inertias_per_leg}
OF_PLATFORM = {"mass": validation.non_negative, "com": validation.vector, "inertia": validation.inertia}
# a function for each field that makes of what is given what the platform keeps, or raises ModelError
FIELDS: dict[str, Callable[[Any, str], Any]] = {
    "base_points": points,
    "platform_points": points,
    **{f"{part}_{field}": checked for part in LEG_PARTS for field, checked in PER_LEG.items()},
    **{f"platform_{field}": checked for field, checked in OF_PLATFORM.items()},
    "friction": friction_coefficients,
    "gravity": validation.vector,
    "reflected_mass": numbers_per_leg,
    "stroke": strokes,
    "force_limit": numbers_per_leg,
    "base_joint_axes": unit_axes,
    "platform_joint_axes": unit_axes,
    "cone_angles": half_angles,
    "leg_radius": validation.non_negative,
}
REQUIRED = ("base_points", "platform_points", "friction", "gravity")  # the others may be None


def check_free_legs(platform: PlatformDescription) -> None:
    """Refuses a platform with spherical base joints whose legs something spins, by the name of the field."""
    if platform.universal_axes is not None:
        raise ModelError(
            "a spherical joint has no fixed axis", field="universal_axes", remedy=f"Leave it out, {OTHERWISE}"
        )
    if platform.friction[2] != 0:
        problem = (
            f"between two spherical joints the friction of the platform joint, {platform.friction[2]:g} N m s, would "
            "turn a leg about itself, and nothing holds its spin"
        )
        raise UnsupportedFeatureError(problem, field="friction", remedy=f"Give 0 as the third coefficient, {OTHERWISE}")
    if platform.has_masses:
        for part in LEG_PARTS:
            _check_part(platform, part)


def off_axis(platform: PlatformDescription, part: str) -> list[bool]:
    """True for each leg where the mass centre of this part is off the leg's axis, be there a mass or not."""
    size = float(np.ptp(platform.base_points, axis=0).max())
    coms = cast(Rows, getattr(platform, f"{part}_com"))
    return [max(abs(y), abs(z)) > SYMMETRY_ERROR * size for _, y, z in coms]


def _check_part(platform: PlatformDescription, part: str) -> None:
    masses, coms, tensors = (getattr(platform, f"{part}_{field}") for field in BODY_SHARES)
    aside = off_axis(platform, part)
    for i, (mass, (_, y, z), tensor) in enumerate(zip(masses, coms, tensors, strict=True)):
        where = f"of leg {i + 1}, which has spherical joints at both ends,"
        if mass != 0 and aside[i]:
            problem = (
                f"the mass centre of the {part} part {where} is off the leg's axis by y = {y:g} m, z = {z:g} m: its "
                "weight would turn the leg about itself, and nothing holds its spin"
            )
            raise UnsupportedFeatureError(problem, field=f"{part}_com", remedy=f"Give y = z = 0, {OTHERWISE}")
        (_, xy, xz), (_, yy, yz), (_, _, zz) = tensor
        if max(map(abs, (xy, xz, yz, yy - zz))) > SYMMETRY_ERROR * float(np.abs(tensor).max()):
            raise UnsupportedFeatureError(
                f"the inertia of the {part} part {where} is not symmetric about the leg's axis: its inertia forces "
                "would turn the leg about itself, and nothing holds its spin",
                field=f"{part}_inertia",
                remedy=f"Give Iyy = Izz and Ixy = Ixz = Iyz = 0, {OTHERWISE}",
            )
