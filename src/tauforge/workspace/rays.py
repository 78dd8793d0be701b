"""Searches along many ways at once for the first limit, by steps and then by bisection.

Every way starts at home. Along a coordinate it is a straight line of positions; about an axis it is a turn of the
moved body about that axis of the base frame, through the body's origin.

A forbidden zone that is thinner than a step could lie between two samples. So every margin that has a minimum between
samples, low enough that a kink there could reach 0, is sampled again with steps that are 64 times finer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.poses import turned
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import UNKNOWN_LIMIT
from tauforge.workspace import singular_crossings as crossings
from tauforge.workspace.criteria import BLOCK_POSITIONS, Criteria, positions_of
from tauforge.workspace.singular_crossings import EXACT, Paths

SIZE_STEPS = 400  # steps in the size of the robot
TURN_STEPS = 720  # steps in a turn
SEARCHED_SIZES = 4.0  # sizes of the robot that are searched
FIRST_BOX = 2.5  # sizes of the robot to each side, where the search for a box begins
BEYOND_LONGEST = 1.3  # of the longest way along an axis, where loops must close
FINER = 64  # how many times finer a minimum is sampled
STEPS_A_LOOK = 32  # steps between looks at who has arrived


class Rays(NamedTuple):
    """Ways from a position.

    home:     (N,) a position; those on the ways are assembled as it is
    along:    (k, n) change of the coordinates with the distance
    about:    (k, 3) axes in the base frame about which the moved body turns, for positions that are poses; else zeros
    step:     (k,) of the search, m or rad
    farthest: (k,) where the search ends
    scale:    (k,) of the distances, m or rad, for their accuracy
    """

    robot: Robot
    home: Array
    along: Array
    about: Array
    step: Array
    farthest: Array
    scale: Array

    def at(self, distance: Array, rows: Array | slice = slice(None)) -> Array:
        """Positions (k, ..., N) at distances (k, ...) along some of the ways; NaN where there is none."""
        start = self.robot.positions.coordinates(self.home)
        along, about = self.along[rows], self.about[rows]
        wide = (slice(None), *(None,) * (distance.ndim - 1))
        found = start + distance[..., None] * along[wide]
        if (turns := about.any(axis=-1)).any():
            vectors = distance[turns][..., None] * about[turns][wide]
            found[turns, ..., 3:] = turned(start, vectors)[..., 3:]
        return positions_of(self.robot, np.asarray(found), self.home)


class Ends(NamedTuple):
    """Ends of the ways.

    distance: (k,) m or rad, the last place that holds; infinite where nothing ends the way
    limits:   for each the names of the limits that end it, in the robot's order; none where nothing does
    kinds:    for each the kind of the first of them
    """

    distance: Array
    limits: list[tuple[str, ...]]
    kinds: list[str]


def size_of(robot: Robot, position: Array) -> float:
    """Largest extent of the robot's drawing, m."""
    low, high = robot.drawing(position).extent
    return float((high - low).max()) or 1.0


def search_of(size: float, turns: bool) -> tuple[float, float, float]:
    """Step, farthest distance and scale of a search, rad for one that turns, else m. size: m, of the robot"""
    return (2 * np.pi / TURN_STEPS, 2 * np.pi, 1.0) if turns else (size / SIZE_STEPS, SEARCHED_SIZES * size, size)


def straight_path(robot: Robot, home: Array, coordinates: Array) -> Paths:
    """The straight path from a position (N,) to coordinates (n,), at a distance of 1, assembled as at home."""
    start = robot.positions.coordinates(home)

    def at(distance: Array, rows: Array) -> Array:
        return positions_of(robot, start + distance[..., None] * (coordinates - start), home)

    return Paths(robot, at, home, np.ones(1), np.ones(1), size_of(robot, home))


def ends_of(criteria: Criteria, rays: Rays) -> Ends:
    """Finds the first end of each way. Home must hold."""
    low, high = _bracketed(criteria, rays)
    ended = np.isfinite(high)
    low[ended], high[ended] = _bisected(criteria, rays, low, high, np.flatnonzero(ended))
    limits: list[tuple[str, ...]] = [()] * len(low)
    kinds = [""] * len(low)
    rows = np.flatnonzero(ended)
    beyond = rays.at(high[rows], rows)
    until, size = np.where(ended, low, rays.farthest), size_of(criteria.robot, rays.home)
    paths = Paths(criteria.robot, rays.at, rays.home, until, rays.scale, size)
    for k, code, found in zip(rows.tolist(), criteria.codes(beyond).tolist(), criteria.reached(beyond), strict=True):
        if code == UNKNOWN_LIMIT:
            # a singular position may have no answer, while those on both sides have
            thin = criteria.closes and crossings.closes_again(paths, low[k : k + 1], np.array([k]))[0]
            name = crossings.SINGULAR_POSITION if thin else criteria.name(code)
            limits[k], kinds[k] = (name,), crossings.SINGULARITY if thin else crossings.ASSEMBLY
            continue
        reached = found or [criteria.judged[code - 1]]  # a margin that changes by leaps is not near 0 just beyond
        # Limits that are reached together, such as those of symmetric legs, are all named: rounding alone tells which
        # of them is first.
        limits[k], kinds[k] = tuple(limit.name for limit in reached), reached[0].kind
    distance = np.where(ended, low, np.inf)
    for one in crossings.first_crossings(paths):
        distance[one.path], limits[one.path], kinds[one.path] = one.distance, (one.name,), one.kind
    return Ends(distance, limits, kinds)


