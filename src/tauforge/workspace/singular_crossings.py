"""Singular positions and jumps along paths on which all limits hold.

A robot may know a number that changes its sign at singular positions. The reciprocal of the loops' condition is zero
there as well, but has the same sign on both sides. So its minima along a path are sampled ever more finely: it falls to
zero along straight lines where a path crosses a singular position, and is round where a path only comes near.

Where loops are closed, two ways to assemble the robot meet at singular positions, and the position may jump from one to
the other. A move that does not become shorter with the step is a jump.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.positions import singularity
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import unknown_words
from tauforge.workspace.criteria import BLOCK_POSITIONS

EXACT = 1e-9  # of the size of the robot or of a radian: how well ends are known
PATH_SAMPLES = 65  # of a path at first
CLOSE = 17  # samples between the neighbours of a minimum
CROSSED_CONDITION = 1e6  # a path that crosses a singular position finds more within EXACT of it
ROUNDED = 1e-9  # reciprocals below are rounding alone: the first of them is the place
POINTED = 0.4  # of the sum of both neighbours; a minimum to which straight lines fall is at most a third
JUMP = 0.02  # rad, or of the size of the robot: a shorter move is no jump
SAME = 1e-6  # of the scale of the path: what is this near to a singular position is part of it
LOSES_CONTROL = "a singular position: the actuators lose the robot"
SINGULAR_POSITION = "a singular position"
SINGULARITY = "singularity"  # the kind of both
ASSEMBLY = "assembly"  # the kind of an end beyond which the robot cannot be put together, or only in another way
JUMPS = "the position jumps: beyond, the robot is assembled in another way"


class PositionsAlong(Protocol):
    """Positions (j, m, N) at distances (j, m) along the paths `rows` (j,); NaN where there is none."""

    def __call__(self, distance: Array, rows: Array, /) -> Array: ...


class Paths(NamedTuple):
    """Paths along which all limits hold.

    at:    their positions; home: (N,) where they start
    until: (k,) where they end
    scale: (k,) of the distances, m or rad
    size:  m, of the robot
    """

    robot: Robot
    at: PositionsAlong
    home: Array
    until: Array
    scale: Array
    size: float


class PathCrossing(NamedTuple):
    """End of a path. path: its row; distance: the last place before the crossing; name, kind: of what is there."""

    path: int
    distance: float
    name: str
    kind: str


def first_crossings(paths: Paths) -> list[PathCrossing]:
    """The first crossing of each path that has one."""
    signed = singularity(paths.robot, paths.home[None]) is not None
    if not signed and paths.robot.loops is None:
        return []
    found: dict[int, PathCrossing] = {}
    for rows in np.array_split(np.arange(len(paths.until)), max(1, len(paths.until) * PATH_SAMPLES // BLOCK_POSITIONS)):
        distance = paths.until[rows, None] * np.linspace(0.0, 1.0, PATH_SAMPLES)
        for one in _sign_changes(paths, rows, distance) if signed else all_crossings(paths, rows, distance):
            if one.path not in found or one.distance < found[one.path].distance - SAME * paths.scale[one.path]:
                found[one.path] = one
    return list(found.values())


def all_crossings(paths: Paths, rows: Array, distance: Array) -> list[PathCrossing]:
    """All crossings between distances (k, m), of a robot whose loops may not close."""
    positions = paths.at(distance, rows)
    return _singular(paths, rows, distance, positions) + _jumps(paths, rows, distance, positions)


# ------------------------------------------------------------------------------------------------- signs that change


def _sign_changes(paths: Paths, rows: Array, distance: Array) -> list[PathCrossing]:
    own = float(np.sign(determinants(paths.robot, paths.home[None])[0]))
    crossed = np.sign(determinants(paths.robot, paths.at(distance, rows))) * own <= 0
    found = []
    for k in np.flatnonzero(crossed.any(axis=1)):
        i = int(crossed[k].argmax())
        low, high = distance[k, max(i - 1, 0)], distance[k, i]
        while high - low > EXACT * paths.scale[rows[k]]:
            middle = (low + high) / 2
            there = paths.at(np.array([[middle]]), rows[k : k + 1])[0]
            same = np.sign(determinants(paths.robot, there)[0]) == own
            low, high = (middle, high) if same else (low, middle)
        found.append(PathCrossing(int(rows[k]), float(low), LOSES_CONTROL, SINGULARITY))
    return found


def determinants(robot: Robot, positions: Array) -> Array:
    """Numbers (...) of `singularity`, which takes rows."""
    found = singularity(robot, positions.reshape(-1, robot.positions.size))
    assert found is not None
    return found.reshape(positions.shape[:-1])


# -------------------------------------------------------------------------------------- peaks of the loops' condition


def _singular(paths: Paths, rows: Array, distance: Array, positions: Array) -> list[PathCrossing]:
    """Places where the reciprocal of the loops' condition falls to zero, all of a path."""
    reciprocals = reciprocal_conditions(paths.robot, positions)
    inner = (reciprocals[:, 1:-1] <= reciprocals[:, :-2]) & (reciprocals[:, 1:-1] <= reciprocals[:, 2:])
    inner &= reciprocals[:, 1:-1] <= POINTED * (reciprocals[:, :-2] + reciprocals[:, 2:])
    # At both ends one side is not seen: always look there.
    first, last = reciprocals[:, :1] <= reciprocals[:, 1:2], reciprocals[:, -1:] <= reciprocals[:, -2:-1]
    lowest = np.concatenate([first, inner, last], axis=1)
    # Open loops are no minima. A singular position that has no answer has neighbours on both sides.
    closed = np.asarray(np.isfinite(positions).all(axis=-1))
    beside = np.zeros_like(closed)
    beside[:, 1:-1] = closed[:, :-2] & closed[:, 2:]
    which, place = np.nonzero(lowest & (closed | beside))
    before, after = np.maximum(place - 1, 0), np.minimum(place + 1, distance.shape[1] - 1)
    lower, upper = distance[which, before], distance[which, after]
    scale = paths.scale[rows[which]]
    found: list[PathCrossing] = []
    while len(which):
        s = lower[:, None] + (upper - lower)[:, None] * np.linspace(0.0, 1.0, CLOSE)
        low = reciprocal_conditions(paths.robot, paths.at(s, rows[which]))
        flat = low <= ROUNDED
        best = np.where(flat.any(axis=1), flat.argmax(axis=1), low.argmin(axis=1))
        row = np.arange(len(which))
        lower, upper = s[row, np.maximum(best - 1, 0)], s[row, np.minimum(best + 1, CLOSE - 1)]
        neighbours = low[row, np.maximum(best - 1, 0)] + low[row, np.minimum(best + 1, CLOSE - 1)]
        pointed = flat.any(axis=1) | (low[row, best] <= POINTED * neighbours)
        inside = (best > 0) & (best < CLOSE - 1)
        at_home = (best == 0) & (s[:, 0] == 0.0) & (low[:, 0] <= 1.0 / CROSSED_CONDITION)
        known = upper - lower <= EXACT * scale
        singular = at_home | (known & inside & (low[row, best] <= 1.0 / CROSSED_CONDITION))
        again = closes_again(paths, lower[singular], rows[which[singular]])
        for j, closes in zip(np.flatnonzero(singular), again, strict=True):
            what = (SINGULAR_POSITION, SINGULARITY) if closes else (unknown_words(paths.robot), ASSEMBLY)
            found.append(PathCrossing(int(rows[which[j]]), float(lower[j]), *what))
        goes_on = ~singular & ~known & inside & pointed
        which, lower, upper, scale = which[goes_on], lower[goes_on], upper[goes_on], scale[goes_on]
    return found


