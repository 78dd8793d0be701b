"""A planar 3-RRR robot: three motors on the ground place and turn a platform in a plane."""

from __future__ import annotations

import math

from mechanism_library.shapes import MASSES, UP, bar, by_choice, disc, meeting, on_circle, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge

SOURCES = (
    by_choice(
        ("at", "axis", "home", "limits"),
        "Motors on a circle of 0.5 m, platform joints on one of 0.12 m; cranks 0.3 m, rods 0.28 m.",
    ),
    by_choice((*MASSES, "gravity"), "Uniform round bars and a disc: cranks 0.6 kg, rods 0.4 kg, platform 1.5 kg."),
)
BASE, PLATFORM, CRANK, ROD, TURNED = 0.5, 0.12, 0.3, 0.28, 0.3
REACH = 0.15  # rad, to either side


def mechanism() -> Mechanism:
    bodies: list[Body] = []
    joints: list[Hinge] = []
    for k in range(1, 4):
        angle = 2 * math.pi * (k - 1) / 3
        motor, pin = on_circle(BASE, angle), on_circle(PLATFORM, angle + TURNED)
        elbow = meeting(motor, CRANK, pin, ROD, UP)
        turn = math.atan2(elbow[1] - motor[1], elbow[0] - motor[0])
        crank, rod = f"crank {k}", f"rod {k}"
        bodies += [bar(crank, motor, elbow, 0.6, 0.02), bar(rod, elbow, pin, 0.4, 0.02)]
        joints += [
            Hinge(f"motor {k}", "ground", crank, triple(motor), True, turn, (turn - REACH, turn + REACH)),
            Hinge(f"elbow {k}", crank, rod, triple(elbow)),
            Hinge(f"pin {k}", rod, "platform", triple(pin)),
        ]
    platform = disc("platform", (0.0, 0.0, 0.0), 1.5, 0.14, 0.02)
    return Mechanism(name="planar-3rrr", bodies=[*bodies, platform], joints=joints, tool="platform", sources=SOURCES)
