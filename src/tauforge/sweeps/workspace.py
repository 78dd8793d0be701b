"""The studies "workspace" and "holding-forces", over a robot's positions.

The first tells what stops a robot, its condition number and the forces that hold it; the second what the actuators must
give to hold it at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import (
    QUANTITIES,
    UNKNOWN_LIMIT,
    at_positions,
    check_quantities,
    codes,
    unknown_words,
)
from tauforge.sweeps.grid import Axis
from tauforge.sweeps.options import SweptPositions, common_unit, number_option, positions_and_axes
from tauforge.sweeps.study import Result, Study

CALL_POINTS = 8192  # points: what a kernel reads and writes for them stays in a core's cache
PAYLOAD_AXIS = {"payload": "kg"}  # an axis that is no coordinate
YES, NO = "yes", "no"


@dataclass(frozen=True)
class AtPositions:
    """Quantities of a robot at rest, at the positions of a block.

    quantities:        names of QUANTITIES
    payload:           kg, a point mass at the origin of the tool or of the platform, unless it is an axis
    forces:            whether the code of the limits judges holding forces, too
    largest_condition: that the code of the limits allows; None for any
    unknown:           code of coordinates that have no position
    """

    robot: Robot
    positions: SweptPositions
    quantities: tuple[str, ...]
    payload: float = 0.0
    forces: bool = False
    largest_condition: float | None = None
    unknown: int = UNKNOWN_LIMIT

    def __call__(self, block: Mapping[str, Array]) -> dict[str, Array]:
        points = len(next(iter(block.values())))
        found = {name: np.empty(points, QUANTITIES[name].dtype) for name in self.quantities}
        for start in range(0, points, CALL_POINTS):
            part = slice(start, start + CALL_POINTS)
            for name, values in self._at({axis: x[part] for axis, x in block.items()}).items():
                if name == "limit":
                    values = np.where(np.isnan(values), self.unknown, values)
                with np.errstate(over="ignore"):  # a condition number beyond float32 is infinite
                    found[name][part] = values
        return found

    def _at(self, block: Mapping[str, Array]) -> dict[str, Array]:
        masses = block.get("payload")
        held = None if masses is None and not self.payload else Payload(self.payload if masses is None else masses)
        positions = self.positions.of(self.robot, block)
        judged: dict[str, Any] = {"forces": self.forces, "largest_condition": self.largest_condition}
        return at_positions(self.robot, self.quantities, positions, payload=held, **judged)


def workspace_study(robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]) -> Study:
    positions, checked = positions_and_axes(robot, axes, at, PAYLOAD_AXIS)
    payload = number_option(options, "payload", "kg", 0.0)
    if "payload" in options and any(axis.name == "payload" for axis in checked):
        raise ModelError("it is an axis, too", field="option payload", remedy="Give one of them")
    masses = next((axis.values for axis in checked if axis.name == "payload"), np.array([payload]))
    if (masses < 0).any():
        raise ModelError(f"expected kg >= 0, got {masses.min():g}", field="payload")
    largest_condition = number_option(options, "condition", "", 1.0) if "condition" in options else None
    if largest_condition is not None and largest_condition < 1:
        raise ModelError(f"expected a number >= 1, got {largest_condition:g}", field="option condition")
    quantities = available(robot, options.get("quantities"))
    limited = bool(np.isfinite(robot.max_forces).any()) and "force" in available(robot, None)
    wanted = options.get("forces", YES if limited else NO)
    if wanted not in (YES, NO):
        raise ModelError(f"expected {YES} or {NO}, got {wanted!r}", field="option forces")
    forces = wanted == YES
    check_quantities(robot, quantities, forces=forces, condition=largest_condition is not None)
    weighed = (forces and "limit" in quantities) or any(name.startswith("force") for name in quantities)
    if (masses > 0).any() and not weighed:
        raise ModelError("nothing that is asked depends on it", field="payload", remedy="Add force to the quantities")
    named = codes(robot, forces=forces, condition=largest_condition is not None)
    unknown = UNKNOWN_LIMIT
    if robot.loops is not None:
        named, unknown = (*named, unknown_words(robot)), len(named)
    judged = {"forces": forces, "condition": largest_condition, "payload": payload}
    units = {"force": common_unit(actuator.unit for actuator in robot.actuators)}
    coded = {"limit": dict(enumerate(named))}
    results = tuple(
        Result(name, known.dtype, units.get(name, known.unit), known.meaning, codes=coded.get(name, {}))
        for name, known in ((name, QUANTITIES[name]) for name in quantities)
    )
    return Study(
        name="workspace",
        axes=checked,
        results=results,
        compute=AtPositions(robot, positions, quantities, payload, forces, largest_condition, unknown),
        title=f"Workspace of {robot.name}",
        attributes={"robot": robot.name, "at": positions.held(robot), "judged": judged},
    )


def available(robot: Robot, wanted: str | None) -> tuple[str, ...]:
    """The quantities that a text names, with commas between; by default all but the share that the robot has."""
    if wanted is not None:
        return check_quantities(robot, [name.strip() for name in wanted.split(",")])
    found: list[str] = []
    for name in ("limit", "condition", "force"):
        with suppress(ModelError):
            found += check_quantities(robot, [name])
    return tuple(found)


@dataclass(frozen=True)
class HoldingForces:
    """The largest size of the holding forces; NaN at a position without an answer."""

    robot: Robot
    positions: SweptPositions

    def __call__(self, block: Mapping[str, Array]) -> dict[str, Array]:
        return {"largest_force": np.abs(self.robot.holding_forces(self.positions.of(self.robot, block))).max(axis=-1)}


def holding_forces_study(
    robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]
) -> Study:
    positions, checked = positions_and_axes(robot, axes, at)
    unit = common_unit(actuator.unit for actuator in robot.actuators)
    return Study(
        name="holding-forces",
        axes=checked,
        results=(Result("largest_force", "float32", unit, "largest force that holds the robot at rest"),),
        compute=HoldingForces(robot, positions),
        title=f"Largest holding force of {robot.name}",
        attributes={"robot": robot.name, "at": positions.held(robot)},
    )
