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
from tauforge.workspace.rays import size_of
from tauforge.workspace.rules import BLOCK, Rules, positions_of
from tauforge.workspace.tool_ways import can_move_body, pose_of_tool

FLAT = 1e-9  # of the size of the robot: an axis along which the tool does not move
PILOT = 4096  # positions that tell how large the cubes are
OFFSET = 1 << 20  # of the numbers of cubes, so that none is negative
BITS = 21  # of an integer for each axis; three fit into 64
MASK = (1 << BITS) - 1
SEED = 0


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
    if not can_move_body(robot):
        raise UnsupportedFeatureError(f"{robot.name} does not tell where a tool is", field="volume")
    random = np.random.default_rng(SEED)
    low, high = np.transpose([coordinate.usual_range for coordinate in robot.coordinates])
    tried = positions_of(robot, random.uniform(low, high, (PILOT, robot.n)), home)
    closed = np.isfinite(tried).all(axis=-1)
    pilot = pose_of_tool(robot, tried[closed] if closed.any() else home[None])[:, :3]
    spans, size = np.ptp(pilot, axis=0), size_of(robot, home)
    axes = np.flatnonzero(spans > FLAT * size)
    edge = float(spans.max()) / points
    cubes, refused = np.zeros(0, np.int64), Counter[int]()
    corners = np.array([np.full(3, np.inf), np.full(3, -np.inf)])
    for start in range(0, samples, BLOCK):
        positions = positions_of(robot, random.uniform(low, high, (min(BLOCK, samples - start), robot.n)), home)
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


def _joined(numbers: Array) -> Array:
    """(k,) one integer from the two or three of each cube."""
    found = np.zeros(len(numbers), np.int64)
    for column in numbers.T:
        found = (found << BITS) | column
    return found


def _parted(cubes: Array, count: int) -> Array:
    """Undoes `_joined`."""
    return np.stack([(cubes >> (BITS * (count - 1 - k))) & MASK for k in range(count)], axis=-1)
