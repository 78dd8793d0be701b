"""The study "tracking": errors of computed torque when the masses of the model are not those of the robot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.errors import ModelError, UnsupportedFeatureError
from tauforge.motion.motion import Motion, MotionSample
from tauforge.robots.capabilities import Dissipation
from tauforge.robots.loads import Payload
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import enough_steps
from tauforge.simulation.rollout_result import Rollout
from tauforge.simulation.rollouts import rollout
from tauforge.sweeps import options as given
from tauforge.sweeps.grid import Axis, with_units
from tauforge.sweeps.options import largest_size
from tauforge.sweeps.study import Result, Study

TRACKING_AXES = {"seed": "", "spread": "", "frequency": "rad/s", "payload": "kg"}  # with their units
SPREAD = 0.1
FREQUENCY = 10.0  # rad/s: kp = 100, kv = 20
INTEGRATOR_STEP = 1e-3  # s
COULOMB_SPEED = 0.01  # rad/s or m/s
BLOCK_BYTES = 2**25  # of the recorded states of a block: of an arm 230 runs of 1,000 steps, about 0.3 s
DRAWN_FIELDS = ("mass", "inertia")  # of the names of fields that are drawn
TENSOR = (3, 3)


@dataclass(frozen=True)
class TrackingErrors:
    """Errors and forces of runs that differ in masses, gains and payloads. The controller knows none but the gains.

    robot:         the controller's model; the plant has its masses and inertias times random factors
    targets:       the motion at the control instants
    errors:        how the factors are drawn
    step:          s, of the integrator
    spread:        where it is no axis
    frequency:     rad/s, where it is no axis
    com:           (3,) m, of the payload
    gains_in_rows: whether runs with different gains are one rollout; otherwise each frequency is one
    """

    robot: Robot
    targets: SampledMotion
    errors: MassErrors
    step: float
    spread: float
    frequency: float
    com: Array
    gains_in_rows: bool = True

    def __call__(self, block: Mapping[str, Array]) -> dict[str, Array]:
        points = len(next(iter(block.values())))
        seeds = np.asarray(block.get("seed", np.zeros(points, np.int64)))
        spreads = np.asarray(block.get("spread", np.full(points, self.spread)), float)
        frequency = np.asarray(block["frequency"], float) if "frequency" in block else self.frequency
        payloads = None if "payload" not in block else np.asarray(block["payload"], float)
        fields = self.errors.drawn(seeds, spreads)
        if self.gains_in_rows or "frequency" not in block:
            return self._summary(self.runs(fields, payloads, frequency))
        found: dict[str, Array] = {}
        for one in np.unique(frequency):
            rows = frequency == one
            mine, held = {name: x[rows] for name, x in fields.items()}, None if payloads is None else payloads[rows]
            for name, values in self._summary(self.runs(mine, held, float(one))).items():
                found.setdefault(name, np.empty((points, *values.shape[1:])))[rows] = values
        return found

    def runs(
        self,
        fields: Mapping[str, Array],
        payloads: Array | None,
        frequency: float | Array,
        duration: float | None = None,
    ) -> Rollout:
        """Simulates one run for each row of the fields; frequency: one for all, or (N,) in one rollout."""
        in_rows = isinstance(frequency, np.ndarray)
        law = ComputedTorque(self.robot, *_gains(self.frequency if in_rows else frequency))
        matrices = (np.multiply.outer(gain, np.eye(self.robot.n)) for gain in _gains(frequency))
        return rollout(
            self.robot,
            law,
            self.targets,
            duration=duration,
            step=self.step,
            control_period=self.targets.period,
            varying=fields,
            payload=None if payloads is None else Payload(payloads, np.tile(self.com, (len(payloads), 1))),
            gains=dict(zip(("kp", "kv"), matrices, strict=True)) if in_rows else None,
        )

    def _summary(self, runs: Rollout) -> dict[str, Array]:
        error = self.robot.positions.error(runs.target_position, runs.position)
        return {
            "largest_error": largest_size(error),
            "rms_error": given.root_mean_square(error, given.shares_of_time(runs.time)),
            "largest_force": largest_size(runs.force),
        }


def study(robot: Robot, axes: Sequence[Axis], at: Mapping[str, float], options: Mapping[str, str]) -> Study:
    checked = with_units(axes, TRACKING_AXES)
    step = given.positive_option(options, "step", "s", INTEGRATOR_STEP)
    period = given.positive_option(options, "control_period", "s", step)
    spread = given.number_option(options, "spread", "", SPREAD)
    frequency = given.positive_option(options, "frequency", "rad/s", FREQUENCY)
    _check(checked, options, spread)
    mine, friction = robot, robot.dissipation or Dissipation(robot)
    if friction.jumps or "coulomb_speed" in options:
        mine = friction.smoothed(given.positive_option(options, "coulomb_speed", "rad/s", COULOMB_SPEED))
    motions = given.motions_of(mine, at, options)
    if len(motions) > 1:
        raise ModelError(f"expected one motion, got {len(motions)}", field="option motions")
    com = given.point_option(options, "com")
    ((moved, motion),) = motions.items()
    targets = sampled_at(motion, period)
    names, held = [axis.name for axis in checked], {"spread": spread, "frequency": frequency}
    compute = _tried(TrackingErrors(mine, targets, mass_errors_of(mine), step, spread, frequency, com), names)
    m, n = len(mine.actuators), mine.n
    run_bytes = np.dtype(float).itemsize * len(targets.position) * (2 * n + m)
    return Study(
        name="tracking",
        axes=checked,
        results=_results(mine),
        compute=compute,
        title=f"Tracking errors of {mine.name}",
        attributes={
            "robot": mine.name,
            "motion": moved,
            "varied": list(compute.errors.own),
            "held": {name: value for name, value in held.items() if name not in names},
            "payload_com": com.tolist(),
            "coordinate": [coordinate.name for coordinate in mine.coordinates],
            "actuator": [actuator.words for actuator in mine.actuators],
        },
        block_points=max(1, BLOCK_BYTES // run_bytes),
    )


def _gains(frequency: float | Array) -> tuple[float | Array, float | Array]:
    """kp, kv of errors that decay without overshoot, as (1 + w t) exp(-w t)."""
    return frequency**2, 2 * frequency


def _check(axes: Sequence[Axis], options: Mapping[str, str], spread: float) -> None:
    if taken := next((axis.name for axis in axes if axis.name in options), None):
        raise ModelError(f"{taken} is an axis", field=f"option {taken}", remedy="Give it as an axis or as an option")
    if not 0 <= spread < 1:
        raise ModelError(f"expected a number from 0 to below 1, got {spread:g}", field="option spread")
    given.check_values(axes, "seed", lambda x: (x >= 0) & (x.dtype.kind == "i"), "whole numbers >= 0")
    given.check_values(axes, "spread", lambda x: (x >= 0) & (x < 1), "numbers from 0 to below 1")
    given.check_values(axes, "frequency", lambda x: x > 0, "numbers above 0")
    given.check_values(axes, "payload", lambda x: x >= 0, "masses >= 0")


def _tried(compute: TrackingErrors, axes: Sequence[str]) -> TrackingErrors:
    """Tries one control period of one run: errors come now, and not from a block on a cluster."""
    fields = compute.errors.drawn(np.zeros(1, np.int64), np.array([compute.spread]))
    payloads, period = np.zeros(1) if "payload" in axes else None, compute.targets.period
    compute.runs(fields, payloads, compute.frequency, period)
    if "frequency" in axes:
        try:
            compute.runs(fields, payloads, np.array([compute.frequency]), period)
        except UnsupportedFeatureError:
            return TrackingErrors(**{**vars(compute), "gains_in_rows": False})
    return compute


def _results(robot: Robot) -> tuple[Result, ...]:
    unit = given.common_unit(coordinate.unit for coordinate in robot.coordinates)
    force = given.common_unit(actuator.unit for actuator in robot.actuators)
    each, forces = {"coordinate": robot.n}, {"actuator": len(robot.actuators)}
    return (
        Result("largest_error", "float32", unit, "largest error of each coordinate", core=each),
        Result("rms_error", "float32", unit, "root mean square error of each coordinate", core=each),
        Result("largest_force", "float32", force, "largest force of each actuator", core=forces),
    )


class SampledMotion(Motion):
    """The samples of a motion at whole multiples of a period; at other times that of the nearest multiple.

    A sweep keeps these and not the motion, because they can be compared and sent to other processes.

    samples: (periods + 1, n) each
    """

    def __init__(self, period: float, of_poses: bool, samples: MotionSample, in_rates: bool = True) -> None:
        self.period, self.of_poses, self.in_rates = period, of_poses, in_rates
        self.position, self.velocity, self.acceleration = samples
        self.duration = period * (len(self.position) - 1)

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        at = np.rint(t / self.period).astype(int)
        return self.position[at], self.velocity[at], self.acceleration[at]


def sampled_at(motion: Motion, period: float) -> SampledMotion:
    """The motion at control instants, and rest at its end up to the end of the last period."""
    periods = enough_steps("motion", motion.duration, period)
    samples = motion.sample(period * np.arange(periods + 1))
    return SampledMotion(period, motion.of_poses, samples, motion.in_rates)


@dataclass(frozen=True)
class MassErrors:
    """Masses and inertias times factors 1 + spread u, with u between -1 and 1, all drawn independently.

    A tensor of inertia has one factor, so that it stays one that a body can have.

    own: the robot's values, (*core) each, by the names of fields that may vary
    """

    own: Mapping[str, Array]

    def drawn(self, seeds: Array, spreads: Array) -> dict[str, Array]:
        """The fields (N, *core) for seeds (N,) and spreads (N,)."""
        shapes = [x.shape[:-2] if x.shape[-2:] == TENSOR else x.shape for x in self.own.values()]
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        numbers, places = np.unique(seeds, return_inverse=True)
        units = np.stack([_units(int(seed), int(ends[-1])) for seed in numbers])[places]
        found, drawn = {}, np.split(1 + spreads[:, None] * units, ends[:-1], axis=1)
        for (name, value), shape, factors in zip(self.own.items(), shapes, drawn, strict=True):
            found[name] = value * factors.reshape(len(seeds), *shape, *(1,) * (value.ndim - len(shape)))
        return found


def mass_errors_of(robot: Robot) -> MassErrors:
    """Errors of all masses and inertias of the robot that are not 0; ModelError where none can vary."""
    own: dict[str, Array] = {}
    for name in robot.varying_fields:
        if name.endswith(DRAWN_FIELDS) and getattr(robot, name, ()) is not None:
            own |= {field: value for field, value in robot.own_values((name,)).items() if value.any()}
    if not own:
        raise ModelError(f"{robot.name} has no masses that can vary", field="robot")
    return MassErrors(own)


def _units(seed: int, count: int) -> Array:
    """Random numbers between -1 and 1, the same for a seed on every machine."""
    return np.asarray(2 * np.random.Generator(np.random.PCG64(seed)).random(count) - 1)
