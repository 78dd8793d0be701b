"""Warnings about numbers that are used as given, but are probably wrong.

Such are inertias that no body can have, and degrees or millimetres in place of radians and metres.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tauforge.errors import ModelError, TauforgeWarning, UnphysicalInertiaWarning
from tauforge.robots.records import KnownException
from tauforge.validation import Rows

TOLERANCE = 1e-9  # relative to the largest principal moment


def inertia_fault(inertia: Rows) -> str | None:
    """The fault of an inertia about the centre of mass, in words, or None."""
    moments = np.linalg.eigvalsh(np.asarray(inertia))
    slack = TOLERANCE * np.abs(moments).max()
    text = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -slack:
        return f"a principal moment of inertia is negative ({text})"
    if moments[0] + moments[1] < moments[2] - slack:
        return f"the principal moments of inertia ({text}) violate the triangle inequality"
    return None


def warn_of_faults(robot: str, bodies: dict[str, Rows], known: Collection[str]) -> None:
    """One warning for each unphysical body that is not among the declared exceptions."""
    for name, inertia in bodies.items():
        fault = None if name in known else inertia_fault(inertia)
        if fault is not None:
            text = f"{robot}: {name}: {fault}; the numbers are used as given"
            warnings.warn(text, UnphysicalInertiaWarning, stacklevel=levels_to_the_caller())


def check_bodies(robot: str, bodies: dict[str, Rows], exceptions: Sequence[KnownException]) -> None:
    """ModelError for an exception that is of no body, a warning for each unphysical body without an exception."""
    if not all(isinstance(exception, KnownException) for exception in exceptions):
        raise ModelError("expected a sequence of KnownException", field="known_exceptions")
    known = {exception.body for exception in exceptions}
    if unknown := known - set(bodies):
        problem = f"there is no body named {', '.join(sorted(unknown))}"
        remedy = f"Known: {', '.join(bodies) or 'none, the robot has no masses'}"
        raise ModelError(problem, field="known_exceptions", remedy=remedy)
    warn_of_faults(robot, bodies, known)


def levels_to_the_caller() -> int:
    """Number of frames up to the first code that is neither ours nor the dataclass machinery's."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and (
        frame.f_globals.get("__name__", "").partition(".")[0] in ("tauforge", "dataclasses")
        or frame.f_code.co_filename == "<string>"
    ):
        level, frame = level + 1, frame.f_back
    return level


FARTHEST_TURN = 4 * math.pi  # rad, of a limit or a coordinate: few joints turn farther, and 13 degrees are already more
FARTHEST_MASS = 20.0  # m, from a joint or the frame of a body to its centre of mass: few links are as long
LIMIT_SLACK = 1e-9  # rad or m, by which a coordinate may be outside of a limit
DEGREES, MILLIMETRES = "If it is in degrees, give radians: numpy.radians", "If it is in millimetres, give metres"


def warn_of_coordinate(where: str, value: float, turns: bool, limits: tuple[float, float] | None) -> None:
    """A warning where an angle is beyond two turns, or a coordinate outside of its limits.

    0 is where robots are drawn, and never a mistake of units. where: begins the message: robot or file, and the field
    """
    unit = "rad" if turns else "m"
    if value == 0:
        return
    if turns and abs(value) > FARTHEST_TURN:
        problem = "beyond two turns"
    elif limits is not None and not limits[0] - LIMIT_SLACK <= value <= limits[1] + LIMIT_SLACK:
        problem = f"outside of its limits, {limits[0]:g} to {limits[1]:g} {unit}"
    else:
        return
    told = TauforgeWarning(f"{where}: {value:g} {unit} is {problem}", remedy=DEGREES if turns else MILLIMETRES)
    warnings.warn(told, stacklevel=levels_to_the_caller())


def warn_of_far_masses(robot: str, distances: Mapping[str, float], place: str = "the body's frame") -> None:
    """A warning for each body whose centre of mass is far away. distances: m, by body, from the place of this name"""
    for body, distance in distances.items():
        if FARTHEST_MASS < distance < math.inf:  # what is not finite is no length at all
            text = f"{robot}: {body}: the centre of mass is {distance:.4g} m from {place}, and few links are that long"
            warnings.warn(TauforgeWarning(text, remedy=MILLIMETRES), stacklevel=levels_to_the_caller())
