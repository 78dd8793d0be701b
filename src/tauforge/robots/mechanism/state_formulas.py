"""The state of a mechanism over any scalars, by its usual rates, and where other rates must take their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tauforge.algebra.scalars import Scalar, absolute
from tauforge.robots.mechanism.state_space import (
    CLOSED_GAP,
    MOST_SPREAD,
    NEAR_MORE_FREEDOM,
    RECORDED_GAP,
    MechanismState,
)
from tauforge.robots.state_space import Judged, Loads, formula_results

if TYPE_CHECKING:
    pass

Scalars = Sequence[Scalar]
TINY = 1e-300  # a doubt is NaN where one of the values is


class MechanismFormulas:
    """y = s, v as in `MechanismState`. Loops are closed by one step of Newton's method.

    Values are not good where the usual rates hardly move beside the others, near positions with more freedom, and where
    that step leaves loops open.
    """

    def __init__(self, space: MechanismState) -> None:
        self.mechanism = mechanism = space.robot
        size = mechanism._analysis.size
        self.cut, self.independent = space.cut, space.independent
        self.numbers = {"tree": space.cut, "tree_rates": mechanism._analysis.parameters.n}
        self.gap = min(CLOSED_GAP * max(1.0, size), RECORDED_GAP * size)

    @property
    def parts(self) -> Mapping[str, int]:
        return self.numbers

    def packed(self, model: Any, position: Scalars, velocity: Scalars) -> list[Scalar]:
        return formula_results(self.mechanism, "state_of_position", model, position, velocity)

    def position(self, model: Any, y: Scalars) -> list[Scalar]:
        return formula_results(self.mechanism, "position_of_state", model, y[: self.cut])

    def velocity(self, y: Scalars) -> list[Scalar]:
        return [y[self.cut + k] for k in self.independent]

    def rates(self, model: Any, y: Scalars, force: Scalars, loads: Loads) -> Judged:
        given = y[: self.cut], y[self.cut :], force
        *found, nearness, spread = formula_results(self.mechanism, "state_rates", model, *given, loads=loads)
        return Judged(found, (nearness * (1.0 / NEAR_MORE_FREEDOM),), (spread * (1.0 / MOST_SPREAD),))

    def renewed(self, model: Any, y: Scalars) -> Judged:
        *found, gap, nearness, spread = formula_results(
            self.mechanism, "closed_state", model, y[: self.cut], y[self.cut :]
        )
        total: Scalar = 0.0
        for value in found:
            total = total + absolute(value)
        doubts = (gap * (1.0 / self.gap), nearness * (1.0 / NEAR_MORE_FREEDOM), total * TINY)
        return Judged(found, doubts, (spread * (1.0 / MOST_SPREAD),))
