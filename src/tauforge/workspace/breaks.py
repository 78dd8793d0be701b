"""Where ways break off although all limits hold: at a singular position, or where the position jumps.

A robot may know a number that changes its sign at singular positions. The reciprocal of the loops' condition is zero
there as well, but it has the same sign on both sides. So its minima along a way are looked at more and more closely: it
falls to zero along straight lines where a way crosses a singular position, and is round where a way only comes near.

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

EXACT = 1e-9  # of the size of the robot or of a radian: how well ends are known
LOOKS = 65  # places of a way that are looked at first
CLOSE = 17  # places between the neighbours of a minimum that are looked at next
SINGULAR_CONDITION = 1e6  # a way that crosses a singular position finds more within EXACT of it
ROUNDED = 1e-9  # reciprocals below are rounding alone: the first of them is the place
POINTED = 0.4  # of the sum of both neighbours; a minimum to which straight lines fall is at most a third
JUMP = 0.02  # rad, or of the size of the robot: a shorter move is no jump
SAME = 1e-6  # of the scale of the way: what is this near to a singular position is part of it
AT_ONCE = 65_536  # positions, so that memory does not grow with the number of ways
LOST = "a singular position: the actuators lose the robot"
SINGULAR = "a singular position"
SINGULARITY = "singularity"  # the kind of both
ASSEMBLY = "assembly"  # the kind of an end beyond which the robot cannot be put together, or only in another way
JUMPS = "the position jumps: beyond, the robot is assembled in another way"


class Places(Protocol):
    """Positions (j, m, N) at distances (j, m) along the ways `rows` (j,); NaN where there is none."""

    def __call__(self, distance: Array, rows: Array, /) -> Array: ...


class Ways(NamedTuple):
    """Ways along which all limits hold.

    at:    their positions; home: (N,) where they start
    until: (k,) where they end
    scale: (k,) of the distances, m or rad
    size:  m, of the robot
    """

    robot: Robot
    at: Places
    home: Array
    until: Array
    scale: Array
    size: float


class Break(NamedTuple):
    """way: its row; distance: the last place before the break; name, kind: of what is there."""

    way: int
    distance: float
    name: str
    kind: str


def breaks_of(ways: Ways) -> list[Break]:
    """The first break of each way that has one."""
    signed = singularity(ways.robot, ways.home[None]) is not None
    if not signed and ways.robot.loops is None:
        return []
    found: dict[int, Break] = {}
    for rows in np.array_split(np.arange(len(ways.until)), max(1, len(ways.until) * LOOKS // AT_ONCE)):
        distance = ways.until[rows, None] * np.linspace(0.0, 1.0, LOOKS)
        for one in _sign_changes(ways, rows, distance) if signed else breaks_between(ways, rows, distance):
            if one.way not in found or one.distance < found[one.way].distance - SAME * ways.scale[one.way]:
                found[one.way] = one
    return list(found.values())


def breaks_between(ways: Ways, rows: Array, distance: Array) -> list[Break]:
    """All breaks that are found between distances (k, m), of a robot that may not close."""
    positions = ways.at(distance, rows)
    return _singular(ways, rows, distance, positions) + _jumps(ways, rows, distance, positions)


# ------------------------------------------------------------------------------------------------- signs that change


def _sign_changes(ways: Ways, rows: Array, distance: Array) -> list[Break]:
    own = float(np.sign(_singularity(ways.robot, ways.home[None])[0]))
    crossed = np.sign(_singularity(ways.robot, ways.at(distance, rows))) * own <= 0
    found = []
    for k in np.flatnonzero(crossed.any(axis=1)):
        i = int(crossed[k].argmax())
        low, high = distance[k, max(i - 1, 0)], distance[k, i]
        while high - low > EXACT * ways.scale[rows[k]]:
            middle = (low + high) / 2
            there = ways.at(np.array([[middle]]), rows[k : k + 1])[0]
            same = np.sign(_singularity(ways.robot, there)[0]) == own
            low, high = (middle, high) if same else (low, middle)
        found.append(Break(int(rows[k]), float(low), LOST, SINGULARITY))
    return found


def _singularity(robot: Robot, positions: Array) -> Array:
    """(...) as `singularity` tells it, which takes rows."""
    found = singularity(robot, positions.reshape(-1, robot.positions.size))
    assert found is not None
    return found.reshape(positions.shape[:-1])


# -------------------------------------------------------------------------------------- peaks of the loops' condition


def _singular(ways: Ways, rows: Array, distance: Array, positions: Array) -> list[Break]:
    """Places where the reciprocal of the loops' condition falls to zero, all of a way."""
    reciprocals = reciprocal_conditions(ways.robot, positions)
    last = distance.shape[1] - 1
    inner = (reciprocals[:, 1:-1] <= reciprocals[:, :-2]) & (reciprocals[:, 1:-1] <= reciprocals[:, 2:])
    inner &= reciprocals[:, 1:-1] <= POINTED * (reciprocals[:, :-2] + reciprocals[:, 2:])
    lowest = np.concatenate(
        [
            (reciprocals[:, :1] <= reciprocals[:, 1:2]),
            inner,
            (reciprocals[:, -1:] <= reciprocals[:, -2:-1]),  # at both ends one side is not seen: always look there
        ],
        axis=1,
    )
    # Open loops are no minima. A singular position that has no answer has neighbours on both sides.
    closed = np.asarray(np.isfinite(positions).all(axis=-1))
    beside = np.zeros_like(closed)
    beside[:, 1:-1] = closed[:, :-2] & closed[:, 2:]
    which, place = np.nonzero(lowest & (closed | beside))
    lower, upper = distance[which, np.maximum(place - 1, 0)], distance[which, np.minimum(place + 1, last)]
    scale = ways.scale[rows[which]]
    found: list[Break] = []
    every = np.arange(CLOSE)
    while len(which):
        s = lower[:, None] + (upper - lower)[:, None] * np.linspace(0.0, 1.0, CLOSE)
        low = reciprocal_conditions(ways.robot, ways.at(s, rows[which]))
        flat = low <= ROUNDED
        best = np.where(flat.any(axis=1), flat.argmax(axis=1), low.argmin(axis=1))
        row = np.arange(len(which))
        lower, upper = s[row, np.maximum(best - 1, 0)], s[row, np.minimum(best + 1, CLOSE - 1)]
        neighbours = low[row, np.maximum(best - 1, 0)] + low[row, np.minimum(best + 1, CLOSE - 1)]
        pointed = flat.any(axis=1) | (low[row, best] <= POINTED * neighbours)
        inside = (best > 0) & (best < every[-1])
        at_home = (best == 0) & (s[:, 0] == 0.0) & (low[:, 0] <= 1.0 / SINGULAR_CONDITION)
        known = upper - lower <= EXACT * scale
        singular = at_home | (known & inside & (low[row, best] <= 1.0 / SINGULAR_CONDITION))
        again = closes_again(ways, lower[singular], rows[which[singular]])
        for j, closes in zip(np.flatnonzero(singular), again, strict=True):
            what = (SINGULAR, SINGULARITY) if closes else (unknown_words(ways.robot), ASSEMBLY)
            found.append(Break(int(rows[which[j]]), float(lower[j]), *what))
        goes_on = ~singular & ~known & inside & pointed
        which, lower, upper, scale = which[goes_on], lower[goes_on], upper[goes_on], scale[goes_on]
    return found


