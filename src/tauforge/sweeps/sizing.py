"""The study "sizing": what motions ask of a robot's actuators, over their speed and the payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import check_actuator_motion
from tauforge.errors import ModelError
from tauforge.robots.formulations import forces_by_rows
from tauforge.robots.loads import PAYLOAD, Payload
from tauforge.robots.positions import singularity
from tauforge.robots.robot import Robot
from tauforge.robots.static_quantities import HOLDS as ALL_HOLD
from tauforge.sweeps import options as given
from tauforge.sweeps.grid import Axis, with_units
from tauforge.sweeps.options import MotionSamples, largest_size
from tauforge.sweeps.study import Result, Study

SIZING_AXES = {"speed": "", "payload": "kg", "motion": ""}  # with their units
BLOCK_STATES = 2**18  # points times samples of a block: about 50 ms on one thread
CALL_STATES = 2**14  # of one call of inverse dynamics: its arrays take about 10 MB
HOLDS, POSITION, SPEED, FORCE, SINGULAR = range(5)
CODES = {
    HOLDS: ALL_HOLD,
    POSITION: "a position limit is broken",
    SPEED: "a speed limit is broken",
    FORCE: "a force limit is broken",
    SINGULAR: "a singular position is crossed",
}


@dataclass(frozen=True)
class SizingDemands:
    """Peaks, root mean squares and limits of motions at other speeds and with payloads.

    com: (3,) m, of the payload, in the frame of the tool or of the platform
    A motion at speed s has the same positions, velocities times s and accelerations times s^2.
    """

    robot: Robot
    motions: tuple[MotionSamples, ...]
    com: Array

    def __call__(self, block: Mapping[str, Array]) -> dict[str, Array]:
        points = len(next(iter(block.values())))
        numbers = block.get("motion", np.ones(points, int))
        speeds = np.asarray(block.get("speed", np.ones(points)), float)
        payloads = None if "payload" not in block else np.asarray(block["payload"], float)
        found: dict[str, Array] = {}
        for number in np.unique(numbers):
            motion = _Demand(self.robot, self.motions[number - 1], self.com)
            rows = np.flatnonzero(numbers == number)
            for part in np.array_split(rows, -(-len(rows) // motion.points_of_a_call)):
                held = None if payloads is None else payloads[part]
                for name, values in motion.at(speeds[part], held).items():
                    found.setdefault(name, np.empty((points, *values.shape[1:]), values.dtype))[part] = values
        return found


class _Demand:
    """One motion, with all that does not depend on speed and payload."""

    def __init__(self, robot: Robot, motion: MotionSamples, com: Array) -> None:
        self.robot, self.motion, self.com = robot, motion, com
        position, velocity = motion.position, motion.velocity
        self.shares = given.shares_of_time(motion.times)
        self.rates = robot.sensors.motion(position, velocity)[1]  # (k, m)
        self.outside = not (robot.bounds.margins(position) >= 0).all()
        self.quickest = largest_size(robot.positions.rates(position, velocity)[0])  # (n,)
        signs = singularity(robot, position)
        self.crosses = signs is not None and bool((signs[1:] * signs[:-1] < 0).any())
        self.points_of_a_call = max(1, CALL_STATES // len(motion.times))

    def at(self, speeds: Array, payloads: Array | None) -> dict[str, Array]:
        """The results at speeds (N,) and with payloads (N,) kg, None for none."""
        robot, s = self.robot, speeds[:, None, None]
        load: dict[str, Any] = {} if payloads is None else {PAYLOAD.name: Payload(payloads[:, None], self.com)}
        _, position, velocity, acceleration = self.motion
        forces = forces_by_rows(robot, position[None], s * velocity, s**2 * acceleration, **load)  # (N, k, m)
        peaks = largest_size(forces)
        found = {
            "peak_force": peaks,
            "rms_force": given.root_mean_square(forces, self.shares),
            "peak_speed": speeds[:, None] * largest_size(self.rates),
            "peak_power": speeds[:, None] * largest_size(forces * self.rates),
            "force_share": (peaks / robot.max_forces).max(axis=-1),
        }
        fastest = np.array([coordinate.max_speed for coordinate in robot.coordinates])
        broken = [
            np.isnan(peaks).any(axis=-1) | self.crosses,
            np.full(len(speeds), self.outside),
            (speeds[:, None] * self.quickest > fastest).any(axis=-1),
            found["force_share"] > 1,
        ]
        codes = np.select(broken, [SINGULAR, POSITION, SPEED, FORCE], HOLDS)
        return found | {"limits": codes.astype(np.uint8)}


def study(robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]) -> Study:
    robot.check_function("inverse_dynamics")
    checked = with_units(axes, SIZING_AXES)
    motions = given.motions_of(robot, at, options)
    _check(robot, checked, len(motions))
    com = given.point_option(options, "com")
    samples = tuple(given.sampled(robot, name, motion) for name, motion in motions.items())
    compute = SizingDemands(robot, samples, com)
    check_actuator_motion(compute, robot)
    longest = max(len(sample.times) for sample in samples)
    return Study(
        name="sizing",
        axes=checked,
        results=_results(robot),
        compute=compute,
        title=f"Actuator sizing of {robot.name}",
        attributes={
            "robot": robot.name,
            "motions": dict(enumerate(motions, 1)),
            "payload_com": com.tolist(),
            "actuator": [actuator.words for actuator in robot.actuators],
        },
        block_points=max(1, BLOCK_STATES // longest),
    )


def _check(robot: Robot, axes: Sequence[Axis], motions: int) -> None:
    names = [axis.name for axis in axes]
    given.check_values(axes, "speed", lambda x: x >= 0, "speeds >= 0")
    given.check_values(axes, "payload", lambda x: x >= 0, "masses >= 0")
    inside = f"a whole number from 1 to {motions}, the number of a motion"
    given.check_values(axes, "motion", lambda x: (x >= 1) & (x <= motions) & (x.dtype.kind == "i"), inside)
    if motions > 1 and "motion" not in names:
        remedy = f"Write motion={','.join(str(k + 1) for k in range(motions))}, or give one file"
        raise ModelError(f"{motions} motions need an axis", field="axis motion", remedy=remedy)
    if "payload" in names and PAYLOAD not in robot.functions["inverse_dynamics"].optional:
        raise ModelError(f"{robot.name} cannot carry a payload", field="axis payload")


def _results(robot: Robot) -> tuple[Result, ...]:
    force = given.common_unit(actuator.unit for actuator in robot.actuators)
    speed = given.common_unit(f"{sensor.unit}/s" for sensor in robot.sensors.quantities)
    each = {"actuator": len(robot.actuators)}
    found = [
        Result("peak_force", "float32", force, "largest force of each actuator", core=each),
        Result("rms_force", "float32", force, "root mean square force of each actuator", core=each),
        Result("peak_speed", "float32", speed, "largest speed of each actuator", core=each),
        Result("peak_power", "float32", "W", "largest power of each actuator, given or taken", core=each),
        Result("limits", "uint8", "", "whether the limits hold", codes=CODES),
    ]
    if np.isfinite(robot.max_forces).any():
        found.append(Result("force_share", "float32", "", "largest share of the force limits"))
    return tuple(found)
