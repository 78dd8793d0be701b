"""Guards of a mechanism's functions: the closer look at rows that a formula has doubts about.

Refused are positions whose loops are open, singular positions, and accelerations that are rounding. A condition number
of the mass matrix does not tell the latter. Bodies may be light and heavy beside each other without any loss, and a
motion that moves no mass has an inertia that is rounding alone, whatever the matrix looks like. So the formulas are run
with errors of the size of rounding in the masses and in every operation, and results that differ by much are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.functions import Guard, Verdict
from tauforge.evaluation.reference import RUNS, Errors, errors, reference, runs, shaken
from tauforge.formulations.mechanism import dynamics
from tauforge.formulations.mechanism.parameters import DoubtScales, MechanismParameters
from tauforge.formulations.mechanism.state import by_rates
from tauforge.robots.mechanism.model import loaded, model_of
from tauforge.robots.mechanism.singular_positions import (
    OPEN_LOOP,
    REFUSED_CONDITION,
    conditions,
    ends_met,
    explanation,
    faults,
)
from tauforge.validation import counted, freedoms

if TYPE_CHECKING:
    from tauforge.robots.mechanism.kinematics import MechanismKinematics
    from tauforge.robots.mechanism.mechanism import Mechanism

SUSPICIOUS_DOUBT = 1e3  # a doubt that is looked at closely: sums of reciprocals of pivots beside usual ones
REFUSED_CONDITION_SINGLE = 1e4  # the same for float32: results near it keep two or three digits
MOST_LOST = 1e-5  # share of accelerations that is rounding
MOST_LOST_SINGLE = 1e-2  # the same for float32
IMPOSSIBLE_SHARE = 1e-5  # share of the forces for accelerations that no actuator gives; single precision leaves less
BODY_FIELDS = ("mass", "com", "inertia")
STATES_AT_ONCE = 256  # states that are run at once
# A pivot of the mass matrix that is off by a hundredth weighs as accelerations that are off by 1e-5.
PIVOT_WEIGHT = 1e-3
SUSPICIOUS_LOSS = 0.1  # of what accelerations may lose: from there they are looked at
LIGHT_PIVOT = 1e4  # reciprocals of pivots by the mechanism's own inertia: below nothing is lost at the samples
INERTIA_SUM = DoubtScales._fields.index("inertia")
# Shares of rates and actuator forces: all, without actuators, at rest.
LOAD_SHARES = ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0))


class Runs(NamedTuple):
    """Accelerations by one way to reduce the equations. Lengths are taken as shares of the mechanism's size.

    values: (k, f) accelerations
    sizes:  (k,) of what weights, rates and actuators contribute, added up without signs: their balance is no loss
    lost:   (k,) the share of these sizes that is rounding
    """

    values: Array
    sizes: Array
    lost: Array


def lost_in_accelerations(m: Mechanism, arguments: Mapping[str, Array], results: Array | None) -> Array:
    """(k,) the share of the accelerations of `forward_dynamics` that is rounding; infinite where there are none.

    results: (k, f) accelerations that were found, by any way to reduce the equations; None for those by the first way
    """
    p = m._analysis.parameters
    rates, scales = [reduction.rates for reduction in p.reductions], np.array(p.scales)[list(p.independent)]
    numbers = sorted({rates.index(own) for own in (rates if results is not None else rates[:1])})
    found = np.full(len(arguments["x"]), np.inf)
    for start in range(0, len(found), STATES_AT_ONCE):
        block = slice(start, start + STATES_AT_ONCE)
        given = {name: value[block].astype(float) for name, value in arguments.items()}
        with np.errstate(all="ignore"):
            for number in numbers:
                values, sizes, lost = _runs(m, given, number, scales, {})
                if results is not None:
                    lost = lost + _share(np.abs(results[block] / scales - values).max(axis=-1), sizes)
                found[block] = np.fmin(found[block], lost)
    return found


def _runs(
    m: MechanismKinematics,
    arguments: Mapping[str, Array],
    reduced: int,
    scales: Array,
    fields: Mapping[str, Array],
    by: str | None = None,
) -> Runs:
    own, count = errors(), len(arguments["x"])
    whole = {name: np.concatenate([value] * len(LOAD_SHARES)) for name, value in arguments.items()}
    for name, shares in zip(("qd", "tau"), zip(*LOAD_SHARES, strict=True), strict=True):
        whole[name] = whole[name] * np.repeat(shares, count)[:, None]
    given = {name: shaken(value, own) for name, value in whole.items()}
    model = shaken_model(m, own, {name: np.concatenate([value] * len(LOAD_SHARES)) for name, value in fields.items()})
    acting = {name: values for name, values in given.items() if name not in ("x", "qd", "tau")}
    heavy, on = loaded(model if by is None else by_rates(model, by), **acting)
    found = dynamics.forward_dynamics(heavy, given["x"], given["qd"], given["tau"], on, reduced)
    values = (runs(found.values, len(LOAD_SHARES) * count) / scales).reshape(RUNS, len(LOAD_SHARES), count, -1)
    pivots = runs(found.inertia, len(LOAD_SHARES) * count)[:, :count]
    driven, moving, still = values[0]
    sizes = (np.abs(driven - moving) + np.abs(moving - still) + np.abs(still)).max(axis=-1)
    off = _share(np.abs(values[:, 0] - driven).max(axis=(0, -1)), sizes)
    unknown = np.abs(pivots / pivots[0] - 1.0).max(axis=(0, -1))
    return Runs(driven, sizes, np.maximum(off, PIVOT_WEIGHT * unknown))


def _share(part: Array, whole: Array) -> Array:
    """part / whole, 0 where there is no part."""
    return np.where(part == 0.0, 0.0, part / whole)


def shaken_model(m: MechanismKinematics, own: Errors, fields: Mapping[str, Array]) -> MechanismParameters:
    """The model with errors of the size of rounding in masses, centres of mass and inertias.

    fields: (k, ...) each, instead of the mechanism's own
    """
    values = {field: value[None] for field, value in m.own_values(BODY_FIELDS).items()} | dict(fields)
    columns = {field: shaken(value.reshape(len(value), -1), own) for field, value in values.items()}
    return model_of(m, m._analysis.parameters, columns)


def doubt_scales(m: MechanismKinematics) -> tuple[DoubtScales, ...]:
    """Scales that make doubts about 1 at the best of the samples, and SUSPICIOUS_DOUBT where a loop is open.

    Where even there a pivot of the mass matrix may be rounding, doubts are larger: SUSPICIOUS_DOUBT before all is lost.
    """
    analysis, found, larger = m._analysis, list[DoubtScales](), 1.0
    positions, model = analysis.mobility.positions, model_of(m, analysis.parameters)
    heavy = sum(body.mass for body in m.bodies) * max(1.0, analysis.size) ** 2
    for number in range(len(analysis.parameters.reductions)):
        formula = partial(dynamics.usual_sums, model, controlled=analysis.controlled, reduced=number)
        (sums,) = reference(formula, {"x": positions}, ((len(DoubtScales._fields) - 1,),))
        sums = np.where(np.isfinite(sums) & (sums > 0), sums, np.inf)
        usual = sums.min(axis=0)
        if number == 0 and usual[INERTIA_SUM] * heavy > LIGHT_PIVOT:
            (unknown,) = _unknown_pivots(m, positions[[sums[:, INERTIA_SUM].argmin()]], {})
            larger = max(1.0, min(unknown, 1.0) * SUSPICIOUS_DOUBT / (SUSPICIOUS_LOSS * MOST_LOST))
        weights = np.where(np.isfinite(usual), 1.0 / usual, 1.0)
        weights[INERTIA_SUM] *= larger
        loops, rates, inertia, actuation = weights.tolist()
        found.append(
            DoubtScales(loops, rates, inertia, actuation, SUSPICIOUS_DOUBT / (OPEN_LOOP * min(analysis.size, 1.0)) ** 2)
        )
    return tuple(found)


def lost_at_start(
    m: MechanismKinematics, x: Array, v: Array, by: str, fields: Mapping[str, Array], doubts: Array
) -> Array:
    """(k,) the share of the accelerations without actuator forces that is rounding; zero where nothing is in doubt.

    x, v:   positions (k, N) and rates of the tree (k, n)
    by:     rates that the equations are reduced to, as in `formulations.mechanism.state.by_rates`
    fields: (k, ...) each, instead of the mechanism's own
    doubts: (k,) by the function "start_doubt"
    """
    model = by_rates(m.model, by)
    found, rates = np.zeros(len(x)), list(model.independent)
    doubtful = np.flatnonzero(~(doubts < SUSPICIOUS_DOUBT))
    for start in range(0, len(doubtful), STATES_AT_ONCE):
        rows = doubtful[start : start + STATES_AT_ONCE]
        varied = {name: value[rows] for name, value in fields.items()}
        arguments = {"x": x[rows], "qd": v[rows][:, rates], "tau": np.zeros((len(rows), len(model.actuated)))}
        with np.errstate(all="ignore"):
            lost = _runs(m, arguments, 0, np.array(model.scales)[rates], varied, by).lost
        found[rows] = np.maximum(lost, PIVOT_WEIGHT * _unknown_pivots(m, x[rows], varied, by))
    return np.where(np.isnan(found), np.inf, found)


def _unknown_pivots(m: MechanismKinematics, x: Array, fields: Mapping[str, Array], by: str | None = None) -> Array:
    """(k,) the share of the reciprocals of M's pivots that is rounding; infinite where a pivot is none."""
    own = errors()
    model = shaken_model(m, own, fields)
    columns = [one - 1.0 for one in shaken(x + 1.0, own)]  # beside 1: axes in line at 0 are so but for rounding
    with np.errstate(all="ignore"):
        sums = dynamics.usual_sums(model if by is None else by_rates(model, by), columns, False)
        tried = runs(sums[INERTIA_SUM : INERTIA_SUM + 1], len(x))[..., 0]
        unknown = np.abs(tried / tried[0] - 1.0).max(axis=0)
    return np.where(np.isfinite(unknown), unknown, np.inf)


