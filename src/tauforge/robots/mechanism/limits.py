"""What has a limit in a mechanism, and limits and homes of joints that were probably meant otherwise."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import TauforgeWarning
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Bounds
from tauforge.robots.mechanism.parts import Body, Free, MechanismJoint
from tauforge.robots.plausibility import (
    FARTHEST_TURN,
    LIMIT_SLACK,
    levels_to_the_caller,
    warn_of_coordinate,
    warn_of_far_masses,
)
from tauforge.robots.records import Coordinate, LimitedQuantity

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


@ours
class JointBounds(Bounds):
    """Limits of all joints, dependent ones too."""

    robot: Mechanism

    def quantities(self, position: Array, velocity: Array) -> list[LimitedQuantity]:
        """Those of the contract, and the speeds of dependent joints."""
        m, found = self.robot, super().quantities(position, velocity)
        others = [
            k
            for k, c in enumerate(m.positions.entries)
            if np.isfinite(c.max_speed) and k not in m.independent_places and not c.wraps
        ]
        if others:
            rates = m._evaluator("coordinate_rates", {"x": position, "qd": velocity})[0]
            found += [_speed(m.positions.entries[k], rates[..., k]) for k in others]
        return found


def _speed(entry: Coordinate, rate: Array) -> LimitedQuantity:
    phrase = f"{entry.name} {'turns' if entry.turns else 'slides'} at"
    most = entry.max_speed
    return LimitedQuantity(f"speed of {entry.name}", np.abs(rate), -most, most, f"{entry.unit}/s", lambda _: phrase)


def warn_of_units(robot: str, bodies: Sequence[Body], joints: Sequence[MechanismJoint]) -> None:
    """Warnings about limits, homes and centres of mass that look like degrees or millimetres."""
    _warn_of_degrees(robot, joints)
    for joint in joints:
        for name, letter, x, limits in _at_home(joint) if joint.mimic is None else ():  # else it follows
            warn_of_coordinate(f"{robot}: {name}.home", x, letter == "R", limits)
    ends: dict[str, list[tuple[float, ...]]] = {body.name: [] for body in bodies}
    for joint in joints:
        for body in (joint.parent, joint.child) if not isinstance(joint, Free) else ():
            ends.get(body, []).append(joint.at)
    warn_of_far_masses(
        robot,
        {
            body.name: min(math.dist(body.com, at) for at in ends[body.name] or [tuple(body.home_frame[1])])
            for body in bodies
            if body.mass
        },
        "its joints",
    )


def _warn_of_degrees(robot: str, joints: Sequence[MechanismJoint]) -> None:
    """A warning for each joint with an angle whose limits are beyond two turns."""
    for joint in joints:
        for letter, (lower, upper) in zip(joint.letters, joint.limits or (), strict=bool(joint.limits)):
            if letter == "R" and max(abs(lower), abs(upper)) > FARTHEST_TURN:
                text = f"{robot}: {joint.name}.limits: {lower:g} to {upper:g} rad is beyond two turns"
                told = TauforgeWarning(text, remedy="If these are degrees, give radians: numpy.radians(limits)")
                warnings.warn(told, stacklevel=levels_to_the_caller())
                break


def _at_home(joint: MechanismJoint) -> Iterator[tuple[str, str, float, tuple[float, float] | None]]:
    """Name, letter, value in the home position and limits of each coordinate."""
    home = joint.home if isinstance(joint.home, tuple) else (joint.home,)
    limits = joint.limits or (None,) * len(joint.letters)
    yield from zip(joint.coordinate_names, joint.letters, home, limits, strict=False)  # a weld has a name


def outside(joints: Sequence[MechanismJoint]) -> Iterator[str]:
    """Coordinates that are outside of their limits in the home position, in words."""
    for joint in joints:
        for name, _, x, limits in _at_home(joint):
            if limits is not None and not limits[0] - LIMIT_SLACK <= x <= limits[1] + LIMIT_SLACK:
                yield f"{name} is {x:g}, and its limits are {limits[0]:g} to {limits[1]:g}"
