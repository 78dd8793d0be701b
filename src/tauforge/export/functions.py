"""The functions that an export writes: what each computes, its description, and states to try it on.

Arguments beyond the state are loads, and fields of the robot that vary. One step of computed torque is the law's own
source, recorded over scalars; its gains are arguments, one of each for every coordinate, so that a controller can be
tuned without a new export.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.control.law_arrays import elements, law_array
from tauforge.control.traceable_robot import TraceableRobot
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.evaluation.arguments import check_names
from tauforge.evaluation.functions import Argument, Function, choices, flat, results_of
from tauforge.evaluation.reference import reference_call
from tauforge.export import description
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.c99.function import Described, without_doubt
from tauforge.kernels.specification import Shape, Specification
from tauforge.motion.motion import MotionSample
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.robot import Robot
from tauforge.tracing.graph import Graph, trace

SPREAD = 0.1  # of varying fields about the robot's own values, in the states that functions are tried on
COMPUTED_TORQUE = "computed_torque"
KP, KV = 100.0, 20.0  # gains of the reference vectors


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


def chosen(
    robot: Robot, functions: Sequence[str] | None, extra: Extra, *, laws: bool = False
) -> tuple[dict[str, Wanted], list[str]]:
    """The functions by name, and what the robot has beside them but cannot do.

    functions: names, or None for all
    laws:      whether there are others, so that no name need be given
    """
    robot._check_loads(extra.loads, {})
    if functions is None:
        found, left_out = _everything(robot, extra)
    else:
        found, left_out = _named(robot, functions, extra, laws=laws), []
    check_all_used(extra, [wanted.extra for wanted in found.values()])
    return found, left_out


def _named(robot: Robot, functions: Sequence[str], extra: Extra, *, laws: bool) -> dict[str, Wanted]:
    if isinstance(functions, str) or not all(isinstance(name, str) for name in functions):
        raise UnsupportedFeatureError(f"expected a sequence of names, got {functions!r}", field="functions")
    if not functions and not laws:
        raise UnsupportedFeatureError("no function is named", field="functions", remedy="Leave it out for all of them")
    for name in functions:
        if name not in robot.functions and name != COMPUTED_TORQUE:
            known = ", ".join([*(key for key, entry in robot.functions.items() if entry.public), COMPUTED_TORQUE])
            problem = f"there is no function {name!r}"
            raise UnsupportedFeatureError(problem, field="functions", remedy=f"Use one of {known}")
    return {name: _wanted(robot, name, extra) for name in functions}


def _everything(robot: Robot, extra: Extra) -> tuple[dict[str, Wanted], list[str]]:
    found, left_out = {}, []
    public = [name for name, entry in robot.functions.items() if entry.public]
    for name in (*public, COMPUTED_TORQUE):
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

    def random_arguments(count: int) -> list[Array]:
        return [*robot.random_arguments(name, count).values(), *random_values(robot, function, own, count)]

    specification = robot.specification(name, loads=own.loads, varying=own.varying)
    described = description.described(robot, name, own)
    return Wanted(specification, described, own, random_arguments, partial(by_formula, robot, name, own))


def _control_step(robot: Robot, extra: Extra) -> Wanted:
    own = extra.taken_by(robot.functions["inverse_dynamics"])
    if own.varying:
        own = own.needed_by(computed_torque(robot, own))
    described = description.described_step(robot, own)
    arguments, reference = partial(step_arguments, robot, own), partial(step_reference, robot, own)
    return Wanted(computed_torque(robot, own), described, own, arguments, reference)


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


NO_EXTRA = Extra()


def check_extra(robot: Robot, loads: object, varying: Sequence[str]) -> Extra:
    """The names, if some function of the robot takes each load and the fields may vary."""
    if isinstance(loads, str) or not isinstance(loads, Sequence) or not all(isinstance(name, str) for name in loads):
        raise UnsupportedFeatureError(f"expected a sequence of names, got {loads!r}", field="loads")
    known = dict.fromkeys(a.name for f in robot.functions.values() if f.public for a in f.optional)
    for name in loads:
        if name not in known:
            problem = f"no function of {robot.name} takes a load {name!r}"
            remedy = f"Use one of {', '.join(known)}" if known else None
            raise UnsupportedFeatureError(problem, field="loads", remedy=remedy)
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


class _Loaded:
    """A robot whose forces have loads and varying fields; everything else is asked of the robot itself."""

    def __init__(self, robot: object, forces: Callable[[Array, Array, Array], Array]) -> None:
        self._robot, self.inverse_dynamics = robot, forces

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)


def computed_torque(robot: Robot, extra: Extra = NO_EXTRA) -> Specification:
    """(position, velocity, target position, velocity and acceleration, kp, kv, loads, fields) -> forces.

    ModelError where the law does not take the robot, UnsupportedFeatureError where it cannot be recorded.
    """
    law: Any = _law(robot)
    function = robot.functions["inverse_dynamics"]
    n, state = robot.n, [argument.name for argument in function.arguments]
    names = [*state[:2], *(f"{name}_target" for name in state), "kp", "kv"]
    arguments: list[tuple[str, Shape]] = [(name, (n,)) for name in names]
    arguments += [(load, (function.argument(load).numbers,)) for load in extra.loads]
    arguments += [(field, robot.varying_fields[field]) for field in extra.varying]

    def step(*columns: list[Scalar]) -> list[Scalar]:
        position, velocity, *target, kp, kv = (law_array(x) for x in columns[: len(names)])
        given = dict(zip((*extra.loads, *extra.varying), columns[len(names) :], strict=True))
        law.robot, law.kp, law.kv = _recorded(robot, extra, given), np.diag(kp), np.diag(kv)
        return elements(law.force(0.0, position, velocity, MotionSample(*target)))

    def make_graph() -> Graph:
        try:
            return trace(step, {name: math.prod(core) for name, core in arguments})
        except NoKernelError as error:
            raise UnsupportedFeatureError(f"{COMPUTED_TORQUE}: {error}", field="functions") from None

    results = ((len(robot.actuators),),)
    return Specification(COMPUTED_TORQUE, "one step of computed torque", make_graph, tuple(arguments), results, None)


def _recorded(robot: Robot, extra: Extra, given: dict[str, list[Scalar]]) -> TraceableRobot | _Loaded:
    """The robot for scalars of any kind, with these loads and fields."""
    plain = TraceableRobot(robot)
    if not given:
        return plain
    function = robot.functions["inverse_dynamics"]
    plain.inverse_dynamics  # noqa: B018 - NoKernelError where the robot's class has its own
    model = robot.varied_model({field: given[field] for field in extra.varying}) if extra.varying else robot.model
    more = {**{load: given[load] for load in extra.loads}, **choices(function.options)[0]}

    def forces(*state: Array) -> Array:
        named = {argument.name: elements(x) for argument, x in zip(function.arguments, state, strict=True)}
        return law_array(flat(results_of(function.formula(model, **named, **more))))

    return _Loaded(plain, forces)


def step_arguments(robot: Robot, extra: Extra, count: int, seed: int = 0) -> list[Array]:
    """Targets near the state, (count, n) each, the gains, and the arguments of `extra`."""
    states, others = robot.random_states(count, seed), robot.random_states(count, seed + 1)
    gains = [np.full((count, robot.n), gain) for gain in (KP, KV)]
    more = random_values(robot, robot.functions["inverse_dynamics"], extra, count, seed)
    return [*states[:2], states[0] + 0.01 * others[1], others[1], others[2], *gains, *more]


def step_reference(robot: Robot, extra: Extra, arguments: Sequence[Array]) -> tuple[Array]:
    """The law itself, all rows at once; the gains are those of `step_arguments`."""
    law: Any = _law(robot)
    position, velocity, *target = (x.astype(float) for x in arguments[:5])
    more = [x.astype(float) for x in arguments[7:]]
    if more:
        law.robot = _Loaded(robot, partial(_forces, robot, extra, more))
    return (law.force(0.0, position, velocity, MotionSample(*target)),)


def _forces(robot: Robot, extra: Extra, more: list[Array], *state: Array, **_: Any) -> Array:
    """By the formula, which gives singular rows what it gives, whatever is asked for them."""
    (forces,) = by_formula(robot, "inverse_dynamics", extra, [*state, *more])
    return np.asarray(forces)


def _law(robot: Robot) -> ComputedTorque:
    robot.check_function("inverse_dynamics")
    if robot.positions.size != robot.n:
        problem = f"{robot.name} has positions with more entries than coordinates, which the law does not complete"
        remedy = "Write inverse_dynamics, and the law around it"
        raise UnsupportedFeatureError(problem, field=COMPUTED_TORQUE, remedy=remedy)
    return ComputedTorque(robot, KP, KV)
