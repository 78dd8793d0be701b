"""What has a limit in a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Bounds
from tauforge.robots.parts import Coordinate, LimitedQuantity

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


@ours
class JointBounds(Bounds):
    """Limits of all joints, dependent ones too."""

    robot: Mechanism

    def quantities(self, position: Array, velocity: Array) -> list[LimitedQuantity]:
        """Those of the contract, and the speeds of dependent joints."""
        m, found = self.robot, super().quantities(position, velocity)
        others = [
            k
            for k, c in enumerate(m.positions.entries)
            if np.isfinite(c.max_speed) and k not in m.independent_places and not c.wraps
        ]
        if others:
            rates = m._evaluator("coordinate_rates", {"x": position, "qd": velocity})[0]
            found += [_speed(m.positions.entries[k], rates[..., k]) for k in others]
        return found


def _speed(entry: Coordinate, rate: Array) -> LimitedQuantity:
    phrase = f"{entry.name} {'turns' if entry.turns else 'slides'} at"
    most = entry.max_speed
    return LimitedQuantity(f"speed of {entry.name}", np.abs(rate), -most, most, f"{entry.unit}/s", lambda _: phrase)
