"""The volume of places that a platform reaches with one orientation: cells of a grid whose centres hold.

Two volumes are counted. One has all places at which the limits hold. The other is the part of it that is connected
with home by neighbouring cells on the same side of every singular position: the robot gets there without losing control
and without taking it apart.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.robots.positions import singularity
from tauforge.robots.robot import Robot
from tauforge.workspace.breaks import LOST
from tauforge.workspace.grids import Grid
from tauforge.workspace.rays import FIRST, longest_way, size_of
from tauforge.workspace.rules import Rules, blocks

COARSE = 49  # cells along each side while the box is looked for
FINER_LOOK = 97  # where these find nothing
GROWTHS = 6  # doublings of the box until a workspace counts as unbounded
TIGHTENINGS = 2
WIDER = 0.15  # of the box, on each side, where the part that is connected with home touches it
SPACE = (0, 1, 2)


class Part(NamedTuple):
    """volume, error: m^3; box: (2, 3) m corners; stopped_by: shares of the surface by the name of what ends it there.

    inside: the cells of the grid that count
    """

    volume: float
    error: float
    box: Array
    stopped_by: dict[str, float]
    inside: Array


NOTHING = Part(0.0, 0.0, np.zeros((2, 3)), {}, np.zeros((1, 1, 1), bool))


def volumes(rules: Rules, home: Array, points: int) -> tuple[Part, Part]:
    """The part that is connected with home, and everything."""
    box = _box(rules, home)
    if box is None:
        return NOTHING, NOTHING
    everything = _counted(rules, home, box, points, free=False)
    if rules.codes(home):
        return NOTHING, everything
    return _from_home(rules, home, box, points), everything


def _box(rules: Rules, home: Array) -> Array | None:
    """(2, 3) m, corners of a box around all places that hold; None where there are none near."""
    half = _first_half(rules, home)
    centre = rules.robot.positions.coordinates(home)[:3]
    for _ in range(GROWTHS):
        corners = np.stack([centre - half, centre + half])
        grid = _grid(rules.robot, home, corners, COARSE)
        hold = grid.evaluated(rules.codes, "uint8") == 0
        if not hold.any():
            grid = _grid(rules.robot, home, corners, FINER_LOOK)
            hold = grid.evaluated(rules.codes, "uint8") == 0
        if not _touches(hold):
            break
        half *= 2
    else:
        raise ModelError(
            f"the limits of {rules.robot.name} hold as far as {half / 2:.3g} m from home, so its workspace has no end",
            field="limits",
            remedy="Give it a limit that bounds it, such as a stroke",
        )
    if not hold.any():
        return None
    for _ in range(TIGHTENINGS):
        corners = _around(grid, hold)
        grid = _grid(rules.robot, home, corners, COARSE)
        hold = grid.evaluated(rules.codes, "uint8") == 0
    return _around(grid, hold) if hold.any() else corners


def _first_half(rules: Rules, home: Array) -> float:
    """m to each side of home, where the search begins."""
    size = size_of(rules.robot, home)
    if not rules.closes or rules.codes(home):
        return FIRST * size  # a platform may be assembled below its base, too
    # Loops that are tried in vain cost most. They stay assembled as at home, so all places are near.
    return longest_way(rules, home, SPACE)


def _grid(robot: Robot, home: Array, corners: Array, points: int) -> Grid:
    """Cells whose centres include home, if it is inside, and which cover the box."""
    centre, width = robot.positions.coordinates(home)[:3], (corners[1] - corners[0]) / points
    first = np.floor((corners[0] - centre) / width)
    values = tuple(centre[axis] + (first[axis] + np.arange(points + 1)) * width[axis] for axis in SPACE)
    return Grid(robot, home, SPACE, values)


def _cell(grid: Grid) -> float:
    return float(np.prod([values[1] - values[0] for values in grid.values]))


def _touches(inside: Array) -> bool:
    """Whether cells of the outermost layer are inside."""
    return any(np.take(inside, end, axis=axis).any() for axis in SPACE for end in (0, -1))


def _around(grid: Grid, inside: Array, cells: float = 1.5) -> Array:
    """Corners of a box around the centres of cells, with some more cells on each side."""
    found = []
    for axis, values in enumerate(grid.values):
        rows = np.flatnonzero(inside.any(axis=tuple(other for other in SPACE if other != axis)))
        width = values[1] - values[0]
        found.append((values[rows[0]] - cells * width, values[rows[-1]] + cells * width))
    return np.transpose(found)


def _from_home(rules: Rules, home: Array, box: Array, points: int) -> Part:
    """Counted on a grid that fits the connected part, not everything."""
    grid = _grid(rules.robot, home, box, max(COARSE, points // 2))
    corners = _around(grid, _connected(rules, grid, grid.evaluated(rules.codes, "uint8")))
    for _ in range(GROWTHS):
        part = _counted(rules, home, corners, points, free=True)
        if not _touches(part.inside):
            break
        corners = corners + WIDER * (corners[1] - corners[0]) * np.array([[-1.0], [1.0]])
    return part


def _counted(rules: Rules, home: Array, box: Array, points: int, free: bool) -> Part:
    counts = []
    for cells in (max(points // 2, 1), points):
        grid = _grid(rules.robot, home, box, cells)
        codes = grid.evaluated(rules.codes, "uint8")
        inside = _connected(rules, grid, codes) if free else codes == 0
        counts.append(_cell(grid) * int(inside.sum()))
    faces = _faces(rules, codes, inside)
    total = sum(faces.values())
    # Cells at the surface that are cut at random give sqrt(total / 12); those of a symmetric robot are cut alike.
    scatter = _cell(grid) * np.sqrt(total)
    error = max(abs(counts[1] - counts[0]), float(scatter))
    shares = {name: count / total for name, count in faces.items()}
    corners = _around(grid, inside, 0.5) if inside.any() else NOTHING.box
    return Part(counts[1], error, corners, shares, inside)


def _connected(rules: Rules, grid: Grid, codes: Array) -> Array:
    """Cells that are connected with that of home through faces, on its side of all singular positions."""
    from scipy.ndimage import label

    home = tuple(int(np.abs(values - grid.start[axis]).argmin()) for axis, values in enumerate(grid.values))
    hold = codes == 0
    if not hold[home]:
        return np.zeros_like(hold)
    labels, _ = label(hold)
    part: Array = labels == labels[home]
    own = singularity(rules.robot, grid.home[None])
    if own is None:
        return part
    positions = grid.where(part)
    same = np.empty(len(positions), bool)
    for rows in blocks(len(positions)):
        determinant = singularity(rules.robot, positions[rows])
        assert determinant is not None
        same[rows] = determinant * own[0] > 0
    if same.all():
        return part
    part[part] = same
    labels, _ = label(part)
    return np.asarray(labels == labels[home]) & part


def _faces(rules: Rules, codes: Array, inside: Array) -> Counter[str]:
    """Number of faces between cells inside and outside, by what is wrong outside, in the robot's order."""
    found: Counter[int] = Counter()
    for axis in SPACE:
        one, other = (np.moveaxis(inside, axis, 0)[part] for part in (slice(None, -1), slice(1, None)))
        first, second = (np.moveaxis(codes, axis, 0)[part] for part in (slice(None, -1), slice(1, None)))
        found.update(second[one & ~other].tolist())
        found.update(first[other & ~one].tolist())
    return Counter({rules.name(code) if code else LOST: found[code] for code in sorted(found)})
