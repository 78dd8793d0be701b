"""`explain`: the verdict on a position, with the limits that it exceeds and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import TauforgeError
from tauforge.robots.loads import Payload
from tauforge.robots.positions import condition as body_condition
from tauforge.robots.records import Limit
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import unknown_words
from tauforge.robots.summary import Rows, Summary, SummaryTable
from tauforge.workspace import singular_crossings as crossings
from tauforge.workspace.criteria import EQUAL_MARGINS, Criteria, Report, checked_numbers, criteria_of, holding_forces
from tauforge.workspace.rays import straight_path

ON_THE_WAY = {  # open loops on it say nothing: another way may lead round them
    crossings.SINGULAR_POSITION: "a singular position is on the straight way from home",
    crossings.LOSES_CONTROL: "a singular position is on the straight way from home",
    crossings.JUMPS: "the position jumps on the straight way from home",
}
FINDING_COLUMNS = ("limit", "quantity", "unit", "value", "bound", "margin")


@with_field_docs
class Finding(NamedTuple):
    """One limit at a position.

    name:     what is wrong beyond it, such as "leg 3 is too long"
    kind:     such as "stroke"
    quantity: such as "the length of leg 3"
    value:    of the quantity; of a force its size
    bound:    of the quantity
    margin:   how far the value is from the bound, negative beyond it
    unit:     of the three
    Value, bound and margin are NaN for what is not measured, such as loops that do not close.
    """

    name: str
    kind: str
    quantity: str
    value: float
    bound: float
    margin: float
    unit: str


@with_field_docs
class HoldingForce(NamedTuple):
    """Force that one actuator gives to hold the robot at rest.

    actuator: its name
    force:    N m or N
    limit:    the largest that it can give; None where it has no limit
    unit:     of both
    """

    actuator: str
    force: float
    limit: float | None
    unit: str


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """Verdict of a robot's limits on a position.

    position:  (N,) NaN for joints that no coordinates determine, because loops do not close
    holds:     whether all limits that are judged hold
    exceeded:  limits that do not hold, the order of the robot's limits
    nearest:   the nearest limit of each kind that holds
    forces:    what holds the robot at rest; empty where the robot has no masses
    condition: condition number, ratio of extreme singular values in SI units; None where there is none
    loop_condition: large near positions that the loops do not determine; None without loops
    """

    robot: str
    position: Array
    holds: bool
    exceeded: tuple[Finding, ...]
    nearest: tuple[Finding, ...]
    forces: tuple[HoldingForce, ...]
    condition: float | None
    loop_condition: float | None
    judged: str

    def summary(self) -> Summary:
        """The verdict, what is exceeded, what is near, and holding forces."""
        parts: list[SummaryTable | tuple[str | float, ...] | str] = []
        for title, findings in (("Exceeded", self.exceeded), ("Nearest limit of each kind", self.nearest)):
            if findings:
                rows: Rows = tuple(
                    (f.name, f.quantity, f.unit, *(x if np.isfinite(x) else None for x in (f.value, f.bound, f.margin)))
                    for f in findings
                )
                parts.append(SummaryTable(title, FINDING_COLUMNS, rows, texts=3))
        if self.forces:
            held: Rows = tuple(
                (f.actuator, f.unit, f.force, f.limit, abs(f.force) / f.limit if f.limit else None) for f in self.forces
            )
            header = ("actuator", "unit", "force", "limit", "share")
            parts.append(SummaryTable("Forces that hold the robot at rest", header, held, texts=2))
        if self.condition is not None:
            loops = () if self.loop_condition is None else ("; that of the loops: ", self.loop_condition)
            parts.append(("Condition number: ", self.condition, *loops, "."))
        return Summary(f"{self.robot}: {self._verdict()}", tuple(parts))

    def _verdict(self) -> str:
        if self.holds:
            return f"all limits hold ({self.judged})" if self.judged else "the robot has no limits"
        first, *others = self.exceeded
        more = f", and {len(others)} more" if others else ""
        by = f" by {abs(first.margin):.4g} {first.unit}".rstrip() if np.isfinite(first.margin) else ""
        return first.name + by + more


def explain(
    robot: Robot,
    position: ArrayLike,
    *,
    payload: Payload | None = None,
    forces: bool | None = None,
    largest_condition: float | None = None,
    limits: Sequence[str] | None = None,
) -> Explanation:
    """Judges a position: does it hold, which leg or joint exceeds its limits, and by how much.

    position:          (n,) m and rad, joint coordinates or a pose; or a whole position (N,)
    payload:           held by the robot; then force limits count
    forces:            whether holding forces are judged; None: where the robot has masses and force limits
    largest_condition: a limit for the condition number, at least 1; None for any
    limits:            kinds of position limits that are judged, such as ["stroke"]; None for all
    Coordinates do not hold where loops do not close, nor where a singular position is on the straight way to them from
    where pictures show the robot: beyond it another assembly begins. A whole position says itself how it is assembled.
    Identity: for any other position `holds` is that every margin of `robot.bounds.margins(position)` is at least 0, and
    that no holding force is larger than its limit.
    """
    criteria = criteria_of(robot, payload, forces, largest_condition, limits, needed=False)
    given = checked_numbers(robot, "position", position)
    where = robot.positions.at(given, on_failure="nan")
    closed = bool(np.isfinite(where).all())
    if not closed:
        where = _known_entries(robot, given)
    found = _findings(criteria, where) if closed else _findings_of_coordinates(criteria, where)
    found = [*(_assembly(robot, given, where) if robot.loops is not None else ()), *found]
    beyond = tuple(f for f in found if not f.margin >= 0)
    condition = body_condition(robot, where) if closed else None
    loops = robot.loops.condition(where) if closed and robot.loops is not None else None
    return Explanation(
        robot=robot.name,
        position=where,
        holds=not beyond,
        exceeded=beyond,
        nearest=_nearest([f for f in found if f.margin >= 0]),
        forces=_forces(robot, where, payload) if closed else (),
        condition=None if condition is None else float(condition),
        loop_condition=None if loops is None else float(loops),
        judged=criteria.words if found or criteria.closes else "",
    )


def _known_entries(robot: Robot, given: Array) -> Array:
    """A position (N,) of which only the coordinates are known."""
    found = np.full(robot.positions.size, np.nan)
    found[robot.positions.coordinates(np.arange(robot.positions.size))] = robot.positions.coordinates(given)
    return found


def _assembly(robot: Robot, given: Array, position: Array) -> list[Finding]:
    """Faults of the assembly of a robot whose loops must be closed."""
    path = straight_path(robot, np.array(robot.positions.default, float), robot.positions.coordinates(given))
    singular = [_unmeasured(crossings.SINGULAR_POSITION, crossings.SINGULARITY)]
    if not np.isfinite(position).all():
        again = crossings.closes_again(path, path.until, np.zeros(1, int))[0]
        return singular if again else [_unmeasured(unknown_words(robot), crossings.ASSEMBLY)]
    if crossings.reciprocal_conditions(robot, position) < 1.0 / crossings.CROSSED_CONDITION:
        return singular
    passed = crossings.first_crossings(path) if len(given) < robot.positions.size else []
    return [_unmeasured(ON_THE_WAY[one.name], one.kind) for one in passed if one.name in ON_THE_WAY]


def _unmeasured(name: str, kind: str) -> Finding:
    return Finding(name, kind, "the assembly", np.nan, np.nan, np.nan, "")


def _findings_of_coordinates(criteria: Criteria, position: Array) -> list[Finding]:
    """Limits of the entries that are known."""
    robot = criteria.robot
    margins = [float(margin) for margin in robot.bounds.formula(robot.model, position.tolist())]
    judged = [k for k in (range(len(margins)) if criteria.chosen is None else criteria.chosen) if k < len(margins)]
    return [_finding(robot.bounds.limits[k], margins[k]) for k in judged if np.isfinite(margins[k])]


def _nearest(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Nearest finding of each kind; the first of those that are equally near but for rounding."""
    nearest: dict[str, Finding] = {}
    for f in findings:
        if f.kind not in nearest or f.margin < nearest[f.kind].margin - EQUAL_MARGINS * max(1.0, abs(f.bound)):
            nearest[f.kind] = f
    return tuple(nearest.values())


def _findings(criteria: Criteria, position: Array) -> list[Finding]:
    """All limits that are judged, but for those without a bound."""
    margins = criteria.margins(position[None])[0].tolist()
    found = zip(criteria.judged, margins, strict=True)
    return [_finding(limit, margin) for limit, margin in found if np.isfinite(limit.bound)]


def _finding(limit: Limit, margin: float) -> Finding:
    value = float(limit.value(np.array(margin)))
    return Finding(limit.name, limit.kind, limit.quantity, value, limit.bound, margin, limit.unit)


def _forces(robot: Robot, position: Array, payload: Payload | None) -> tuple[HoldingForce, ...]:
    try:
        robot.check_function("inverse_dynamics")
    except TauforgeError:  # without masses there is nothing to hold
        return ()
    forces = holding_forces(robot, position[None], payload)[0].tolist()
    return tuple(
        HoldingForce(a.words, force, a.max_force if np.isfinite(a.max_force) else None, a.unit)
        for a, force in zip(robot.actuators, forces, strict=True)
    )
