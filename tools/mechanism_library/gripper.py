"""A two-finger gripper: gears tie both knuckles to one motor, and the fingers stay parallel."""

from __future__ import annotations

import math

from mechanism_library.shapes import ALONG_Y, MASSES, bar, by_choice
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Hinge

SOURCES = (
    by_choice(("at", "axis", "home", "limits", "mimic"), "Knuckles 0.05 m, fingers 0.06 m; the palm is the ground."),
    by_choice((*MASSES, "gravity"), "Uniform round bars: knuckles 0.05 kg, fingers 0.06 kg, 8 mm in radius."),
)
APART, KNUCKLE, FINGER, OPEN = 0.03, 0.05, 0.06, 0.5  # m; rad outward of the knuckles


def mechanism() -> Mechanism:
    bodies, joints = [], []
    for side, name in ((-1.0, "left"), (1.0, "right")):
        pivot = (side * APART / 2, 0.0, 0.0)
        joint = (pivot[0] + side * KNUCKLE * math.sin(OPEN), 0.0, KNUCKLE * math.cos(OPEN))
        tip = (joint[0], 0.0, joint[2] + FINGER)
        bodies += [
            bar(f"{name} knuckle", pivot, joint, 0.05, 0.008),
            bar(f"{name} finger", tip, joint, 0.06, 0.008),
        ]
        first = name == "left"
        joints += [
            Hinge(
                f"{name} knuckle joint",
                "ground",
                f"{name} knuckle",
                at=pivot,
                axis=ALONG_Y,
                actuated=first,
                home=side * OPEN,
                limits=(-1.0, 0.0) if first else None,
                mimic=None if first else ("left knuckle joint", -1.0, 0.0),
            ),
            Hinge(
                f"{name} finger joint",
                f"{name} knuckle",
                f"{name} finger",
                at=joint,
                axis=ALONG_Y,
                home=-side * OPEN,
                mimic=("left knuckle joint", side, 0.0),
            ),
        ]
    return Mechanism(name="gripper", bodies=bodies, joints=joints, sources=SOURCES)
