"""Singular positions of a mechanism: condition numbers, reasons in words, and the map from actuators to a body.

Lengths are taken as shares of the mechanism's size, so that no condition number depends on units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.errors import SingularityError
from tauforge.evaluation.reference import reference
from tauforge.formulations.mechanism.configuration import rates_in_x
from tauforge.formulations.mechanism.cuts import posed_at
from tauforge.formulations.mechanism.kinematics import body_rates
from tauforge.formulations.mechanism.springs import nearness_of_ends
from tauforge.robots.mechanism.loop_matrices import LoopEquations
from tauforge.robots.mechanism.mobility import RANK_TOLERANCE
from tauforge.robots.mechanism.parts import POSE_LABELS
from tauforge.robots.mechanism.structure import Analysis
from tauforge.validation import listed

if TYPE_CHECKING:
    from tauforge.robots.mechanism.kinematics import MechanismKinematics
    from tauforge.robots.mechanism.mechanism import Mechanism

OPEN_LOOP = 1e-3  # share of the mechanism's size, or rad: gap of a loop that has no dynamics
REFUSED_CONDITION = 1e12  # condition number from which a position is refused
NEARLY_WORST = 0.01  # share of the largest condition number from which a deeper reason is told
BEYOND_ROUNDING = 1 / np.finfo(float).eps  # condition numbers above are as good as infinite
MOVES_MOST = 0.5 - 1e-6  # of the largest rate: joints that messages name; rounding must not choose among equals
MOST_NAMED = 3  # of them
LEAST_MOTION = 1e-6  # of the largest rate


class Conditions(NamedTuple):
    """Condition numbers of positions, (k,) each.

    freedom:   of the loop matrix: infinite where the mechanism gains a freedom
    rates:     of its columns that the independent rates leave: infinite where these do not determine the motion
    actuation: infinite where the actuators lose control, or work against each other; 1 where there are none
    gaps:      the worst gap of a loop, as a share of the mechanism's size, or rad
    blocked:   what redundant constraints see of the usual motions, as such a share: zero where they are redundant
    motions:   (k, n, f) orthonormal bases of the motions that the loops allow, rates in units of `LoopEquations.scale`
    """

    freedom: Array
    rates: Array
    actuation: Array
    gaps: Array
    blocked: Array
    motions: Array


def ratio(values: Array) -> Array:
    """Largest by smallest of singular values (k, r), sorted; 1 where there are none."""
    if not values.shape[1]:
        return np.ones(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = values[:, 0] / values[:, -1]
    return np.where(np.isnan(found), np.inf, found)


def conditions(analysis: Analysis, x: Array) -> Conditions:
    """Condition numbers of positions (k, N)."""
    p = analysis.parameters
    J, gaps = LoopEquations(p).scaled(x)
    gaps = np.abs(gaps).max(axis=-1, initial=0.0)
    ones = np.ones(len(x))
    if not J.shape[1]:
        everything = np.broadcast_to(np.eye(p.n), (len(x), p.n, p.n))
        return Conditions(ones, ones, _of_actuation(analysis, everything), gaps, np.zeros(len(x)), everything)
    rank = p.n - len(p.independent)
    others = [k for k in range(p.n) if k not in p.independent]
    _, values, V = np.linalg.svd(J)
    own = np.linalg.svd(J[:, :, others], compute_uv=False)[:, :rank]
    null = np.swapaxes(V[:, rank:], 1, 2)
    blocked = values[:, rank:].max(axis=-1, initial=0.0)
    return Conditions(ratio(values[:, :rank]), ratio(own), _of_actuation(analysis, null), gaps, blocked, null)


def _of_actuation(analysis: Analysis, null: Array) -> Array:
    """Condition numbers of the actuation, (k,). null: (k, n, f) orthonormal bases of the motions"""
    p = analysis.parameters
    if p.actuated == p.independent or not p.working:
        return np.ones(len(null))
    with np.errstate(divide="ignore"):  # of 1 at the most: 1 where the actuated rates are all rates
        found: Array = 1.0 / np.linalg.svd(null[:, list(p.working)], compute_uv=False)[:, -1]
    return found


# ------------------------------------------------------------------------------------------------------ in words


class Faults(NamedTuple):
    """Faults of k positions, or what comes nearest to one.

    kinds:      "freedom", "rates" or "actuation" as in `Conditions`, "inertia", "open" where loops are, "blocked" where
                constraints are not redundant that are so at home; "spring" where one has no direction
    conditions: (k,) the condition numbers that tell; NaN where loops are open
    """

    kinds: list[str]
    conditions: Array


def faults(found: Conditions, inertia: Array | None, met: Array | None = None) -> Faults:
    """The faults of positions with these condition numbers.

    inertia: (k,) growth of rounding on the way to accelerations, where these matter
    met:     (k,) True where ends of springs meet, where forces matter
    """
    table = {"freedom": found.freedom, "rates": found.rates, "actuation": found.actuation}
    worst = np.stack(list(table.values())).max(axis=0)
    if inertia is not None:  # S' M S has the square of the condition number of S
        table = {key: values * values for key, values in table.items()} | {"inertia": inertia}
    kinds = []
    for i, gap in enumerate(found.gaps):
        if gap > OPEN_LOOP:
            kind, worst[i] = "open", np.nan
        elif found.blocked[i] > OPEN_LOOP:
            kind, worst[i] = "blocked", np.inf
        elif met is not None and met[i]:
            kind, worst[i] = "spring", np.nan
        else:
            largest = min(max(values[i] for values in table.values()), BEYOND_ROUNDING)
            kind = next(key for key, values in table.items() if values[i] >= NEARLY_WORST * largest)
        kinds.append(kind)
    return Faults(kinds, worst)


class SingularReason(NamedTuple):
    """The reason why a position is singular, and a remedy."""

    reason: str
    remedy: str | None = None

    def error(self, m: Mechanism, x: Array, condition: float) -> SingularityError:
        return SingularityError(
            f"{m.name}: {self.reason}", pose=x.tolist(), condition_number=condition, remedy=self.remedy
        )


def singular_position(m: Mechanism, x: Array) -> SingularityError:
    """The error for a position (N,) that has no answer."""
    found = conditions(m._analysis, x[None])
    (kind,), (condition,) = faults(found, None)
    why = explanation(m, x, kind, float(found.gaps[0]))
    return why.error(m, x, float(condition))


def explanation(m: Mechanism, x: Array, kind: str, gap: float = 0.0, M: Array | None = None) -> SingularReason:
    """The reason why a position (N,) is singular, with the joints concerned.

    gap: by which loops are open, rad or a share of the mechanism's size
    M:   (f, f) the mass matrix, where that is singular
    """
    p, s = m._analysis.parameters, m.structure
    match kind:
        case "open":
            by = f"open by {gap:.2g} of the mechanism's size, or rad"
            return SingularReason(
                f"this position does not close the loops ({by})", "Make positions by configuration(q)"
            )
        case "blocked":
            return SingularReason(
                "the mechanism has less freedom here than at home: there some constraints are redundant"
            )
        case "inertia":
            return _without_inertia(m, M)
        case "spring":
            spring = m.springs[int(ends_met(m, x[None])[0].argmax())]
            between = f"the spring between {spring.body_a} and {spring.body_b}"
            return SingularReason(
                f"the ends of {between} meet here: it has a length, so it pushes, and there is no direction to push in",
                "Give it length=0, or points that do not meet",
            )
    moving = _listed(m, singular_motion(m, x, kind))
    if kind == "freedom":
        return SingularReason(
            f"the mechanism gains a freedom here: {moving} can move while {_standing(s.independent)} still"
        )
    if kind == "actuation":
        return SingularReason(f"the actuators lose control here: {moving} can move while {_standing(s.actuated)} still")
    one = len(s.independent) == 1
    lost = "the actuators lose control, and " if p.actuated == p.independent else ""
    return SingularReason(
        f"{', '.join(s.independent)} {'does' if one else 'do'} not determine the motion here: {lost}{moving} can move "
        f"while {'it stands' if one else 'they stand'} still"
    )


def ends_met(m: Mechanism, x: Array) -> Array:
    """(k, springs) mask of springs whose ends meet at positions (k, N), so that they have no direction there."""
    p = m._analysis.parameters
    if not p.springs:
        return np.zeros((len(x), 1), bool)

    def formula(x: Sequence[Scalar]) -> list[Scalar]:
        posed = posed_at(p, x)
        return [nearness_of_ends(p._replace(springs=(spring,)), posed) for spring in p.springs]

    (found,) = reference(formula, {"x": x}, ((len(p.springs),),))
    return ~(found < 1.0)


def _standing(names: Sequence[str]) -> str:
    return f"{listed(names, MOST_NAMED)} {'stands' if len(names) == 1 else 'stand'}"


def _most(shares: Mapping[str, float]) -> list[str]:
    return [name for name, share in shares.items() if share >= MOVES_MOST]


def _listed(m: Mechanism, shares: Mapping[str, float]) -> str:
    """Names of those that move most, floating bodies before the joints that carry them."""
    return listed(sorted(_most(shares), key=lambda name: name not in m.structure.floating), MOST_NAMED)


def _without_inertia(m: Mechanism, M: Array | None) -> SingularReason:
    """M: (f, f); None, or not finite, where it is not known which rates are without inertia."""
    if M is None or not np.isfinite(M).all():
        remedy = "Give every body at a free end mass and inertia"
        return SingularReason("a motion moves neither mass nor inertia here", remedy)
    p = m._analysis.parameters
    scale = np.array(p.scales)[list(p.independent)]
    size = np.sqrt(np.abs(np.diagonal(M)))
    size = np.where(size > 0, size, 1.0)
    weakest = np.abs(np.linalg.eigh(M / np.outer(size, size))[1][:, 0] / size / scale)
    whole = np.zeros(len(m.coordinate_names))
    whole[m.independent_places] = weakest
    shares = _shares(m, whole)
    outer = {branch.joint: branch.copy_of or branch.outer for branch in m._analysis.tree.branches}
    bodies = {joint.name: outer[k] for k, joint in enumerate(m.joints) if k in outer}
    names = _most(shares)
    moved = [bodies.get(name, name) for name in names]
    return SingularReason(
        f"the motion of {listed(names, MOST_NAMED)} moves neither mass nor inertia here",
        f"Give {listed(moved, MOST_NAMED)} mass and inertia",
    )


# ----------------------------------------------------------------------------------------------- the motion itself


def singular_motion(m: Mechanism, x: Array, kind: str) -> dict[str, float]:
    """Motion that is worst: how much each joint and floating body moves beside the one that moves most.

    x:    (N,)
    kind: "freedom" and "rates" look at motions with independent coordinates that stand still, "actuation" at those
          with actuators that stand still. Where there are several such motions, they count together.
    """
    analysis = m._analysis
    p = analysis.parameters
    loops = LoopEquations(p)
    J = loops.scaled(x[None])[0][0]
    still = p.actuated if kind == "actuation" else p.independent
    others = [k for k in range(p.n) if k not in still]
    if not others:
        return {}
    _, values, V = np.linalg.svd(J[:, others])
    values = np.concatenate([values, np.zeros(len(others) - len(values))])
    weak = np.flatnonzero(values <= RANK_TOLERANCE * values[0]).tolist() or [len(others) - 1]
    motions = np.zeros((len(weak), p.n))
    motions[:, others] = V[weak]

    def formula(x: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return rates_in_x(p, posed_at(p, x), x, v)

    repeated = np.broadcast_to(x, (len(weak), len(x)))
    with np.errstate(all="ignore"):
        (rates,) = reference(formula, {"x": repeated, "v": motions * loops.scale}, ((len(x),),))
    lengths = np.array([entry.unit == "m" for entry in m.positions.entries])
    together = np.linalg.norm(np.nan_to_num(rates, posinf=0.0, neginf=0.0), axis=0)
    return _shares(m, together / np.where(lengths, analysis.size, 1.0))


def _shares(m: Mechanism, sizes: Array) -> dict[str, float]:
    """sizes: (N,) of the entries of x"""
    owners = [joint.name for joint in m.joints for _ in joint.letters]
    owners += [body for body in m.structure.floating for _ in POSE_LABELS]
    found: dict[str, float] = {}
    for owner, size in zip(owners, sizes.tolist(), strict=True):
        found[owner] = max(found.get(owner, 0.0), size)
    largest = max(found.values(), default=0.0)
    moving = {name: size / largest for name, size in found.items() if size > LEAST_MOTION * largest}
    return dict(sorted(moving.items(), key=lambda item: -round(item[1], 6)))  # rounding must not order equals


# ------------------------------------------------------------------------------------------ from actuators to a body


def actuator_condition_numbers(m: MechanismKinematics, x: Array, body: int, length: float) -> Array:
    """(k,) condition numbers of the map from actuators to a body; infinite at singular positions and open loops.

    length: m, by which angular velocities become velocities
    """
    p, rank = m._analysis.parameters, freedoms_of(m, body)
    if not rank:
        return np.full(len(x), np.nan)
    found = conditions(m._analysis, x)
    motions, moved = _motions(m, found.motions, x, body, length)
    _, drives, V = np.linalg.svd(motions[:, list(p.actuated if m._analysis.controlled else p.independent)])
    with np.errstate(divide="ignore", invalid="ignore"):
        per_drive = moved @ np.swapaxes(V, 1, 2) / drives[:, None]  # but for a rotation of the actuators' rates
    known = (found.gaps <= OPEN_LOOP) & (found.blocked <= OPEN_LOOP) & (found.freedom < REFUSED_CONDITION)
    per_drive[~(known & np.isfinite(per_drive).all(axis=(1, 2)))] = 0.0
    return ratio(np.linalg.svd(per_drive, compute_uv=False)[:, :rank])


def freedoms_of(m: MechanismKinematics, body: int) -> int:
    """Number of freedoms of a body: the rank of the map at most positions, 0 to 6."""

    def find() -> int:
        x = m._analysis.mobility.positions
        moved = _motions(m, conditions(m._analysis, x).motions, x, body, m._analysis.size)[1]
        values = np.linalg.svd(moved, compute_uv=False)
        return int((values > RANK_TOLERANCE * m._analysis.size).sum(axis=-1).max())

    found: int = m._evaluator.kept(("freedoms of a body", body), find)
    return found


def _motions(m: MechanismKinematics, null: Array, x: Array, body: int, length: float) -> tuple[Array, Array]:
    """The tree's rates (k, n, f) of the motions `null`, and the body's velocity and angular velocity (k, 6, f)."""
    p = m._analysis.parameters
    rates = null * np.array(p.scales)[:, None]
    (by_rates,) = reference(partial(body_rates, p, body=body), {"x": x}, ((6, p.n),))
    by_rates[:, 3:] *= length
    return rates, by_rates @ rates
