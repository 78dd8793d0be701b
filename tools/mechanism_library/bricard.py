"""Bricard's mechanism: six hinges in one loop that by counting cannot move, and does."""

from __future__ import annotations

from itertools import pairwise

from mechanism_library.shapes import block
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Hinge
from tauforge.robots.records import Source

SOURCES = (
    Source(
        ("at", "axis", "mass", "com", "inertia", "gravity"),
        "IFToMM Library of Computational Benchmark Problems, A04; Gonzalez, Dopico, Lugris & Cuadrado, A benchmarking "
        "system for MBS simulation software, Multibody System Dynamics 16 (2006) 179-190",
        "Five rods of 1 m and 1 kg with a square section of 0.1 m; the ground is the sixth. Every axis is at right "
        "angles to its two rods.",
    ),
)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
CORNERS = ((0.0, 0.0, 0.0), X, (1.0, -1.0, 0.0), (1.0, -1.0, 1.0), (0.0, -1.0, 1.0), Z)
AXES = (Y, Z, X, Y, Z, X)
LENGTH, MASS, SIDE = 1.0, 1.0, 0.1


def mechanism() -> Mechanism:
    rods = []
    for k, (a, b) in enumerate(pairwise(CORNERS), 1):
        sides = [LENGTH if p != q else SIDE for p, q in zip(a, b, strict=True)]
        middle = [(p + q) / 2 for p, q in zip(a, b, strict=True)]
        rods.append(block(f"rod {k}", middle, MASS, sides))
    names = ["ground", *(rod.name for rod in rods), "ground"]
    return Mechanism(
        name="bricard",
        bodies=rods,
        joints=[Hinge(f"hinge {k + 1}", names[k], names[k + 1], at=CORNERS[k], axis=AXES[k]) for k in range(6)],
        gravity=(0.0, -9.81, 0.0),
        tool="rod 3",
        sources=SOURCES,
    )
