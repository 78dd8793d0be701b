"""The balance of power of a Stewart platform: power of the actuators against that of everything else.

It is independent of every model of inverse dynamics: energies of positions and velocities are differentiated by dual
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.algebra.dual import Dual, derivative
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.evaluation.arguments import as_argument
from tauforge.robots.poses import pose_rates
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


@summarised
@with_field_docs
class PowerBalance(NamedTuple):
    """Powers on the robot, W, each (...).

    actuators: of the actuator forces
    external:  of the wrench on the tool or the platform
    gravity:   of the weights
    friction:  never positive
    kinetic:   the rate of the kinetic energy
    """

    actuators: Array
    external: Array
    gravity: Array
    friction: Array
    kinetic: Array

    @property
    def imbalance(self) -> Array:
        """Power in, less the rate of the kinetic energy: zero for forces that produce the motion."""
        return self.actuators + self.external + self.gravity + self.friction - self.kinetic


def power_balance(
    platform: StewartPlatform,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    forces: ArrayLike,
    external_wrench: ArrayLike | None = None,
) -> PowerBalance:
    """Powers at states and leg forces (..., 6), N.

    external_wrench: (..., 6) N, N m at the platform's origin, base axes
    """
    load = np.zeros(6) if external_wrench is None else external_wrench
    given = {"pose": pose, "twist": twist, "acceleration": acceleration, "forces": forces, "external_wrench": load}
    read = (as_argument(name, value, 6, "six numbers").astype(float) for name, value in given.items())
    p, t, a, F, wrench = np.broadcast_arrays(*read)
    rates, _ = pose_rates(p, t)
    along = [[Dual(x[..., k], {0: dx[..., k]}) for k in range(6)] for x, dx in ((p, rates), (t, a))]
    energies = platform.functions["energy"].formula(platform.model, *along)
    kinetic, potential = (np.asarray(derivative(e, 0)) for e in energies)
    legs = platform.leg_motion(p, t)
    c_u, c_p, c_s = platform.friction
    W, relative = legs.angular_velocities, legs.angular_velocities - t[..., None, 3:]
    friction = -sum(
        c * (x**2).reshape(*p.shape[:-1], -1).sum(axis=-1) for c, x in ((c_u, W), (c_p, legs.rates), (c_s, relative))
    )
    return PowerBalance((F * legs.rates).sum(axis=-1), (wrench * t).sum(axis=-1), -potential, friction, kinetic)
