"""Can a body have this inertia? Principal moments must be positive and obey the triangle inequality."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection

import numpy as np

from tauforge.errors import UnphysicalInertiaWarning
from tauforge.validation import Rows

TOLERANCE = 1e-9  # relative to the largest principal moment


def inertia_fault(inertia: Rows) -> str | None:
    """What is wrong with an inertia about the centre of mass, or None."""
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


def levels_to_the_caller() -> int:
    """How far up the first code lies that is neither ours nor the dataclass machinery's."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and (
        frame.f_globals.get("__name__", "").partition(".")[0] in ("tauforge", "dataclasses")
        or frame.f_code.co_filename == "<string>"
    ):
        level, frame = level + 1, frame.f_back
    return level
