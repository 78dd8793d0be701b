"""The volume of places that a tool reaches with any orientation, from sampled positions.

Positions are drawn evenly from the ranges of the coordinates; those that exceed a limit are left out. Where as many
coordinates move the tool as there are dimensions, each position stands for a volume of places, by the determinant of
the tool's derivatives, and these are summed. That holds where no place has several positions: the determinant keeps
its sign, and no small cube gets more than its volume.

Elsewhere cubes are counted. A cube counts if a position brings the origin of the moved body into it. Cubes at the
surface count whole, which makes the number too large by an amount that is proportional to their edge: counts with two
edges give the volume without it. Cubes that no sample found make it too small, most of all at the end of a long chain,
where few positions lead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.robots.robot import Robot
from tauforge.workspace.criteria import BLOCK_POSITIONS, Criteria, positions_of
from tauforge.workspace.rays import longest_path, size_of
from tauforge.workspace.reaching import pose_of_tool

UNMOVED = 1e-6  # of the size of the robot: the tool does not move along an axis, or with a freedom
BESIDE_HOME = 16  # positions beside home that tell along which axes the tool moves
BESIDE = 0.02  # of the ranges: how far they are from home
SLOPE = 1e-4  # of the ranges, over which differences are taken
TOOL_STEP = 1e-5  # rad or m, over which the tool's derivatives are taken
SMALL_ERROR = 0.01  # of the volume: an error with which sampling ends
ONE_SIGN = 1e-3  # share of the volume that may have a determinant of the other sign
ENOUGH = 400  # samples in a cube, from which it tells whether it is overfull
CHANCE = 5  # standard deviations
TOUCHES = 512  # samples that tell whether places fill a range
RANGE_DOUBLINGS = 4  # of a range that places fill
RANGE_END = 0.01  # of a range: places this near to its end fill it
OFFSET = 1 << 20  # of the numbers of cubes, so that none is negative
CUBE_BITS = 21  # of an integer for each axis; three fit into 64
CUBE_MASK = (1 << CUBE_BITS) - 1
FIRST_SAMPLES = 4096  # samples that are followed from home
STEPS_FROM_HOME = 64  # on the way of each
SEED = 0


class SampledVolume(NamedTuple):
    """volume, error: m^3, or m^2 where the tool stays in a plane; box: (2, 3) m, of the places that were found.

    dimensions: 3, or 2 in a plane; stopped_by: shares of the samples by the name of the limit that they exceed first
    """

    volume: float
    error: float
    box: Array
    dimensions: int
    stopped_by: dict[str, float]


class _Cubes:
    """Counts of the samples that bring the tool into each cube, and the volume these sweep, with its square."""

    def __init__(self, edge: float, dimensions: int) -> None:
        self.edge, self.dimensions, self.samples = edge, dimensions, 0
        self.keys, self.sums = np.zeros(0, np.int64), np.zeros((2, 0))

    def add(self, places: Array, swept: Array) -> None:
        """Adds samples. places: (k, d) from a corner, in any order; swept: (k,)"""
        numbers = _joined(np.floor(places / self.edge).astype(np.int64) + OFFSET)
        keys = np.concatenate([self.keys, numbers])
        sums = np.concatenate([self.sums, [swept, swept**2]], axis=1)
        self.keys, where = np.unique(keys, return_inverse=True)
        self.sums = np.stack([np.bincount(where, row, len(self.keys)) for row in sums])
        self.samples += len(places)

    def counted(self) -> tuple[float, float]:
        """Volume and error by counts with two edges."""
        fine = len(self.keys) * self.edge**self.dimensions
        coarse = len(np.unique(self._coarse(2))) * (2 * self.edge) ** self.dimensions
        volume = max(2 * fine - coarse, 0.0)  # the line through both, at the edge 0
        return volume, abs(fine - volume)

    def overfull(self, scale: float) -> bool:
        """True if samples sweep more volume than a cube has, beyond chance: several positions lead to one place.

        scale: of what was swept
        """
        edges = max(1, round((ENOUGH * len(self.keys) / max(self.samples, 1)) ** (1 / self.dimensions)))
        _, where = np.unique(self._coarse(edges), return_inverse=True)
        swept, squares = (np.bincount(where, row) for row in self.sums)
        room = (edges * self.edge) ** self.dimensions
        return bool((scale * (swept - CHANCE * np.sqrt(squares)) > room).any())

    def _coarse(self, edges: int) -> Array:
        parts = [(self.keys >> (CUBE_BITS * k)) & CUBE_MASK for k in reversed(range(self.dimensions))]
        return _joined(np.stack(parts, axis=-1) // edges)


def sampled_volume(criteria: Criteria, home: Array, points: int, samples: int, whole: bool) -> SampledVolume:
    """Volume of the places that sampled positions reach.

    points:  cubes along the longest side of these places
    samples: positions that are tried at most
    whole:   whether all of them are tried, also where the error is small before
    """
    robot = criteria.robot
    axes, moving = _measured(robot, home)
    ranges, summed = _ranges(criteria, home), len(moving) == len(axes)
    room = float(np.prod(np.diff(ranges, axis=0)[0, moving]))
    refused, corners = Counter[int](), np.array([np.full(3, np.inf), np.full(3, -np.inf)])
    cubes, tried, swept = None, 0, np.zeros(3)  # of it the sum, that of squares, and the sum with signs
    for positions in sampled_positions(robot, home, samples, ranges):
        if cubes is None:  # the first block tells how large the cubes are
            closed = np.isfinite(positions).all(axis=-1)
            pilot = pose_of_tool(robot, np.concatenate([positions[closed], home[None]]))[:, :3]
            cubes = _Cubes(float(np.ptp(pilot, axis=0).max()) / points, len(axes))
        codes = criteria.codes(positions)
        refused.update(codes[codes != 0].tolist())
        held, tried = positions[codes == 0], tried + len(positions)
        if len(held):
            places = pose_of_tool(robot, held)[:, :3]
            corners = np.stack([np.minimum(corners[0], places.min(axis=0)), np.maximum(corners[1], places.max(axis=0))])
            each = _determinants(robot, held, axes, moving) if summed else np.zeros(len(held))
            swept += np.array([np.abs(each).sum(), (each**2).sum(), each.sum()])
            cubes.add(places[:, axes] - pilot[0, axes], np.abs(each))
        found = _by_determinants(swept, tried, room) if summed else None
        summed = summed and (found is not None or not swept[0])  # both signs stay
        # Where a coordinate does not move the tool, a place holds if one of its values holds: averages do not tell.
        averaged = len(moving) < robot.n and bool(refused)
        if found is not None and (averaged or cubes.overfull(room / tried)):
            found = None
        if not whole and tried > FIRST_SAMPLES and found is not None and found[1] < SMALL_ERROR * found[0]:
            break
    shares = {criteria.name(code): refused[code] / tried for code in sorted(refused)}
    if cubes is None or not len(cubes.keys):
        return SampledVolume(0.0, 0.0, np.zeros((2, 3)), len(axes), shares)
    return SampledVolume(*(found or cubes.counted()), corners, len(axes), shares)


def _by_determinants(swept: Array, tried: int, room: float) -> tuple[float, float] | None:
    """Volume and error, three standard deviations; None where the determinant has both signs.

    room: the product of the ranges
    """
    total, squares, signed = swept
    if not total > 0 or abs(signed) < (1.0 - ONE_SIGN) * total:
        return None
    mean = total / tried
    spread = np.sqrt(max(squares / tried - mean**2, 0.0) / tried)
    return float(room * mean), float(room * (3 * spread + (mean - abs(signed) / tried)))


def _determinants(robot: Robot, positions: Array, axes: Array, moving: Array) -> Array:
    """(k,) how the volume of places changes with that of the moving coordinates; 0 where it is not known."""
    slopes = robot.positions.slopes(positions)
    found = np.empty((len(positions), len(axes), len(moving)))
    with np.errstate(all="ignore"):
        for column, k in enumerate(moving):
            ends = [pose_of_tool(robot, positions + sign * TOOL_STEP * slopes[..., k])[:, axes] for sign in (-1, 1)]
            found[..., column] = (ends[1] - ends[0]) / (2 * TOOL_STEP)
    return np.asarray(np.linalg.det(np.where(np.isfinite(found), found, 0.0)))


def _ranges(criteria: Criteria, home: Array) -> Array:
    """Ranges (2, n) of the coordinates.

    They are the usual ones. Lengths without limits, which loops end, go somewhat beyond the longest way from home.
    """
    robot = criteria.robot
    ranges, start = usual_ranges(robot), robot.positions.coordinates(home)
    free = [k for k, c in enumerate(robot.coordinates) if not c.turns and not np.isfinite([c.lower, c.upper]).any()]
    if not free or not criteria.closes or criteria.codes(home):
        return ranges
    half = longest_path(criteria, home, free)
    for _ in range(RANGE_DOUBLINGS):
        ranges[:, free] = start[free] - half, start[free] + half
        first = next(sampled_positions(robot, home, TOUCHES, ranges))
        far = np.abs(robot.positions.coordinates(first[criteria.codes(first) == 0])[:, free] - start[free])
        if not (far > (1 - RANGE_END) * half).any():
            break
        half *= 2
    return ranges


def _measured(robot: Robot, home: Array) -> tuple[Array, Array]:
    """(d,) axes of the world along which the tool moves, if it moves with as many freedoms; places of the coordinates
    that move it.
    """
    if robot.moved_body is None:
        raise UnsupportedFeatureError(f"{robot.name} does not tell where a tool is", field="volume")
    low, high = usual_ranges(robot)
    random, start = np.random.default_rng(SEED), robot.positions.coordinates(home)
    beside = start + BESIDE * (high - low) * random.uniform(-1.0, 1.0, (BESIDE_HOME, robot.n))
    positions = positions_of(robot, beside, home)
    positions = np.concatenate([home[None], positions[np.isfinite(positions).all(axis=-1)]])
    slopes = _slopes(robot, positions, 0.5 * SLOPE * (high - low))
    size = size_of(robot, home)
    axes = np.flatnonzero(np.abs(slopes).max(axis=(0, 2)) > UNMOVED * size)
    values = np.linalg.svd(slopes, compute_uv=False)
    freedoms = int((values > UNMOVED * size).sum(axis=-1).max())
    if freedoms < max(len(axes), 2):
        moves = ("does not move its tool", "moves its tool with 1 freedom, on a curve")
        words = moves[freedoms] if freedoms < 2 else f"moves its tool with {freedoms} freedoms, on a surface"
        problem = f"{robot.name} {words}: it has no volume"
        raise UnsupportedFeatureError(problem, field="volume", remedy="Use reach or map")
    return axes, np.flatnonzero(np.abs(slopes).max(axis=(0, 1)) > UNMOVED * size)


def _slopes(robot: Robot, positions: Array, steps: Array) -> Array:
    """(k, 3, n) m, how far the tool moves at positions (k, N) with each coordinate, by differences over steps (n,).

    As far as it would move over the coordinate's whole range; 0 where loops do not close.
    """
    moves = np.concatenate([np.diag(steps), -np.diag(steps)])
    beside = positions_of(robot, robot.positions.coordinates(positions)[:, None] + moves, positions[:, None])
    places = pose_of_tool(robot, beside.reshape(-1, beside.shape[-1]))[:, :3].reshape(len(positions), 2, -1, 3)
    found = np.swapaxes(places[:, 0] - places[:, 1], 1, 2) / SLOPE
    return np.where(np.isfinite(found).all(axis=(1, 2), keepdims=True), found, 0.0)


def _joined(numbers: Array) -> Array:
    """(k,) one integer from the two or three of each cube."""
    found = np.zeros(len(numbers), np.int64)
    for column in numbers.T:
        found = (found << CUBE_BITS) | column
    return found


def usual_ranges(robot: Robot) -> Array:
    """(2, n) lowest and highest coordinates."""
    return np.transpose([coordinate.usual_range for coordinate in robot.coordinates])


def sampled_positions(robot: Robot, home: Array, count: int, ranges: Array | None = None) -> Iterator[Array]:
    """Blocks of positions (k, N), assembled as at home (N,), `count` in all; NaN where loops do not close.

    ranges: (2, n) lowest and highest coordinates; default the usual ones
    The first block has at most FIRST_SAMPLES. The same count gives the same positions.
    Loops that cannot be closed cost most, because they are followed from a known position in ever shorter strides. So
    the first samples are followed from home in small steps, the others closed from the nearest of those that arrive.
    """
    random = np.random.default_rng(SEED)
    low, high = usual_ranges(robot) if ranges is None else ranges
    spans = np.where(high > low, high - low, 1.0)
    first = random.uniform(low, high, (min(FIRST_SAMPLES, count), robot.n))
    known = home[None] if robot.loops is None else _followed(robot, home, first)
    yield _closed(robot, first, known, spans)
    for start in range(len(first), count, BLOCK_POSITIONS):
        block = random.uniform(low, high, (min(BLOCK_POSITIONS, count - start), robot.n))
        yield _closed(robot, block, known, spans)


def _followed(robot: Robot, home: Array, coordinates: Array) -> Array:
    """Home, and the positions to which straight ways lead from it, at coordinates (k, n)."""
    start, positions = robot.positions.coordinates(home), np.repeat(home[None], len(coordinates), axis=0)
    for share in np.linspace(0.0, 1.0, STEPS_FROM_HOME + 1)[1:]:
        positions = positions_of(robot, start + share * (coordinates - start), positions)
        arrived = np.isfinite(positions).all(axis=-1)
        coordinates, positions = coordinates[arrived], positions[arrived]
    return np.concatenate([home[None], positions])


def _closed(robot: Robot, coordinates: Array, known: Array, spans: Array) -> Array:
    """Positions (k, N) from coordinates (k, n), closed from the nearest that is known; NaN where there is none.

    spans: (n,) of the coordinates' ranges, whose shares distances are
    """
    if len(known) == 1:
        return positions_of(robot, coordinates, known[0])
    from scipy.spatial import KDTree

    tree = KDTree(robot.positions.coordinates(known) / spans)
    return positions_of(robot, coordinates, known[tree.query(coordinates / spans)[1]])
