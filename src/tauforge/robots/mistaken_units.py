"""Degrees and millimetres where radians and metres are meant. The numbers are used as given, with a warning."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

from tauforge.errors import TauforgeWarning
from tauforge.robots.physical import levels_to_the_caller

FARTHEST = 4 * math.pi  # rad, of a limit or a coordinate: few joints turn farther, and 13 degrees are already more
LONGEST = 20.0  # m, from a joint or the frame of a body to its centre of mass: few links are as long
ROUNDING = 1e-9  # rad or m, by which a coordinate may be outside of a limit
DEGREES, MILLIMETRES = "If it is in degrees, give radians: numpy.radians", "If it is in millimetres, give metres"


def warn_of_coordinate(where: str, value: float, turns: bool, limits: tuple[float, float] | None) -> None:
    """A warning where an angle is beyond two turns, or a coordinate outside of its limits.

    0 is where robots are drawn, and never a mistake of units. where: begins the message: robot or file, and the field
    """
    unit = "rad" if turns else "m"
    if value == 0:
        return
    if turns and abs(value) > FARTHEST:
        problem = "beyond two turns"
    elif limits is not None and not limits[0] - ROUNDING <= value <= limits[1] + ROUNDING:
        problem = f"outside of its limits, {limits[0]:g} to {limits[1]:g} {unit}"
    else:
        return
    told = TauforgeWarning(f"{where}: {value:g} {unit} is {problem}", remedy=DEGREES if turns else MILLIMETRES)
    warnings.warn(told, stacklevel=levels_to_the_caller())


def warn_of_far_masses(robot: str, distances: Mapping[str, float], place: str = "the body's frame") -> None:
    """A warning for each body whose centre of mass is far away. distances: m, by body, from the place of this name"""
    for body, distance in distances.items():
        if LONGEST < distance < math.inf:  # what is not finite is no length at all
            text = f"{robot}: {body}: the centre of mass is {distance:.4g} m from {place}, and few links are that long"
            warnings.warn(TauforgeWarning(text, remedy=MILLIMETRES), stacklevel=levels_to_the_caller())