def closes_again(paths: Paths, distance: Array, rows: Array) -> Array:
    """(j,) mask of distances (j,) just beyond which there are positions; at the others loops stay open."""
    beyond = paths.at((distance + SAME * paths.scale[rows])[:, None], rows)
    return np.asarray(np.isfinite(beyond).all(axis=(1, 2)))


def reciprocal_conditions(robot: Robot, positions: Array) -> Array:
    """Reciprocals (...) of the loops' condition at positions (..., N); 0 at singular and not finite ones."""
    flat = positions.reshape(-1, positions.shape[-1])
    found, rows = np.zeros(len(flat)), np.isfinite(flat).all(axis=-1)
    if rows.any():
        assert robot.loops is not None
        found[rows] = 1.0 / robot.loops.condition(flat[rows])
    return found.reshape(positions.shape[:-1])


# -------------------------------------------------------------------------------------------------------------- jumps


def _jumps(paths: Paths, rows: Array, distance: Array, positions: Array) -> list[PathCrossing]:
    which, place = np.nonzero(_moves(paths, positions[:, :-1], positions[:, 1:]) > JUMP)
    low, high = distance[which, place], distance[which, place + 1]
    before, after = positions[which, place], positions[which, place + 1]
    scale = paths.scale[rows[which]]
    found: list[PathCrossing] = []
    while len(which):
        middle = (low + high) / 2
        between = paths.at(middle[:, None], rows[which])[:, 0]
        first, second = _moves(paths, before, between), _moves(paths, between, after)
        nearer = ~(first < second)  # the longer half; where the middle has no position, the first
        low, high = np.where(nearer, low, middle), np.where(nearer, middle, high)
        before, after = np.where(nearer[:, None], before, between), np.where(nearer[:, None], between, after)
        known = high - low <= EXACT * scale
        left = np.fmax(first, second) > JUMP
        for j in np.flatnonzero(known & left):
            if _apart(paths, before[j], after[j]):
                found.append(PathCrossing(int(rows[which[j]]), float(low[j]), JUMPS, ASSEMBLY))
        goes_on = left & ~known
        which, low, high, scale = which[goes_on], low[goes_on], high[goes_on], scale[goes_on]
        before, after = before[goes_on], after[goes_on]
    return found


def _moves(paths: Paths, before: Array, after: Array) -> Array:
    """(...) the largest change of an entry between positions (..., N): rad the short way, or shares of the size."""
    turns = np.array([entry.turns for entry in paths.robot.positions.entries])
    change = np.abs(after - before)
    change = np.where(turns, np.abs(np.remainder(change + np.pi, 2 * np.pi) - np.pi), change / paths.size)
    return np.asarray(change.max(axis=-1))


def _apart(paths: Paths, before: Array, after: Array) -> bool:
    """True if two positions look different. Angles of one orientation may differ."""
    one, other = (paths.robot.drawing(position) for position in (before, after))
    moved = [np.abs(a.transform - b.transform).max() for a, b in zip(one.frames, other.frames, strict=True)]
    moved += [np.abs(a.place - b.place).max() for a, b in zip(one.points, other.points, strict=True)]
    return max(moved, default=0.0) > JUMP * paths.size
