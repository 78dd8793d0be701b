"""The functions that an export writes: what each computes, its description, and states to try it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from tauforge.arrays import Array
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.export import control_step, description
from tauforge.export.extra_arguments import Extra, by_formula, check_all_used, random_values
from tauforge.kernels.c99.function import Described
from tauforge.kernels.specification import Specification
from tauforge.robots.robot import Robot


class Wanted(NamedTuple):
    """A function to be written.

    random_arguments: random_arguments(count) within the limits, (count, numbers) for each argument
    reference:        reference(arguments) by the formula itself in NumPy, (count, *core) for each result
    """

    specification: Specification
    described: Described
    extra: Extra
    random_arguments: Callable[[int], list[Array]]
    reference: Callable[[Sequence[Array]], tuple[Array, ...]]


def chosen(robot: Robot, functions: Sequence[str] | None, extra: Extra) -> tuple[dict[str, Wanted], list[str]]:
    """The functions by name, and what the robot has beside them but cannot do.

    functions: names, or None for all
    """
    robot._check_loads(extra.loads, {})
    found, left_out = _everything(robot, extra) if functions is None else (_named(robot, functions, extra), [])
    check_all_used(extra, [wanted.extra for wanted in found.values()])
    return found, left_out


def _named(robot: Robot, functions: Sequence[str], extra: Extra) -> dict[str, Wanted]:
    if isinstance(functions, str) or not all(isinstance(name, str) for name in functions):
        raise UnsupportedFeatureError(f"expected a sequence of names, got {functions!r}", field="functions")
    if not functions:
        raise UnsupportedFeatureError("no function is named", field="functions", remedy="Leave it out for all of them")
    for name in functions:
        if name not in robot.functions and name != control_step.COMPUTED_TORQUE:
            known = [key for key, entry in robot.functions.items() if entry.public]
            raise UnsupportedFeatureError(
                f"there is no function {name!r}",
                field="functions",
                remedy=f"Use one of {', '.join((*known, control_step.COMPUTED_TORQUE))}",
            )
    return {name: _wanted(robot, name, extra) for name in functions}


def _everything(robot: Robot, extra: Extra) -> tuple[dict[str, Wanted], list[str]]:
    found, left_out = {}, []
    public = [name for name, entry in robot.functions.items() if entry.public]
    for name in (*public, control_step.COMPUTED_TORQUE):
        try:
            found[name] = _wanted(robot, name, extra)
        except ModelError as error:
            left_out.append(f"{name}: {error.reason}.")
    return found, left_out


def _wanted(robot: Robot, name: str, extra: Extra) -> Wanted:
    if name not in robot.functions:
        return _control_step(robot, extra)
    function = robot.functions[name]
    own = extra.taken_by(function)
    if own.varying:
        own = own.needed_by(robot.specification(name, loads=own.loads, varying=own.varying))
    return Wanted(
        robot.specification(name, loads=own.loads, varying=own.varying),
        description.described(robot, name, own),
        own,
        partial(_random_arguments, robot, name, own),
        partial(by_formula, robot, name, own),
    )


def _random_arguments(robot: Robot, name: str, extra: Extra, count: int) -> list[Array]:
    state = robot.random_arguments(name, count).values()
    return [*state, *random_values(robot, robot.functions[name], extra, count)]


def _control_step(robot: Robot, extra: Extra) -> Wanted:
    own = extra.taken_by(robot.functions["inverse_dynamics"])
    if own.varying:
        own = own.needed_by(control_step.computed_torque(robot, own))
    return Wanted(
        control_step.computed_torque(robot, own),
        description.described_step(robot, own),
        own,
        partial(control_step.random_arguments, robot, own),
        partial(control_step.reference, robot, own),
    )
