"""Mobility of a mechanism: degrees of freedom, rates that may be independent, redundant constraints.

All is found from the loop matrix J in numbers, at the home position and at random positions nearby whose loops are
closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.reference import reference
from tauforge.formulations.mechanism.configuration import stepped_tree
from tauforge.formulations.mechanism.parameters import MechanismParameters
from tauforge.robots.mechanism.loop_matrices import LoopEquations


class SampleSearch(NamedTuple):
    """Search for samples: random positions around home, closed by Gauss-Newton steps.

    spread, longest: rad, or share of the mechanism's size: how far from home they start, and the longest step
    enough:          it ends when so many are closed
    """

    tried: int
    spread: float
    steps: int
    longest: float
    enough: int
    seed: int = 0


NEARBY = SampleSearch(12, 0.15, 30, 0.3, 12)
ELSEWHERE = SampleSearch(48, 3.0, 40, 1.0, 16)  # ends in other assemblies, too; few of a complicated mechanism close
LAST_STEP = 1e-9  # a step so short, with quadratic convergence, is the last
SAMPLE_DAMPING = 1e-14  # share of the squares of J's entries: steps along singular values below 1e-7 are left out
SAMPLE_GAP = 1e-11  # of the mechanism's size
RANK_TOLERANCE = 1e-9  # smallest singular value of J, beside the largest, that counts
ZERO_ENTRY = 1e-11  # entries of J below that at all samples, beside the largest, are zero by structure
GOOD_RATES = 1e-3  # smallest singular value of the rows of S at rates that are taken as independent
BAD_RATES = 1e-6  # smallest singular value of those rows below which rates do not determine the others
PREFERRED_SHARE = 0.3  # of the best rate's size, from which a preferred one is taken instead
AS_GOOD = 0.9  # of the best rate's size, from which the first one is taken
FEWEST_CLOSED_SAMPLES = 4  # samples that must close before entries are called zero


class Mobility(NamedTuple):
    """Results from the samples.

    matrices:   (k, rows, n) J at home and at the samples, lengths as shares of the mechanism's size
    coupled:    numbers of the rates that some constraint feels; every other rate is a motion of its own
    null:       (k, n, f) orthonormal bases of the motions that the loops allow: those of the coupled rates first
    freedom:    f, degrees of freedom
    redundant:  number of rows that say what others say
    positions:  (k, N) x at home and at the samples
    elsewhere:  (l, N) x in other assemblies of the mechanism, where entries of J may be others than near home
    """

    matrices: Array
    coupled: Array
    null: tuple[Array, ...]
    freedom: int
    redundant: int
    positions: Array
    elsewhere: Array


def samples(loops: LoopEquations, home: Array, search: SampleSearch) -> Array:
    """(k, N) positions whose loops are closed, from random ones around home."""
    rng, m = np.random.default_rng(search.seed), loops.parameters
    start = np.broadcast_to(home, (search.tried, len(home)))
    x = stepped(m, start, search.spread * loops.scale * rng.uniform(-1, 1, (search.tried, m.n)))
    moving = np.arange(search.tried)
    for _ in range(search.steps):
        J, left = loops.matrix_and_gaps(x[moving])
        if not J.shape[1] or not m.n:  # nothing closes, or nothing moves
            break
        step = closing_step(J / loops.row_scale[:, None], left / loops.row_scale, loops.scale, search.longest)
        x[moving] = stepped(m, x[moving], step)
        moving = moving[np.abs(step / loops.scale).max(axis=-1) >= LAST_STEP]
        if search.tried - len(moving) >= search.enough:
            break
    good = np.asarray(np.isfinite(x).all(axis=-1))
    gaps = np.where(good[:, None], loops.scaled(x)[1], np.inf)
    good &= np.abs(gaps).max(axis=-1, initial=0.0) <= SAMPLE_GAP
    return np.asarray(x[good])


def stepped(m: MechanismParameters, positions: Array, step: Array) -> Array:
    """(k, N) positions after steps (k, n) of the tree's rates."""
    return reference(partial(stepped_tree, m), {"x": positions, "step": step}, ((positions.shape[1],),))[0]


def closing_step(J: Array, gaps: Array, scale: Array, longest: float = NEARBY.longest) -> Array:
    """(k, n) of the tree's rates: a step of Gauss and Newton that closes loops, cut short where it is long.

    It is the shortest of all such steps, but for a little damping: redundant rows and singular positions need that.

    J: (k, rows, n); gaps: (k, rows); scale: (n,); longest: rad, or share of the mechanism's size
    """
    A = (J[:1] if len(J) > 1 and (J[:1] == J).all() else J) * scale  # mimics alone: one matrix for all
    At = np.swapaxes(A, 1, 2)
    wide = A.shape[1] < A.shape[2]
    square = A @ At if wide else At @ A
    least = SAMPLE_DAMPING * np.trace(square, axis1=1, axis2=2)[:, None, None] + 1e-300
    square = square + least * np.eye(square.shape[1])
    gaps = gaps[..., None]
    step = -(At @ np.linalg.solve(square, gaps) if wide else np.linalg.solve(square, At @ gaps))[..., 0] * scale
    large = np.abs(step / scale).max(axis=-1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, longest / np.maximum(large, 1e-300)))


