"""Axes that were probably meant to be parallel, or to meet, and are not: rounded numbers lock a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.mechanism.parts import MechanismJoint, Slider

MISALIGNED = 1e-3  # rad, or share of the mechanism's size: more is meant
ALIGNED = 1e-11  # the same: less is rounding, and locks nothing


class _Axis(NamedTuple):
    joint: str
    point: Array | None  # None for a slider, whose axis has a direction alone
    direction: Array


def misaligned_axes(joints: Sequence[MechanismJoint], size: float) -> str:
    """Which two axes are farthest from parallel or from meeting, among those that nearly are; "" for none.

    size: m, of the mechanism
    """
    astray = [pair for one, other in combinations(_axes(joints), 2) if (pair := _pair(one, other, size)) is not None]
    return max(astray, key=lambda pair: float(f"{pair[0]:.3g}"))[1] if astray else ""  # the first of equals


def _axes(joints: Sequence[MechanismJoint]) -> Iterator[_Axis]:
    for joint in joints:
        own = getattr(joint, "axes", (joint.axis,) if hasattr(joint, "axis") else ())
        point = None if isinstance(joint, Slider) else np.array(joint.at)
        for direction in own:
            yield _Axis(joint.name, point, np.array(direction))


def _pair(one: _Axis, other: _Axis, size: float) -> tuple[float, str] | None:
    """How far astray they are, rad or share of the size, and that in words; None where they are not nearly so."""
    if one.joint == other.joint:
        return None
    across = np.cross(one.direction, other.direction)
    sine = float(np.linalg.norm(across))
    names = f"those of {one.joint} and {other.joint}"
    if sine < MISALIGNED:
        return (sine, f"{names} are parallel but for {sine:.2g} rad") if sine > ALIGNED else None
    if one.point is None or other.point is None:
        return None
    distance = abs(float((other.point - one.point) @ across)) / sine
    if not ALIGNED * size < distance < MISALIGNED * size:
        return None
    return distance / size, f"{names} miss each other by {distance:.2g} m"
