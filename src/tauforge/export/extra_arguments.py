"""Arguments of exported functions beyond the state: loads, and fields of the robot that vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.functions import Argument, Function
from tauforge.evaluation.reference import reference_call
from tauforge.evaluation.varying import check_names
from tauforge.kernels.c99.function import without_doubt
from tauforge.kernels.specification import Specification
from tauforge.robots.payload import PAYLOAD, Payload
from tauforge.robots.robot import Robot

SPREAD = 0.1  # of varying fields about the robot's own values, in the states that functions are tried on


class Extra(NamedTuple):
    """Names of further arguments, in their order: loads as in the function's table, fields as they were given."""

    loads: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()

    def taken_by(self, function: Function) -> Extra:
        """The loads that the function knows, and all fields."""
        return self._replace(loads=tuple(a.name for a in function.optional if a.name in self.loads))

    def needed_by(self, specification: Specification) -> Extra:
        """Without the fields that the function does not depend on."""
        inputs = {node.name for node in without_doubt(specification).nodes if node.op == "input"}
        needed = {
            name for name, core in specification.arguments for k in range(math.prod(core)) if f"{name}{k}" in inputs
        }
        return self._replace(varying=tuple(field for field in self.varying if field in needed))


NOTHING = Extra()


def check_extra(robot: Robot, loads: object, varying: Sequence[str]) -> Extra:
    """The names, if some function of the robot takes each load and the fields may vary."""
    if isinstance(loads, str) or not isinstance(loads, Sequence) or not all(isinstance(name, str) for name in loads):
        raise UnsupportedFeatureError(f"expected a sequence of names, got {loads!r}", field="loads")
    known = dict.fromkeys(a.name for f in robot.functions.values() if f.public for a in f.optional)
    for name in loads:
        if name not in known:
            raise UnsupportedFeatureError(
                f"no function of {robot.name} takes a load {name!r}",
                field="loads",
                remedy=f"Use one of {', '.join(known)}" if known else None,
            )
    return Extra(tuple(loads), check_names(robot, varying))


def check_all_used(extra: Extra, used: Sequence[Extra]) -> None:
    """UnsupportedFeatureError for a name that is an argument of no function."""
    for field, names in extra._asdict().items():
        unused = set(names) - {name for one in used for name in getattr(one, field)}
        if unused:
            raise UnsupportedFeatureError(f"no function that is written needs {min(unused)!r}", field=field)


def random_values(robot: Robot, function: Function, extra: Extra, count: int, seed: int = 0) -> list[Array]:
    """Loads of order one, and fields near the robot's own values, (count, numbers) each."""
    random = np.random.default_rng(seed)
    own = robot.own_values(extra.varying)
    found = [_random_load(function.argument(name), count, random) for name in extra.loads]
    return found + [x.ravel() * random.uniform(1 - SPREAD, 1 + SPREAD, (count, x.size)) for x in own.values()]


def by_formula(robot: Robot, name: str, extra: Extra, given: Sequence[Array]) -> tuple[Array, ...]:
    """The function's formula in NumPy. given: (count, numbers) for each argument, those of `extra` last"""
    names = [argument.name for argument in robot.functions[name].arguments]
    arguments = dict(zip((*names, *extra.loads, *extra.varying), given, strict=True))
    fields = {field: arguments.pop(field) for field in extra.varying}
    shaped = {field: x.reshape(len(x), *robot.varying_fields[field]) for field, x in fields.items()}
    return reference_call(robot, name, arguments, shaped)


def _random_load(argument: Argument, count: int, random: np.random.Generator) -> Array:
    if argument != PAYLOAD:
        return random.normal(size=(count, argument.numbers))
    turns = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
    inertias = np.einsum("kij,j,klj->kil", turns, (0.02, 0.03, 0.04), turns)
    return Payload(random.uniform(0.5, 2.0, count), 0.1 * random.normal(size=(count, 3)), inertias).numbers()
