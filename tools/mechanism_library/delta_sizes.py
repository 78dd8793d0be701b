"""Lengths and masses of the Delta robots of the catalogue."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mechanism_library.shapes import MASSES, by_choice, disc, on_circle, triple
from tauforge.arrays import Array
from tauforge.robots.mechanism.parts import Body

NOTE = "Base 0.2 m, platform 0.05 m, arms 0.25 m, rods 0.6 m, the two rods of a leg 0.12 m apart; platform 0.8 kg, "
NOTE += "arms 0.5 kg, rods 0.1 kg each."
SOURCES = (
    by_choice(("at", "axis", "home", "limits"), NOTE),
    by_choice((*MASSES, "gravity"), "Uniform round bars and a disc."),
)
BASE, PLATFORM, ARM, ROD, HALF_WIDTH = 0.2, 0.05, 0.25, 0.6, 0.06
HOME, REACH = 0.3, 0.6  # rad, of the arms below the horizontal, and to either side
ARM_MASS, ROD_MASS, PLATFORM_MASS = 0.5, 0.1, 0.8
ARM_RADIUS, ROD_RADIUS = 0.02, 0.006


class Leg(NamedTuple):
    """Points of a leg at home, m, and unit vectors: `side` along the arm's axis, `along` the rods."""

    shoulder: Array
    elbow: Array
    ball: Array
    side: Array
    along: Array


def legs() -> list[Leg]:
    """The platform is level and in the middle, where the rods have their length."""
    drop = math.sqrt(ROD**2 - (BASE + ARM * math.cos(HOME) - PLATFORM) ** 2)
    height = -ARM * math.sin(HOME) - drop
    found = []
    for k in range(3):
        angle = 2 * math.pi * k / 3
        out, side = on_circle(1.0, angle), on_circle(1.0, angle + math.pi / 2)
        elbow = (BASE + ARM * math.cos(HOME)) * out - np.array([0.0, 0.0, ARM * math.sin(HOME)])
        ball = PLATFORM * out + np.array([0.0, 0.0, height])
        found.append(Leg(BASE * out, elbow, ball, side, (ball - elbow) / ROD))
    return found


def platform() -> Body:
    return disc("platform", triple(np.mean([leg.ball for leg in legs()], axis=0)), PLATFORM_MASS, 0.07, 0.02)
