"""Bodies of simple shape, as the mechanisms of the catalogue are made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.mechanism.parts import Body
from tauforge.robots.records import Source
from tauforge.validation import Rows

CHOICE = "By choice"  # the source of what no source gives
UP = (0.0, 0.0, 1.0)
ALONG_Y = (0.0, 1.0, 0.0)
FROM_X_TO_Z = (0.0, -1.0, 0.0)  # axis of hinges in an upright plane: angles count from the x axis upward
MASSES = ("mass", "com", "inertia")
Place = Sequence[float] | Array


def bar(name: str, start: Place, end: Place, mass: float, radius: float) -> Body:
    """A uniform round bar between two points; its frame is at the start."""
    a, b = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(b - a))
    along = np.outer(b - a, b - a) / length**2
    across = mass * (length**2 / 12 + radius**2 / 4)
    inertia = across * (np.eye(3) - along) + mass * radius**2 / 2 * along
    return Body(name, mass, triple((a + b) / 2), inertia.tolist(), origin=triple(a))


def block(name: str, centre: Place, mass: float, sides: Sequence[float]) -> Body:
    """A uniform block along the axes of the world; its frame is at its centre."""
    squares = np.square(np.asarray(sides, float))
    return Body(name, mass, triple(centre), diagonal(*mass / 12 * (squares.sum() - squares)))


def disc(name: str, centre: Place, mass: float, radius: float, height: float) -> Body:
    """A uniform upright disc; its frame is at its centre."""
    across = mass * (radius**2 / 4 + height**2 / 12)
    return Body(name, mass, triple(centre), diagonal(across, across, mass * radius**2 / 2))


def diagonal(xx: float, yy: float, zz: float) -> Rows:
    """An inertia without products."""
    return (xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz)


def triple(v: Place) -> tuple[float, float, float]:
    x, y, z = np.asarray(v, float).tolist()
    return x, y, z


def on_circle(radius: float, angle: float, height: float = 0.0) -> Array:
    """A point at an angle (rad) from the x axis."""
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])


def meeting(a: Place, first: float, b: Place, second: float, axis: Sequence[float]) -> Array:
    """Where circles about two points meet, to the left of the way from a to b as seen against the axis.

    first, second: m, radii; axis: unit vector, normal to their plane
    """
    p, q = np.asarray(a, float), np.asarray(b, float)
    distance = float(np.linalg.norm(q - p))
    e = (q - p) / distance
    along = (distance**2 + first**2 - second**2) / (2 * distance)
    return np.asarray(p + along * e + np.sqrt(first**2 - along**2) * np.cross(axis, e))


def by_choice(fields: Sequence[str], note: str = "") -> Source:
    return Source(tuple(fields), CHOICE, note)
