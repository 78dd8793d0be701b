"""The search for the best designs by NSGA-II, whole generations at a time.

pymoo rather than Optuna: it hands a generation over as one array, which is what the kernels want, while Optuna asks for
one design after another and keeps a record of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tauforge.arrays import Array, real_number
from tauforge.designs.evaluation import Judge, States, check_variable, judge, variables
from tauforge.designs.front import Front, non_dominated
from tauforge.designs.measures import MEASURES, check_measures, has_limits, measures_of, unit_of
from tauforge.errors import ConvergenceError, ModelError
from tauforge.extras import extra_for
from tauforge.robots.capabilities import design_parameters
from tauforge.robots.robot import Robot, check_robot
from tauforge.robots.static_quantities import METRE

EVALUATED_DESIGNS = 10_000
POPULATION = 100
SMALLEST_GENERATION = 4  # designs of a generation: tournaments need two pairs
LIMITS = "within_limits"


def pareto(
    robot: Robot,
    parameters: Mapping[str, tuple[float, float]],
    objectives: Sequence[str] = ("condition", "force"),
    *,
    states: States | int | None = None,
    evaluations: int = EVALUATED_DESIGNS,
    population: int = POPULATION,
    seed: int = 0,
    limits: bool = True,
    stiffness: float = 1.0,
    characteristic_length: float = METRE,
) -> Front:
    """Searches for the designs that no other one surpasses in every objective, by NSGA-II.

    parameters:  lowest and highest value of each, SI: of the robot's `designs.parameters`, of coordinates of home, such
                 as the height "z" of a platform, or of "payload", kg
    objectives:  names of `MEASURES`, or of parameters, which are to be small, such as "base_radius"
    states:      at which every design is judged, or how many; default `states_around(robot)`
    evaluations: how many designs are judged, rounded up to whole generations
    population:  designs of a generation
    seed:        the same seed gives the same front
    limits:      whether every state of a design must be within the limits of the robot, if it has any
    stiffness, characteristic_length: as of `evaluate`

    The front is of all designs that were judged. ConvergenceError where none is within limits.
    Source: Deb, Pratap, Agarwal & Meyarivan 2002, A fast and elitist multiobjective genetic algorithm: NSGA-II.
    """
    units = variables(check_robot("robot", robot))
    names, lower, upper = _bounds(robot, units, parameters)
    wanted = _objectives(robot, names, objectives)
    for field, number, least in (("evaluations", evaluations, 1), ("population", population, SMALLEST_GENERATION)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ModelError(f"expected a whole number >= {least}, got {number!r}", field=field)
    measures = [name for name in wanted if name in MEASURES]
    judged = limits and has_limits(robot) and LIMITS not in measures
    if judged:
        measures.append(LIMITS)
    asked = judge(robot, measures, states=states, stiffness=stiffness, characteristic_length=characteristic_length)
    larger = tuple(name in MEASURES and MEASURES[name].larger for name in wanted)
    trial = Trial(asked, names, wanted, np.where(larger, -1.0, 1.0), judged)
    _search(trial, lower, upper, evaluations, population, seed)
    designs, tried, held = (np.concatenate(x) for x in zip(*trial.generations, strict=True))
    if not held.any():
        raise ConvergenceError(
            f"none of {len(held):,} designs is within limits at every state",
            residual=np.nan,
            iterations=0,
            remedy="Widen the bounds, take states nearer to home, or give limits=False",
        )
    # All designs count, not the last generation alone: that has forgotten some for the sake of a good spread.
    places = np.flatnonzero(held)[np.unique(designs[held], axis=0, return_index=True)[1]]
    chosen = places[non_dominated(tried[places], larger)]
    chosen = chosen[np.argsort(trial.signs[0] * tried[chosen][:, 0], kind="stable")]
    return Front(
        base=robot,
        states=asked.states,
        parameters=names,
        parameter_units=tuple(units[name] for name in names),
        designs=designs[chosen],
        objective_names=wanted,
        objective_units=tuple(unit_of(robot, name) if name in MEASURES else units[name] for name in wanted),
        larger=larger,
        objectives=tried[chosen],
        tried=tried[held],
        evaluations=len(held),
        seed=seed,
    )


class Trial:
    """Judges whole generations and remembers all of them.

    generations: of each its designs (g, p), their objectives (g, m), and whether a design is within limits at every
                 state and its objectives are finite (g,)
    """

    def __init__(
        self, asked: Judge, names: tuple[str, ...], wanted: tuple[str, ...], signs: Array, judged: bool
    ) -> None:
        self.asked, self.names, self.wanted, self.signs, self.judged = asked, names, wanted, signs, judged
        self.generations: list[tuple[Array, Array, Array]] = []

    def costs(self, designs: Array) -> tuple[Array, Array]:
        """Costs to be small, (g, m), and the share of the states that are beyond limits, (g,), 0 where it holds."""
        columns = dict(zip(self.names, np.ascontiguousarray(designs.T), strict=True))
        found = self.asked(columns) if self.asked.measures else {}
        values = np.column_stack([found[name] if name in found else columns[name] for name in self.wanted])
        finite = np.isfinite(values).all(axis=1)
        beyond = 1.0 - found[LIMITS] if self.judged else np.zeros(len(designs))
        beyond = np.where(finite, beyond, 1.0)
        self.generations.append((designs.copy(), values, beyond <= 0))
        return np.where(finite[:, None], values * self.signs, 0.0), beyond


def _search(trial: Trial, lower: Array, upper: Array, evaluations: int, population: int, seed: int) -> None:
    """Tries designs, generation after generation."""
    with extra_for("the search needs", "design"):
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import Problem
        from pymoo.optimize import minimize

    class Designs(Problem):  # type: ignore[misc] # pymoo has no types
        def _evaluate(self, x: Array, out: dict[str, Any], *args: Any, **named: Any) -> None:
            out["F"], beyond = trial.costs(np.asarray(x, float))
            out["G"] = beyond[:, None]

    problem = Designs(n_var=len(lower), n_obj=len(trial.wanted), n_ieq_constr=1, xl=lower, xu=upper)
    size = max(min(population, evaluations), SMALLEST_GENERATION)
    minimize(problem, NSGA2(pop_size=size), ("n_eval", evaluations), seed=seed)


def _bounds(
    robot: Robot, units: Mapping[str, str], parameters: Mapping[str, tuple[float, float]]
) -> tuple[tuple[str, ...], Array, Array]:
    if not parameters:
        raise ModelError("a search needs a parameter", field="parameters", remedy=f"Use some of {', '.join(units)}")
    above = {name: parameter.above for name, parameter in design_parameters(robot).items()}
    for name, pair in parameters.items():
        check_variable(units, name)
        if np.shape(pair) != (2,) or not np.isfinite([real_number(bound) for bound in pair]).all():
            raise ModelError(f"expected a lowest and a highest value, got {pair!r}", field=name)
        if not pair[0] < pair[1]:
            equal = "are equal" if pair[0] == pair[1] else "are reversed"
            raise ModelError(f"the bounds {equal}: {pair[0]:g} and {pair[1]:g}", field=name)
        if not pair[0] > above.get(name, -np.inf):
            raise ModelError(f"expected numbers > {above[name]:g}, got {pair[0]:g}", field=name)
    lower, upper = np.array([tuple(pair) for pair in parameters.values()], float).T
    return tuple(parameters), lower, upper


def _objectives(robot: Robot, parameters: Sequence[str], objectives: Sequence[str]) -> tuple[str, ...]:
    names = (objectives,) if isinstance(objectives, str) else tuple(objectives)
    if len(names) < 2 or len(set(names)) < len(names):
        known = ", ".join((*measures_of(robot), *parameters))
        raise ModelError("a front needs two or more different objectives", field="objectives", remedy=f"Use {known}")
    check_measures(robot, [name for name in names if name not in parameters])
    return names
