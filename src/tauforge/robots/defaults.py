"""What a robot does unless its kind says otherwise: the longer methods of the contract, for any robot."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.evaluation.evaluator import as_argument, choices, finite_rows
from tauforge.evaluation.functions import flat, results_of
from tauforge.robots.parts import CountedFormula, Limit, LimitedQuantity
from tauforge.robots.summary import Summary, SummaryTable
from tauforge.tracing.graph import trace
from tauforge.validation import did_you_mean, real_array

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot


def counted_formula(robot: Robot, formulation: str | None, options: dict[str, Any]) -> CountedFormula:
    robot.check_function("inverse_dynamics")
    function, argument = robot.functions["inverse_dynamics"], robot.formulation_argument
    if formulation is not None:
        if argument is None:
            raise UnsupportedFeatureError(f"{robot.name} has a single, unnamed formulation", field="formulation")
        options = {**options, argument: formulation}
    chosen = {**function.options, **robot.check_options("inverse_dynamics", options)}
    sizes = {argument.name: argument.numbers for argument in function.arguments}

    def formula_with(way: dict[str, Any], *state: Sequence[Scalar]) -> Any:
        return results_of(function.formula(robot.model, **dict(zip(sizes, state, strict=True)), **way))

    def operations(formula: Callable[..., Any]) -> int:
        return sum(1 for node in trace(lambda *state: flat(formula(*state)), sizes).nodes if node.args)

    ways = [partial(formula_with, way) for way in choices(chosen)]  # the kernels take the best of them, too
    return CountedFormula(min(ways, key=operations) if len(ways) > 1 else ways[0], sizes)


def random_states(robot: Robot, count: int, seed: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    low, high = np.transpose([c.usual_range for c in robot.coordinates])
    shape = (count, robot.n)
    return random.uniform(low, high, shape), random.normal(size=shape), random.normal(size=shape)


def random_arguments(robot: Robot, function: str, count: int, seed: int) -> dict[str, Array]:
    random, states = np.random.default_rng(seed), robot.random_states(count, seed)
    found: dict[str, Array] = {}
    for argument in robot.functions[function].arguments:
        known = robot._random_argument(function, argument.name, states)
        found[argument.name] = random.normal(size=(count, argument.numbers)) if known is None else known
    return found


def random_argument(robot: Robot, function: str, argument: str, states: tuple[Array, Array, Array]) -> Array | None:
    names = [a.name for a in robot.functions["inverse_dynamics"].arguments]
    if argument in names:
        return states[names.index(argument)]
    if function == "forward_dynamics_derivatives":
        function = "forward_dynamics"
    if function == "forward_dynamics" and argument == robot.functions[function].arguments[-1].name:
        return robot.forces_without_raising(*states)
    return None


def limited_quantities(robot: Robot, position: Array, velocity: Array) -> list[LimitedQuantity]:
    found: list[LimitedQuantity] = []

    def add(name: str, values: Array, lower: float, upper: float, unit: str, phrase: str) -> None:
        found.append(LimitedQuantity(name, values, lower, upper, unit, lambda _: phrase))

    rates = {c: i for i, c in enumerate(robot.coordinates)}
    for i, c in enumerate(robot.positions.entries):
        moves = "turns" if c.turns else "slides"
        if np.isfinite([c.lower, c.upper]).any():
            add(f"limit of {c.name}", position[..., i], c.lower, c.upper, c.unit, f"{c.name} {moves} to")
        if np.isfinite(c.max_speed) and c in rates:
            speed = np.abs(velocity[..., rates[c]])
            add(f"speed of {c.name}", speed, -c.max_speed, c.max_speed, f"{c.unit}/s", f"{c.name} {moves} at")
    return found


def position_limits(robot: Robot) -> tuple[Limit, ...]:
    found = []
    for i, bound, sense in _limited(robot):
        c, side = robot.positions.entries[i], "below" if sense < 0 else "above"
        found.append(Limit(f"{c.name} is {side} its range", c.name, c.unit, bound, sense, c.name))
    return tuple(found)


def _limited(robot: Robot) -> list[tuple[int, float, int]]:
    """(place in a position, bound, sense) of each of `position_limits`."""
    return [
        (i, bound, sense)
        for i, c in enumerate(robot.positions.entries)
        for bound, sense in ((c.lower, -1), (c.upper, 1))
        if np.isfinite(bound)
    ]


def limit_margins(robot: Robot, position: ArrayLike) -> Array:
    known = as_argument("position", position, robot.positions.size, "one for each coordinate")
    found = robot._evaluator.kept("limited", lambda: np.array(_limited(robot), float).reshape(-1, 3))
    places, bounds, senses = found.astype(known.dtype).T
    margins = senses * (bounds - known[..., places.astype(int)])
    return np.where(finite_rows({"position": known})[..., None], margins, np.array(np.nan, known.dtype))


def limit_formula(robot: Robot, position: Sequence[Scalar]) -> list[Scalar]:
    return [sense * (bound - position[i]) for i, bound, sense in _limited(robot)]


def summary(robot: Robot) -> Summary:
    def given(limit: float) -> float | None:
        return limit if np.isfinite(limit) else None

    moving = tuple((c.name, c.unit, given(c.lower), given(c.upper), given(c.max_speed)) for c in robot.coordinates)
    acting = tuple((actuator.words, actuator.unit, given(actuator.max_force)) for actuator in robot.actuators)
    coordinates = SummaryTable("Coordinates", ("", "unit", "from", "to", "speed"), moving, texts=2)
    actuators = SummaryTable("Actuators", ("", "unit", "force"), acting, texts=2)
    tables = (coordinates, actuators) if acting else (coordinates,)
    return Summary(f"{robot.name}: {robot.kind} with {robot.n} coordinates", tables)


def data(robot: Robot) -> dict[str, Any]:
    made: type = type(robot)
    if dataclasses.is_dataclass(made):
        # without what is for pictures alone, which is not in `repr` either
        return {field.name: getattr(robot, field.name) for field in dataclasses.fields(made) if field.repr}
    coordinates, actuators = ([x._asdict() for x in xs] for xs in (robot.coordinates, robot.actuators))
    return {"name": robot.name, "gravity": robot.gravity, "coordinates": coordinates, "actuators": actuators}


def check_designs(robot: Robot, values: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Arrays (...) of the values of design parameters, if the robot has them and may have these values."""
    known, found = {parameter.name: parameter for parameter in robot.design_parameters}, {}
    for name, given in values.items():
        if name not in known:
            listed = f"{did_you_mean(name, known)}Use one of {', '.join(known)}"
            remedy = listed if known else f"{robot.name} has none"
            raise UnsupportedFeatureError(f"{name!r} is no design parameter", field="design", remedy=remedy)
        value = real_array(name, given)
        if not np.isfinite(value).all():
            raise ModelError("expected finite numbers", field=name)
        if not (value > known[name].above).all():
            raise ModelError(f"expected numbers > {known[name].above:g}, got {value.min():g}", field=name)
        found[name] = value
    return found
