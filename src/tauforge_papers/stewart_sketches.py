"""What the schematics of both papers on the Stewart platform draw: joints, axes and mass centres at a pose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.formulations.stewart.kinematics import centre_accelerations, leg_motion
from tauforge.formulations.stewart.parameters import motion as motion_of
from tauforge.motion import Motion, MotionSample
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.sketch import Sketch

OVERLAP = 0.42, 0.62  # of a leg's length: where we let the upper part begin and the lower part end
BASE, PLATFORM, LOWER, UPPER = "base", "platform", "lower part of a leg", "upper part of a leg"
FRAMES, AXES, CENTRES = "frames", "axes of the universal joint", "mass centres"


class LegPlace(NamedTuple):
    """One leg, base axes, m. Unit vectors: s along it, u fixed and v moving axis of its universal joint, c = u x v."""

    b: Array  # base joint
    a: Array  # platform joint
    s: Array
    u: Array
    v: Array
    c: Array
    T: Array  # (3, 3), columns s, v, s x v: frames D and U
    lower_centre: Array
    upper_centre: Array


class Scene(NamedTuple):
    """A platform at an instant of a motion, base axes."""

    X: Array  # origin of the platform's frame
    R: Array  # base <- platform
    centre: Array  # mass centre of the platform
    legs: tuple[LegPlace, ...]
    state: MotionSample


def scene(platform: StewartPlatform, motion: Motion, time: float) -> Scene:
    state = motion.sample(time)
    moving = motion_of(*([float(x) for x in part] for part in state))
    legs = []
    for leg in platform.parameters.legs:
        m = leg_motion(leg, moving)
        centres = centre_accelerations(leg, m)
        b = _array(leg.b)
        legs.append(
            LegPlace(
                b,
                b + _array(m.S),
                _array(m.s),
                _array(m.u),
                _array(m.v),
                _array(m.c),
                np.array([list(row) for row in m.T.rows]),
                b + _array(centres.r_d),
                b + _array(centres.r_u),
            )
        )
    X, R = _array(moving.X), np.array([list(row) for row in moving.R.rows])
    return Scene(X, R, X + R @ np.array(platform.platform_com), tuple(legs), state)


def _array(vector: Any) -> Array:
    return np.array(list(vector), float)


def along(leg: LegPlace, part: float) -> Array:
    """A point of the leg's axis: 0 is the base joint, 1 the platform joint."""
    return leg.b + part * (leg.a - leg.b)


def draw_leg(sketch: Sketch, leg: LegPlace) -> None:
    sketch.line(LOWER, leg.b, along(leg, OVERLAP[1]), style="thick")
    sketch.line(UPPER, along(leg, OVERLAP[0]), leg.a, style="line")


def draw_platform(sketch: Sketch, place: Scene) -> None:
    """Base and platform as the polygons of their joints, and six legs."""
    sketch.closed(BASE, *(leg.b for leg in place.legs))
    for leg in place.legs:
        draw_leg(sketch, leg)
    sketch.closed(PLATFORM, *(leg.a for leg in place.legs))


def number_joints(sketch: Sketch, place: Scene, base: str, platform: str) -> None:
    """Names the joints of all legs, on the sides that look away from the legs."""
    for k, leg in enumerate(place.legs, 1):
        sketch.note(f"{base}_{k}", leg.b, sketch.beyond(-leg.s))
        sketch.note(f"{platform}_{k}", leg.a, sketch.beyond(leg.s))
