"""Criteria of a workspace: limits of the robot, and on demand holding forces and the condition number.

`Report` is the form of all results: a summary as text, as HTML for notebooks, and data for machines.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ModelError, ShapeError, TauforgeError
from tauforge.evaluation.arguments import ON_SINGULAR, as_argument
from tauforge.robots.loads import Payload
from tauforge.robots.records import Limit
from tauforge.robots.robot import Robot, check_robot
from tauforge.robots.static_quantities import HOLDS, UNKNOWN_LIMIT, at_positions, check_quantities, codes, unknown_words
from tauforge.robots.summary import Summary, summarised
from tauforge.validation import real

BLOCK_POSITIONS = 65_536  # computed at once, so that memory does not grow with their number
EQUAL_MARGINS = 1e-7  # m, rad, N or N m, of the larger of 1 and the bound: margins that differ by less are equal
PAYLOAD_NUMBERS = 10
FEWEST = 4  # rings, rays, cells or samples


@summarised
class Report(ABC):
    """Base class of results, which are frozen dataclasses."""

    robot: str

    @abstractmethod
    def summary(self) -> Summary:
        """The result as sentences and tables."""

    def data(self) -> dict[str, Any]:
        """Fields by name, in SI units and radians, for machines."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Criteria:
    """Limits of a robot that are judged.

    payload:           held by the robot, or None
    forces:            whether the forces that hold the robot at rest must not exceed those of its actuators
    largest_condition: of the condition number; None for any
    chosen:            places of `limits` that are judged; None for all
    """

    robot: Robot
    payload: Payload | None
    forces: bool
    largest_condition: float | None
    chosen: tuple[int, ...] | None

    @computed_once
    def limits(self) -> tuple[Limit, ...]:
        """All limits that could be judged, in the order of the codes, from code 1 on."""
        found = [*self.robot.bounds.limits]
        names = codes(self.robot, forces=self.forces, condition=self.largest_condition is not None)[1 + len(found) :]
        if self.forces:
            found += [
                Limit(name, "force", a.unit, a.max_force, 1, f"the force of {a.words}")
                for name, a in zip(names, self.robot.actuators, strict=False)
            ]
        if self.largest_condition is not None:
            found.append(Limit(names[-1], "condition", "", self.largest_condition, 1, "the condition number"))
        return tuple(found)

    @computed_once
    def judged(self) -> tuple[Limit, ...]:
        """Limits that are judged, in the order of `margins`."""
        return self.limits if self.chosen is None else tuple(self.limits[k] for k in self.chosen)

    @property
    def closes(self) -> bool:
        """True if coordinates may have no position, because loops do not close."""
        return self.robot.loops is not None

    def codes(self, positions: Array) -> Array:
        """uint8 (...) at positions (..., N): 0 where all hold, else 1 + the place in `judged` of the first that does
        not; 255 where a position is not finite.
        """
        flat = positions.reshape(-1, self.robot.positions.size)
        return by_blocks(len(flat), "uint8", lambda rows: self._codes(flat[rows])).reshape(positions.shape[:-1])

    def _codes(self, positions: Array) -> Array:
        if self.chosen is None:
            judged: dict[str, Any] = {"forces": self.forces, "largest_condition": self.largest_condition}
            code = at_positions(self.robot, ("limit",), positions, payload=self.payload, **judged)["limit"]
        else:
            beyond = ~(self.margins(positions) >= 0)
            code = np.where(beyond.any(axis=-1), 1.0 + beyond.argmax(axis=-1), 0.0)
        known = np.isfinite(code) & np.isfinite(positions).all(axis=-1)
        return np.where(known, code, UNKNOWN_LIMIT).astype(np.uint8)

    def margins(self, positions: Array) -> Array:
        """(..., k) how far positions (..., N) are from each of `judged`, in its unit: negative beyond it.

        Identity: `codes` is 0 where none is negative, else tells the first that is.
        """
        found = [self.robot.bounds.margins(positions)]
        if self.forces:
            found.append(self.robot.max_forces - np.abs(holding_forces(self.robot, positions, self.payload)))
        if self.largest_condition is not None:
            condition = at_positions(self.robot, ("condition",), positions)["condition"]
            found.append((self.largest_condition - condition)[..., None])
        every = np.concatenate(found, axis=-1)
        return every if self.chosen is None else every[..., list(self.chosen)]

    def reached(self, positions: Array, within: float = EQUAL_MARGINS) -> list[list[Limit]]:
        """For each of positions (k, N) the limits whose margin is used up: below `within`, of the larger of 1 and the
        bound.
        """
        bounds = np.array([limit.bound for limit in self.judged])
        with np.errstate(invalid="ignore"):  # margins without a bound are infinite
            used = ~(self.margins(positions) > within * np.maximum(1.0, np.abs(bounds))) & np.isfinite(bounds)
        return [[self.judged[k] for k in np.flatnonzero(row)] for row in used]

    def name(self, code: int) -> str:
        """Words for a code of `codes`."""
        if code == UNKNOWN_LIMIT:
            return unknown_words(self.robot)
        return self.judged[code - 1].name if code else HOLDS

    @property
    def words(self) -> str:
        """Words for all that is judged, for reports."""
        kinds = list(dict.fromkeys(limit.kind for limit in self.judged if np.isfinite(limit.bound)))
        if not self.robot.positions.pose and len(kinds) > 1:
            own = {limit.kind for limit in self.robot.bounds.limits}
            kinds = [*(["ranges of the coordinates"] if own & set(kinds) else []), *(k for k in kinds if k not in own)]
        if self.largest_condition is not None:
            kinds[-1] += f" up to {self.largest_condition:g}"
        if self.closes:
            kinds.append("loops that close")
        held = "" if self.payload is None else f", holding {float(self.payload.mass):g} kg"
        return ", ".join(kinds) + held


