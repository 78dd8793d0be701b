"""What the study of Pedrammehr, Mahboubkhah & Khani 2012 measures, before it is drawn or judged."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from tauforge.algebra.vectors import E_X, E_Y, E_Z, cross, dot
from tauforge.analysis.complexity import operation_count
from tauforge.analysis.stewart_forces import PowerBalance, power_balance
from tauforge.arrays import Array
from tauforge.formats.loading import load
from tauforge.formulations.stewart import dasgupta1998, exact, kinematics, pedrammehr2012
from tauforge.formulations.stewart.parameters import motion
from tauforge.formulations.stewart.pedrammehr2012_closed import Terms
from tauforge.motion import MotionSample
from tauforge_papers.misprints import Line, printed_formula
from tauforge_papers.pedrammehr2012.rotations import Errors, Rotation, columns, kinematic_errors, rotations
from tauforge_papers.random_platforms import fast_states, random_platform
from tauforge_papers.stewart_legs import legs, vectors
from tauforge_papers.stewart_misprints import SHARED, error_under_load, forces_of
from tauforge_papers.stewart_paths import FAST, SLOW, Path, constant_velocity, sampled
from tauforge_papers.stewart_tables import AssumptionCosts, assumption_costs

IMPROVED, CLOSED, SIMPLIFIED, EXACT = "pedrammehr2012", "pedrammehr2012-closed", "dasgupta1998", "exact"
MODELS = (EXACT, SIMPLIFIED, IMPROVED, CLOSED)
OTHER: Final = "dasgupta1998"  # the other paper's robot: the third component of L_uo has the other sign
TERMS = Terms._fields  # what the closed form leaves out
ONCE = ("legs_once", "platform_once")  # switches of the vector form that leave the parallel-axis terms out
RANDOM_STATES = 200
UNITS = (E_X, E_Y, E_Z)
DISTANCE, SPEED, DURATION = 0.5, 0.08, 6.0  # of path 1 as printed: m, m/s, s
SPIN_RATE = Line(kinematics, "omega_u * omega_v / sc  # P25 mended", "-omega_u * omega_v")  # eq. 25 as printed


class Size(NamedTuple):
    """Three measures of the errors along a path, in their unit."""

    largest: float
    rms: float
    mean: float

    @classmethod
    def of(cls, errors: Array) -> Size:
        magnitude = np.abs(errors)
        return cls(float(magnitude.max()), float(np.sqrt((magnitude**2).mean())), float(magnitude.mean()))


class Moment(NamedTuple):
    """What the universal joints give along the pods on a path: |c.n| (-), and the largest moment along n (N m)."""

    least: float
    most: float
    largest: float


class Measured:
    """Each number once, when it is first asked for."""

    def __init__(self) -> None:
        self.platform = load("pedrammehr2012")
        self.paths = {
            "1": constant_velocity("path 1", SPEED, DURATION),
            "1 whole": constant_velocity("path 1, whole distance", DISTANCE / DURATION, DURATION),
            "2": sampled("path 2", SLOW),
            "3": sampled("path 3", FAST),
        }

    @cached_property
    def forces(self) -> dict[str, dict[str, Array]]:
        """N, (k, 6), by path and model."""
        return {name: {model: self.paths[name].forces(self.platform, model) for model in MODELS} for name in ("2", "3")}

    def error(self, name: str, model: str) -> Array:
        """N, (k, 6), against the exact model."""
        return self.forces[name][model] - self.forces[name][EXACT]

    @cached_property
    def sizes(self) -> dict[tuple[str, str, str], Size]:
        """N, errors by robot, path and model; the robots are those of both papers."""
        other = load(OTHER)
        found = {}
        for name in ("2", "3"):
            right = self.paths[name].forces(other)
            for model in MODELS[1:]:
                found[self.platform.name, name, model] = Size.of(self.error(name, model))
                found[OTHER, name, model] = Size.of(self.paths[name].forces(other, model) - right)
        return found

    @cached_property
    def apart(self) -> tuple[float, float]:
        """N, the largest difference of both papers' forces on paths 2 and 3."""
        slow, fast = (np.abs(found[IMPROVED] - found[SIMPLIFIED]).max() for found in self.forces.values())
        return float(slow), float(fast)

    @cached_property
    def rotations(self) -> dict[str, tuple[Rotation, Rotation]]:
        """Angular velocities and accelerations, by path."""
        return {name: rotations(self.platform, path.states) for name, path in self.paths.items()}

    @cached_property
    def kinematics(self) -> Errors:
        """Errors of the kinematic equations on path 3."""
        return kinematic_errors(self.platform, self.paths["3"].states)

    @cached_property
    def random_kinematics(self) -> Errors:
        """The same at random fast states of a random platform, where every angle counts."""
        random = np.random.default_rng(0)
        platform = random_platform(random)
        return kinematic_errors(platform, MotionSample(*fast_states(platform, random, RANDOM_STATES)))

    def kinematic_error(self, *names: str) -> list[float]:
        """Relative, the larger of both."""
        return [max(found.of(name) for found in (self.kinematics, self.random_kinematics)) for name in names]

    @cached_property
    def rank_values(self) -> tuple[float, float]:
        """Path 3: singular values of the matrix of eqs 10 and 11 beside the largest: least second, largest third."""
        found = legs(self.platform, self.paths["3"].states)
        matrix = np.stack([vectors([cross(axis, leg.s * leg.L) for leg in found]) for axis in UNITS], axis=-1)
        values = np.linalg.svd(matrix, compute_uv=False)
        second, third = (values[..., k] / values[..., 0] for k in (1, 2))
        return float(second.min()), float(third.max())

    @cached_property
    def spin_rate_costs(self) -> tuple[float, float]:
        """N on paths 2 and 3: largest error of the forces with eq. 25 as printed, all else right."""
        formula = printed_formula(pedrammehr2012, SPIN_RATE, shared=SHARED)
        once = pedrammehr2012.PedrammehrCorrections(legs_once=True, platform_once=True)
        slow, fast = (
            np.abs(
                forces_of(formula, self.platform.parameters, self.paths[name].states, corrections=once)
                - self.forces[name][EXACT]
            ).max()
            for name in ("2", "3")
        )
        return float(slow), float(fast)

    @cached_property
    def moments(self) -> dict[str, Moment]:
        """By path."""
        found = {}
        for name in ("2", "3"):
            moving = motion(*(columns(x) for x in self.paths[name].states))
            loads = [exact.leg_load(self.platform.parameters, leg, moving) for leg in self.platform.parameters.legs]
            cn = np.stack([dot(load.motion.c, load.motion.s) for load in loads])
            along = np.abs(cn * np.stack([load.M_u for load in loads]))
            found[name] = Moment(float(np.abs(cn).min()), float(np.abs(cn).max()), float(along.max()))
        return found

    @cached_property
    def free_axes(self) -> float:
        """Path 3: the largest of |c.u| and |c.v|, the parts of a moment along c about the joint's own axes."""
        found = legs(self.platform, self.paths["3"].states)
        return float(max(np.abs(dot(leg.c, axis)).max() for leg in found for axis in (leg.u, leg.v)))

    def costs_with(self, model: str, *corrections: str) -> tuple[float, ...]:
        """N on paths 2 and 3: largest error of a model with some of its switches on."""
        return tuple(
            float(np.abs(self.paths[name].forces(self.platform, model, corrections) - self.forces[name][EXACT]).max())
            for name in ("2", "3")
        )

    @cached_property
    def under_load(self) -> float:
        """Error of the vector form, every parallel axis once, beside the largest force, under external loads."""
        return error_under_load(pedrammehr2012, corrections=pedrammehr2012.PedrammehrCorrections(True, True))

    @cached_property
    def mended(self) -> tuple[float, ...]:
        """N on paths 2 and 3: errors of the vector form without its parallel-axis terms."""
        return self.costs_with(IMPROVED, *ONCE)

    @cached_property
    def mended_apart(self) -> tuple[float, ...]:
        """N on paths 2 and 3: largest difference of the forces by both papers, the faults of both corrected."""
        right = dasgupta1998.DasguptaCorrections._fields
        return tuple(
            float(
                np.abs(
                    self.paths[name].forces(self.platform, IMPROVED, ONCE)
                    - self.paths[name].forces(self.platform, SIMPLIFIED, right)
                ).max()
            )
            for name in ("2", "3")
        )

    @cached_property
    def own_axes(self) -> dict[str, tuple[float, ...]]:
        """N on paths 2 and 3: cost of eqs 32 and 33, and of 50, their components read in the bodies' own axes."""
        return {
            "pods": self.costs_with(IMPROVED, "platform_once", "own_axes"),
            "platform": self.costs_with(IMPROVED, "legs_once", "own_axes"),
        }

    @cached_property
    def flops(self) -> dict[str, int]:
        """Flops of one inverse dynamics by model, and of the simplified model with the spin added."""
        counted = {model: operation_count(self.platform, model).flops for model in (SIMPLIFIED, IMPROVED, EXACT)}
        with_spin = operation_count(self.platform, SIMPLIFIED, corrections=("leg_spin",))
        return {**counted, "with spin": with_spin.flops}

    @cached_property
    def powers(self) -> dict[str, dict[str, PowerBalance]]:
        """By path and model."""
        return {
            name: {model: power_balance(self.platform, *self.paths[name].states, F) for model, F in found.items()}
            for name, found in self.forces.items()
        }

    @cached_property
    def costs(self) -> AssumptionCosts:
        return assumption_costs(self.platform, [self.paths["2"], self.paths["3"]])

    @cached_property
    def term_costs(self) -> dict[str, float]:
        """Path 3, N: largest difference of the closed form from the vector form, by the term left out; "" for none."""
        return {left_out: self._closed_apart([t for t in TERMS if t != left_out]) for left_out in ("", *TERMS)}

    @cached_property
    def restored_alone(self) -> dict[str, float]:
        """The same with nothing restored but one term."""
        return {term: self._closed_apart([term]) for term in TERMS}

    def _closed_apart(self, terms: list[str]) -> float:
        path, vectors = self.paths["3"], self.forces["3"][IMPROVED]
        return float(np.abs(path.forces(self.platform, CLOSED, terms) - vectors).max())

    @cached_property
    def other_robot(self) -> tuple[float, float]:
        """Path 2, N: exact forces less those of the other robot, as printed and with the sign changed; the largest."""
        path: Path = self.paths["2"]
        wanted = path.forces(load(OTHER))
        turned = self.platform.replace(upper_com=np.array(self.platform.upper_com) * [1.0, 1.0, -1.0])
        before, after = (np.abs(path.forces(robot) - wanted).max() for robot in (self.platform, turned))
        return float(before), float(after)

    @cached_property
    def seconds(self) -> float:
        """Time that the improved model takes at all states of the three paths."""
        chosen = [self.paths[name] for name in ("1", "2", "3")]
        chosen[0].forces(self.platform, IMPROVED)  # what is made ready at the first call is no part of it
        start = time.perf_counter()
        for path in chosen:
            path.forces(self.platform, IMPROVED)
        return time.perf_counter() - start
