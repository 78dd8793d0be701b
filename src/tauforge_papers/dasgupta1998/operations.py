"""Operations of the paper's method part by part, of the joint reactions, and of planning in the lengths of the legs.

Counted from our code of the paper's equations for the paper's robot, friction left out as the paper leaves it out.
Parameters of the robot are known, so that products with its zeros cost nothing; sines and cosines are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tauforge.algebra.rotations import Quaternion, quaternion_of
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import ZERO, Matrix, Vector
from tauforge.evaluation.functions import flat
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.stewart import dasgupta1998, exact, kinematics
from tauforge.formulations.stewart.kinematics import LegMotion, leg_vectors
from tauforge.formulations.stewart.parameters import PlatformMotion, PlatformParameters
from tauforge.robots.stewart.formulas import motion
from tauforge.tracing.counting import Counted, count, operations
from tauforge.tracing.graph import trace
from tauforge_papers.stewart_paths import Path

LEG, PLATFORM, SOLUTION = 694, 273, 452  # flops of the paper, sec. 4.5
CONVERGED = 1e-12  # of the leg lengths, beside them
Scalars = Sequence[Scalar]


class Cost(NamedTuple):
    """Multiplications, additions, divisions and roots: as the code is written, and with common subexpressions once."""

    written: int
    shared: int


class Part(NamedTuple):
    name: str
    printed: int
    cost: Cost


def cost(formula: Callable[[Scalars], Any], inputs: int) -> Cost:
    """Cost of formula(x), nested sequences of scalars. Results that are plain numbers cost nothing."""

    def results(x: Scalars) -> list[Scalar]:
        return [scalar for scalar in flat(formula(x)) if not isinstance(scalar, float)]

    tally: Counter[str] = Counter()
    results([Counted(tally) for _ in range(inputs)])
    return Cost(operations(tally).flops, count(trace(results, {"x": inputs})).flops)


def parts(p: PlatformParameters) -> tuple[Part, Part, Part]:
    """As the paper divides its method: the dearest leg, the platform alone, the final system."""
    return (
        Part("a leg (sec. 2)", LEG, max(leg_costs(p))),
        Part("platform only", PLATFORM, cost(lambda x: exact.inertial_wrench(p, _state(x)), 18)),
        Part("final system of equations", SOLUTION, cost(_final_system, 6 + 10 * len(p.legs))),
    )


def leg_costs(p: PlatformParameters) -> list[Cost]:
    """Cost of every leg. Legs differ by the zeros of their axes and points."""
    return [cost(_leg(p, i), 27) for i in range(len(p.legs))]


def _state(x: Scalars) -> PlatformMotion:
    return motion(x[:6], x[6:12], x[12:18])


def _leg(p: PlatformParameters, i: int) -> Callable[[Scalars], Any]:
    """The rotation matrix is given: it belongs to the platform."""

    def formula(x: Scalars) -> Any:
        X, v, omega, a, alpha, *rows = (Vector(*x[k : k + 3]) for k in range(0, 24, 3))
        m = PlatformMotion(X, Matrix((*rows, Vector(*x[24:27]))), v, omega, a, alpha)
        leg = dasgupta1998.leg_terms(p, p.legs[i], m, dasgupta1998.DASGUPTA_AS_PUBLISHED)
        return [leg.motion.q, leg.motion.s, leg.K, leg.D]

    return formula


def _final_system(x: Scalars) -> list[Scalar]:
    legs = []
    for k in range(6, len(x), 10):
        q, s, K = (Vector(*x[j : j + 3]) for j in (k, k + 3, k + 6))
        unused: dict[str, Any] = dict.fromkeys(LegMotion._fields, None)
        legs.append(dasgupta1998.LegTerms(LegMotion(**{**unused, "q": q, "s": s}), K, x[k + 9], ZERO))
    return dasgupta1998.final_system(Wrench(Vector(*x[:3]), Vector(*x[3:6])), legs)


class Extra(NamedTuple):
    """Something that the inverse dynamics can be extended by: what both take, and what it alone does."""

    alone: Cost
    with_it: Cost


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
        cost(step, 13).shared,
        newton_steps(p, path),
        cost(lambda x: kinematics.twist_of_rates(p, motion(x[:6]), x[6:]), 12).shared,
        cost(lambda x: kinematics.acceleration_of_rates(p, motion(x[:6], x[6:12]), x[12:]), 18).shared,
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
