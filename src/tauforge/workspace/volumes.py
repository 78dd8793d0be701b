"""`volume` and `compare`: the size of a workspace, and what a payload or a limit takes away from it.

With one orientation cells of a grid are counted whose centres hold. One volume has all places at which the limits hold.
The other is the part of it that is connected with home by neighbouring cells on the same side of every singular
position: the robot gets there without losing control and without taking it apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ModelError, ShapeError
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Rows, Summary, SummaryTable
from tauforge.validation import real_array
from tauforge.workspace.criteria import Criteria, Report, checked_count, checked_position, criteria_of
from tauforge.workspace.position_grid import PositionGrid, connected_with_home
from tauforge.workspace.rays import FIRST_BOX, longest_path, size_of
from tauforge.workspace.sampled_volume import sampled_volume
from tauforge.workspace.singular_crossings import LOSES_CONTROL

CELLS_A_SIDE, CUBES_A_SIDE = 64, 32
VOLUME_SAMPLES = 1_000_000
CLOSED_SAMPLES = 250_000  # where loops are closed for each, which takes longer
MOST_A_SIDE = 1000
KNOWN_ERROR = 1 / 3  # of the volume: with a larger error it is not known
GRID, SAMPLED = "cells of a grid", "sampled positions"
COARSE = 49  # cells along each side while the box is looked for
FINER_LOOK = 97  # where these find nothing
BOX_DOUBLINGS = 6  # until a workspace counts as unbounded
TIGHTENINGS = 2
BOX_GROWTH = 0.15  # of the box, on each side, where the part that is connected with home touches it
XYZ = (0, 1, 2)  # places of the coordinates that are lengths


@dataclass(frozen=True, repr=False)
class Volume(Report):
    """The size of a workspace.

    method:           "cells of a grid" at one orientation, or "sampled positions" with any orientation of the tool
    orientation:      (3,) rad theta_x, theta_y, theta_z of the grid; None for sampled positions
    volume:           of the part that is connected with home without a singular position between; of all sampled
                      positions where these are sampled
    error:            an estimate, from two resolutions or three standard deviations; not a bound
    everywhere:       of all places at which the limits hold; None for sampled positions
    everywhere_error: an estimate of its error
    unit:             "m^3", or "m^2" where a tool stays in a plane
    box:              (2, 3) m, smallest and largest coordinates of the part
    stopped_by:       share of the part's surface by the limit beyond it; for sampled positions their share by the
                      limit that they exceed first
    points:           cells along each side, or cubes along the longest
    judged:           what was judged
    """

    robot: str
    method: str
    orientation: Array | None
    volume: float
    error: float
    everywhere: float | None
    everywhere_error: float | None
    unit: str
    box: Array
    stopped_by: dict[str, float]
    points: int
    judged: str

    @property
    def known(self) -> bool:
        """True if the error is at most a third of the volume. More samples or points make it smaller."""
        return self.error <= KNOWN_ERROR * self.volume

    def data(self) -> dict[str, Any]:
        return {**super().data(), "known": self.known}

    def summary(self) -> Summary:
        """The volume with its error, its box and what ends it."""
        doubt = "" if self.known else "the volume is not known: "
        words: tuple[str | float, ...] = (f"{self.robot}: {doubt}", self.volume, f" {self.unit}, +- ", self.error)
        parts: list[SummaryTable | tuple[str | float, ...] | str] = []
        if self.everywhere is not None and self.orientation is not None:
            angles = ", ".join(f"{x:.4g}" for x in self.orientation)
            parts.append(
                f"Connected with home and free of singular positions, at the orientation ({angles}) rad. "
                f"All places at which the limits hold: {self.everywhere:.4g} {self.unit}."
            )
        else:
            parts.append("Places of the tool with any orientation, from sampled positions.")
        box: Rows = tuple((axis, float(low), float(high)) for axis, low, high in zip("xyz", *self.box, strict=True))
        parts.append(SummaryTable("Box around it", ("axis", "from [m]", "to [m]"), box))
        if self.stopped_by:
            ends, refused = "What ends it: share of the surface", "What is refused: share of the positions"
            title = ends if self.method == GRID else refused
            parts.append(SummaryTable(title, ("limit", "share"), tuple(self.stopped_by.items())))
        parts.append(f"Judged: {self.judged}. Method: {self.method}, {self.points} a side.")
        return Summary(words, tuple(parts))


def volume(
    robot: Robot,
    home: ArrayLike | None = None,
    *,
    orientation: ArrayLike | None = None,
    limits: Sequence[str] | None = None,
    points: int | None = None,
    samples: int | None = None,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
) -> Volume:
    """Computes the size of a robot's workspace, m^3.

    A robot whose positions are poses has a constant-orientation workspace: the places of its origin at which the
    limits hold, at one orientation. The cells of a grid are counted. `volume` is the part that is connected with home
    without crossing a singular position, `everywhere` is all of it.
    The tool of another robot may arrive with any orientation: positions are sampled from the ranges of its coordinates
    (-pi to pi where an angle has none). Where every place has one position, the volumes that they stand for are summed.
    Elsewhere the small cubes into which they bring the tool are counted, which finds corners that few positions lead to
    only with many samples. Neither asks whether a way leads there.

    orientation: (3,) rad theta_x, theta_y, theta_z, R = Rz Ry Rx; default that of home; for poses alone
    limits:      kinds of position limits that are judged, such as ["stroke"]; None for all
    home:        (n,) default `robot.positions.default`; where it does not hold, no part is connected with it
    points:      cells along each side of the box (default 64), or cubes along the longest side (default 32)
    samples:     positions that are sampled where there is no grid; default until the error is 1 % of the volume, and
                 at most 1,000,000, or 250,000 where loops must be closed for each
    payload, forces, largest_condition: as in `explain`
    Singular positions are those where the `singularity` of its moved body changes its sign; others are not looked for.
    A volume whose error is larger than a third of it is not `known`, and its summary says so.
    Identity: the limits hold at the centre of every cell that is counted, and not at the centre of any other.
    """
    criteria = criteria_of(robot, payload, forces, largest_condition, limits)
    start = checked_position(robot, "home", home)
    if not robot.positions.pose:
        if orientation is not None:
            raise ModelError(
                f"the workspace of {robot.name} is that of its tool with any orientation", field="orientation"
            )
        usual = VOLUME_SAMPLES if robot.loops is None else CLOSED_SAMPLES
        cubes = checked_count("points", CUBES_A_SIDE if points is None else points, MOST_A_SIDE)
        tried = checked_count("samples", usual if samples is None else samples)
        found = sampled_volume(criteria, start, cubes, tried, samples is not None)
        common = (f"m^{found.dimensions}", found.box, found.stopped_by, cubes, criteria.words)
        return Volume(robot.name, SAMPLED, None, found.volume, found.error, None, None, *common)
    pose = np.array(robot.positions.coordinates(start))
    pose[3:] = pose[3:] if orientation is None else _angles(orientation)
    start = robot.positions.at(pose, start)
    cells = checked_count("points", CELLS_A_SIDE if points is None else points, MOST_A_SIDE)
    part, everything = volumes(criteria, start, cells)
    numbers = (part.volume, part.error, everything.volume, everything.error)
    return Volume(robot.name, GRID, pose[3:], *numbers, "m^3", part.box, part.stopped_by, cells, criteria.words)


def _angles(given: ArrayLike) -> Array:
    angles = real_array("orientation", given)
    if angles.shape != (3,) or not np.isfinite(angles).all():
        got = str(angles.shape) if angles.shape != (3,) else str(angles.tolist())
        raise ShapeError("orientation", expected="(3,) finite angles theta_x, theta_y, theta_z", got=got)
    return angles


@dataclass(frozen=True, repr=False)
class CaseVolumes(Report):
    """Workspaces of the same robot under several conditions; the first is what the others are compared with."""

    robot: str
    cases: dict[str, Volume]

    def taken(self, case: str) -> float:
        """The share of the first case's volume that another one lacks."""
        first = next(iter(self.cases.values())).volume
        return 1.0 - self.cases[case].volume / first if first else float("nan")

    def summary(self) -> Summary:
        """A row for each case."""
        unit = next(iter(self.cases.values())).unit
        rows: Rows = tuple(
            (name, found.judged, found.volume, found.error, 100 * self.taken(name))
            for name, found in self.cases.items()
        )
        header = ("case", "judged", f"volume [{unit}]", f"+- [{unit}]", "taken away [%]")
        return Summary(f"{self.robot}: what takes workspace away", (SummaryTable("", header, rows, texts=2),))


