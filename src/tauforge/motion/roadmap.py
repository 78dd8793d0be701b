"""An initial path: the best way over random poses, the same ones each time.

On a straight line in a plane of symmetry all gradients lie in that plane, but the best path may lead out of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.motion.path_task import BROKEN, Task

NODES = 300  # random poses between each two given ones
NEIGHBOURS = 8  # to which each of them is connected
ALONG = 12  # poses checked along each edge
SLACK = 1e-3  # loss of the worst edge's quality that is accepted for a shorter way


def roadmap(task: Task) -> Array:
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


def _way(task: Task, start: Array, end: Array) -> Array:
    """(j, 6) poses from start to end."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
    from scipy.spatial import KDTree
    from scipy.stats import qmc

    drawn = qmc.Halton(7, scramble=False).random(NODES + 1)[1:]  # the first is a corner
    about = start + drawn[:, :1] * (end - start) + task.room * (2 * drawn[:, 1:] - 1)
    nodes = np.concatenate([[start, end], about])
    _, near = KDTree(nodes / task.scale).query(nodes / task.scale, k=NEIGHBOURS + 1)
    joined = np.stack([np.repeat(np.arange(len(nodes)), NEIGHBOURS), near[:, 1:].ravel()], axis=-1)
    ends = np.stack(np.meshgrid([0, 1], np.arange(1, len(nodes)), indexing="ij"), axis=-1).reshape(-1, 2)
    pairs = np.unique(np.sort(np.concatenate([joined, ends]), axis=-1), axis=0)
    i, j = pairs[pairs[:, 0] != pairs[:, 1]].T.astype(np.int32)  # no loops of equal poses; csgraph wants 32 bits
    shares = np.linspace(0.0, 1.0, ALONG)[:, None, None]
    poses = nodes[i] + shares * (nodes[j] - nodes[i])
    good = np.minimum(1.0, task.quality(poses)).min(axis=0)
    broken = task.margins(poses).min(axis=(0, -1), initial=0.0)
    good = np.where(broken < 0, np.minimum(good, 0.0) + broken - BROKEN, good)
    shape = (len(nodes), len(nodes))
    cost = 2.0 - good  # above 0: csgraph takes an edge that costs nothing for no edge
    tree = minimum_spanning_tree(coo_array((cost, (i, j)), shape=shape).tocsr())
    worst = _dearest_between(tree)
    kept = cost <= worst + SLACK
    apart = np.linalg.norm((nodes[j] - nodes[i]) / task.scale, axis=1)
    _, before = dijkstra(
        coo_array((apart[kept], (i[kept], j[kept])), shape=shape).tocsr(),
        directed=False,
        indices=0,
        return_predecessors=True,
    )
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
