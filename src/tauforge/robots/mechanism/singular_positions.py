"""Where a mechanism is singular, and which positions have no dynamics at all.

Lengths are taken as shares of the mechanism's size, so that no condition number depends on units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.formulations.mechanism.dynamics import usual_sums
from tauforge.formulations.mechanism.parameters import DoubtScales, MechanismParameters
from tauforge.robots.evaluate import evaluate
from tauforge.robots.mechanism.functions import OPEN, SUSPICIOUS
from tauforge.robots.mechanism.reductions import gaps_at, loop_matrix, natural_scales
from tauforge.robots.mechanism.structure import Made

MEANINGLESS = 1e16  # condition numbers beyond, 1 over rounding, are all alike
NEARLY_WORST = 0.01  # share of the largest condition number from which a deeper reason is told


class Conditions(NamedTuple):
    """Condition numbers of positions, (k,) each.

    freedom:   of the loop matrix: infinite where the mechanism gains a freedom
    rates:     of its columns that the independent rates leave: infinite where these do not determine the motion
    actuation: infinite where the actuators lose control, or work against each other; 1 where there are none
    gaps:      the worst gap of a loop, as a share of the mechanism's size, or rad
    blocked:   what redundant constraints see of the usual motions, as such a share: zero where they are redundant
    """

    freedom: Array
    rates: Array
    actuation: Array
    gaps: Array
    blocked: Array


def ratio(values: Array) -> Array:
    """Largest by smallest of singular values (k, r), sorted; 1 where there are none."""
    if not values.shape[1]:
        return np.ones(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = values[:, 0] / values[:, -1]
    return np.where(np.isnan(found), np.inf, found)


def conditions(made: Made, x: Array) -> Conditions:
    """Those of positions (k, N)."""
    p = made.parameters
    columns, rows = natural_scales(p, made.size)
    whole = p._replace(zeros=frozenset())
    J = loop_matrix(whole, x) * columns / rows[:, None]
    gaps = np.abs(gaps_at(whole, x) / rows).max(axis=-1, initial=0.0)
    ones = np.ones(len(x))
    if not J.shape[1]:
        everything = np.broadcast_to(np.eye(p.n), (len(x), p.n, p.n))
        return Conditions(ones, ones, _of_actuation(made, everything), gaps, np.zeros(len(x)))
    rank = p.n - len(p.independent)
    others = [k for k in range(p.n) if k not in p.independent]
    _, values, V = np.linalg.svd(J)
    own = np.linalg.svd(J[:, :, others], compute_uv=False)[:, :rank]
    null = np.swapaxes(V[:, rank:], 1, 2)
    blocked = values[:, rank:].max(axis=-1, initial=0.0)
    return Conditions(ratio(values[:, :rank]), ratio(own), _of_actuation(made, null), gaps, blocked)


def _of_actuation(made: Made, null: Array) -> Array:
    """null: (k, n, f) orthonormal bases of the motions."""
    p = made.parameters
    if p.actuated == p.independent or not p.working:
        return np.ones(len(null))
    with np.errstate(divide="ignore"):  # of 1 at the most: 1 where the actuated rates are all rates
        found: Array = 1.0 / np.linalg.svd(null[:, list(p.working)], compute_uv=False)[:, -1]
    return found


def of_inertia(M: Array) -> Array:
    """Condition numbers of mass matrices (k, f, f), each rate in a unit in which its own inertia is 1.

    A matrix that is not finite says nothing of masses: there the motion does not follow from the rates.
    """
    size = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = M / size[:, :, None] / size[:, None, :]
    good = np.asarray(np.isfinite(scaled).all(axis=(1, 2)))
    found = np.full(len(M), np.inf)
    found[good] = ratio(np.linalg.svd(scaled[good], compute_uv=False))
    return np.where(np.isfinite(M).all(axis=(1, 2)), found, 1.0)


def reasons(made: Made, found: Conditions, inertia: Array | None) -> tuple[list[str], Array]:
    """Why positions are singular, and the condition numbers that tell. inertia: condition numbers of mass matrices."""
    names = ", ".join(made.structure.independent)
    driven = made.parameters.actuated == made.parameters.independent
    does = "does" if len(made.structure.independent) == 1 else "do"
    told = {
        "freedom": "the mechanism gains a freedom here",
        "rates": f"{names} {does} not determine the motion here" + (": the actuators lose control" if driven else ""),
        "actuation": "the actuators lose control here",
        "inertia": "a motion moves no mass here: a body without mass is at a free end",
    }
    table = {"freedom": found.freedom, "rates": found.rates, "actuation": found.actuation}
    worst = np.stack(list(table.values())).max(axis=0)
    if inertia is not None:  # S' M S has the square of the condition number of S
        table = {key: values * values for key, values in table.items()} | {"inertia": inertia}
        worst = np.maximum(worst, inertia)
    words = []
    for i, gap in enumerate(found.gaps):
        if gap > OPEN:
            words.append(f"the loops are open by {gap:.3g} of its size or rad; `configuration` closes them")
            worst[i] = np.inf
        elif found.blocked[i] > OPEN:
            words.append("the mechanism has less freedom here than at home: there some constraints are redundant")
            worst[i] = np.inf
        else:
            largest = min(max(values[i] for values in table.values()), MEANINGLESS)
            told_first = next(key for key, values in table.items() if values[i] >= NEARLY_WORST * largest)
            words.append(told[told_first])
    return words, worst


def doubt_scales(made: Made, model: MechanismParameters) -> tuple[DoubtScales, ...]:
    """So that doubts are about 1 at the best of the samples, and SUSPICIOUS where a loop is open."""
    found = []
    for r in range(len(model.reductions)):

        def formula(x: list[object], r: int = r) -> list[object]:
            return usual_sums(model, x, made.controlled, r)

        (sums,) = evaluate(formula, {"x": made.mobility.positions}, ((4,),))
        good = np.where(np.isfinite(sums) & (sums > 0), sums, np.inf).min(axis=0)
        weights = np.where(np.isfinite(good), 1.0 / good, 1.0)
        loops, rates, inertia, actuation = weights.tolist()
        found.append(DoubtScales(loops, rates, inertia, actuation, SUSPICIOUS / (OPEN * min(made.size, 1.0)) ** 2))
    return tuple(found)
