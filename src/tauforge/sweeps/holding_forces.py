"""The study "holding-forces": what the actuators must give to hold a robot at rest, over its positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.robot import Robot
from tauforge.sweeps.axes import Axis
from tauforge.sweeps.option_texts import common_unit
from tauforge.sweeps.positions import Positions, positions_and_axes
from tauforge.sweeps.study import Result, Study


@dataclass(frozen=True)
class HoldingForces:
    """The largest size of the holding forces; NaN at a position without an answer."""

    robot: Robot
    positions: Positions

    def __call__(self, block: Mapping[str, Array]) -> dict[str, Array]:
        return {"largest_force": np.abs(self.robot.holding_forces(self.positions.of(self.robot, block))).max(axis=-1)}


def study(robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]) -> Study:
    positions, checked = positions_and_axes(robot, axes, at)
    unit = common_unit(actuator.unit for actuator in robot.actuators)
    held = {c.name: float(x) for c, x in zip(robot.coordinates, positions.home, strict=True)}
    return Study(
        name="holding-forces",
        axes=checked,
        results=(Result("largest_force", "float32", unit, "largest force that holds the robot at rest"),),
        compute=HoldingForces(robot, positions),
        title=f"Largest holding force of {robot.name}",
        attributes={"robot": robot.name, "at": {name: x for name, x in held.items() if name not in positions.columns}},
    )
