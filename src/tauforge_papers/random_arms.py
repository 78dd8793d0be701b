"""Random arms in which nothing is aligned, diagonal or zero: special numbers hide missing physics."""

from __future__ import annotations

from functools import partial

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.functions import Formula
from tauforge.evaluation.reference import reference as of_rows
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.robots.serial.serial_arm import SerialArm


def random_arm(random: np.random.Generator, kinds: str) -> SerialArm:
    """kinds: "RPR...", a letter a joint; full inertias of real bodies, gravity of 9.81 m/s^2 along the first axis.

    Slides travel half a metre to either side.
    """
    n = len(kinds)
    inertia = random_inertias(random, n)
    return SerialArm.from_dh(
        joints=kinds,
        alpha=random.uniform(-np.pi, np.pi, n),
        theta=random.uniform(-np.pi, np.pi, n),
        a=random.uniform(-0.5, 0.5, n),
        d=random.uniform(-0.5, 0.5, n),
        mass=random.uniform(0.5, 5, n),
        com=random.uniform(-0.2, 0.2, (n, 3)),
        inertia=inertia,
        limits=[None if kind == "R" else (-0.5, 0.5) for kind in kinds],
        name=f"random {kinds}",
    )


def random_inertias(random: np.random.Generator, count: int) -> Array:
    """(count, 3, 3) kg m^2, of real bodies."""
    A = random.normal(size=(count, 3, 3))
    J = 0.1 * (A @ A.transpose(0, 2, 1) + 0.1 * np.eye(3))  # second moments: positive definite
    return np.asarray(np.trace(J, axis1=1, axis2=2)[:, None, None] * np.eye(3) - J)


def random_kinds(random: np.random.Generator, shortest: int = 2, longest: int = 7) -> str:
    """Letters of an arm with revolute and prismatic joints mixed."""
    return "".join(random.choice(["R", "P"], random.integers(shortest, longest + 1)))


def reference(formula: Formula, arm: ArmParameters, q: Array, qd: Array, qdd: Array) -> Array:
    """formula(arm, q, qd, qdd) for every row, (k, n): nothing is compiled, for arms that are used once."""
    (forces,) = of_rows(partial(formula, arm), {"q": q, "qd": qd, "qdd": qdd}, [(arm.n,)])
    return forces
