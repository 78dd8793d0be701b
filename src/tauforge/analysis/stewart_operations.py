"""Operations of a Stewart platform's inverse dynamics part by part: each leg, the platform, the six equations.

Dasgupta & Mruthyunjaya 1998 divide their method like this (sec. 4.5): with seven processors the legs and the platform
take as long as the dearest of them, and the equations follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import ZERO, Matrix, Vector
from tauforge.analysis.complexity import OperationCount, counted_formula
from tauforge.class_tools import with_field_docs
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.stewart import exact
from tauforge.formulations.stewart.dasgupta1998 import DasguptaCorrections, LegTerms, final_system, leg_terms
from tauforge.formulations.stewart.kinematics import LegMotion
from tauforge.formulations.stewart.parameters import PlatformMotion, PlatformParameters, motion
from tauforge.validation import check_known

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

Scalars = Sequence[Scalar]
MOTION = 18  # numbers of pose, twist and acceleration


@with_field_docs
class OperationParts(NamedTuple):
    """Operations of the parts of inverse dynamics.

    legs:     of each leg, to its force across itself (eqs 1-24)
    platform: of the platform alone (eqs 30-32)
    solution: of the six equations, from the results of the others to the actuator forces (eqs 33-37)
    """

    legs: tuple[OperationCount, ...]
    platform: OperationCount
    solution: OperationCount

    @property
    def flops(self) -> int:
        """Of all parts, one after another."""
        return sum(part.flops for part in (*self.legs, self.platform, self.solution))

    @property
    def parallel(self) -> int:
        """Flops one after another if the legs and the platform have a processor each."""
        return max(part.flops for part in (*self.legs, self.platform)) + self.solution.flops


def operation_parts(platform: StewartPlatform, *, corrections: Sequence[str] = ()) -> OperationParts:
    """Operations of the model "dasgupta1998" of a platform, part by part.

    corrections: as for `inverse_dynamics(model="dasgupta1998")`; with all of them it is the exact model

    The robot's parameters are known, so that products with its zeros cost nothing: legs differ by the zeros of their
    axes and points. `without_friction` leaves the friction out, as the paper does.
    Identity: as written, the parts add up to `operation_count(platform, "dasgupta1998")`.
    """
    platform.check_function("inverse_dynamics")
    for name in corrections:
        check_known(name, DasguptaCorrections._fields, f"unknown correction {name!r}", "corrections")
    chosen, p = DasguptaCorrections(**dict.fromkeys(corrections, True)), platform.parameters
    legs = tuple(counted_formula(_leg(p, i, chosen), {"x": 27}) for i in range(len(p.legs)))
    own = counted_formula(lambda x: exact.inertial_wrench(p, motion(x[:6], x[6:12], x[12:])), {"x": MOTION})
    numbers = 13 if platform.friction[2] else 10  # q, s, K and D of a leg, and f
    return OperationParts(legs, own, counted_formula(partial(_final_system, numbers), {"x": 6 + numbers * len(p.legs)}))


def _leg(p: PlatformParameters, i: int, corrections: DasguptaCorrections) -> Callable[[Scalars], Any]:
    """The rotation matrix is given: it belongs to the platform."""

    def formula(x: Scalars) -> Any:
        X, v, omega, a, alpha, *rows = (Vector(*x[k : k + 3]) for k in range(0, 24, 3))
        m = PlatformMotion(X, Matrix((*rows, Vector(*x[24:27]))), v, omega, a, alpha)
        leg = leg_terms(p, p.legs[i], m, corrections)
        return [leg.motion.q, leg.motion.s, leg.K, leg.D, leg.f]

    return formula


def _final_system(numbers: int, x: Scalars) -> list[Scalar]:
    """numbers: of each leg"""
    legs = []
    for k in range(6, len(x), numbers):
        q, s, K = (Vector(*x[j : j + 3]) for j in (k, k + 3, k + 6))
        f = Vector(*x[k + 10 : k + 13]) if numbers > 10 else ZERO
        unused: dict[str, Any] = dict.fromkeys(LegMotion._fields, None)
        legs.append(LegTerms(LegMotion(**{**unused, "q": q, "s": s}), K, x[k + 9], f))
    return final_system(Wrench(Vector(*x[:3]), Vector(*x[3:6])), legs)
