"""A planar four-bar linkage: a crank turns, a rocker swings."""

from __future__ import annotations

import math

from mechanism_library.shapes import FROM_X_TO_Z, MASSES, bar, by_choice, meeting, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Hinge

SOURCES = (
    by_choice(
        ("at", "axis", "home"),
        "Crank 0.1 m, coupler 0.3 m, rocker 0.25 m, pivots 0.28 m apart: Grashof's crank-rocker.",
    ),
    by_choice((*MASSES, "gravity"), "Uniform round bars of 1 kg/m, 10 mm in radius; the linkage stands upright."),
)
CRANK, COUPLER, ROCKER, APART = 0.1, 0.3, 0.25, 0.28
DENSITY, RADIUS = 1.0, 0.01  # kg/m, m


def mechanism() -> Mechanism:
    A, D = (0.0, 0.0, 0.0), (APART, 0.0, 0.0)
    B = (0.0, 0.0, CRANK)
    C = triple(meeting(B, COUPLER, D, ROCKER, FROM_X_TO_Z))
    return Mechanism(
        name="four-bar",
        bodies=[
            bar("crank", A, B, DENSITY * CRANK, RADIUS),
            bar("coupler", B, C, DENSITY * COUPLER, RADIUS),
            bar("rocker", D, C, DENSITY * ROCKER, RADIUS),
        ],
        joints=[
            Hinge("crank pivot", "ground", "crank", at=A, axis=FROM_X_TO_Z, actuated=True, home=math.pi / 2),
            Hinge("crank pin", "crank", "coupler", at=B, axis=FROM_X_TO_Z),
            Hinge("rocker pivot", "ground", "rocker", at=D, axis=FROM_X_TO_Z),
            Hinge("rocker pin", "coupler", "rocker", at=C, axis=FROM_X_TO_Z),
        ],
        tool="coupler",
        sources=SOURCES,
    )
