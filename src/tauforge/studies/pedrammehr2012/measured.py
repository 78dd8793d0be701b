"""What the study of Pedrammehr, Mahboubkhah & Khani 2012 measures, before it is drawn or judged."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tauforge.algebra.dual import Dual, derivative, primal
from tauforge.algebra.vectors import Vector, dot
from tauforge.analysis.complexity import operation_count
from tauforge.analysis.power import PowerBalance, power_balance
from tauforge.formulations.stewart.kinematics import LegMotion, leg_motion
from tauforge.formulations.stewart.pedrammehr2012_closed import Terms
from tauforge.motion import MotionSample, pose_rates
from tauforge.robots.load import load
from tauforge.robots.stewart_formulas import motion
from tauforge.robots.stewart_platform import StewartPlatform
from tauforge.studies.stewart_paths import FAST, SLOW, Path, constant_velocity, sampled
from tauforge.studies.stewart_tables import AssumptionCosts, assumption_costs

Array = NDArray[Any]
IMPROVED, CLOSED, SIMPLIFIED, EXACT = "pedrammehr2012", "pedrammehr2012-closed", "dasgupta1998", "exact"
MODELS = (EXACT, SIMPLIFIED, IMPROVED, CLOSED)
TERMS = Terms._fields  # what the closed form leaves out
WAY, SPEED, DURATION = 0.5, 0.08, 6.0  # of path 1 as printed: m, m/s, s


class Rotation(NamedTuple):
    """Sizes of the legs' angular velocities (rad/s) or accelerations (rad/s^2), (k, 6)."""

    full: Array  # with the spin that the universal joint gives
    simplified: Array  # without

    @property
    def difference(self) -> Array:
        return self.full - self.simplified

    @property
    def apart(self) -> Array:
        """Of each leg (6,), the largest difference beside the largest size."""
        return np.asarray(np.abs(self.difference).max(axis=0) / self.full.max(axis=0))


def columns(states: MotionSample) -> list[list[Array]]:
    return [[x[:, k] for k in range(6)] for x in states]


def legs(platform: StewartPlatform, states: MotionSample, *, spin: bool) -> list[LegMotion]:
    """Of every leg over columns (k,): the kinematics of both papers in one text."""
    moving = motion(*columns(states))
    return [leg_motion(leg, moving, spin=spin) for leg in platform.parameters.legs]


def sizes(vectors: list[Vector]) -> Array:
    return np.stack([np.sqrt(dot(v, v)) for v in vectors], axis=-1)


class Measured:
    """Each number once, when it is first asked for."""

    def __init__(self) -> None:
        self.platform = load("pedrammehr2012")
        self.paths = {
            "1": constant_velocity("path 1", SPEED, DURATION),
            "1 whole": constant_velocity("path 1, whole way", WAY / DURATION, DURATION),
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
    def rotations(self) -> dict[str, tuple[Rotation, Rotation]]:
        """Angular velocities and accelerations, by path."""
        found = {}
        for name, path in self.paths.items():
            full, simplified = (legs(self.platform, path.states, spin=spin) for spin in (True, False))
            found[name] = (
                Rotation(sizes([leg.W for leg in full]), sizes([leg.W for leg in simplified])),
                Rotation(sizes([leg.A for leg in full]), sizes([leg.A for leg in simplified])),
            )
        return found

    @cached_property
    def spins(self) -> dict[str, Array]:
        """rad/s, (k, 6), by path."""
        return {name: self.platform.leg_motion(*path.states).spins for name, path in self.paths.items()}

    @cached_property
    def turning_of_the_axes(self) -> tuple[float, float]:
        """Path 3, rad/s: largest error of W with spin, and without, against how the legs' own axes really turn.

        W x is the rate of T times its transpose, differentiated by dual numbers from positions alone.
        """
        states = self.paths["3"].states
        rates, _ = pose_rates(states.position, states.velocity)
        pose = [Dual(states.position[:, k], {0: rates[:, k]}) for k in range(6)]
        errors = [0.0, 0.0]
        models = [legs(self.platform, states, spin=spin) for spin in (True, False)]
        for i, leg in enumerate(self.platform.parameters.legs):
            T = leg_motion(leg, motion(pose)).T
            value = [[np.asarray(primal(T[r, c])) for c in range(3)] for r in range(3)]
            rate = [[np.asarray(derivative(T[r, c], 0)) for c in range(3)] for r in range(3)]

            def across(r: int, c: int, value: list[list[Array]] = value, rate: list[list[Array]] = rate) -> Array:
                return np.asarray(sum(rate[r][k] * value[c][k] for k in range(3)))

            true = Vector(across(2, 1), across(0, 2), across(1, 0))
            for k, model in enumerate(models):
                apart = model[i].W - true
                errors[k] = max(errors[k], float(np.sqrt(dot(apart, apart)).max()))
        return errors[0], errors[1]

    @cached_property
    def printed_spin_rate(self) -> tuple[float, float]:
        """Path 3, rad/s^2: largest error of alpha_t by eq. 25 as printed, and the largest alpha_t itself."""
        error = largest = 0.0
        for leg in legs(self.platform, self.paths["3"].states, spin=True):
            along = dot(leg.u, leg.s)
            alpha_n = leg.A - leg.s * leg.spin_rate
            printed = dot(alpha_n, leg.u) * along / (1.0 - along**2) - leg.omega_u * leg.omega_v
            error = max(error, float(np.abs(printed - leg.spin_rate).max()))
            largest = max(largest, float(np.abs(leg.spin_rate).max()))
        return error, largest

    @cached_property
    def flops(self) -> dict[str, int]:
        """Of one inverse dynamics, by model."""
        return {model: operation_count(self.platform, model).flops for model in (SIMPLIFIED, IMPROVED, EXACT)}

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
        path, vectors = self.paths["3"], self.forces["3"][IMPROVED]
        chosen = {"": TERMS, **{left_out: tuple(t for t in TERMS if t != left_out) for left_out in TERMS}}
        return {
            left_out: float(np.abs(path.forces(self.platform, CLOSED, terms) - vectors).max())
            for left_out, terms in chosen.items()
        }

    @cached_property
    def sign_of_the_mass_centre(self) -> float:
        """Path 2, N: how far the exact forces differ between this robot and that of Dasgupta 1998."""
        other: Path = self.paths["2"]
        return float(np.abs(self.forces["2"][EXACT] - other.forces(load("dasgupta1998"))).max())

    @cached_property
    def seconds(self) -> float:
        """Of the improved model at all states of the three paths."""
        chosen = [self.paths[name] for name in ("1", "2", "3")]
        chosen[0].forces(self.platform, IMPROVED)  # what is made ready at the first call is no part of it
        start = time.perf_counter()
        for path in chosen:
            path.forces(self.platform, IMPROVED)
        return time.perf_counter() - start
