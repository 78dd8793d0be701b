"""What a robot does unless its kind says otherwise: the longer methods of the contract, for any robot."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.formulations import forces_by_rows
from tauforge.robots.summary import Summary, SummaryTable

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot


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
        return forces_by_rows(robot, *states)
    return None


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
