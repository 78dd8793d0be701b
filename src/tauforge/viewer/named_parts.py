"""The parts of a drawing that have names: where their labels are, and the bodies that a mouse can point at."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.drawing import Drawing
from tauforge.viewer import figure

DIGITS = 4  # of places on the page, beside the robot's extent
TOGETHER = 0.01  # of the robot's extent: joints so close have one label


class NamedPart(NamedTuple):
    """All points within a radius of a line: a ball where the line has no length.

    start, end: (3,) m; radius: m
    """

    name: str
    start: Array
    end: Array
    radius: float


def named_parts(drawing: Drawing, size: float) -> list[NamedPart]:
    """Joints, links, legs and edges, as thick as they are drawn.

    size: m, the robot's extent
    """
    parts = [NamedPart(piece.name, piece.start, piece.end, piece.radius) for piece in figure.pieces(drawing, size)]
    joints = [point for point in drawing.points if point.part == figure.JOINT]
    return parts + [NamedPart(joint.name, joint.place, joint.place, figure.JOINT_RADIUS * size) for joint in joints]


def parts_html(parts: Iterable[NamedPart], size: float) -> str:
    """The parts as data for the page's script, names.js."""
    digits = DIGITS - math.floor(math.log10(size))
    rows = [
        [part.name, *(round(float(x), digits) for x in (*part.start, *part.end, part.radius))]
        for part in parts
        if np.isfinite([part.start, part.end]).all()
    ]
    return f'<div hidden data-parts="{escape(json.dumps(rows, separators=(",", ":")))}"></div>'


def label_places(drawing: Drawing) -> dict[str, Array]:
    """(3,) m for each name: joints and mass centres, and the middles of everything else."""
    places = {figure.name_of(point): point.place for point in drawing.points}
    ends: dict[str, list[Array]] = {}
    for segment in drawing.segments:  # the edges of an outline share a name
        ends.setdefault(segment.name, []).extend((segment.start, segment.end))
    bodies = {name: np.mean(each, axis=0) for name, each in ends.items()}
    solids = {solid.name: solid.transform[:3, 3] for solid in drawing.solids}
    masses = {ellipsoid.name: ellipsoid.transform[:3, 3] for ellipsoid in drawing.ellipsoids}
    return solids | masses | bodies | places


def joint_labels(drawing: Drawing, size: float) -> dict[str, Array]:
    """Places (3,) m by text; joints at the same place share a label.

    size: m, the robot's extent
    """
    groups: list[tuple[list[str], Array]] = []
    for point in drawing.points:
        if point.part != figure.JOINT:
            continue
        near = (names for names, place in groups if np.linalg.norm(point.place - place) < TOGETHER * size)
        names = next(near, None)
        if names is None:
            groups.append(([point.name], point.place))
        else:
            names.append(point.name)
    return {", ".join(names): place for names, place in groups}
