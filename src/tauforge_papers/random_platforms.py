"""Random Stewart platforms in which nothing is aligned, diagonal or zero, and fast states of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.random_arms import random_inertias

LEGS = 6
HOME = np.array([0.05, -0.03, 1.1, 0.1, -0.15, 0.2])  # near the middle of what these platforms reach
SPREAD = 0.1  # m and rad, of poses around home
SPEED, ACCELERATION = 2.0, 10.0  # m/s and rad/s, and their rates: about ten times path I
WELL_HELD = 100.0  # condition number of H below which a pose is taken


def random_platform(random: np.random.Generator) -> StewartPlatform:
    """A general platform on six legs, each with numbers of its own; friction that cannot be overlooked."""

    def ring(radius: float, half_angle: float) -> Array:
        angles = np.radians([120 * k + side * half_angle for k in range(3) for side in (-1, 1)])
        points = radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(LEGS)])
        return points + random.uniform(-0.1, 0.1, (LEGS, 3))

    base = ring(0.9, 12)
    numbers: dict[str, Any] = {
        "base_points": base,
        "platform_points": ring(0.6, 48),
        "universal_axes": np.cross([0, 0, 1], base) + 0.3 * random.normal(size=(LEGS, 3)),
        "lower_mass": random.uniform(1, 5, LEGS),
        "upper_mass": random.uniform(1, 5, LEGS),
        "lower_com": random.uniform(-0.2, 0.4, (LEGS, 3)),
        "upper_com": random.uniform(-0.4, 0.2, (LEGS, 3)),
        "lower_inertia": random_inertias(random, LEGS),
        "upper_inertia": random_inertias(random, LEGS),
        "platform_mass": float(random.uniform(10, 40)),
        "platform_com": random.uniform(-0.2, 0.2, 3),
        "platform_inertia": 10 * random_inertias(random, 1)[0],
        "friction": random.uniform(1, 5, 3),
        "gravity": random.uniform(-9, 9, 3),
        "name": "random platform",
    }
    return StewartPlatform(**numbers)


def fast_states(platform: StewartPlatform, random: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
    """Poses around home that the legs hold well, twists and accelerations: (count, 6) each."""
    poses = np.empty((0, 6))
    while len(poses) < count:
        tried = HOME + SPREAD * random.uniform(-1, 1, (count, 6))
        poses = np.concatenate([poses, tried[platform.condition_number(tried) < WELL_HELD]])[:count]
    return poses, SPEED * random.normal(size=(count, 6)), ACCELERATION * random.normal(size=(count, 6))
