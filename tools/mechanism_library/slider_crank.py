"""A slider-crank: a crank, a connecting rod and a piston, as in an engine."""

from __future__ import annotations

import math

from mechanism_library.shapes import FROM_X_TO_Z, MASSES, bar, block, by_choice
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Hinge, Slider

SOURCES = (
    by_choice(("at", "axis", "home"), "Crank 0.05 m, connecting rod 0.16 m; the piston slides along x."),
    by_choice((*MASSES, "gravity"), "Uniform round bars and a block: 0.5 kg, 0.6 kg and 0.4 kg."),
)
CRANK, ROD, ANGLE = 0.05, 0.16, math.pi / 3


def mechanism() -> Mechanism:
    pin = (CRANK * math.cos(ANGLE), 0.0, CRANK * math.sin(ANGLE))
    piston = (pin[0] + math.sqrt(ROD**2 - pin[2] ** 2), 0.0, 0.0)
    centre = (0.0, 0.0, 0.0)
    return Mechanism(
        name="slider-crank",
        bodies=[
            bar("crank", centre, pin, 0.5, 0.01),
            bar("connecting rod", pin, piston, 0.6, 0.008),
            block("piston", piston, 0.4, (0.05, 0.06, 0.06)),
        ],
        joints=[
            Hinge("crankshaft", "ground", "crank", at=centre, axis=FROM_X_TO_Z, actuated=True, home=ANGLE),
            Hinge("crank pin", "crank", "connecting rod", at=pin, axis=FROM_X_TO_Z),
            Hinge("gudgeon pin", "connecting rod", "piston", at=piston, axis=FROM_X_TO_Z),
            Slider("cylinder", "ground", "piston", at=piston, axis=(1.0, 0.0, 0.0), home=piston[0]),
        ],
        sources=SOURCES,
    )
