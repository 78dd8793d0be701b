"""A Delta robot with six rods: two to a leg, each between a universal joint and a ball."""

from __future__ import annotations

import numpy as np

from mechanism_library import delta_sizes as sizes
from mechanism_library.shapes import bar, triple
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge, MechanismJoint, Spherical, Universal

SOURCES = (sizes.SOURCES[0]._replace(fields=(*sizes.SOURCES[0].fields, "axes")), *sizes.SOURCES[1:])


def mechanism() -> Mechanism:
    bodies: list[Body] = []
    joints: list[MechanismJoint] = []
    for k, leg in enumerate(sizes.legs(), 1):
        arm = f"arm {k}"
        bodies.append(bar(arm, leg.shoulder, leg.elbow, sizes.ARM_MASS, sizes.ARM_RADIUS))
        limits = (sizes.HOME - sizes.REACH, sizes.HOME + sizes.REACH)
        motor = Hinge(
            f"motor {k}", "ground", arm, triple(leg.shoulder), True, sizes.HOME, limits, axis=triple(leg.side)
        )
        joints.append(motor)
        second = triple(np.cross(leg.side, leg.along))
        for letter, sign in (("a", -1.0), ("b", 1.0)):
            rod, shift = f"rod {k}{letter}", sign * sizes.HALF_WIDTH * leg.side
            start, end = triple(leg.elbow + shift), triple(leg.ball + shift)
            bodies.append(bar(rod, start, end, sizes.ROD_MASS, sizes.ROD_RADIUS))
            joints.append(Universal(f"elbow {k}{letter}", arm, rod, at=start, axes=(triple(leg.side), second)))
            joints.append(Spherical(f"ball {k}{letter}", rod, "platform", at=end))
    return Mechanism(name="delta", bodies=[*bodies, sizes.platform()], joints=joints, tool="platform", sources=SOURCES)