def _bracketed(criteria: Criteria, rays: Rays) -> tuple[Array, Array]:
    """Brackets the end of each way: a distance that holds, and one shortly beyond that does not, or infinity."""
    count = len(rays.along)
    low, high = np.zeros(count), np.full(count, np.inf)
    steps = np.ceil(rays.farthest / rays.step).astype(int)
    # finely beside home, where no sample before tells of a minimum
    first = np.minimum(rays.step, rays.farthest)[:, None] * np.linspace(0.0, 1.0, FINER + 1)
    for rows in np.array_split(np.arange(count), max(1, first.size // BLOCK_POSITIONS)):
        beyond = criteria.codes(rays.at(first[rows], rows)) != 0
        ended = np.flatnonzero(beyond.any(axis=1))
        place = beyond.argmax(axis=1)[ended]
        low[rows[ended]] = first[rows[ended], np.maximum(place - 1, 0)]
        high[rows[ended]] = first[rows[ended], place]
    open_rows, start = np.flatnonzero(np.isinf(high)), 0
    while len(open_rows):
        numbers = np.arange(start, start + STEPS_A_LOOK + 2)  # one on each side is shared with the neighbouring looks
        for rows in np.array_split(open_rows, max(1, len(open_rows) * len(numbers) // BLOCK_POSITIONS)):
            s = np.minimum(numbers * rays.step[rows, None], rays.farthest[rows, None])
            low[rows], high[rows] = _looked(criteria, rays, rows, s)
        start += STEPS_A_LOOK
        open_rows = open_rows[np.isinf(high[open_rows]) & (start < steps[open_rows])]
    return low, high


def _looked(criteria: Criteria, rays: Rays, rows: Array, s: Array) -> tuple[Array, Array]:
    """Bracket of the first end among distances (k, m), and finer ones beside minima of margins."""
    positions = rays.at(s, rows)
    beyond = criteria.codes(positions) != 0
    every = np.arange(len(rows))
    first = np.where(beyond.any(axis=1), beyond.argmax(axis=1), s.shape[1])
    found_low = np.where(first < s.shape[1], s[every, np.maximum(first, 1) - 1], s[:, -1])
    found_high = np.where(first < s.shape[1], s[every, np.minimum(first, s.shape[1] - 1)], np.inf)
    for k, i in _dips(criteria.margins(positions), first):
        if s[k, i + 1] >= found_high[k] and first[k] != i + 1:
            continue  # an earlier minimum ended this way
        fine = np.linspace(s[k, i - 1], s[k, i + 1], 2 * FINER + 1)
        codes = criteria.codes(rays.at(fine[None], rows[k : k + 1])[0])
        if codes.any():
            place = int((codes != 0).argmax())
            if fine[place] < found_high[k]:
                found_low[k], found_high[k] = fine[max(place - 1, 0)], fine[place]
    return found_low, found_high


def _dips(margins: Array, first: Array) -> list[tuple[int, int]]:
    """(way, sample) of minima of margins (k, m, limits) before the first end that could hide a negative one."""
    middle, before, after = margins[:, 1:-1], margins[:, :-2], margins[:, 2:]
    with np.errstate(invalid="ignore"):  # margins without a bound are infinite
        drop = np.fmax(before - middle, after - middle)
        lowest = (middle <= before) & (middle <= after) & (middle < drop)
    ways, samples = np.nonzero(lowest.any(axis=-1))
    return [(int(k), int(i) + 1) for k, i in zip(ways, samples, strict=True) if i + 1 < first[k]]


def _bisected(criteria: Criteria, rays: Rays, low: Array, high: Array, rows: Array) -> tuple[Array, Array]:
    lower, upper = low[rows], high[rows]
    if not len(rows):
        return lower, upper
    halvings = int(np.ceil(np.log2((upper - lower) / (EXACT * rays.scale[rows])).max(initial=1.0)))
    for _ in range(max(halvings, 1)):
        middle = (lower + upper) / 2
        holds = criteria.codes(rays.at(middle, rows)) == 0
        lower, upper = np.where(holds, middle, lower), np.where(holds, upper, middle)
    return lower, upper


def longest_path(criteria: Criteria, home: Array, places: Sequence[int]) -> float:
    """Length (m) somewhat beyond the longest way from home along coordinates that are lengths, for closed loops."""
    size, unit = size_of(criteria.robot, home), np.eye(criteria.robot.n)[list(places)]
    along = np.concatenate([unit, -unit])
    search = (np.full(len(along), x) for x in (size / SIZE_STEPS, FIRST_BOX * size, size))
    rays = Rays(criteria.robot, home, along, np.zeros((len(along), 3)), *search)
    return min(BEYOND_LONGEST * float(ends_of(criteria, rays).distance.max()), FIRST_BOX * size)
