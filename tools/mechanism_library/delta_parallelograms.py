"""A Delta robot as built: a parallelogram of hinges in every leg, so that many constraints are redundant."""

from __future__ import annotations

import numpy as np

from mechanism_library import delta_sizes as sizes
from mechanism_library.shapes import bar, by_choice, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge

SOURCES = (
    *sizes.SOURCES[:1],
    by_choice(sizes.SOURCES[1].fields, "Uniform round bars and a disc; crossbars of 0.05 kg at both ends of the rods."),
)
CROSSBAR_MASS, CROSSBAR_RADIUS = 0.05, 0.008


def mechanism() -> Mechanism:
    bodies: list[Body] = []
    joints: list[Hinge] = []
    for k, leg in enumerate(sizes.legs(), 1):
        arm, upper, lower = f"arm {k}", f"upper crossbar {k}", f"lower crossbar {k}"
        half, normal, side = sizes.HALF_WIDTH * leg.side, triple(np.cross(leg.side, leg.along)), triple(leg.side)
        limits = (sizes.HOME - sizes.REACH, sizes.HOME + sizes.REACH)
        bodies += [
            bar(arm, leg.shoulder, leg.elbow, sizes.ARM_MASS, sizes.ARM_RADIUS),
            bar(upper, leg.elbow - half, leg.elbow + half, CROSSBAR_MASS, CROSSBAR_RADIUS),
        ]
        joints += [
            Hinge(f"motor {k}", "ground", arm, triple(leg.shoulder), True, sizes.HOME, limits, axis=side),
            Hinge(f"elbow {k}", arm, upper, triple(leg.elbow), axis=side),
        ]
        for letter, shift in (("a", -half), ("b", half)):
            rod, start, end = f"rod {k}{letter}", triple(leg.elbow + shift), triple(leg.ball + shift)
            bodies.append(bar(rod, start, end, sizes.ROD_MASS, sizes.ROD_RADIUS))
            joints.append(Hinge(f"upper pin {k}{letter}", upper, rod, start, axis=normal))
            joints.append(Hinge(f"lower pin {k}{letter}", rod, lower, end, axis=normal))
        bodies.append(bar(lower, leg.ball - half, leg.ball + half, CROSSBAR_MASS, CROSSBAR_RADIUS))
        joints.append(Hinge(f"wrist {k}", lower, "platform", triple(leg.ball), axis=side))
    return Mechanism(
        name="delta-parallelograms",
        bodies=[*bodies, sizes.platform()],
        joints=joints,
        tool="platform",
        sources=SOURCES,
    )