def compare(robot: Robot, cases: Mapping[str, Mapping[str, Any]], **common: Any) -> CaseVolumes:
    """Computes the volume of a workspace under several conditions: what a payload or a force limit takes away.

    cases:  arguments of `volume` by the name of each case, such as {"empty": {}, "40 kg": {"payload": load}}; the
            first is what the others are compared with
    common: arguments of all cases
    """
    if not isinstance(cases, Mapping) or not cases:
        raise ModelError(f"expected arguments of volume by the names of cases, got {cases!r}", field="cases")
    return CaseVolumes(robot.name, {name: volume(robot, **{**common, **case}) for name, case in cases.items()})


class CountedPart(NamedTuple):
    """volume, error: m^3; box: (2, 3) m corners; stopped_by: shares of the surface by the name of what ends it there.

    inside: the cells of the grid that count
    """

    volume: float
    error: float
    box: Array
    stopped_by: dict[str, float]
    inside: Array


NO_PART = CountedPart(0.0, 0.0, np.zeros((2, 3)), {}, np.zeros((1, 1, 1), bool))


def volumes(criteria: Criteria, home: Array, points: int) -> tuple[CountedPart, CountedPart]:
    """Counts the part that is connected with home, and everything."""
    if (box := _box(criteria, home)) is None:
        return NO_PART, NO_PART
    everything = _counted(criteria, home, box, points, free=False)
    if criteria.codes(home):
        return NO_PART, everything
    return _from_home(criteria, home, box, points), everything


