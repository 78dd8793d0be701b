"""Ways to reduce a mechanism's equations: to which rates, and in which axes the rows of its cuts are written.

All have the same outcome. The few that promise to cost least are kept, and whoever traces a function takes the best of
them. What they cost is judged by the pattern of the loop matrix in numbers, without tracing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauforge.algebra.elimination import elimination_work
from tauforge.arrays import Array
from tauforge.formulations.mechanism.cuts import axes_to_choose
from tauforge.formulations.mechanism.parameters import CUT_ROWS, MechanismParameters, Reduction
from tauforge.formulations.trees.frames import FREEDOMS, GROUND, ancestors
from tauforge.robots.mechanism.loop_matrices import JointFrames, loop_matrix, natural_scales
from tauforge.robots.mechanism.mobility import (
    BAD_RATES,
    FEWEST_SAMPLES,
    ZERO_ENTRY,
    Mobility,
    chosen,
    goodness,
    places_of,
)

AXES_PER_SET = 2  # axes for each set of rates
SHARED_LOOPS = 2  # loops that are closed at a body whose rates may take the place of the independent ones


def reduced_sets(m: MechanismParameters, found: Mobility, independent: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Sets of rates: the independent ones, and those on the way to a body at which several loops are closed."""
    sets = [independent]
    closed = [cut.a.joint_frame for cut in m.cuts] + [cut.b.joint_frame for cut in m.cuts]
    for k in sorted({k for k in closed if k != GROUND and closed.count(k) >= SHARED_LOOPS}):
        frames = [m.frames[j] for j in ancestors(m.frames, k)]
        own = [frame.at + i for frame in frames for i in range(FREEDOMS[frame.kind])]
        picked = chosen(found, (), sorted(own))
        if goodness(found, picked) > BAD_RATES and picked not in sets:
            sets.append(picked)
    return tuple(sets)


def reductions(m: MechanismParameters, found: Mobility, sets: Sequence[tuple[int, ...]]) -> tuple[Reduction, ...]:
    """For each set of rates the axes that promise to cost least: the same kind of axes for every cut."""
    choices, scales = [axes_to_choose(m.frames, cut) for cut in m.cuts], natural_scales(m, m.size)
    kinds = range(max(map(len, choices), default=1))
    wanted = [tuple(axes[min(kind, len(axes) - 1)] for axes in choices) for kind in kinds]
    positions = np.concatenate([found.positions, found.elsewhere])
    elsewhere = loop_matrix(m, found.elsewhere) * scales[0] / scales[1][:, None]
    matrices = np.concatenate([found.matrices, elsewhere])
    rotations = JointFrames(m).worlds(positions)[..., :3, :3].swapaxes(0, 1) if m.cuts else np.zeros(0)
    enough, near = len(found.matrices) > FEWEST_SAMPLES, len(found.matrices)
    tried = {axes: _present(m, matrices, rotations, axes, enough) for axes in dict.fromkeys(wanted)}
    at_home = {axes: _present(m, matrices[:near], rotations[:near], axes, enough) for axes in tried}
    kept = []
    for z in sets:
        others = [j for j in range(m.n) if j not in z]

        def work(present: Array, z: Sequence[int] = z, others: Sequence[int] = others) -> int:
            return elimination_work(present[:, others].tolist(), len(others)) + int(present[:, list(z)].sum())

        best = sorted(tried, key=lambda axes: work(tried[axes]))[:AXES_PER_SET]
        best_at_home = sorted(tried, key=lambda axes: work(at_home[axes]))[:1]  # for states, see `by_rates`
        for axes in dict.fromkeys(best + best_at_home):
            present = tried[axes]
            kept.append(Reduction(z, axes, places_of(~present), places_of(present & ~at_home[axes])))
    return tuple(kept)


def _present(m: MechanismParameters, matrices: Array, rotations: Array, axes: Sequence[int], enough: bool) -> Array:
    """(rows, n) whether an entry of the loop matrix, with its rows in these axes, is other than zero anywhere.

    matrices, rotations: at samples, world <- joint frame; enough: whether these are enough to tell
    """
    J = matrices.copy()
    if not enough:
        return np.ones(J.shape[1:], bool)
    row = 0
    for cut, own in zip(m.cuts, axes, strict=True):
        if own != GROUND:
            J[:, row : row + 3] = np.swapaxes(rotations[:, own], 1, 2) @ J[:, row : row + 3]
        row += CUT_ROWS[cut.kind]
    largest: Array = np.abs(J).max(axis=0, initial=0.0)
    return np.asarray(largest > ZERO_ENTRY * max(largest.max(initial=0.0), 1e-300))
