"""A 3-RPS platform: three legs of a hinge, a slider and a ball lift and tilt a platform."""

from __future__ import annotations

import math

import numpy as np

from mechanism_library.shapes import MASSES, bar, by_choice, disc, on_circle, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge, MechanismJoint, Slider, Spherical

SOURCES = (
    by_choice(
        ("at", "axis", "home", "limits"),
        "Hinges on a circle of 0.35 m, balls on one of 0.25 m at 0.8 m of height; the legs' coordinates are lengths.",
    ),
    by_choice((*MASSES, "gravity"), "Uniform round bars and a disc: 2 kg and 1 kg to a leg, platform 8 kg."),
)
BASE, PLATFORM, HEIGHT, REACH = 0.35, 0.25, 0.8, 0.1
LOWER, UPPER = 0.5, 0.55  # m, of the two parts of a leg


def mechanism() -> Mechanism:
    bodies: list[Body] = []
    joints: list[MechanismJoint] = []
    for k in range(1, 4):
        angle = 2 * math.pi * (k - 1) / 3
        foot, ball = on_circle(BASE, angle), on_circle(PLATFORM, angle, HEIGHT)
        length = float(np.linalg.norm(ball - foot))
        along, side = (ball - foot) / length, on_circle(1.0, angle + math.pi / 2)
        tube, piston = f"tube {k}", f"piston {k}"
        bodies += [
            bar(tube, foot, foot + LOWER * along, 2.0, 0.03),
            bar(piston, ball, ball - UPPER * along, 1.0, 0.015),
        ]
        limits = (length - REACH, length + REACH)
        joints += [
            Hinge(f"hinge {k}", "ground", tube, triple(foot), axis=triple(side)),
            Slider(f"leg {k}", tube, piston, triple(ball), True, length, limits, axis=triple(along)),
            Spherical(f"ball {k}", piston, "platform", triple(ball)),
        ]
    platform = disc("platform", (0.0, 0.0, HEIGHT), 8.0, 0.28, 0.03)
    return Mechanism(name="3-rps", bodies=[*bodies, platform], joints=joints, tool="platform", sources=SOURCES)
