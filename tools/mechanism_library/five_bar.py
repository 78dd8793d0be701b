"""A planar five-bar robot: two motors on the ground move the point where two arms meet."""

from __future__ import annotations

import math

from mechanism_library.shapes import FROM_X_TO_Z, MASSES, bar, by_choice, meeting, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Hinge

SOURCES = (
    by_choice(("at", "axis", "home", "limits"), "Cranks 0.3 m, rods 0.4 m, motors 0.25 m apart."),
    by_choice(
        (*MASSES, "gravity"), "Uniform round bars: cranks 1 kg, rods 0.7 kg, 20 mm in radius. It stands upright."
    ),
)
CRANK, ROD, APART = 0.3, 0.4, 0.25
LEFT, RIGHT = 2.2, 0.9  # rad, of the cranks from the x axis
REACH = 0.4  # rad, to either side


def mechanism() -> Mechanism:
    A, E = (0.0, 0.0, 0.0), (APART, 0.0, 0.0)
    B, D = _crank_end(A, LEFT), _crank_end(E, RIGHT)
    C = triple(meeting(B, ROD, D, ROD, FROM_X_TO_Z))
    return Mechanism(
        name="five-bar",
        bodies=[
            bar("left crank", A, B, 1.0, 0.02),
            bar("left rod", B, C, 0.7, 0.02),
            bar("right crank", E, D, 1.0, 0.02),
            bar("right rod", C, D, 0.7, 0.02),  # its frame is at the tip, which carries the tool
        ],
        joints=[
            _motor("left", "left crank", A, LEFT),
            Hinge("left elbow", "left crank", "left rod", at=B, axis=FROM_X_TO_Z),
            _motor("right", "right crank", E, RIGHT),
            Hinge("right elbow", "right crank", "right rod", at=D, axis=FROM_X_TO_Z),
            Hinge("tip", "left rod", "right rod", at=C, axis=FROM_X_TO_Z),
        ],
        sources=SOURCES,
    )


def _crank_end(pivot: tuple[float, float, float], angle: float) -> tuple[float, float, float]:
    return pivot[0] + CRANK * math.cos(angle), 0.0, CRANK * math.sin(angle)


def _motor(name: str, crank: str, at: tuple[float, float, float], angle: float) -> Hinge:
    limits = (angle - REACH, angle + REACH)
    return Hinge(name, "ground", crank, at=at, axis=FROM_X_TO_Z, actuated=True, home=angle, limits=limits)
