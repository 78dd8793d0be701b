"""Operations of the paper's method part by part, of the joint reactions, and of planning in the lengths of the legs.

Counted from our code of the paper's equations for the paper's robot, friction left out as the paper leaves it out.
Parameters of the robot are known, so that products with its zeros cost nothing; sines and cosines are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tauforge.algebra.rotations import Quaternion, quaternion_of
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Vector
from tauforge.analysis.complexity import OperationCount, counted_formula
from tauforge.analysis.stewart_operations import operation_parts
from tauforge.formulations.stewart import exact, kinematics
from tauforge.formulations.stewart.kinematics import leg_vectors
from tauforge.formulations.stewart.parameters import PlatformMotion, PlatformParameters, motion
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.stewart_paths import Path

LEG, PLATFORM, SOLUTION = 694, 273, 452  # flops of the paper, sec. 4.5
CONVERGED = 1e-12  # of the leg lengths, beside them
Scalars = Sequence[Scalar]


class Part(NamedTuple):
    name: str
    printed: int
    cost: OperationCount


def cost(formula: Callable[[Scalars], Any], inputs: int) -> OperationCount:
    """Cost of formula(x), nested sequences of scalars."""
    return counted_formula(formula, {"x": inputs})


def parts(platform: StewartPlatform) -> tuple[Part, Part, Part]:
    """As the paper divides its method: the dearest leg, the platform alone, the final system."""
    found = operation_parts(platform)
    return (
        Part("a leg (sec. 2)", LEG, max(found.legs, key=lambda leg: leg.as_written.flops)),
        Part("platform only", PLATFORM, found.platform),
        Part("final system of equations", SOLUTION, found.solution),
    )


def _state(x: Scalars) -> PlatformMotion:
    return motion(x[:6], x[6:12], x[12:18])


class Extra(NamedTuple):
    """Something that the inverse dynamics can be extended by: what both take, and what it alone does."""

    alone: OperationCount
    with_it: OperationCount


def reactions_extra(p: PlatformParameters) -> Extra:
    """Cost of all joint reactions beyond the actuator forces, in the exact model's vector equations."""
    return Extra(
        cost(lambda x: exact.inverse_dynamics(p, _state(x)), 18),
        cost(lambda x: [[*wrench] for leg in exact.reactions(p, _state(x)) for wrench in leg], 18),
    )


class JointSpace(NamedTuple):
    """One time step of a motion planned in the lengths of the legs: to the pose, twist and acceleration it means."""

    newton_step: int  # flops, shared
    newton_steps: float  # mean along the path, from the pose of the time step before
    twist: int
    acceleration: int

    @property
    def flops(self) -> float:
        return self.newton_steps * self.newton_step + self.twist + self.acceleration


def joint_space(p: PlatformParameters, path: Path) -> JointSpace:
    """path: in the time steps of the paper."""

    def step(x: Scalars) -> Any:
        guess = kinematics.PoseGuess(Vector(*x[6:9]), Quaternion(*x[9:13]))
        return [*kinematics.newton_step(p.legs, x[:6], guess)]

    return JointSpace(
        cost(step, 13).flops,
        newton_steps(p, path),
        cost(lambda x: kinematics.twist_of_rates(p, motion(x[:6]), x[6:]), 12).flops,
        cost(lambda x: kinematics.acceleration_of_rates(p, motion(x[:6], x[6:12]), x[12:]), 18).flops,
    )


def newton_steps(p: PlatformParameters, path: Path) -> float:
    """Until the lengths are met, a mean over the time steps."""
    total = 0
    poses = path.states.position.tolist()
    for before, now in pairwise(poses):
        lengths = [leg.L for leg in leg_vectors(p, motion(now))]
        guess = kinematics.PoseGuess(Vector(*before[:3]), quaternion_of(Vector(*before[3:])))
        while kinematics.length_error(p.legs, lengths, guess) > CONVERGED:
            guess = kinematics.newton_step(p.legs, lengths, guess)
            total += 1
    return total / (len(poses) - 1)
