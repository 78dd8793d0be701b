"""The state of a mechanism for the integrators, with loops that stay closed, and rates that may be called independent.

y = s, v: the tree without angles and the rates of the whole tree (`formulations/mechanism/state.py`). Equations are
reduced to the usual rates (`usual_rates`). Where these hardly move beside the others, other rates take
their place. The choice depends on the position alone.

At some positions the mechanism has another freedom for an instant, and goes through. There the loops do not tell where
it goes, and rounding decides. The motion is smooth, so its rates are found between those before and behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ConvergenceError, SingularityError
from tauforge.evaluation.unmodified import method_is_ours, ours
from tauforge.formulations.mechanism.complement import sizes
from tauforge.formulations.mechanism.state import length_scales, state_size, usual_rates, with_one_sign
from tauforge.robots.mechanism import guards
from tauforge.robots.mechanism.guards import MOST_LOST
from tauforge.robots.mechanism.mobility import preferred_rates
from tauforge.robots.mechanism.singular_positions import ends_met, explanation, singular_position
from tauforge.robots.state_space import NO_FIELDS, Judged, Loads, StateFormulas, StateSpace, formula_results

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism

MOST_SPREAD = 20.0  # other rates beside the usual ones, at most
CLOSED_GAP = 1e-13  # of the mechanism's size (or rad): gap of a loop that is closed
RECORDED_GAP = 1e-12  # the same: a gap that may be recorded
NEWTON_ROUNDS = 20  # steps of Newton's method
LONGEST_CLOSING = 0.1  # rad or share of the mechanism's size: as far as closing may move a state that a step has led to
NEAR_MORE_FREEDOM = 300.0  # nearness to a position with more freedom from which rates are found between others
KEPT_NEARNESS = 30.0  # the same: from which closed positions stay, since integration keeps more digits than closing
SMOOTH_RATES = 1e-6  # share of the rates by which those that are found between others may differ, beside rounding
NEIGHBOUR_DISTANCE = 1e-2  # rad, or share of the mechanism's size, from one of these others to the next
INTERPOLATION_ROUNDING = 1e3 * np.finfo(float).eps
NEIGHBOUR_PLACES = (-3, -2, -1, 1, 2, 3)  # where they are on the way
NEIGHBOUR_WEIGHTS = (1 / 20, -3 / 10, 3 / 4, 3 / 4, -3 / 10, 1 / 20)  # of the polynomial through six at the middle
USUAL_RATES = ""  # the rates by which states are computed where these are good
TINY = 1e-300  # a doubt is NaN where one of the values is


@ours
class MechanismState(StateSpace):
    """States are (m,) or (..., m)."""

    robot: Mechanism

    def __init__(self, mechanism: Mechanism) -> None:
        super().__init__(mechanism)
        p = mechanism._analysis.parameters
        self.cut, self.independent, self.usual = state_size(p), list(p.independent), usual_rates(p)
        self.scales = np.array(p.scales)
        self.lengths = length_scales(p)

    def pack(self, position: Array, velocity: Array) -> Array:
        y = np.concatenate(self._run("state_of_position", {"x": position, "qd": velocity}), axis=-1)
        given = np.isfinite(position).all() and np.isfinite(velocity).all()
        if y.ndim == 1 and given and not np.isfinite(y).all():
            raise singular_position(self.robot, position)
        if y.ndim == 1 and given:
            (lost,) = self._lost_at_start(position[None], y[None], {})
            if not lost < MOST_LOST:
                raise self._without_inertia(position, lost)
        return y

    def start_refusals(self, position: Array, velocity: Array, fields: Mapping[str, Array]) -> dict[int, str]:
        y = self.pack(position, velocity)
        lost = self._lost_at_start(position, y, fields)
        return {
            k: self._without_inertia(position[k], lost[k]).reason for k in np.flatnonzero(~(lost < MOST_LOST)).tolist()
        }

    def _lost_at_start(self, position: Array, y: Array, fields: Mapping[str, Array]) -> Array:
        """(k,) share of the accelerations that is rounding, by the rates that are good there; zero where y is NaN."""
        found = np.zeros(len(y))
        sets = np.array(self.sets_at(position))
        for by in set(sets.tolist()) if own_dynamics(self.robot) else ():
            rows = (sets == by) & np.isfinite(y).all(axis=-1)
            if rows.any():
                varied, x = {name: value[rows] for name, value in fields.items()}, position[rows]
                (doubts,) = self._run("start_doubt", {"x": x}, varied, by)
                found[rows] = guards.lost_at_start(self.robot, x, y[rows, self.cut :], by, varied, doubts)
        return found

    def _without_inertia(self, position: Array, lost: float) -> SingularityError:
        M = self._run("mass_matrix", {"x": position})[0]
        why = explanation(self.robot, position, "inertia", M=M)
        return why.error(self.robot, position, lost / np.finfo(float).eps)

    def position(self, y: Array) -> Array:
        return self._run("position_of_state", {"s": y[..., : self.cut]})[0]

    def velocity(self, y: Array) -> Array:
        return y[..., self.cut :][..., self.independent]

    def rates(self, y: Array, acceleration: Array) -> Array:
        """Rates of the state from the accelerations of the independent coordinates."""
        s, v = y[..., : self.cut], y[..., self.cut :]
        return np.concatenate(self._run("rates_of_motion", {"s": s, "v": v, "qdd": acceleration}), axis=-1)

    def rates_under(
        self, y: Array, force: Array, wrench: Array | None = None, fields: Mapping[str, Array] = NO_FIELDS
    ) -> Array:
        """Rates of the state, reduced to the usual rates, or to others where these are bad.

        Raises SingularityError where none are good.
        """
        if not own_dynamics(self.robot):
            return super().rates_under(y, force, wrench, fields)
        arguments = self._parts(y) | {"tau": force}
        if wrench is not None:
            arguments["external_wrench"] = wrench
        found, spread = self._by_good_rates("state_rates", arguments, fields)
        found, nearness = found[..., :-1], found[..., -1]
        if not (nearness <= NEAR_MORE_FREEDOM).all():
            self._find_between(found, nearness, y, force, wrench, fields)
        if y.ndim == 1 and np.isfinite(y).all() and not np.isfinite(found).all():
            x, M, kind, condition = self.position(y), None, "freedom", float(spread)
            if ends_met(self.robot, x[None]).any():
                kind, condition = "spring", np.nan
            elif spread <= MOST_SPREAD:  # the rates are good, so it is the mass matrix that is singular
                M, kind, condition = self._run("mass_matrix", {"x": x})[0], "inertia", np.inf
            raise explanation(self.robot, x, kind, M=M).error(self.robot, x, condition)
        return found

    def _find_between(
        self, found: Array, nearness: Array, y: Array, force: Array, wrench: Array | None, fields: Mapping[str, Array]
    ) -> None:
        """Better rates for the rows of `found` that are near positions with more freedom, where there are any.

        They must be the rows' own but for rounding, which grows as these positions come near. A mechanism that is only
        nearly flat turns sharply there, and rates before and behind say nothing of it.
        """
        near = ~(nearness <= NEAR_MORE_FREEDOM)
        for row in map(tuple, np.argwhere(near)):
            own = y[row]
            pace = np.abs(own[self.cut :] / self.scales).max()
            if not 0.0 < pace < np.inf:
                continue
            travel = self._run("rates_of_tree", self._parts(own))[0]
            way = np.multiply.outer(np.array(NEIGHBOUR_PLACES), NEIGHBOUR_DISTANCE / pace * travel)
            others = self.renewed(np.concatenate([own[: self.cut] + way, np.tile(own[self.cut :], (6, 1))], axis=-1))
            arguments = self._parts(others)
            arguments["tau"] = np.broadcast_to(force, (*near.shape, force.shape[-1]))[row]
            if wrench is not None:
                arguments["external_wrench"] = np.broadcast_to(wrench, (*near.shape, 6))[row]
            varied = {k: self._rows_of(k, a, near.shape)[row] for k, a in fields.items()}
            rates, _ = self._by_good_rates("state_rates", arguments, varied)
            if (rates[:, -1] <= NEAR_MORE_FREEDOM).all():
                between = np.array(NEIGHBOUR_WEIGHTS) @ rates[:, :-1]
                lost = SMOOTH_RATES + INTERPOLATION_ROUNDING * nearness[row] ** 2
                if not np.abs(between - found[row]).max() > lost * np.abs(between).max():
                    found[row] = between

    def renewed(self, y: Array) -> Array:
        """The state with its loops closed, rates that fit them, and quaternions of length one.

        A single state whose loops cannot be closed raises ConvergenceError; such rows of several are NaN.
        """
        size = max(1.0, self.robot._analysis.size)
        if not self.robot._analysis.parameters.cuts and not self.robot._analysis.parameters.ties:
            found, _ = self._by_good_rates("closed_state", self._parts(y), {})
            return found[..., :-2]
        given, gap = y, np.full(y.shape[:-1], np.inf)
        for _ in range(NEWTON_ROUNDS):
            found, _ = self._by_good_rates("closed_state", self._parts(y), {})
            kept = self._kept(y, found[..., -1])
            y, last, gap = np.where(kept, y, found[..., :-2]), gap, np.where(kept[..., 0], 0.0, found[..., -2])
            if (gap <= CLOSED_GAP * size).all() or not (gap < 0.5 * last).any():
                break
        lost = ~(gap <= RECORDED_GAP * self.robot._analysis.size)
        far = ~(np.abs((y - given)[..., : self.cut] / self.lengths).max(axis=-1, initial=0.0) <= LONGEST_CLOSING)
        if y.ndim == 1:
            if np.isfinite(given).all() and np.isfinite(gap) and (lost or far):
                problem = f"{self.robot.name}: the loops cannot be closed after this step"
                remedy = "Take a shorter step"
                raise ConvergenceError(problem, residual=float(gap), iterations=NEWTON_ROUNDS, remedy=remedy)
            return y
        y[lost | far] = np.nan
        return y

    def _kept(self, y: Array, nearness: Array) -> Array:
        """Mask of the numbers of closed states that stay: near a position with more freedom loops are no guide.

        A step of Newton's would move a position by the rounding of its gap times the nearness.
        """
        near, kept = np.array(~(nearness <= KEPT_NEARNESS) & np.isfinite(y).all(axis=-1)), np.zeros(y.shape, bool)
        if near.any():
            gaps = self.robot.loop_gap(self.position_of(y[near][..., : self.cut]))
            near[near] = gaps <= CLOSED_GAP * self.robot._analysis.size
            kept[..., : self.cut] = near[..., None]
            kept[..., self.cut :] = (near & ~(nearness <= NEAR_MORE_FREEDOM))[..., None]
        return kept

    def sets_at(self, position: Array) -> list[str]:
        """Numbers of the rates that are independent at positions (k, N), as text."""
        p, found = self.robot._analysis.parameters, [USUAL_RATES] * len(position)
        if p.cuts or p.ties:
            for k in np.flatnonzero(~(self._run("spread", {"x": position})[0] <= MOST_SPREAD)):
                found[k] = self._other(position[k])
        return found

    @computed_once
    def formulas(self) -> StateFormulas | None:
        return MechanismFormulas(self) if type(self) is MechanismState and own_dynamics(self.robot) else None

    def coordinates_used(self, position: Array) -> list[tuple[str, ...]] | None:
        sets = self.sets_at(position)
        names = {by: self.names_of(by) for by in set(sets)}
        return [names[by] for by in sets]

    def names_of(self, by: str) -> tuple[str, ...]:
        analysis = self.robot._analysis
        return tuple(analysis.names[k] for k in (map(int, by.split()) if by else self.usual))

    def _other(self, position: Array) -> str:
        """The best rates at one position, usual ones that are good among them."""
        analysis, p = self.robot._analysis, self.robot._analysis.parameters
        if not np.isfinite(position).all():
            return USUAL_RATES
        J = self._run("loop_matrix", {"x": position})[0] * np.array(p.scales)
        null = np.linalg.svd(J)[2][p.n - analysis.structure.freedom :].T
        return " ".join(map(str, preferred_rates(null, self.usual)))

    def _parts(self, y: Array) -> dict[str, Array]:
        return {"s": y[..., : self.cut], "v": y[..., self.cut :]}

    def _by_good_rates(
        self, function: str, arguments: Mapping[str, Array], fields: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """All results but the last side by side, and the last, the spread: each row by rates that are good there."""
        *results, spread = self._run(function, arguments, fields)
        found = _beside(results)
        bad = ~(spread <= MOST_SPREAD)
        if not bad.any():
            return found, spread
        if not bad.ndim:
            by = self._other(self.position_of(arguments["s"]))
            if by == USUAL_RATES:
                return found, spread
            *results, spread = self._run(function, arguments, fields, by)
            return _beside(results), spread
        batch = np.shape(bad)
        rows = np.argwhere(bad)
        positions = self.position_of(arguments["s"])[bad]
        sets = np.array([self._other(x) for x in positions])
        for by in set(sets.tolist()) - {USUAL_RATES}:
            places = tuple(rows[sets == by].T)
            own = {k: np.broadcast_to(a, (*batch, a.shape[-1]))[places] for k, a in arguments.items()}
            varied = {k: self._rows_of(k, a, batch)[places] for k, a in fields.items()}
            *results, better = self._run(function, own, varied, by)
            found[places], spread[places] = _beside(results), better
        return found, spread

    def _rows_of(self, field: str, values: Array, batch: tuple[int, ...]) -> Array:
        return np.broadcast_to(values, (*batch, *self.robot.varying_fields[field]))

    def position_of(self, s: Array) -> Array:
        return self._run("position_of_state", {"s": s})[0]

    def _run(
        self,
        function: str,
        arguments: Mapping[str, Array],
        fields: Mapping[str, Array] | None = None,
        by: str = USUAL_RATES,
    ) -> tuple[Array, ...]:
        options: dict[str, Any] = {"by": by} if by else {}
        if fields:
            kernel, evaluator = self.robot.kernel(function, varying=tuple(fields), **options), self.robot._evaluator
            loads = tuple(arguments)[len(evaluator.functions[function].arguments) :]
            if loads:
                kernel = evaluator.kernel_on(
                    "cpu", evaluator.request(function, loads, options, tuple(fields)), "float64"
                )
            found = kernel(*arguments.values(), *fields.values())
            return found if isinstance(found, tuple) else (found,)
        return tuple(self.robot._evaluator(function, arguments, **options))


def _beside(results: list[Array]) -> Array:
    """Vectors and numbers of each row as one vector."""
    return np.concatenate([x if x.ndim == results[0].ndim else x[..., None] for x in results], axis=-1)


def own_dynamics(mechanism: Mechanism) -> bool:
    """True if the method that gives accelerations is ours, not that of a subclass."""
    return method_is_ours(type(mechanism), "forward_dynamics")


class MechanismFormulas:
    """y = s, v as in `MechanismState`. Loops are closed by one step of Newton's method.

    Values are not good where the usual rates hardly move beside the others, near positions with more freedom, and where
    that step leaves loops open.
    """

    float64_for = "its loops stay closed"

    def __init__(self, space: MechanismState) -> None:
        self.mechanism = mechanism = space.robot
        size = mechanism._analysis.size
        self.cut, self.independent = space.cut, space.independent
        self.parts: Mapping[str, int] = {"tree": space.cut, "tree_rates": mechanism._analysis.parameters.n}
        self.gap = min(CLOSED_GAP * max(1.0, size), RECORDED_GAP * size)

    def packed(self, model: Any, position: Scalars, velocity: Scalars) -> list[Scalar]:
        return formula_results(self.mechanism, "state_of_position", model, position, velocity)

    def position(self, model: Any, y: Scalars) -> list[Scalar]:
        return formula_results(self.mechanism, "position_of_state", model, y[: self.cut])

    def velocity(self, y: Scalars) -> list[Scalar]:
        return [y[self.cut + k] for k in self.independent]

    def rates(self, model: Any, y: Scalars, force: Scalars, loads: Loads) -> Judged:
        given = y[: self.cut], y[self.cut :], force
        *found, nearness, spread = formula_results(self.mechanism, "state_rates", model, *given, loads=loads)
        return Judged(found, (nearness * (1.0 / NEAR_MORE_FREEDOM),), (spread * (1.0 / MOST_SPREAD),))

    def renewed(self, model: Any, y: Scalars) -> Judged:
        *found, gap, nearness, spread = formula_results(
            self.mechanism, "closed_state", model, y[: self.cut], y[self.cut :]
        )
        doubts = (gap * (1.0 / self.gap), nearness * (1.0 / NEAR_MORE_FREEDOM), sizes(found) * TINY)
        s = with_one_sign(self.mechanism._analysis.parameters, found[: self.cut])
        return Judged([*s, *found[self.cut :]], doubts, (spread * (1.0 / MOST_SPREAD),))

    def at(self, model: Any, coordinates: Scalars, near: Scalars) -> Judged:
        """By some steps of Newton's method, which are enough from nearby."""
        *found, gap = formula_results(self.mechanism, "closing_steps", model, coordinates, near)
        return Judged(found, (gap * (1.0 / self.gap),))
