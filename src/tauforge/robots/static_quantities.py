"""Numbers that a robot has at a position, at rest: which limit is exceeded, condition number, stiffness, forces.

One kernel computes all that are asked for, so that what they share is computed once. It serves workspaces, maps and
sweeps over many positions, and over families of robots whose fields vary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.algebra.condition import condition, extremes
from tauforge.algebra.scalars import Scalar, Scalars, absolute, select
from tauforge.arrays import Array
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.evaluation import arguments as families
from tauforge.evaluation.arguments import as_argument, batch_shape
from tauforge.evaluation.condition import check_length, settled, smallest_stiffness
from tauforge.evaluation.evaluator import formula_kernel, kernel_if_allowed
from tauforge.evaluation.reference import reference
from tauforge.kernels.backends import Kernel
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.positions import body_of
from tauforge.robots.positions import condition as body_condition
from tauforge.robots.state_space import formula_results
from tauforge.validation import check_known

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot

TINY = 1e-300  # below every margin that counts; and carries NaN of any force into the largest
UNKNOWN_LIMIT = 255  # the code of a position that is not finite: coordinates that have none, such as open loops
HOLDS = "all limits hold"
ILL_CONDITIONED = "the condition number is too large"


class Quantity(NamedTuple):
    """unit: "" for a number; meaning: for tables and files; dtype: of a stored value."""

    unit: str
    meaning: str
    dtype: str = "float32"


QUANTITIES = {
    "limit": Quantity("", "code of the first limit that is exceeded, 0 where all hold", "uint8"),
    "condition": Quantity("", "condition number: ratio of extreme singular values, SI units"),
    "stiffness": Quantity("N/m", "smallest stiffness of the moved body, actuators of 1 N/m or 1 N m/rad"),
    "force": Quantity("N or N m", "largest size of the forces that hold the robot at rest"),
    "force_share": Quantity("", "largest share of an actuator's limit that holds the robot at rest"),
}
DOUBTFUL = ("condition", "stiffness")  # quantities after which a doubt is computed
METRE = 1.0  # the length by which moments become forces unless another is given


class Question(NamedTuple):
    """A request for quantities at every position.

    quantities: names of QUANTITIES
    payload:    whether a payload is held
    varying:    fields of the robot that are given for every position
    forces:     whether the limit's code judges holding forces, too
    length:     m, the characteristic length of condition number and stiffness
    """

    quantities: tuple[str, ...]
    payload: bool = False
    varying: tuple[str, ...] = ()
    forces: bool = False
    length: float = METRE


def codes(robot: Robot, *, forces: bool = False, condition: bool = False) -> tuple[str, ...]:
    """Meanings of the codes of "limit", from 0.

    forces, condition: whether holding forces and the condition number are judged, too
    """
    named = [HOLDS, *(limit.name for limit in robot.bounds.limits)]
    if forces:
        named += [f"{actuator.words} is too weak" for actuator in robot.actuators]
    if condition:
        named.append(ILL_CONDITIONED)
    if len(named) > UNKNOWN_LIMIT:
        raise UnsupportedFeatureError(f"{robot.name} has more than {UNKNOWN_LIMIT - 1} limits", field="limit")
    return tuple(named)


def unknown_words(robot: Robot) -> str:
    """Meaning of UNKNOWN_LIMIT for the robot."""
    return "the loops do not close" if robot.loops is not None else "the position is not finite"


def at_positions(
    robot: Robot,
    quantities: Sequence[str],
    position: Array,
    *,
    payload: Payload | None = None,
    forces: bool = False,
    largest_condition: float | None = None,
    characteristic_length: float = METRE,
    fields: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """Quantities (...) by name, at positions (..., N).

    payload:           held by the robot; a batch of them goes along with the positions
    forces:            whether "limit" judges the forces that hold the robot, too
    largest_condition: above which "limit" tells the last of its codes; None for any
    characteristic_length: m, divides moments and multiplies angular velocities in "condition" and "stiffness"
    fields:            varying fields (..., *core) instead of the robot's own

    "stiffness" is the smallest eigenvalue of the stiffness matrix of the moved body: H H' where the forces of the
    actuators map to the body by H, (J J')^-1 where their velocities map by J.
    Source: Gosselin 1990, Stiffness mapping for parallel manipulators; El-Khasawneh & Ferreira 1999, Computation of
    stiffness and stiffness bounds for parallel link manipulators: the extreme eigenvalues are the bounds.

    Identity: `bounds.margins`, `condition` and `holding_forces` of the `replace`d robot, row by row. At a singular
    position, where the latter has no answer, forces are huge or NaN. "limit" is float, NaN where a position is not
    finite; the codes are those of `codes`.
    """
    wanted = check_quantities(robot, quantities, forces=forces, condition=largest_condition is not None)
    judged = "limit" in wanted and largest_condition is not None
    given = families.check_values(robot, fields or {})
    asked = (*wanted, "condition") if judged and "condition" not in wanted else wanted
    length = check_length(characteristic_length)
    by_method = "condition" in asked and not _has_velocity_matrix(robot)
    if by_method and given:
        problem = f"the condition number of {robot.name} takes no varying fields"
        remedy = "Leave them out, and use replace for another robot"
        raise UnsupportedFeatureError(problem, field="condition", remedy=remedy)
    traced = tuple(name for name in asked if not (by_method and name == "condition"))
    question = Question(traced, payload is not None, tuple(given), forces and "limit" in wanted, length)
    arguments = {"position": as_argument("position", position, robot.positions.size, "one for each coordinate")}
    if payload is not None:
        arguments["payload"] = payload.numbers()
    for field, value in given.items():
        core = len(robot.varying_fields[field])
        arguments[field] = value.reshape(*value.shape[: value.ndim - core], -1)
    found = _evaluated(robot, question, arguments) if traced else {}
    if by_method:
        found["condition"] = _own_conditions(robot, arguments["position"], length)
    matrices = partial(_matrices, robot, arguments, length)
    for name in DOUBTFUL:
        if name in traced:
            exactly = partial(smallest_stiffness, maps_forces=body_of(robot).maps_forces)
            exact = exactly if name == "stiffness" else None
            found[name] = settled(found[name], found.pop(f"{name}_doubt"), matrices, exact)
    if judged:
        last = len(codes(robot, forces=forces, condition=True)) - 1
        beyond = (found["limit"] == 0) & ~(found["condition"] <= largest_condition)
        found["limit"] = np.where(beyond, float(last), found["limit"])
    return {name: found[name] for name in wanted}


def check_quantities(
    robot: Robot, quantities: Sequence[str], *, forces: bool = False, condition: bool = False
) -> tuple[str, ...]:
    """The names as a tuple, if the robot has all of them."""
    names = (quantities,) if isinstance(quantities, str) else tuple(dict.fromkeys(quantities))
    for name in names:
        check_known(name, QUANTITIES, f"unknown quantity {name!r}", "quantity")
    if "force" in names or "force_share" in names or forces:
        robot.check_function("inverse_dynamics")
    limited = np.isfinite(robot.max_forces)
    if ("force_share" in names or forces) and not limited.any():
        raise ModelError(f"no actuator of {robot.name} has a force limit", field="force_limit")
    if "stiffness" in names and not _has_velocity_matrix(robot):
        raise UnsupportedFeatureError(f"{robot.name} has no stiffness matrix", field="stiffness")
    if ("condition" in names or condition) and body_condition(robot, robot.positions.default[None]) is None:
        raise UnsupportedFeatureError(f"{robot.name} has no condition number", field="condition")
    return names


def _has_velocity_matrix(robot: Robot) -> bool:
    body = robot.moved_body
    return body is not None and body.velocity_matrix(robot.model, robot.positions.default.tolist()) is not None


def _own_conditions(robot: Robot, position: Array, length: float) -> Array:
    """Condition numbers that a robot computes by its own method; NaN where a position is not finite."""
    flat = position.reshape(-1, position.shape[-1])
    found, rows = np.full(len(flat), np.nan), np.isfinite(flat).all(axis=-1)
    if rows.any():
        found[rows] = body_condition(robot, flat[rows], length)
    return found.reshape(position.shape[:-1])


def _velocity_matrix(robot: Robot, model: Any, position: Scalars, length: float = METRE) -> Sequence[Scalars]:
    body = body_of(robot)
    found = body.velocity_matrix(model, position)
    assert found is not None  # `check_quantities` has asked
    if length == METRE:
        return found
    scale = 1.0 / length if body.maps_forces else length
    return [*found[:3], *([scale * x for x in row] for row in found[3:])]


def _formula(robot: Robot, question: Question, position: Scalars, **more: Scalars) -> list[Scalar]:
    """The quantities one after another, and a doubt after the condition number."""
    payload = more.pop("payload", None)
    model = robot.varied_model(more) if more else robot.model
    holding: list[Scalar] = []
    if question.forces or {"force", "force_share"} & set(question.quantities):
        rest, loads = [0.0] * robot.n, {} if payload is None else {PAYLOAD.name: payload}
        holding = formula_results(robot, "inverse_dynamics", model, position, rest, rest, loads=loads)
    found: list[Scalar] = []
    for name in question.quantities:
        match name:
            case "limit":
                tests = [*robot.bounds.formula(model, position, signs=True)]
                if question.forces:
                    tests += [limit - absolute(f) for f, limit in zip(holding, _limits(robot, more), strict=True)]
                found.append(_first_exceeded(tests))
            case "condition":
                found += condition(_velocity_matrix(robot, model, position, question.length))
            case "stiffness":
                ends = extremes(_velocity_matrix(robot, model, position, question.length))
                both = (ends.low, ends.low_doubt), (1.0 / ends.high, ends.high_doubt)
                found += both[0] if body_of(robot).maps_forces else both[1]
            case "force":
                found.append(_largest([absolute(f) for f in holding]))
            case "force_share":
                limits = _limits(robot, more)
                found.append(_largest([absolute(f) / limit for f, limit in zip(holding, limits, strict=True)]))
    return found


def _limits(robot: Robot, fields: Mapping[str, Scalars]) -> list[Scalar]:
    """Largest forces of the actuators; a number that none exceeds stands for no limit."""
    given = fields.get("force_limit")
    own = [float(limit) if np.isfinite(limit) else 1.0 / TINY for limit in robot.max_forces]
    return own if given is None else list(given)


def _first_exceeded(tests: Scalars) -> Scalar:
    """The number of the first test that is negative or NaN, from 1; 0 where there is none."""
    code: Scalar = 0.0
    for k in reversed(range(len(tests))):
        code = select(-TINY, tests[k], code, float(k + 1))
    return code


def _largest(values: Scalars) -> Scalar:
    largest = total = values[0]
    for value in values[1:]:
        largest, total = select(largest, value, value, largest), total + value
    return largest + TINY * total


def _evaluated(robot: Robot, question: Question, arguments: Mapping[str, Array]) -> dict[str, Array]:
    names = [part for name in question.quantities for part in (name, *((f"{name}_doubt",) if name in DOUBTFUL else ()))]
    formula, results = partial(_formula, robot, question), ((),) * len(names)
    shapes: dict[str, Shape] = {"position": (robot.positions.size,)}
    shapes |= {"payload": PAYLOAD.core} if question.payload else {}
    shapes |= {field: robot.varying_fields[field] for field in question.varying}

    def made() -> Kernel:
        doc = f"{', '.join(question.quantities)} of one robot at rest"
        return formula_kernel("at_positions", doc, formula, shapes, results)

    kernel = kernel_if_allowed(lambda: robot._evaluator.kept(("at_positions", question), made))
    if kernel is None:
        outs = reference(formula, arguments, results)
    else:
        found = kernel(*(x.reshape(*x.shape[:-1], *shapes[name]) for name, x in arguments.items()))
        outs = found if isinstance(found, tuple) else (found,)
    return dict(zip(names, (np.asarray(out) for out in outs), strict=True))


def _matrices(robot: Robot, arguments: Mapping[str, Array], length: float, rows: Array) -> Array:
    """The matrices (k, ...) whose singular values are in doubt, in the rows of a mask."""

    def formula(position: Scalars, payload: Scalars | None = None, **fields: Scalars) -> Sequence[Scalars]:
        return _velocity_matrix(robot, robot.varied_model(fields) if fields else robot.model, position, length)

    batch = batch_shape(arguments)
    given = {name: np.broadcast_to(x, (*batch, x.shape[-1]))[rows] for name, x in arguments.items()}
    own = robot.positions.default.tolist()
    shape = np.shape(_velocity_matrix(robot, robot.model, own))
    return reference(formula, given, (shape,))[0]