def criteria_of(
    robot: Robot,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
    limits: Sequence[str] | None = None,
    *,
    needed: bool = True,
) -> Criteria:
    """Criteria for a robot, after a check of what was asked.

    forces: None: judged where the robot has masses and an actuator with a force limit
    limits: kinds of position limits that are judged, such as ["stroke"]; None for all
    needed: ModelError where nothing is judged
    """
    check_robot("robot", robot)
    check_payload(payload)
    if largest_condition is not None and real(largest_condition, "largest_condition") < 1:
        raise ShapeError("largest_condition", expected="at least 1", got=repr(largest_condition))
    judged = knows_forces(robot) if forces is None and payload is None else forces is not False
    if payload is not None and not judged:
        raise ModelError("a payload takes nothing away unless forces are judged", field="payload")
    check_quantities(robot, ("limit",), forces=judged, condition=largest_condition is not None)
    criteria = Criteria(robot, payload, judged, None if largest_condition is None else float(largest_condition), None)
    if limits is not None:
        criteria = Criteria(robot, payload, judged, criteria.largest_condition, _chosen(criteria, limits))
    if needed and not criteria.closes and not any(np.isfinite(limit.bound) for limit in criteria.judged):
        raise ModelError(
            f"{robot.name} has no limits, so nothing ends its workspace",
            field="limits",
            remedy="Give it limits, such as a stroke or ranges of joints, or a largest_condition",
        )
    return criteria


def check_payload(payload: Payload | None) -> None:
    if payload is not None and (not isinstance(payload, Payload) or payload.numbers().shape != (PAYLOAD_NUMBERS,)):
        raise ShapeError("payload", expected="one Payload", got=repr(payload))


def _chosen(criteria: Criteria, kinds: Sequence[str]) -> tuple[int, ...]:
    own = criteria.robot.bounds.limits
    known = list(dict.fromkeys(limit.kind for limit in own))
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    if unknown := [kind for kind in wanted if kind not in known]:
        problem = f"{criteria.robot.name} has no limits of the kind {unknown[0]!r}"
        raise ModelError(problem, field="limits", remedy=f"Use some of {', '.join(known)}" if known else None)
    return tuple(k for k, limit in enumerate(criteria.limits) if k >= len(own) or limit.kind in wanted)


def knows_forces(robot: Robot) -> bool:
    """True if holding forces can be compared with limits."""
    if not np.isfinite(robot.max_forces).any():
        return False
    try:
        robot.check_function("inverse_dynamics")
    except TauforgeError:
        return False
    return True


def holding_forces(robot: Robot, positions: Array, payload: Payload | None = None) -> Array:
    """(..., m) N m or N that hold the robot at rest at positions (..., N); NaN where no forces do."""
    loads: dict[str, Any] = {} if payload is None else {"payload": payload}
    if robot.functions["inverse_dynamics"].guard is not None:
        loads[ON_SINGULAR] = "nan"
    zero = np.zeros(robot.n)
    return robot.inverse_dynamics(positions, zero, zero, **loads)


def checked_position(robot: Robot, name: str, given: ArrayLike | None) -> Array:
    """A finite position (N,) from coordinates (n,) or a position (N,); for None that of pictures."""
    if given is None:
        return np.array(robot.positions.default, float)
    return robot.positions.at(checked_numbers(robot, name, given))


def checked_numbers(robot: Robot, name: str, given: ArrayLike) -> Array:
    """Coordinates (n,) or a position (N,), finite."""
    numbers = robot.positions.size if np.shape(given)[-1:] == (robot.positions.size,) else robot.n
    position = as_argument(name, given, numbers, "one for each coordinate").astype(float)
    if position.shape != (numbers,):
        raise ShapeError(name, expected=f"({numbers},), one position", got=str(position.shape))
    if not np.isfinite(position).all():
        raise ShapeError(name, expected="finite numbers", got=str(position[~np.isfinite(position)][0]))
    return position


def checked_count(name: str, given: int, most: int | None = None) -> int:
    """A whole number of at least `FEWEST`, and at most `most` if that is given."""
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not whole or given < FEWEST or (most is not None and given > most):
        upto = f" and at most {most}" if most is not None else ""
        raise ShapeError(name, expected=f"a whole number of at least {FEWEST}{upto}", got=repr(given))
    return int(given)


def positions_of(robot: Robot, coordinates: Array, near: Array) -> Array:
    """Positions (..., N) from coordinates (..., n), assembled as at a position near (N,); NaN where there is none."""
    return robot.positions.at(coordinates, near, on_failure="nan")


def checked_home(criteria: Criteria, given: ArrayLike | None) -> Array:
    """A home (N,) as `checked_position` gives it; ModelError where it does not hold."""
    home = checked_position(criteria.robot, "home", given)
    if code := int(criteria.codes(home)):
        remedy = "Give a home within the limits; tauforge.workspace.explain tells by how much they are exceeded"
        raise ModelError(f"the limits do not hold there: {criteria.name(code)}", field="home", remedy=remedy)
    return home


def by_blocks(count: int, dtype: str, of: Callable[[slice], Array]) -> Array:
    """The values (count,) of so many positions, computed for a few of them at a time."""
    found = np.empty(count, dtype)
    for start in range(0, count, BLOCK_POSITIONS):
        rows = slice(start, min(start + BLOCK_POSITIONS, count))
        found[rows] = of(rows)
    return found