def _box(criteria: Criteria, home: Array) -> Array | None:
    """(2, 3) m, corners of a box around all places that hold; None where there are none near."""
    half, name = _first_half(criteria, home), criteria.robot.name
    centre = criteria.robot.positions.coordinates(home)[:3]
    for _ in range(BOX_DOUBLINGS):
        corners = np.stack([centre - half, centre + half])
        grid = _grid(criteria.robot, home, corners, COARSE)
        hold = grid.evaluated(criteria.codes, "uint8") == 0
        if not hold.any():
            grid = _grid(criteria.robot, home, corners, FINER_LOOK)
            hold = grid.evaluated(criteria.codes, "uint8") == 0
        if not _touches(hold):
            break
        half *= 2
    else:
        raise ModelError(
            f"the limits of {name} hold as far as {half / 2:.3g} m from home, so its workspace has no end",
            field="limits",
            remedy="Give it a limit that bounds it, such as a stroke",
        )
    if not hold.any():
        return None
    for _ in range(TIGHTENINGS):
        corners = _around(grid, hold)
        grid = _grid(criteria.robot, home, corners, COARSE)
        hold = grid.evaluated(criteria.codes, "uint8") == 0
    return _around(grid, hold) if hold.any() else corners


def _first_half(criteria: Criteria, home: Array) -> float:
    """m to each side of home, where the search begins."""
    size = size_of(criteria.robot, home)
    if not criteria.closes or criteria.codes(home):
        return FIRST_BOX * size  # a platform may be assembled below its base, too
    # Loops that are tried in vain cost most. They stay assembled as at home, so all places are near.
    return longest_path(criteria, home, XYZ)


def _grid(robot: Robot, home: Array, corners: Array, points: int) -> PositionGrid:
    """Cells whose centres include home, if it is inside, and which cover the box."""
    centre, width = robot.positions.coordinates(home)[:3], (corners[1] - corners[0]) / points
    first = np.floor((corners[0] - centre) / width)
    values = tuple(centre[axis] + (first[axis] + np.arange(points + 1)) * width[axis] for axis in XYZ)
    return PositionGrid(robot, home, XYZ, values)


def _cell(grid: PositionGrid) -> float:
    return float(np.prod([values[1] - values[0] for values in grid.values]))


def _touches(inside: Array) -> bool:
    """True if cells of the outermost layer are inside."""
    return any(np.take(inside, end, axis=axis).any() for axis in XYZ for end in (0, -1))


def _around(grid: PositionGrid, inside: Array, cells: float = 1.5) -> Array:
    """Corners of a box around the centres of cells, with some more cells on each side."""
    found = []
    for axis, values in enumerate(grid.values):
        rows = np.flatnonzero(inside.any(axis=tuple(other for other in XYZ if other != axis)))
        width = values[1] - values[0]
        found.append((values[rows[0]] - cells * width, values[rows[-1]] + cells * width))
    return np.transpose(found)


def _from_home(criteria: Criteria, home: Array, box: Array, points: int) -> CountedPart:
    """Counted on a grid that fits the connected part, not everything."""
    grid = _grid(criteria.robot, home, box, max(COARSE, points // 2))
    corners = _around(grid, connected_with_home(criteria, grid, grid.evaluated(criteria.codes, "uint8")))
    for _ in range(BOX_DOUBLINGS):
        part = _counted(criteria, home, corners, points, free=True)
        if not _touches(part.inside):
            break
        corners = corners + BOX_GROWTH * (corners[1] - corners[0]) * np.array([[-1.0], [1.0]])
    return part


def _counted(criteria: Criteria, home: Array, box: Array, points: int, free: bool) -> CountedPart:
    counts = []
    for cells in (max(points // 2, 1), points):
        grid = _grid(criteria.robot, home, box, cells)
        codes = grid.evaluated(criteria.codes, "uint8")
        inside = connected_with_home(criteria, grid, codes) if free else codes == 0
        counts.append(_cell(grid) * int(inside.sum()))
    faces = _faces(criteria, codes, inside)
    total = sum(faces.values())
    # Cells at the surface that are cut at random give sqrt(total / 12); those of a symmetric robot are cut alike.
    scatter = _cell(grid) * np.sqrt(total)
    error = max(abs(counts[1] - counts[0]), float(scatter))
    shares = {name: count / total for name, count in faces.items()}
    corners = _around(grid, inside, 0.5) if inside.any() else NO_PART.box
    return CountedPart(counts[1], error, corners, shares, inside)


def _faces(criteria: Criteria, codes: Array, inside: Array) -> Counter[str]:
    """Number of faces between cells inside and outside, by what is wrong outside, in the robot's order."""
    found: Counter[int] = Counter()
    for axis in XYZ:
        one, other = (np.moveaxis(inside, axis, 0)[part] for part in (slice(None, -1), slice(1, None)))
        first, second = (np.moveaxis(codes, axis, 0)[part] for part in (slice(None, -1), slice(1, None)))
        found.update(second[one & ~other].tolist())
        found.update(first[other & ~one].tolist())
    return Counter({criteria.name(code) if code else LOSES_CONTROL: found[code] for code in sorted(found)})
