"""The volume of places that a tool reaches with any orientation: small cubes into which sampled positions bring it.

Positions are drawn evenly from the ranges of the coordinates; those that exceed a limit are left out. A cube counts if
one of them brings the origin of the moved body into it. Cubes at the surface count whole, which makes the number too
large by an amount that is proportional to their edge: counts with two edges give the volume without it. Cubes that no
sample found make it too small, most of all at the end of a long chain, where few positions lead.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.robots.robot import Robot
from tauforge.workspace.rays import size_of
from tauforge.workspace.rules import Rules, positions_of
from tauforge.workspace.sampling import SEED, sampled_positions
from tauforge.workspace.tool_ways import can_move_body, pose_of_tool

FLAT = 1e-6  # of the size of the robot: the tool does not move along an axis, or with a freedom
LOOKS = 16  # positions beside home that tell along which axes the tool moves
BESIDE = 0.02  # of the ranges: how far they are from home
SLOPE = 1e-4  # of the ranges, over which differences are taken
OFFSET = 1 << 20  # of the numbers of cubes, so that none is negative
BITS = 21  # of an integer for each axis; three fit into 64
MASK = (1 << BITS) - 1


class Sampled(NamedTuple):
    """volume, error: m^3, or m^2 where the tool stays in a plane; box: (2, 3) m, of the places that were found.

    dimensions: 3, or 2 in a plane; stopped_by: shares of the samples by the name of the limit that they exceed first
    """

    volume: float
    error: float
    box: Array
    dimensions: int
    stopped_by: dict[str, float]


def sampled_volume(rules: Rules, home: Array, points: int, samples: int) -> Sampled:
    """points: cubes along the longest side of the places that are reached; samples: positions that are tried."""
    robot = rules.robot
    axes = _measured_axes(robot, home)
    cubes, refused = np.zeros(0, np.int64), Counter[int]()
    corners = np.array([np.full(3, np.inf), np.full(3, -np.inf)])
    edge = 0.0
    for positions in sampled_positions(robot, home, samples):
        if not edge:  # the first block tells how large the cubes are
            closed = np.isfinite(positions).all(axis=-1)
            pilot = pose_of_tool(robot, np.concatenate([positions[closed], home[None]]))[:, :3]
            edge = float(np.ptp(pilot, axis=0).max()) / points
        codes = rules.codes(positions)
        refused.update(codes[codes != 0].tolist())
        held = positions[codes == 0]
        if len(held):
            places = pose_of_tool(robot, held)[:, :3]
            corners = np.stack([np.minimum(corners[0], places.min(axis=0)), np.maximum(corners[1], places.max(axis=0))])
            numbers = np.floor((places[:, axes] - pilot[0, axes]) / edge).astype(np.int64) + OFFSET
            cubes = np.union1d(cubes, _joined(numbers))
    shares = {rules.name(code): refused[code] / samples for code in sorted(refused)}
    if not len(cubes):
        return Sampled(0.0, 0.0, np.zeros((2, 3)), len(axes), shares)
    fine = len(cubes) * edge ** len(axes)
    coarse = len(np.unique(_joined(_parted(cubes, len(axes)) // 2))) * (2 * edge) ** len(axes)
    volume = max(2 * fine - coarse, 0.0)  # the line through both, at the edge 0
    return Sampled(volume, abs(fine - volume), corners, len(axes), shares)


def _measured_axes(robot: Robot, home: Array) -> Array:
    """(d,) axes of the world along which the tool moves, if it moves with as many freedoms."""
    if not can_move_body(robot):
        raise UnsupportedFeatureError(f"{robot.name} does not tell where a tool is", field="volume")
    low, high = np.transpose([coordinate.usual_range for coordinate in robot.coordinates])
    random, start = np.random.default_rng(SEED), robot.coordinates_at(home)
    beside = start + BESIDE * (high - low) * random.uniform(-1.0, 1.0, (LOOKS, robot.n))
    positions = positions_of(robot, beside, home)
    positions = np.concatenate([home[None], positions[np.isfinite(positions).all(axis=-1)]])
    slopes = _slopes(robot, positions, 0.5 * SLOPE * (high - low))
    size = size_of(robot, home)
    axes = np.flatnonzero(np.abs(slopes).max(axis=(0, 2)) > FLAT * size)
    values = np.linalg.svd(slopes, compute_uv=False)
    freedoms = int((values > FLAT * size).sum(axis=-1).max())
    if freedoms < max(len(axes), 2):
        moves = ("does not move its tool", "moves its tool with 1 freedom, on a curve")
        words = moves[freedoms] if freedoms < 2 else f"moves its tool with {freedoms} freedoms, on a surface"
        raise UnsupportedFeatureError(
            f"{robot.name} {words}: it has no volume",
            field="volume",
            remedy="Use reach or map",
        )
    return axes


def _slopes(robot: Robot, positions: Array, steps: Array) -> Array:
    """(k, 3, n) m, how far the tool moves at positions (k, N) with each coordinate, by differences over steps (n,).

    As far as it would move over the coordinate's whole range; 0 where loops do not close.
    """
    moves = np.concatenate([np.diag(steps), -np.diag(steps)])
    beside = positions_of(robot, robot.coordinates_at(positions)[:, None] + moves, positions[:, None])
    places = pose_of_tool(robot, beside.reshape(-1, beside.shape[-1]))[:, :3].reshape(len(positions), 2, -1, 3)
    found = np.swapaxes(places[:, 0] - places[:, 1], 1, 2) / SLOPE
    return np.where(np.isfinite(found).all(axis=(1, 2), keepdims=True), found, 0.0)


def _joined(numbers: Array) -> Array:
    """(k,) one integer from the two or three of each cube."""
    found = np.zeros(len(numbers), np.int64)
    for column in numbers.T:
        found = (found << BITS) | column
    return found


def _parted(cubes: Array, count: int) -> Array:
    """Undoes `_joined`."""
    return np.stack([(cubes >> (BITS * (count - 1 - k))) & MASK for k in range(count)], axis=-1)
