"""Sampled loops that are unstable: forces that are held for a control period arrive too late for large gains.

Near its target a law asks for -kp e - kv e' (`Controller.feedback`), in accelerations or in forces of the actuators.
With an acceleration a held over a period T, e' becomes e' + T a and e becomes e + T e' + T^2 / 2 a. The loop is
unstable where an eigenvalue of this map is larger than 1. For one coordinate with a mass m this is so where kv T > 2 m,
or kp T > 2 kv.
"""

from __future__ import annotations

import math
import warnings
from weakref import ref

import numpy as np

from tauforge.arrays import Array
from tauforge.control.controller import Controller
from tauforge.errors import UnstableLoopWarning
from tauforge.evaluation.functions import has
from tauforge.evaluation.unmodified import method_is_ours
from tauforge.robots.physical import levels_to_the_caller
from tauforge.robots.robot import Robot
from tauforge.simulation.stiffness import INVERTIBLE, mass_matrices

GROWTH = 2.0  # of errors in a run: less is no reason to warn
MARGIN = 1e-6  # of an eigenvalue: rounding leaves 1e-8 of two that are equal
STABLE = 1e-9  # by which the largest eigenvalue of a stable loop may be above 1
HALVINGS = 8  # of the control period, in search of one that is stable
# The first start of each robot tells the size of its masses: every start would cost more than a short run itself.
# Robots are known by their id, for they need no hash.
_starts: dict[int, tuple[ref[Robot], Array, Array]] = {}


def warn_of_sampling(law: object, plant: Robot, position: Array | None, period: float, periods: int) -> None:
    """UnstableLoopWarning where errors grow to GROWTH times their size in so many periods.

    position: (N,) of the start; None where it is not at hand, and laws that ask for forces are not looked into
    """
    gains = _gains(law, plant, position)
    if gains is None:
        return
    growth = _growth(*gains, period)
    if growth <= 1 + MARGIN or periods * math.log(growth) < math.log(GROWTH):
        return
    shorter = (period / 2**k for k in range(1, HALVINGS + 1))
    enough = next((each for each in shorter if _growth(*gains, each) <= 1 + STABLE), None)
    advice = "a larger kv" if enough is None else f"a control period of {enough:.3g} s"
    unstable = UnstableLoopWarning(
        f"{type(law).__name__}, asked every {period:.6g} s, is unstable with {plant.name}: errors grow by a factor of "
        f"{growth:.4g} in every period",
        remedy=f"Use smaller gains, or {advice}",
    )
    warnings.warn(unstable, stacklevel=levels_to_the_caller())


def _gains(law: object, plant: Robot, position: Array | None) -> tuple[Array, Array] | None:
    """kp and kv (n, n) in accelerations; None where they are not known."""
    if not isinstance(law, Controller) or not _tells_its_feedback(law):
        return None
    feedback = law.feedback()
    if feedback is None or not feedback.of_forces:
        return None if feedback is None else (feedback.kp, feedback.kv)
    if position is None or not has(plant, "mass_matrix") or not method_is_ours(type(plant), "forward_dynamics"):
        return None
    friction = plant.dissipation
    if friction is not None and friction.takes_energy:  # large enough, it damps whatever a held force swings up
        return None
    M, J = _at_first_start(plant, position)
    if not np.isfinite(M).all() or np.linalg.cond(M) > INVERTIBLE:
        return None
    kp, kv = (np.linalg.solve(M, J.T @ K @ J) for K in (feedback.kp, feedback.kv))
    return kp, kv


def _tells_its_feedback(law: Controller) -> bool:
    """Whether `feedback` belongs to `force`: a class that defines the latter alone answers to errors in its own way."""
    owner = next(cls for cls in type(law).__mro__ if "force" in vars(cls))
    told = any("feedback" in vars(cls) for cls in type(law).__mro__ if issubclass(cls, owner))
    return told and "force" not in vars(law)


def _at_first_start(plant: Robot, position: Array) -> tuple[Array, Array]:
    """The mass matrix (n, n), and the rates of the actuators by the velocity (m, n)."""
    key, n = id(plant), plant.n
    known = _starts.get(key)
    if known is None or known[0]() is not plant:
        rates = plant.sensors.motion(np.tile(position, (n, 1)), np.eye(n))[1].T
        M = mass_matrices(plant, position[None], {})[0]
        known = _starts[key] = (ref(plant, lambda _: _starts.pop(key, None)), M, rates)
    return known[1:]


def _growth(kp: Array, kv: Array, T: float) -> float:
    """The largest magnitude of an eigenvalue of the error from one period to the next."""
    one = np.eye(len(kp))
    a = np.hstack([-kp, -kv])
    held = np.vstack([np.hstack([one, T * one]) + T**2 / 2 * a, np.hstack([0 * one, one]) + T * a])
    return float(np.abs(np.linalg.eigvals(held)).max())