def closes_again(ways: Ways, distance: Array, rows: Array) -> Array:
    """(j,) whether there are positions just beyond distances (j,): else loops stay open there."""
    beyond = ways.at((distance + SAME * ways.scale[rows])[:, None], rows)
    return np.asarray(np.isfinite(beyond).all(axis=(1, 2)))


def reciprocal_conditions(robot: Robot, positions: Array) -> Array:
    """(...) of positions (..., N), 0 at singular ones and where a position is not finite."""
    flat = positions.reshape(-1, positions.shape[-1])
    found, rows = np.zeros(len(flat)), np.isfinite(flat).all(axis=-1)
    if rows.any():
        assert robot.loops is not None
        found[rows] = 1.0 / robot.loops.condition(flat[rows])
    return found.reshape(positions.shape[:-1])


# -------------------------------------------------------------------------------------------------------------- jumps


def _jumps(ways: Ways, rows: Array, distance: Array, positions: Array) -> list[Break]:
    which, place = np.nonzero(_moves(ways, positions[:, :-1], positions[:, 1:]) > JUMP)
    low, high = distance[which, place], distance[which, place + 1]
    before, after = positions[which, place], positions[which, place + 1]
    scale = ways.scale[rows[which]]
    found: list[Break] = []
    while len(which):
        middle = (low + high) / 2
        between = ways.at(middle[:, None], rows[which])[:, 0]
        first, second = _moves(ways, before, between), _moves(ways, between, after)
        nearer = ~(first < second)  # the longer half; where the middle has no position, the first
        low, high = np.where(nearer, low, middle), np.where(nearer, middle, high)
        before, after = np.where(nearer[:, None], before, between), np.where(nearer[:, None], between, after)
        known = high - low <= EXACT * scale
        left = np.fmax(first, second) > JUMP
        for j in np.flatnonzero(known & left):
            if _apart(ways, before[j], after[j]):
                found.append(Break(int(rows[which[j]]), float(low[j]), JUMPS, ASSEMBLY))
        goes_on = left & ~known
        which, low, high, scale = which[goes_on], low[goes_on], high[goes_on], scale[goes_on]
        before, after = before[goes_on], after[goes_on]
    return found


def _moves(ways: Ways, before: Array, after: Array) -> Array:
    """(...) the largest change of an entry between positions (..., N): rad the short way, or shares of the size."""
    turns = np.array([entry.turns for entry in ways.robot.positions.entries])
    change = np.abs(after - before)
    change = np.where(turns, np.abs(np.remainder(change + np.pi, 2 * np.pi) - np.pi), change / ways.size)
    return np.asarray(change.max(axis=-1))


def _apart(ways: Ways, before: Array, after: Array) -> bool:
    """Whether two positions look different. Angles of one orientation may differ."""
    one, other = (ways.robot.drawing(position) for position in (before, after))
    moved = [np.abs(a.transform - b.transform).max() for a, b in zip(one.frames, other.frames, strict=True)]
    moved += [np.abs(a.place - b.place).max() for a, b in zip(one.points, other.points, strict=True)]
    return max(moved, default=0.0) > JUMP * ways.size
