"""The numbers that a designer of a platform chooses, and the joints and strokes that they give.

A platform of any shape is changed in proportion: its own values give its own points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.evaluation.unmodified import ours
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.capabilities import Designs
from tauforge.robots.records import DesignParameter

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

PLATES = ("base", "platform")
STROKE = ("shortest_leg", "longest_leg")
SCALARS = {"platform_mass": ("kg", "mass of the platform"), "leg_radius": ("m", "radius of the legs, for clearance")}
SAME_DIRECTION = 1e-9  # rad: of joints in the same direction it is open which one turns to which side
ON_THE_AXIS = 1e-9  # of the mean radius: the direction of a joint nearer to the centre is rounding


class Plate(NamedTuple):
    """Joints as seen from above, about the mean of their points.

    centre:  (3,) m, the mean
    heights: (6,) m
    radii:   (6,) m, horizontal distances from the centre
    azimuth: (6,) rad
    side:    (6,) 1 for the joint of a pair with the larger azimuth, -1 for the other; 0 where pairs have no sides
    gap:     rad, the mean angle between the two joints of a pair
    """

    centre: Array
    heights: Array
    radii: Array
    azimuth: Array
    side: Array
    gap: float

    def points(self, radius: Array | None, angle: Array | None) -> Array:
        """(..., 6, 3) joints with another mean radius, m, and another mean angle between the joints of a pair, rad."""
        scale = 1.0 if radius is None else (radius / self.radii.mean())[..., None]
        turn = 0.0 if angle is None else self.side * ((angle - self.gap) / 2)[..., None]
        reach, at = self.radii * scale, self.azimuth + turn
        x, y = self.centre[0] + reach * np.cos(at), self.centre[1] + reach * np.sin(at)
        return np.stack(np.broadcast_arrays(x, y, self.heights), axis=-1)


@ours
class PlatformDesigns(Designs):
    """Radii and angles of the circles of joints, lengths of the legs, mass of the platform."""

    robot: StewartPlatform

    @computed_once
    def parameters(self) -> tuple[DesignParameter, ...]:
        """Radii of both circles of joints, angles between the joints of a pair, lengths of the legs where a stroke is
        given, mass of the platform, radius of the legs.
        """
        platform, found = self.robot, []
        for name in PLATES:
            plate = _plate(platform, name)
            if plate.radii.mean() == 0:
                continue
            words = "mean distance of its joints from their centre, seen from above"
            found.append(DesignParameter(f"{name}_radius", "m", float(plate.radii.mean()), f"{name}: {words}", 0.0))
            if plate.side.any():
                words = "mean angle between the two joints of a pair, seen from their centre"
                found.append(DesignParameter(f"{name}_angle", "rad", plate.gap, f"{name}: {words}", 0.0))
        if platform.stroke is not None:
            for name, value in zip(STROKE, np.mean(platform.stroke, axis=0).tolist(), strict=True):
                words = f"{name.partition('_')[0]} length of a leg, mean of all"
                found.append(DesignParameter(name, "m", value, words, 0.0))
        for name, (unit, words) in SCALARS.items():
            if (own := getattr(platform, name)) is not None:
                found.append(DesignParameter(name, unit, own, words, 0.0))
        return tuple(found)

    def _fields(self, values: Mapping[str, Array]) -> dict[str, Array]:
        platform, found = self.robot, {}
        for name in PLATES:
            radius, angle = values.get(f"{name}_radius"), values.get(f"{name}_angle")
            if radius is not None or angle is not None:
                found[f"{name}_points"] = _plate(platform, name).points(radius, angle)
        if any(name in values for name in STROKE):
            own = np.array(platform.stroke)
            ends = []
            for end, name in enumerate(STROKE):
                shift = (values[name] - own[:, end].mean())[..., None] if name in values else 0.0
                ends.append(own[:, end] + shift)
            found["stroke"] = np.stack(np.broadcast_arrays(*ends), axis=-1)
        return found | {name: values[name] for name in SCALARS if name in values}


def _plate(platform: PlatformDescription, name: str) -> Plate:
    points = np.array(getattr(platform, f"{name}_points"))
    centre = points.mean(axis=0)
    x, y = (points - centre)[:, :2].T
    radii, azimuth = np.hypot(x, y), np.arctan2(y, x)
    side, gap = np.zeros(LEGS), 0.0
    order = np.argsort(azimuth)
    gaps = np.remainder(azimuth[np.roll(order, -1)] - azimuth[order], 2 * np.pi)
    start = int(gaps[1::2].sum() < gaps[::2].sum())  # the nearer neighbours are the pairs
    pairs = gaps[start::2]
    apart = ((pairs > SAME_DIRECTION) & (pairs < 2 * np.pi - SAME_DIRECTION)).all()
    if apart and radii.min() > ON_THE_AXIS * radii.mean():
        gap = float(pairs.mean())
        side[:] = 1.0
        side[order[start::2]] = -1.0
    return Plate(centre, points[:, 2], radii, azimuth, side, gap)