def mobility(loops: LoopEquations, home: Array) -> Mobility:
    """The freedom of a mechanism, from samples around home and, where it has loops, in other assemblies."""
    positions = np.concatenate([home[None], samples(loops, home, NEARBY)])
    elsewhere = samples(loops, home, ELSEWHERE) if loops.parameters.cuts else positions[:0]
    scaled, n = loops.scaled(positions)[0], loops.parameters.n
    felt = scaled.any(axis=(0, 1))
    coupled, alone = np.flatnonzero(felt), np.flatnonzero(~felt)
    ranks, null = list[int](), list[Array]()
    for k, J in enumerate(scaled):
        if k and (scaled[k - 1] == J).all():  # mimics alone: the same everywhere
            ranks.append(ranks[-1])
            null.append(null[-1])
            continue
        _, s, V = np.linalg.svd(J[:, coupled])
        rank = int((s > RANK_TOLERANCE * max(s.max(initial=0.0), 1e-300)).sum())
        ranks.append(rank)
        S = np.zeros((n, n - rank))
        S[coupled, : len(coupled) - rank] = V[rank:].T
        S[alone, np.arange(len(coupled) - rank, n - rank)] = 1.0
        null.append(S)
    usual = Counter(ranks[1:] or ranks).most_common(1)[0][0]
    kept = [k for k, rank in enumerate(ranks) if rank == usual]
    return Mobility(
        scaled, coupled, tuple(null[k] for k in kept), n - usual, scaled.shape[1] - usual, positions, elsewhere
    )


def places_of(mask: Array) -> frozenset[tuple[int, int]]:
    """(row, column) of the entries that are True."""
    return frozenset((int(i), int(j)) for i, j in np.argwhere(mask))


def goodness(found: Mobility, rates: Sequence[int]) -> float:
    """Measure of how well these rates determine all others: 0 to 1, and 0 where they are too few or too many."""
    return _usual_share(found, rates) if len(rates) == found.freedom else 0.0


def _usual_share(found: Mobility, rates: Sequence[int]) -> float:
    """The smallest singular value of these rows of S, at the worst sample but for a few."""
    coupled = set(found.coupled.tolist())
    alone = found.matrices.shape[2] - len(coupled)
    if len(set(rates) - coupled) < alone:  # a rate that is a motion of its own is missing
        return 0.0
    own = [k for k in rates if k in coupled]
    freedom = found.freedom - alone
    if not freedom:
        return 1.0
    different = {id(S): S for S in found.null}
    least = {key: float(np.linalg.svd(S[own, :freedom], compute_uv=False)[-1]) for key, S in different.items()}
    return sorted(least[id(S)] for S in found.null)[len(found.null) // 4]


def controls(found: Mobility, rates: Sequence[int]) -> bool:
    """True if forces on these rates can give every acceleration, at most of the samples."""
    return len(rates) >= found.freedom and _usual_share(found, rates) > BAD_RATES


def picked_rows(rows: Array, count: int, next_row: Callable[[Array, list[int]], int | None]) -> list[int]:
    """Numbers of rows that are picked one after another, each by what the rows before it leave of all.

    next_row: from the sizes of what is left and the rows picked so far; None to stop
    """
    rest, picked = rows.copy(), list[int]()
    while len(picked) < count:
        sizes = np.linalg.norm(rest, axis=1)
        k = next_row(sizes, picked)
        if k is None:
            break
        e = rest[k] / sizes[k]
        rest = rest - np.outer(rest @ e, e)
        picked.append(k)
    return picked


def first_large(sizes: Array, share: float) -> int:
    """The first that is as large as this share of the largest: rounding must not choose among equals."""
    return int(np.argmax(sizes >= share * sizes.max()))


def independent_forces(found: Mobility, rates: Sequence[int]) -> tuple[int, ...]:
    """Rates whose forces are independent of each other: all, but where forces on some can replace those on others and
    they cannot give every acceleration.
    """
    S = found.null[-1][list(rates)]

    def next_row(sizes: Array, _: list[int]) -> int | None:
        return None if sizes.max(initial=0.0) < GOOD_RATES else first_large(sizes, AS_GOOD)

    picked = picked_rows(S, min(S.shape), next_row)
    return tuple(rates) if len(picked) == min(S.shape) else tuple(rates[k] for k in sorted(picked))


def preferred_rates(null: Array, preferred: Sequence[int]) -> tuple[int, ...]:
    """Rates that determine all others at one place: preferred ones that are nearly as good as the best, then the best.

    null: (n, f) orthonormal, of the motions that the loops allow
    """

    def next_row(sizes: Array, picked: list[int]) -> int:
        own = [k for k in preferred if sizes[k] >= PREFERRED_SHARE * sizes.max() and k not in picked]
        return own[0] if own else first_large(sizes, AS_GOOD)

    return tuple(sorted(picked_rows(null, null.shape[1], next_row)))


def chosen(found: Mobility, preferred: Sequence[int], allowed: Sequence[int] | None = None) -> tuple[int, ...]:
    """Rates that determine all others: of the preferred ones as many as can be, then the best."""
    S = found.null[0]

    def next_row(sizes: Array, picked: list[int]) -> int | None:
        for group in (preferred, range(len(S)) if allowed is None else allowed):
            left = [k for k in group if k not in picked]
            if sizes[left].max(initial=0.0) >= GOOD_RATES:
                return left[first_large(sizes[left], AS_GOOD)]
        return None

    picked = picked_rows(S, found.freedom, next_row)
    in_order = [k for k in preferred if k in picked]
    return tuple(in_order + sorted(k for k in picked if k not in in_order))
