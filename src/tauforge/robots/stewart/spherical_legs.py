"""What a leg between two spherical joints must be for its spin to stay zero, and what is refused otherwise.

Such a leg is free to turn about itself. No moment acts about its axis where both parts are symmetric about it and the
platform joint does not rub: its spin is conserved, and zero if it was zero at the start. Otherwise weight, inertia or
friction spin it up. Its spin would then be a coordinate of its own, which this package does not carry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.validation import Floats, Rows

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription

UNIVERSAL, SPHERICAL = "universal", "spherical"
BASE_JOINTS = (UNIVERSAL, SPHERICAL)
SYMMETRY_ERROR = 1e-12  # of the largest moment, or of the base's size: more than rounding is an asymmetry
OTHERWISE = 'or use base_joint = "universal"'


def check(platform: PlatformDescription) -> None:
    """A platform whose base joints are spherical has legs that do not spin; or the field that spins them is named."""
    if platform.universal_axes is not None:
        raise ModelError(
            "a spherical joint has no fixed axis", field="universal_axes", remedy=f"Leave it out, {OTHERWISE}"
        )
    if platform.friction[2] != 0:
        raise UnsupportedFeatureError(
            f"between two spherical joints the friction of the platform joint, {platform.friction[2]:g} N m s, would "
            "turn a leg about itself, and nothing holds its spin",
            field="friction",
            remedy=f"Give 0 as the third coefficient, {OTHERWISE}",
        )
    if platform.has_masses:
        for part in ("lower", "upper"):
            _check_part(platform, part)


def off_axis(platform: PlatformDescription, part: str) -> list[bool]:
    """Leg by leg, whether the mass centre of this part is off the leg's axis, be there a mass or not."""
    size = float(np.ptp(platform.base_points, axis=0).max())
    coms = cast(Rows, getattr(platform, f"{part}_com"))
    return [max(abs(y), abs(z)) > SYMMETRY_ERROR * size for _, y, z in coms]


def _check_part(platform: PlatformDescription, part: str) -> None:
    coms = cast(Rows, getattr(platform, f"{part}_com"))
    tensors = cast(tuple[Rows, ...], getattr(platform, f"{part}_inertia"))
    masses = cast(Floats, getattr(platform, f"{part}_mass"))
    aside = off_axis(platform, part)
    for i, (mass, (_, y, z), tensor) in enumerate(zip(masses, coms, tensors, strict=True)):
        where = f"of leg {i + 1}, which has spherical joints at both ends,"
        if mass != 0 and aside[i]:
            raise UnsupportedFeatureError(
                f"the mass centre of the {part} part {where} is off the leg's axis by y = {y:g} m, z = {z:g} m: its "
                "weight would turn the leg about itself, and nothing holds its spin",
                field=f"{part}_com",
                remedy=f"Give y = z = 0, {OTHERWISE}",
            )
        (_, xy, xz), (_, yy, yz), (_, _, zz) = tensor
        if max(map(abs, (xy, xz, yz, yy - zz))) > SYMMETRY_ERROR * float(np.abs(tensor).max()):
            raise UnsupportedFeatureError(
                f"the inertia of the {part} part {where} is not symmetric about the leg's axis: its inertia forces "
                "would turn the leg about itself, and nothing holds its spin",
                field=f"{part}_inertia",
                remedy=f"Give Iyy = Izz and Ixy = Ixz = Iyz = 0, {OTHERWISE}",
            )
