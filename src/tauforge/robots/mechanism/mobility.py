"""How a mechanism can move: its degrees of freedom, which rates may be independent, which constraints are redundant.

All is found from the loop matrix J in numbers, at the home position and at random positions nearby whose loops are
closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array

SAMPLES = 12
SPREAD = 0.15  # rad, or share of the mechanism's size: how far samples are from home
STEPS = 30  # of Gauss and Newton, at most
LONGEST_STEP = 0.3  # rad, or share of the mechanism's size
CONVERGED = 1e-9  # a step so short, with quadratic convergence, is the last
CLOSED = 1e-11  # of the mechanism's size
RANK = 1e-9  # smallest singular value of J, beside the largest, that counts
NOTHING = 1e-11  # entries of J below that at all samples, beside the largest, are zero by structure
GOOD = 1e-3  # smallest singular value of the rows of S at rates that are taken as independent
BAD = 1e-6  # smallest singular value of those rows below which rates do not determine the others
SHARE = 0.3  # of the best rate's size, from which a preferred one is taken instead
NEARLY = 0.9  # of the best rate's size, from which the first one is taken
FEWEST = 4  # samples that must close before entries are called zero


class Mobility(NamedTuple):
    """What the samples tell.

    matrices:   (k, rows, n) J at home and at the samples, lengths as shares of the mechanism's size
    null:       (k, n, f) orthonormal bases of the motions that the loops allow
    freedom:    f, degrees of freedom
    redundant:  number of rows that say what others say
    positions:  (k, N) x at home and at the samples
    """

    matrices: Array
    null: tuple[Array, ...]
    freedom: int
    freedom_at_home: int
    redundant: int
    positions: Array


def samples(
    matrix_and_gaps: Callable[[Array], tuple[Array, Array]],
    advanced: Callable[[Array, Array], Array],
    home: Array,
    scale: Array,
    size: float,
) -> Array:
    """(k, N) home, and positions nearby whose loops are closed.

    matrix_and_gaps: J (k, rows, n) and by how much loops are open, (k, rows), at x (k, N)
    advanced:        x after steps (k, n) of the tree's rates
    scale:           (n,) 1 for angles, the mechanism's size for lengths
    """
    rng = np.random.default_rng(0)
    start = np.broadcast_to(home, (SAMPLES, len(home)))
    x = advanced(start, SPREAD * scale * rng.uniform(-1, 1, (SAMPLES, len(scale))))
    for _ in range(STEPS):
        J, left = matrix_and_gaps(x)
        if not J.shape[1]:
            break
        step = closing_step(J, left, scale)
        x = advanced(x, step)
        if np.abs(step / scale).max() < CONVERGED:
            break
    good = np.asarray(np.isfinite(x).all(axis=-1))
    good &= np.abs(np.where(good[:, None], matrix_and_gaps(x)[1], np.inf)).max(axis=-1, initial=0.0) <= CLOSED * max(
        size, 1e-3
    )
    return np.concatenate([home[None], x[good]])


def closing_step(J: Array, gaps: Array, scale: Array) -> Array:
    """(k, n) of the tree's rates: a step of Gauss and Newton that closes loops, cut short where it is long.

    J: (k, rows, n); gaps: (k, rows); scale: (n,)
    """
    step = -np.einsum("kij,kj->ki", np.linalg.pinv(J * scale, rcond=1e-7), gaps) * scale
    large = np.abs(step / scale).max(axis=-1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LONGEST_STEP / np.maximum(large, 1e-300)))


def mobility(matrices: Array, positions: Array, scale: Array, row_scale: Array) -> Mobility:
    """row_scale: (rows,) 1 for angles, the mechanism's size for lengths."""
    n = matrices.shape[2]
    scaled = matrices * scale / row_scale[:, None]
    ranks, null = [], []
    for J in scaled:
        if not len(J):
            ranks.append(0)
            null.append(np.eye(n))
            continue
        _, s, V = np.linalg.svd(J)
        rank = int((s > RANK * max(s.max(initial=0.0), 1e-300)).sum())
        ranks.append(rank)
        null.append(V[rank:].T * scale[:, None])
    usual = Counter(ranks[1:] or ranks).most_common(1)[0][0]
    kept = [k for k, rank in enumerate(ranks) if rank == usual]
    return Mobility(
        scaled,
        tuple(null[k] / scale[:, None] for k in kept),
        n - usual,
        n - ranks[0],
        scaled.shape[1] - usual,
        positions,
    )


def places_of(mask: Array) -> frozenset[tuple[int, int]]:
    """(row, column) of what is True."""
    return frozenset((int(i), int(j)) for i, j in np.argwhere(mask))


def goodness(found: Mobility, rates: Sequence[int]) -> float:
    """How well these rates determine all others: the smallest singular value of their rows of S, at the worst sample
    but for a few.
    """
    if len(rates) != found.freedom:
        return 0.0
    if found.freedom == found.matrices.shape[2]:  # nothing follows
        return 1.0
    if not rates:
        return 1.0
    worst = sorted(float(np.linalg.svd(S[list(rates)], compute_uv=False)[-1]) for S in found.null)
    return worst[len(worst) // 4]


def controls(found: Mobility, rates: Sequence[int]) -> bool:
    """Whether forces on these rates can give any acceleration, at most of the samples."""
    if len(rates) < found.freedom:
        return False
    worst = sorted(float(np.linalg.svd(S[list(rates)], compute_uv=False)[-1]) for S in found.null if S.shape[1])
    return not worst or worst[len(worst) // 4] > BAD


def preferred_rates(null: Array, preferred: Sequence[int]) -> tuple[int, ...]:
    """Rates that determine all others at one place: preferred ones that are nearly as good as the best, then the best.

    null: (n, f) orthonormal, of the motions that the loops allow
    """
    rest, picked = null.copy(), list[int]()
    for _ in range(null.shape[1]):
        sizes = np.linalg.norm(rest, axis=1)
        own = [k for k in preferred if sizes[k] >= SHARE * sizes.max() and k not in picked]
        k = own[0] if own else int(np.argmax(sizes >= NEARLY * sizes.max()))  # rounding must not choose among equals
        e = rest[k] / sizes[k]
        rest = rest - np.outer(rest @ e, e)
        picked.append(k)
    return tuple(sorted(picked))


def chosen(found: Mobility, preferred: Sequence[int], allowed: Sequence[int] | None = None) -> tuple[int, ...]:
    """Rates that determine all others: of the preferred ones as many as can be, then the best."""
    S = found.null[0]
    rest, picked = S.copy(), list[int]()
    order = [list(preferred), list(range(len(S)) if allowed is None else allowed)]
    for group in order:
        while len(picked) < found.freedom:
            left = [k for k in group if k not in picked]
            sizes = [float(np.linalg.norm(rest[k])) for k in left]
            if not left or max(sizes) < GOOD:
                break
            k = left[int(np.argmax(sizes))]
            e = rest[k] / np.linalg.norm(rest[k])
            rest = rest - np.outer(rest @ e, e)
            picked.append(k)
    in_order = [k for k in preferred if k in picked]
    return tuple(in_order + sorted(k for k in picked if k not in in_order))