def judge(
    m: Mechanism,
    arguments: Mapping[str, Array],
    results: tuple[Array, ...],
    options: Mapping[str, Any],
    *,
    drives: bool = False,
    inertia: bool = False,
) -> Verdict:
    """Refuses positions whose loops are open and singular ones; in single precision more of them are singular.

    drives:  positions at which the actuators lose control, too
    inertia: accelerations that are rounding, too
    The reason of the first position that is refused names the joints that it is about; that of the others, which nobody
    reads, is one word.
    """
    x, lost = arguments["x"], None
    single = REFUSED_CONDITION_SINGLE, MOST_LOST_SINGLE
    limit, most = single if x.dtype == np.float32 else (REFUSED_CONDITION, MOST_LOST)
    grown = np.zeros(len(x))
    if inertia:
        lost = lost_in_accelerations(m, arguments, results[0] if "reduced" in options else None)
        grown = lost / np.finfo(x.dtype).eps
    x = x.astype(float)
    found = conditions(m._analysis, x)
    if not drives:
        found = found._replace(actuation=np.ones(len(x)))
    met = np.asarray(ends_met(m, x).any(axis=-1)) if "qdd" in arguments or "tau" in arguments else None
    kinds, worst = faults(found, None if lost is None else grown, met)
    refused, reasons, remedy = ~(worst < limit), list(kinds), None
    if lost is not None:
        refused, worst = refused | ~(lost < most), np.maximum(worst, grown)
    if refused.any():
        k = int(refused.argmax())
        M = None
        if kinds[k] == "inertia":
            held = {"payload": arguments["payload"][k]} if "payload" in arguments else {}
            M = m._evaluator("mass_matrix", {"x": x[k], **held})[0]
        reasons[k], remedy = explanation(m, x[k], kinds[k], float(found.gaps[k]), M)
    return Verdict(refused, reasons, x, worst, remedy)


