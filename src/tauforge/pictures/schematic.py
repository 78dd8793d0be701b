"""A robot's frames as a flat line drawing: links, joints, and the axes of the frames with their names.

The names stand so that they cover neither each other nor lines if that can be had.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.figure import scripted
from tauforge.pictures.in_space import AXIS_COLOURS, JOINT, OUTLINES, STROKES, new_figure
from tauforge.robots.drawing import Drawing, Frame, Point


class View:
    """The direction of view: azimuth from x about z, elevation above the xy plane, degrees; z is up."""

    def __init__(self, azimuth: float, elevation: float) -> None:
        a, e = math.radians(azimuth), math.radians(elevation)
        right = [-math.sin(a), math.cos(a), 0.0]
        up = [-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)]
        self.axes = np.array([right, up])  # (2, 3) across and up, as the observer sees them

    def __call__(self, points: ArrayLike) -> Array:
        """Projections (..., 2) of points (..., 3)."""
        seen: Array = np.asarray(points, float) @ self.axes.T
        return seen


VIEW = View(-35.0, 28.0)
TOWARDS = np.cross(*VIEW.axes)  # unit vector to the observer
SCHEMATIC_WIDTH, LOWEST_SCHEMATIC, HIGHEST_SCHEMATIC = 6.4, 2.4, 6.4  # inches
ARROW = 0.14  # of the extent: the axis of a frame
NOT_IN_FORMULAS = re.compile(r"[^\w\s,.:;+*/()\[\]{}=-]")  # what matplotlib might take for a command or an accent
WORDS_MARGIN = 0.1  # of the extent, for the words at its edge
SAME = 1e-6  # of the extent, or of a unit vector: what lies together
PALE = "#b8c0ca"
DRAWN_AXES = {"all": "xyz", "chain": "xz"}
LETTER, SUBSCRIPT, WORDS_HEIGHT = 6.2, 4.6, 11.0  # points: widths of letters, height of a row
GAPS = (4.0, 10.0)  # points, from the place to the near side of the words, the best first
TURNS = (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, math.pi)  # rad from the wanted direction, the best first
LINE_CLEARANCE = 2.5  # points, half of the thickest line
LINE_POINTS = 40  # points of a line that are looked at
# Costs of other words, of each point of a line under the words, of each rad, and of each point of the gap.
OVERLAP, CROSSED, TURNED, FARTHER = 100.0, 4.0, 1.0, 0.3


class AxisArrow(NamedTuple):
    """An arrow: where it begins, its unit vector, and the axes that it stands for, as (letter, name of the frame)."""

    origin: Array
    along: Array
    names: list[tuple[str, str]]

    @property
    def words(self) -> str:
        """Such as "x", "z_5" or "z_{5,6}, x_tool"; frames without names have letters only."""
        parts = []
        for letter in dict.fromkeys(letter for letter, _ in self.names):
            frames = ",".join(name for own, name in self.names if own == letter)
            parts.append(f"{letter}_{{{frames}}}" if frames else letter)
        return ", ".join(parts)


def schematic(drawing: Drawing, chosen: Sequence[str], title: str, axes: Any = None) -> Any:
    """A matplotlib Figure of one position, seen from one side without perspective.

    A robot with two frames has all axes of both. A longer chain has the x and z axes, from which the parameters of
    Denavit and Hartenberg are measured; its frames are numbered from 0 at the base. Axes that coincide are one arrow.
    Where joints lie too close for all of their names, some have none.

    chosen: names of the frames to draw
    """
    low, high = drawing.extent
    size = float((high - low).max()) or 1.0
    arrows = coinciding_axes(drawing.frames, chosen, size)
    joints = [point for point in drawing.points if point.part == "joint"]
    lines = [VIEW(np.stack([arrow.origin, arrow.origin + ARROW * size * arrow.along])) for arrow in arrows]
    lines += [VIEW(np.stack([segment.start, segment.end])) for segment in drawing.segments]
    lines += [VIEW(np.stack([joint.place, joint.place])) for joint in joints]
    axes, points_per_metre = _flat_axes(np.concatenate(lines), WORDS_MARGIN * size, title, axes)
    _draw_body(axes, drawing, joints)
    labels = LabelPlaces(points_per_metre, lines)
    for arrow in arrows:
        _draw_arrow(axes, arrow, ARROW * size, labels)
    if len(drawing.frames) <= 2:
        for frame in (frame for frame in drawing.frames if frame.name in chosen):
            _write(axes, frame.name, VIEW(frame.transform[:3, 3]), np.array([-1.0, -1.0]), labels, JOINT)
    for joint in joints:
        if not any(np.linalg.norm(arrow.origin - joint.place) <= SAME * size for arrow in arrows):
            away, words, at = VIEW(joint.place - (low + high) / 2), _short(joint.name), VIEW(joint.place)
            if labels.has_room(words, at, away):
                _write(axes, words, at, away, labels, JOINT)
    return axes.figure


def _draw_body(axes: Any, drawing: Drawing, joints: Sequence[Point]) -> None:
    """Segments from the far ones to the near ones, with an edge of white where one passes before another."""
    for segment in sorted(drawing.segments, key=lambda segment: float(TOWARDS @ (segment.start + segment.end))):
        outline = segment.part in OUTLINES
        x, y = VIEW(np.stack([segment.start, segment.end])).T
        width = 1.6 if outline else 3.5
        axes.plot(x, y, color="white", linewidth=width + 3.0, solid_capstyle="butt", zorder=1)
        colour = STROKES[segment.part][0] if outline else PALE
        axes.plot(x, y, color=colour, linewidth=width, solid_capstyle="round", zorder=1)
    if joints:
        x, y = VIEW(np.array([joint.place for joint in joints])).T
        axes.plot(x, y, "o", color="white", markeredgecolor=JOINT, markersize=5.5, markeredgewidth=1.3, zorder=2)


def coinciding_axes(frames: Sequence[Frame], chosen: Sequence[str], size: float) -> list[AxisArrow]:
    """The axes of the chosen frames; those with one origin and one direction are one."""
    chain = len(frames) > 2
    found: list[AxisArrow] = []
    for k, frame in enumerate(frames):
        if frame.name not in chosen:
            continue
        name = "" if not chain else str(k) if k < len(frames) - 1 else frame.name
        origin = frame.transform[:3, 3]
        for letter in DRAWN_AXES["chain" if chain else "all"]:
            along = frame.transform[:3, "xyz".index(letter)]
            for other in found:
                near = np.linalg.norm(other.origin - origin) <= SAME * size
                if near and np.linalg.norm(other.along - along) <= SAME:
                    other.names.append((letter, name))
                    break
            else:
                found.append(AxisArrow(origin, along, [(letter, name)]))
    return found


def _flat_axes(places: Array, margin: float, title: str, axes: Any) -> tuple[Any, float]:
    """Axes with one scale, without ticks, and the points (of 72 to an inch) that a metre takes. title: of new ones"""
    low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
    across, up = high - low
    if axes is None:
        height = float(np.clip(SCHEMATIC_WIDTH * up / across, LOWEST_SCHEMATIC, HIGHEST_SCHEMATIC))
        axes = new_figure(figsize=(SCHEMATIC_WIDTH, height), layout="constrained").add_subplot()
        axes.set_title(title, parse_math=False)
        room = np.array([SCHEMATIC_WIDTH, height])
    else:
        room = axes.figure.get_size_inches() * axes.get_position().size
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set_axis_off()
    return axes, 72.0 * float((room / (across, up)).min())


def _draw_arrow(axes: Any, arrow: AxisArrow, length: float, labels: LabelPlaces) -> None:
    foot, tip = VIEW(np.stack([arrow.origin, arrow.origin + length * arrow.along]))
    colour = AXIS_COLOURS["xyz".index(arrow.names[0][0])]
    head = {"arrowstyle": "-|>", "mutation_scale": 11, "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, foot, arrowprops=head, zorder=3)
    _write(axes, arrow.words, tip, tip - foot, labels, colour)


def _write(axes: Any, words: str, at: Array, away: Array, labels: LabelPlaces, colour: str) -> None:
    """Beside a place, in a direction if nothing is there."""
    shift = labels.place(words, at, away)
    plain = NOT_IN_FORMULAS.search(words) is not None
    if plain:
        text = re.sub(r"_\{([^{}]*)\}", r"_\1", words)
    else:
        spaced = re.sub(r"_\{[^{}]*\}", lambda low: low[0].replace(" ", r"\ "), words)
        text = scripted(spaced, r"$_{{\mathrm{{{}}}}}$", r"$^{{\mathrm{{{}}}}}$")
    place = {"xytext": tuple(shift), "textcoords": "offset points", "ha": "center", "va": "center", "zorder": 4}
    box = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    axes.annotate(text, at, **place, color=colour, fontsize=10, parse_math=not plain, bbox=box)


def _short(name: str) -> str:
    """Letter and number of a numbered joint, "b_1" of "base joint 1"; else the name."""
    numbered = re.fullmatch(r"(\w)\w* joint (\d+)", name)
    return f"{numbered[1]}_{{{numbered[2]}}}" if numbered else name


class LabelPlaces:
    """Remembers what is taken.

    scale: points in a unit of the drawing
    lines: (2, 2) each, the ends of what is drawn
    """

    def __init__(self, scale: float, lines: Sequence[Array]) -> None:
        self.scale = scale
        shares = np.linspace(0.0, 1.0, LINE_POINTS)[:, None]
        inked = [start + shares * (end - start) for start, end in lines]
        self.ink = self.scale * np.concatenate(inked) if inked else np.zeros((0, 2))
        self.taken: list[tuple[Array, Array]] = []  # middle and half the size, points

    def place(self, words: str, at: Array, away: Array) -> Array:
        """Shift of the words' middle from the place `at`, (2,) points. away: where they should stand if they can."""
        best, half, _ = self._best(words, at, away)
        self.taken.append((self.scale * at + best, half))
        return best

    def has_room(self, words: str, at: Array, away: Array) -> bool:
        """True if the words can stand there without covering others."""
        return self._best(words, at, away)[2] < OVERLAP

    def _best(self, words: str, at: Array, away: Array) -> tuple[Array, Array, float]:
        """Shift, half the size, and what it costs."""
        half = np.array([_width(words), WORDS_HEIGHT]) / 2
        begin = math.atan2(away[1], away[0])
        ways = [(turn, gap) for gap in GAPS for turn in TURNS]
        choices = [_beside(half, begin + turn, gap) for turn, gap in ways]
        costs = [
            self._cost(self.scale * at + shift, half) + TURNED * abs(turn) + FARTHER * gap
            for shift, (turn, gap) in zip(choices, ways, strict=True)
        ]
        k = int(np.argmin(costs))
        return choices[k], half, costs[k]

    def _cost(self, middle: Array, half: Array) -> float:
        others = sum(bool((np.abs(middle - other) < half + size).all()) for other, size in self.taken)
        crossed = int((np.abs(self.ink - middle) < half + LINE_CLEARANCE).all(axis=-1).sum())
        return OVERLAP * others + CROSSED * crossed


def _beside(half: Array, angle: float, gap: float) -> Array:
    """The middle of a box that lies in this direction from a place and leaves the gap free."""
    along = np.array([math.cos(angle), math.sin(angle)])
    reach = float((half / np.maximum(np.abs(along), 1e-9)).min())
    return np.asarray((reach + gap) * along)


def _width(words: str) -> float:
    """Estimated, points."""
    low = sum(len(part) for part in re.findall(r"_\{([^{}]*)\}", words))
    plain = len(re.sub(r"_\{[^{}]*\}", "", words))
    return LETTER * plain + SUBSCRIPT * low
