"""A flyball governor: two balls swing out as the shaft turns faster, and stiff springs lift a slider."""

from __future__ import annotations

import math

import numpy as np

from mechanism_library.shapes import ALONG_Y, UP, block, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge, Slider, Spring
from tauforge.robots.records import Source

SOURCES = (
    Source(
        ("at", "axis", "home", "mass", "com", "inertia", "spring", "gravity"),
        "IFToMM Library of Computational Benchmark Problems, A05, as in RehabEngGroup/MBSbenchmarksInOpenSim, "
        "src/A05-FlyballGovernor",
        "Shaft and rods 1 m long with a square section of 10 mm, slider a cube of 0.1 m, all of 3000 kg/m^3; balls of "
        "5 kg; springs of 8e5 N/m and 4e4 N s/m, 0.5 m long. The start: slider at 0.5 m, rods 30 degrees below the "
        "horizontal, shaft at 2 pi rad/s.",
    ),
)
DENSITY, SECTION, LENGTH, CUBE, BALL = 3000.0, 0.01, 1.0, 0.1, 5.0
STIFFNESS, DAMPING, UNSTRETCHED = 8e5, 4e4, 0.5
SLIDER, BELOW = 0.5, math.pi / 6


def mechanism() -> Mechanism:
    mass = DENSITY * SECTION**2 * LENGTH
    bodies = [
        block("shaft", (0.0, 0.0, LENGTH / 2), mass, (SECTION, SECTION, LENGTH)),
        block("slider", (0.0, 0.0, SLIDER), DENSITY * CUBE**3, (CUBE, CUBE, CUBE)),
    ]
    joints: list[Hinge | Slider] = [
        Hinge("shaft bearing", "ground", "shaft", at=(0.0, 0.0, 0.0), axis=UP),
        Slider("sleeve", "shaft", "slider", at=(0.0, 0.0, SLIDER), axis=UP, home=SLIDER),
    ]
    springs = []
    for side, name in ((1.0, "first"), (-1.0, "second")):
        pivot = np.array([side * CUBE / 2, 0.0, LENGTH])
        along = np.array([side * math.cos(BELOW), 0.0, -math.sin(BELOW)])
        bodies.append(_rod_with_ball(f"{name} rod", pivot, along, mass))
        joints.append(Hinge(f"{name} pivot", "shaft", f"{name} rod", at=triple(pivot), axis=ALONG_Y))
        ends = (side * CUBE / 2, 0.0, SLIDER), triple(pivot + LENGTH / 2 * along)
        springs.append(Spring("slider", ends[0], f"{name} rod", ends[1], STIFFNESS, UNSTRETCHED, DAMPING))
    return Mechanism(
        name="flyball-governor", bodies=bodies, joints=joints, springs=springs, tool="slider", sources=SOURCES
    )


def _rod_with_ball(name: str, pivot: np.ndarray, along: np.ndarray, mass: float) -> Body:
    """A rod of square section with a ball, a point mass, at its end."""
    total = mass + BALL
    centre = pivot + (mass * LENGTH / 2 + BALL * LENGTH) / total * along
    between = mass * BALL / total * (LENGTH / 2) ** 2  # the two masses about their common centre
    across = mass * (LENGTH**2 + SECTION**2) / 12 + between
    inertia = across * (np.eye(3) - np.outer(along, along)) + mass * SECTION**2 / 6 * np.outer(along, along)
    return Body(name, total, triple(centre), inertia.tolist(), origin=triple(pivot))
