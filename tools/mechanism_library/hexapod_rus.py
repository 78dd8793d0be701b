"""A hexapod with cranks (6-RUS): six motors on the ground, each with a crank and a rod to the platform."""

from __future__ import annotations

import math

import numpy as np

from mechanism_library.shapes import MASSES, UP, bar, by_choice, disc, on_circle, triple
from tauforge.arrays import Array
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge, MechanismJoint, Spherical, Universal

SOURCES = (
    by_choice(
        ("at", "axis", "axes", "home", "limits"),
        "Motors on a circle of 0.3 m, balls on one of 0.2 m at 0.45 m of height; cranks 0.15 m, rods 0.45 m.",
    ),
    by_choice((*MASSES, "gravity"), "Uniform round bars and a disc: cranks 0.6 kg, rods 0.4 kg, platform 5 kg."),
)
MOTORS = (10.0, 110.0, 130.0, 230.0, 250.0, 350.0)  # degrees
BALLS = (50.0, 70.0, 170.0, 190.0, 290.0, 310.0)
BASE, PLATFORM, HEIGHT, CRANK, ROD = 0.3, 0.2, 0.45, 0.15, 0.45
REACH = 0.35  # rad, to either side


def mechanism() -> Mechanism:
    bodies: list[Body] = []
    joints: list[MechanismJoint] = []
    for k, (here, there) in enumerate(zip(MOTORS, BALLS, strict=True), 1):
        angle = math.radians(here)
        base, tip = on_circle(BASE, angle), on_circle(PLATFORM, math.radians(there), HEIGHT)
        out, side = on_circle(1.0, angle), on_circle(1.0, angle + math.pi / 2)
        rise = _crank_angle(tip - base, out)
        elbow = base + CRANK * (math.cos(rise) * out + math.sin(rise) * np.array(UP))
        across = np.cross(side, tip - elbow)
        crank, rod, axis = f"crank {k}", f"rod {k}", triple(-side)  # a positive turn lifts the crank
        bodies += [bar(crank, base, elbow, 0.6, 0.02), bar(rod, elbow, tip, 0.4, 0.02)]
        limits = (rise - REACH, rise + REACH)
        joints += [
            Hinge(f"motor {k}", "ground", crank, triple(base), True, rise, limits, axis=axis),
            Universal(f"elbow {k}", crank, rod, triple(elbow), axes=(axis, triple(across / np.linalg.norm(across)))),
            Spherical(f"ball {k}", rod, "platform", triple(tip)),
        ]
    platform = disc("platform", (0.0, 0.0, HEIGHT + 0.01), 5.0, PLATFORM, 0.02)
    return Mechanism(name="hexapod-6rus", bodies=[*bodies, platform], joints=joints, tool="platform", sources=SOURCES)


def _crank_angle(to_tip: Array, out: Array) -> float:
    """rad above the horizontal, the lower of the two where the rod reaches the ball.

    |to_tip - CRANK (cos a out + sin a up)| = ROD
    """
    x, z = float(to_tip @ out), float(to_tip[2])
    wanted = (float(to_tip @ to_tip) + CRANK**2 - ROD**2) / (2 * CRANK)  # x cos a + z sin a
    return math.atan2(z, x) - math.acos(wanted / math.hypot(x, z))
