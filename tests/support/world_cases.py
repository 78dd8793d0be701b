"""Robots of every kind for tests of worlds, with states and forces of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import tauforge as tf
from support.mechanisms import five_bar
from support.platforms import HOME, random_platform
from support.random_mechanisms import random_mechanism
from support.strategies import random_arm

ARM = random_arm(np.random.default_rng(3), "RPR", drives=True).replace(coulomb_speed=0.5)
TREE = (tf.Hinge, tf.Slider, tf.Spherical, tf.Hinge)
ROBOTS: dict[str, Any] = {
    "arm": ARM,
    "platform": random_platform(np.random.default_rng(1)),
    "five-bar": five_bar(),
    "tree": random_mechanism(np.random.default_rng(2), TREE, drives=True, actuated=1.0, coulomb_speed=0.5),
}


def states(robot: Any, rows: int) -> tuple[Any, Any]:
    """Coordinates and velocities near the default position, or near the home pose of a platform."""
    rng, q = np.random.default_rng(4), robot.positions.coordinates(robot.positions.default)
    middle = HOME if robot.positions.pose else q
    return middle + 0.01 * rng.normal(size=(rows, robot.n)), 0.1 * rng.normal(size=(rows, robot.n))


def pushes(robot: Any, rows: int, periods: int) -> Any:
    return np.random.default_rng(5).normal(size=(rows, periods, len(robot.actuators)))
