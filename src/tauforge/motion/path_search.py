"""The search for a path's free poses: first the best way over random poses, then SLSQP.

On a straight line in a plane of symmetry all gradients lie in that plane, but the best path may lead out of it. So the
initial path is found over random poses, the same ones each time. SLSQP then minimises the largest condition number, and
after that the integral of the condition number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array

MIN_SAMPLES_BETWEEN = 10  # the fewest poses between two points of a path at which it is evaluated while it is planned
MIN_SAMPLES = 60  # the fewest on the whole path
QUALITY_DIFFERENCE_STEP = 1e-6  # of difference quotients, relative to the scale of a coordinate
BROKEN_LIMIT = 1.0  # added to a broken limit, so that any pose within the limits comes before any pose outside


class Conditioned(Protocol):
    """A robot with a square matrix H from actuator forces to the wrench on its platform."""

    @property
    def name(self) -> str: ...

    def force_matrix(self, pose: ArrayLike) -> Array: ...

    def condition_number(self, pose: ArrayLike, characteristic_length: float | None = None) -> Array: ...

    def within_limits(self, pose: ArrayLike) -> Any: ...


@dataclass(frozen=True)
class PathTask:
    """The requirements on the path.

    given:  (g, 6) poses to pass, the first and the last at the ends
    points: free poses between each two given ones
    length: m, for the condition number; None: H as it is
    scale:  (6,) m and rad: equally large displacements of the six coordinates
    room:   (6,) m and rad: how far a free pose may be from the straight line
    safety: of the margins of limits, relative to scale: more than a path exceeds them between samples
    """

    robot: Conditioned
    given: Array
    points: int
    length: float | None
    scale: Array
    room: Array
    safety: float

    # ------------------------------------------------------------------------------------------------------- geometry

    @cached_property
    def knots(self) -> Array:
        """(k,) fractions from 0 to 1 of the way: given and free poses, each stretch as long as its straight line."""
        ways = np.linalg.norm(np.diff(self.given, axis=0) / self.scale, axis=1)
        ends: Array = np.concatenate([[0.0], np.cumsum(ways)]) / ways.sum()
        ends[-1] = 1.0
        inner = np.linspace(0.0, 1.0, self.points + 2)[:-1]
        return np.append((ends[:-1, None] + np.diff(ends)[:, None] * inner).ravel(), 1.0)

    @cached_property
    def free(self) -> Array:
        """(k,) which of the knots are to be found."""
        return np.asarray(np.arange(len(self.knots)) % (self.points + 1) != 0)

    @cached_property
    def movable(self) -> Array:
        """(6,) which coordinates have room."""
        return np.asarray(self.room > 0)

    @cached_property
    def straight(self) -> Array:
        """(k, 6) the knots on straight lines from each given pose to the next."""
        ends = self.knots[~self.free]
        return np.stack([np.interp(self.knots, ends, column) for column in self.given.T], axis=-1)

    @cached_property
    def fractions(self) -> Array:
        """(s,) where the path is evaluated: as often in a short stretch as in a long one."""
        count = len(self.knots) - 1
        samples = count * max(MIN_SAMPLES_BETWEEN, -(-MIN_SAMPLES // count))
        return np.interp(np.linspace(0, count, samples + 1), np.arange(count + 1), self.knots)

    @cached_property
    def basis(self) -> Array:
        """(s, k): the matrix that gives the poses at the fractions from the knots."""
        return np.asarray(spline(self.knots, np.eye(len(self.knots)))(self.fractions))

    @cached_property
    def slackness(self) -> Array:
        """(s, 1) from 0 at given poses, which may be on a limit, to 1."""
        apart = np.abs(self.fractions[:, None] - self.knots[~self.free]).min(axis=1)
        return np.asarray(apart / apart.max())[:, None]

    # ----------------------------------------------------------------------------------------------------- the measure

    def signed_inverse(self, poses: Array) -> Array:
        """sign(det H) / cond(H), (...); 0 where H is not finite, as where a leg has no length."""
        condition = self.robot.condition_number(poses, self.length)
        sign = np.sign(np.linalg.det(self.robot.force_matrix(poses)))
        with np.errstate(divide="ignore"):
            return np.asarray(np.nan_to_num(sign / condition, nan=0.0))

    @cached_property
    def at_given(self) -> Array:
        """(g,) the signed inverse at the poses to pass."""
        return self.signed_inverse(self.given)

    def quality(self, poses: Array) -> Array:
        """(...) 1 where H is as well conditioned as at the worst given pose, 0 where it is singular, below beyond."""
        return np.asarray(self.signed_inverse(poses) * np.sign(self.at_given[0]) / np.abs(self.at_given).min())

    def margins(self, poses: Array) -> Array:
        """(..., m) margins to the limits, positive where they hold, relative to the scale of lengths and in rad."""
        if not self.limited:
            return np.zeros((*poses.shape[:-1], 0))
        margins = self.robot.within_limits(poses).margins(self.scale[0])
        return np.asarray(np.nan_to_num(margins, nan=-BROKEN_LIMIT))

    @cached_property
    def limited(self) -> bool:
        """True if the robot has limits of its pose; without them half of the time is saved."""
        return bool(self.robot.within_limits(self.given[0]).margins(1.0).size)

    def slopes(self, of: Any, poses: Array) -> Array:
        """(s, ..., 6) derivatives of a function of poses (s, 6) by the scaled coordinates."""
        steps = QUALITY_DIFFERENCE_STEP * np.diag(self.scale)
        ahead, behind = (of(poses[:, None] + sign * steps) for sign in (1, -1))
        return np.asarray(np.moveaxis((ahead - behind) / (2 * QUALITY_DIFFERENCE_STEP), 1, -1))


def spline(knots: Array, points: Array) -> Any:
    """A cubic spline over fractions (k,) through points (k, n): straight where the points are."""
    from scipy.interpolate import CubicSpline  # slow to import

    return CubicSpline(knots, points, bc_type="natural")


ROADMAP_POSES = 300  # random poses between each two given ones
NEIGHBOURS = 8  # to which each of them is connected
EDGE_POSES = 12  # poses checked along each edge
MAX_SLSQP_ROUNDS = 60  # of SLSQP, at most
SLSQP_TOLERANCE = 1e-7  # change of its measure at which SLSQP ends
SMALLEST_LENGTH = 1e-300  # instead of 0, to avoid a division by zero
QUALITY_LOSS = 1e-3  # loss of the best worst quality that is accepted for a shorter way or a lower integral


def found_points(task: PathTask) -> tuple[Array, int]:
    """The knots (k, 6) of the best path, and how many rounds SLSQP made.

    First the largest condition number is minimised; then, with at most a thousandth more, the integral of the condition
    number over the length of the path.
    """
    best, rounds = task.straight, 0
    for start in (roadmap(task), task.straight):
        points, made = _climbed(task, start)
        best, rounds = max(best, points, key=lambda one: _worst(task, one)), rounds + made
        if _worst(task, best) >= 1 - QUALITY_LOSS:
            break
    points, made = _lowered(task, best)
    return points, rounds + made


def _worst(task: PathTask, points: Array) -> float:
    """The smallest quality on the path, at most 1; less than any quality where a limit is exceeded."""
    poses = task.basis @ points
    broken = min(0.0, float(task.margins(poses).min(initial=0.0)))
    quality = min(1.0, float(task.quality(poses).min()))
    return quality if broken > -task.safety else broken - BROKEN_LIMIT


def _climbed(task: PathTask, start: Array) -> tuple[Array, int]:
    """The knots with the best worst quality, at most 1, that SLSQP reaches from these."""
    level = min(1.0, float(task.quality(task.basis @ start).min()))

    def objective(x: Array) -> tuple[float, Array]:
        return -float(x[-1]), np.append(np.zeros(len(x) - 1), -1.0)

    return _solved(task, start, objective, level)


def _lowered(task: PathTask, start: Array) -> tuple[Array, int]:
    """The path with the least integral of the condition number over its length; its worst pose is as good as before.

    The integral is multiplied by the mean square of the speed over the square of its mean, which is 1 where the speed
    is even. Otherwise knots could slide along the path at no cost.
    """
    level = float(min(1.0, task.quality(task.basis @ start).min())) * (1 - QUALITY_LOSS)
    if level <= 0:
        return start, 0
    middles = (task.basis[:-1] + task.basis[1:]) / 2
    steps, times = np.diff(task.basis, axis=0), np.diff(task.fractions)

    def objective(x: Array) -> tuple[float, Array]:
        points = _points(task, x)
        poses, ways = middles @ points, steps @ points / task.scale
        condition, by_quality = _inverse(task.quality(poses), level / 2)
        lengths = np.maximum(np.linalg.norm(ways, axis=1), SMALLEST_LENGTH)
        whole, integral = lengths.sum(), condition @ lengths
        uneven = (lengths**2 / times).sum() / whole**2
        by_length = uneven * condition + integral * 2 * (lengths / times / whole**2 - uneven / whole)
        by_pose = (uneven * lengths * by_quality)[:, None] * task.slopes(task.quality, poses)
        slope = middles.T @ by_pose + steps.T @ ((by_length / lengths)[:, None] * ways)
        return float(integral * uneven), slope[np.ix_(task.free, task.movable)].ravel()

    return _solved(task, start, objective, level, fixed=True)


def _inverse(quality: Array, least: float) -> tuple[Array, Array]:
    """1 / quality and its slope; below the least quality a straight line, so that a step too far meets no pole."""
    held = np.maximum(quality, least)
    return 1 / held + (held - quality) / least**2, -1 / held**2


def _points(task: PathTask, x: Array) -> Array:
    """The knots (k, 6) from the scaled offsets of the free ones, knot by knot; an element after them is ignored."""
    points = task.straight.copy()
    offsets = x[: task.free.sum() * task.movable.sum()].reshape(-1, task.movable.sum())
    points[np.ix_(task.free, task.movable)] += task.scale[task.movable] * offsets
    return points


def _solved(task: PathTask, start: Array, objective: Any, level: float, fixed: bool = False) -> tuple[Array, int]:
    """SLSQP over the free knots and, unless it is fixed, the level that every quality must reach."""
    from scipy.optimize import Bounds, minimize

    if not task.movable.any():
        return start, 0
    inner = slice(1, -1)  # the ends are given
    basis = task.basis[inner][:, task.free]
    safety = task.safety * task.slackness[inner]

    def values(x: Array) -> Array:
        poses = (task.basis @ _points(task, x))[inner]
        reached = task.quality(poses) - (level if fixed else x[-1])
        return np.concatenate([reached, (task.margins(poses) - safety).ravel()])

    def slopes(x: Array) -> Array:
        poses = (task.basis @ _points(task, x))[inner]
        of_quality, of_margins = (task.slopes(of, poses)[..., task.movable] for of in (task.quality, task.margins))
        of_quality = np.einsum("sk,sc->skc", basis, of_quality).reshape(len(poses), -1)
        of_margins = np.einsum("sk,smc->smkc", basis, of_margins).reshape(-1, of_quality.shape[1])
        rows = np.concatenate([of_quality, of_margins])
        return rows if fixed else np.column_stack([rows, -(np.arange(len(rows)) < len(poses)).astype(float)])

    offsets = ((start - task.straight) / task.scale)[np.ix_(task.free, task.movable)].ravel()
    reach = np.tile((task.room / task.scale)[task.movable], int(task.free.sum()))
    x, bounds = offsets, Bounds(-reach, reach)
    if not fixed:
        x, bounds = np.append(offsets, level), Bounds(np.append(-reach, -np.inf), np.append(reach, 1.0))
    limits = {"type": "ineq", "fun": values, "jac": slopes}
    ends = {"maxiter": MAX_SLSQP_ROUNDS, "ftol": SLSQP_TOLERANCE}
    found = minimize(objective, x, jac=True, bounds=bounds, method="SLSQP", constraints=limits, options=ends)
    return _points(task, np.clip(found.x, bounds.lb, bounds.ub)), int(found.nit)


def roadmap(task: PathTask) -> Array:
    """The knots (k, 6) of the best way over random poses around each straight line.

    Every pair of near poses is connected by a straight edge, which is as good as its worst pose. The way with the best
    worst edge lies in the tree with the best edges. Among the ways that are nearly as good the shortest is chosen.
    """
    pieces = []
    for k, (start, end) in enumerate(zip(task.given[:-1], task.given[1:], strict=True)):
        way = _way(task, start, end)
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0) / task.scale, axis=1))])
        inner = np.linspace(0.0, along[-1], task.points + 2)[:-1]
        piece = np.stack([np.interp(inner, along, column) for column in way.T], axis=-1)
        first = k * (task.points + 1)
        limits = task.straight[first : first + len(piece)]
        pieces.append(np.clip(piece, limits - task.room, limits + task.room))
    return np.concatenate([*pieces, task.given[-1:]])


def _way(task: PathTask, start: Array, end: Array) -> Array:
    """(j, 6) poses from start to end."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
    from scipy.spatial import KDTree
    from scipy.stats import qmc

    drawn = qmc.Halton(7, scramble=False).random(ROADMAP_POSES + 1)[1:]  # the first is a corner
    about = start + drawn[:, :1] * (end - start) + task.room * (2 * drawn[:, 1:] - 1)
    nodes = np.concatenate([[start, end], about])
    _, near = KDTree(nodes / task.scale).query(nodes / task.scale, k=NEIGHBOURS + 1)
    joined = np.stack([np.repeat(np.arange(len(nodes)), NEIGHBOURS), near[:, 1:].ravel()], axis=-1)
    ends = np.stack(np.meshgrid([0, 1], np.arange(1, len(nodes)), indexing="ij"), axis=-1).reshape(-1, 2)
    pairs = np.unique(np.sort(np.concatenate([joined, ends]), axis=-1), axis=0)
    i, j = pairs[pairs[:, 0] != pairs[:, 1]].T.astype(np.int32)  # no loops of equal poses; csgraph wants 32 bits
    shares = np.linspace(0.0, 1.0, EDGE_POSES)[:, None, None]
    poses = nodes[i] + shares * (nodes[j] - nodes[i])
    good = np.minimum(1.0, task.quality(poses)).min(axis=0)
    broken = task.margins(poses).min(axis=(0, -1), initial=0.0)
    good = np.where(broken < 0, np.minimum(good, 0.0) + broken - BROKEN_LIMIT, good)
    shape = (len(nodes), len(nodes))
    cost = 2.0 - good  # above 0: csgraph takes an edge that costs nothing for no edge
    worst = _dearest_between(minimum_spanning_tree(coo_array((cost, (i, j)), shape=shape).tocsr()))
    kept = cost <= worst + QUALITY_LOSS
    apart = np.linalg.norm((nodes[j] - nodes[i]) / task.scale, axis=1)
    ways = coo_array((apart[kept], (i[kept], j[kept])), shape=shape).tocsr()
    _, before = dijkstra(ways, directed=False, indices=0, return_predecessors=True)
    way = [1]
    while way[-1] != 0:
        way.append(int(before[way[-1]]))
    return np.asarray(nodes[way[::-1]])


def _dearest_between(tree: Any) -> float:
    """The largest cost on the way of a tree from its first node to its second."""
    from scipy.sparse.csgraph import breadth_first_order

    _, before = breadth_first_order(tree, 0, directed=False)
    both = tree + tree.T
    dearest, node = 0.0, 1
    while node != 0:
        dearest, node = max(dearest, float(both[node, before[node]])), int(before[node])
    return dearest