def judge_motion(
    m: Mechanism, arguments: Mapping[str, Array], results: tuple[Array, ...], options: Mapping[str, Any]
) -> Verdict:
    """Refuses accelerations that the mechanism cannot have, too."""
    verdict = judge(m, arguments, results, options, drives=True)
    if m._analysis.controlled:
        return verdict
    (left,) = m._evaluator("forces_left", {name: value.astype(float) for name, value in arguments.items()})
    impossible = ~(left <= IMPOSSIBLE_SHARE) & ~verdict.refused
    actuators = counted(len(m.actuators), "actuator")
    why = f"it has {actuators} for {freedoms(m.n)}, so its accelerations follow from the forces"
    refused = verdict.refused | impossible
    return verdict._replace(
        refused=refused,
        reasons=[why if bad else text for bad, text in zip(impossible, verdict.reasons, strict=True)],
        condition=np.where(impossible, np.nan, verdict.condition),  # which has nothing to do with it
        remedy="Pass those of forward_dynamics(x, qd, tau)" if impossible[refused.argmax()] else verdict.remedy,
    )


MOVING_GUARD = Guard(SUSPICIOUS_DOUBT, judge)
DRIVEN_GUARD = Guard(SUSPICIOUS_DOUBT, partial(judge, drives=True))
FORCED_GUARD = Guard(SUSPICIOUS_DOUBT, partial(judge, inertia=True))
POSSIBLE_GUARD = Guard(SUSPICIOUS_DOUBT, judge_motion)
