"""Limits of joints that were probably meant otherwise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence

from tauforge.errors import TauforgeWarning
from tauforge.robots.mechanism.parts import MechanismJoint
from tauforge.robots.physical import levels_to_the_caller

FARTHEST = 4 * math.pi  # rad, of a limit: few joints turn farther, and many limits are in degrees
ROUNDING = 1e-9  # rad or m, by which home may be outside of a limit


def warn_of_degrees(robot: str, joints: Sequence[MechanismJoint]) -> None:
    """A warning for each joint with an angle whose limits are beyond two turns."""
    for joint in joints:
        for letter, (lower, upper) in zip(joint.letters, joint.limits or (), strict=bool(joint.limits)):
            if letter == "R" and max(abs(lower), abs(upper)) > FARTHEST:
                text = f"{robot}: {joint.name}.limits: {lower:g} to {upper:g} rad is beyond two turns"
                told = TauforgeWarning(text, remedy="If these are degrees, give radians: numpy.radians(limits)")
                warnings.warn(told, stacklevel=levels_to_the_caller())
                break


def outside(joints: Sequence[MechanismJoint]) -> Iterator[str]:
    """Coordinates that are outside of their limits in the home position, in words."""
    for joint in joints:
        home = joint.home if isinstance(joint.home, tuple) else (joint.home,)
        for name, x, (lower, upper) in zip(joint.coordinate_names, home, joint.limits or (), strict=bool(joint.limits)):
            if not lower - ROUNDING <= x <= upper + ROUNDING:
                yield f"{name} is {x:g}, and its limits are {lower:g} to {upper:g}"
