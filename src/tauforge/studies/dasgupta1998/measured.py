"""What the study of Dasgupta & Mruthyunjaya 1998 measures, before it is drawn or judged."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tauforge.analysis.complexity import OperationCount, general_operation_count, operation_count
from tauforge.analysis.singularity import crossings
from tauforge.robots.load import load
from tauforge.robots.numbers import Rows
from tauforge.robots.stewart_platform import StewartPlatform
from tauforge.studies.stewart_paths import FAST, SINGULAR, SLOW, Path, sampled
from tauforge.studies.stewart_tables import AssumptionCosts, assumption_costs

Array = NDArray[Any]
MODEL = "dasgupta1998"
LIGHT = 4.0  # kg: a platform as heavy as one leg
ILL = (1e2, 1e3)  # condition numbers that the paper calls high
STEP = 0.1  # beside the largest acceleration: no smooth change in one sample
POSES = 20_000
REGION = ((0.0, -0.1, 0.3, -0.5, -0.5, -0.5), (0.9, 1.9, 1.9, 0.5, 0.5, 0.5))  # of random poses: around the three paths


class Forces(NamedTuple):
    """N, (k, 6) each: as the paper's figures name them."""

    T: Array  # total, by the paper's model
    S: Array  # "static": massless legs, no friction (eq. 41)
    exact: Array

    @property
    def D(self) -> Array:
        """The part of leg inertia, leg weight and friction (eq. 42)."""
        return self.T - self.S

    @property
    def fraction(self) -> Array:
        return self.D / self.T

    @property
    def exact_fraction(self) -> Array:
        return (self.exact - self.S) / self.exact

    @property
    def crossing(self) -> Array:
        """Which legs (6,) pass from pushing to pulling."""
        return np.asarray(sign_changes(self.T).any(axis=0))


def sign_changes(total: Array) -> Array:
    """(k - 1, 6): whether the sign changes between one sample and the next."""
    return np.asarray(np.diff(np.sign(total), axis=0) != 0)


def poles(total: Array, path: Path) -> Array:
    """(k - 1, 6): where a force goes through zero, so that the fraction of it has a pole.

    Where the acceleration steps, the force leaps over zero and the fraction has a jump instead.
    """
    change = np.abs(np.diff(path.states.acceleration, axis=0)).max(axis=1)
    smooth = change < STEP * np.abs(path.states.acceleration).max()
    return np.asarray(sign_changes(total) & smooth[:, None])


def forces(platform: StewartPlatform, path: Path) -> Forces:
    models = (MODEL, "massless-legs", "exact")
    return Forces(*(path.forces(platform, model) for model in models))


class RandomPoses(NamedTuple):
    """Poses at rest: condition numbers of H and the largest leg force (N), each (k,)."""

    condition: Array
    scaled: Array  # condition number with moments divided by the platform's radius
    force: Array


class Measured:
    """Each number once, when it is first asked for."""

    def __init__(self, light: float = LIGHT) -> None:
        """light: mass (kg) of the platform that the paper calls as light as a leg."""
        self.platform = load("dasgupta1998")
        self.light_mass = light
        self.mass = float(self.platform.parameters.body.mass)
        self.light = self.platform.replace(platform_mass=light)
        self.paths = {
            "I": sampled("path I", SLOW),
            "II": sampled("path II", FAST),
            "III": sampled("path III", SINGULAR),
        }
        self.radius = float(np.linalg.norm(self.platform.platform_points, axis=1).mean())

    @cached_property
    def forces(self) -> dict[str, Forces]:
        return {name: forces(self.platform, path) for name, path in self.paths.items()}

    @cached_property
    def light_forces(self) -> dict[str, Forces]:
        return {name: forces(self.light, self.paths[name]) for name in ("I", "II")}

    @cached_property
    def conditions(self) -> dict[str, Array]:
        return {name: self.platform.condition_number(path.states.position) for name, path in self.paths.items()}

    @cached_property
    def singular_time(self) -> float:
        (only,) = crossings(self.platform, lambda t: SINGULAR.sample(t).position, 0.0, SINGULAR.duration)
        return only.time

    @cached_property
    def at_the_papers_steps(self) -> tuple[float, float]:
        """Path III every 0.1 s, as the paper samples it: time (s) and size (N) of the largest leg force."""
        path = sampled("path III", SINGULAR, 61)
        force = np.abs(path.forces(self.platform, MODEL)).max(axis=1)
        return float(path.t[force.argmax()]), float(force.max())

    @cached_property
    def random_poses(self) -> RandomPoses:
        pose = np.random.default_rng(0).uniform(*REGION, (POSES, 6))
        rest = np.zeros(6)
        force = np.abs(self.platform.inverse_dynamics(pose, rest, rest, model=MODEL)).max(axis=1)
        return RandomPoses(
            self.platform.condition_number(pose), self.platform.condition_number(pose, self.radius), force
        )

    def shares_by_mass(self, name: str, masses: Array) -> Array:
        """Median |D / T| over legs and times for each platform mass (kg).

        D does not depend on the platform and S is linear in its mass, so two masses give all others.
        """
        heavy, light = self.forces[name], self.light_forces[name]
        slope = (heavy.S - light.S) / (self.mass - self.light_mass)
        totals = (heavy.D + light.S + (m - self.light_mass) * slope for m in masses)
        return np.array([np.median(np.abs(heavy.D / total)) for total in totals])

    @cached_property
    def inertias(self) -> dict[str, Rows]:
        """About the mass centres, kg m^2: of a leg's parts and of the platform."""
        p = self.platform.parameters
        bodies = {"I_d0": p.legs[0].lower, "I_u0": p.legs[0].upper, "I_p": p.body}
        return {name: tuple(tuple(row) for row in body.inertia.rows) for name, body in bodies.items()}

    @cached_property
    def costs(self) -> AssumptionCosts:
        return assumption_costs(self.platform, [self.paths["I"], self.paths["II"]])

    @cached_property
    def operations(self) -> dict[str, OperationCount]:
        """Without friction, as the paper counts; and a general serial arm of six revolute joints."""
        smooth = self.platform.without_friction()
        return {
            MODEL: operation_count(smooth, MODEL),
            "exact": operation_count(smooth, "exact"),
            "newton-euler": general_operation_count(6, "newton-euler"),
            "joint-frames": general_operation_count(6, "joint-frames"),
        }
