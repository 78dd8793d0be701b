"""What has a limit in a mechanism, and friction, for simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.robots import defaults
from tauforge.robots.parts import Coordinate, Dampers, LimitedQuantity

if TYPE_CHECKING:
    from tauforge.robots.mechanism.mechanism import Mechanism


def limited_quantities(m: Mechanism, position: Array, velocity: Array) -> list[LimitedQuantity]:
    """Those of the contract, and the speeds of dependent joints."""
    found = defaults.limited_quantities(m, position, velocity)
    independent = m.independent_places
    others = [
        k
        for k, c in enumerate(m.positions.entries)
        if np.isfinite(c.max_speed) and k not in independent and not c.wraps
    ]
    if others:
        rates = m._evaluator("coordinate_rates", {"x": position, "qd": velocity})[0]
        found += [_speed(m.positions.entries[k], rates[..., k]) for k in others]
    return found


def _speed(entry: Coordinate, rate: Array) -> LimitedQuantity:
    phrase = f"{entry.name} {'turns' if entry.turns else 'slides'} at"
    most = entry.max_speed
    return LimitedQuantity(f"speed of {entry.name}", np.abs(rate), -most, most, f"{entry.unit}/s", lambda _: phrase)


def dampers(m: Mechanism) -> Dampers | None:
    """Friction of the independent coordinates, at the joint's side of its gear."""
    if not m.coulomb_speed:
        return None
    drives = [m._made.parameters.drives[k] for k in m._made.parameters.independent]
    ratio = np.abs([float(drive.gear_ratio) for drive in drives])
    coulomb = [max(float(drive.coulomb_plus), float(drive.coulomb_minus)) for drive in drives]
    viscous = [float(drive.viscous) for drive in drives]
    return Dampers((ratio * coulomb)[None], (ratio**2 * viscous)[None], m.coulomb_speed)
