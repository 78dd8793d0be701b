"""Derivatives of a mechanism's dynamics by the witness in complex steps, independent of dual numbers and recursions.

A change of the independent coordinates moves the dependent ones, so that loops stay closed to first order; their
changes follow from the witness's velocities. f(x + i h dx) has the imaginary part h f'(x) dx, and no difference is
taken: with h = 1e-30 the next term is 1e-60 of the first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tauforge as tf
from support.mechanism_witness import Witness

Array = NDArray[Any]
TINY = 1e-30


class Slopes(NamedTuple):
    """By the independent coordinates, by their rates, and by the last argument."""

    by_q: Array
    by_qd: Array
    by_last: Array


def angle_rates(angles: Array) -> Array:
    """Rates of the angles of R = Rz Ry Rx by the angular velocity in the parent's axes."""
    y, z = angles[1], angles[2]
    omega = [[np.cos(y) * np.cos(z), -np.sin(z), 0.0], [np.cos(y) * np.sin(z), np.cos(z), 0.0], [-np.sin(y), 0.0, 1.0]]
    return np.linalg.inv(np.array(omega))


def coordinate_changes(m: tf.Mechanism, x: Array) -> Array:
    """(N, f) changes of all coordinates by unit changes of the independent ones."""
    still = [Witness(m, x, rate) for rate in np.eye(m.n)]
    rates = np.array([np.concatenate([w.rates, w.pose_rates]) for w in still]).T
    firsts = [w.stop - 3 for j, w in zip(m.joints, still[0].span, strict=True) if isinstance(j, tf.Spherical | tf.Free)]
    for first in [*firsts, *(still[0].count + 6 * k + 3 for k in range(len(still[0].floating)))]:
        rates[first : first + 3] = angle_rates(x[first : first + 3]) @ rates[first : first + 3]
    places = [m.coordinate_names.index(name) for name in m.structure.independent]
    return np.asarray(rates @ np.linalg.inv(rates[places]))


def slopes(m: tf.Mechanism, function: str, x: Array, qd: Array, last: Array, **loads: Any) -> Slopes:
    """function: "inverse_dynamics" with accelerations for last, or "forward_dynamics" with forces."""

    def along(dx: Array, dqd: Array, dlast: Array) -> Array:
        witness = Witness(m, x + 1j * TINY * dx, qd + 1j * TINY * dqd, **loads)
        given = last + 1j * TINY * dlast
        found = witness.inverse(given).tau if function == "inverse_dynamics" else witness.forward(given).qdd
        return np.asarray(found.imag / TINY)

    def columns(found: list[Array], count: int) -> Array:
        return np.array(found).reshape(len(found), count).T

    count = len(m.actuators) if function == "inverse_dynamics" else m.n
    no_x, no_rate, no_last = np.zeros_like(x), np.zeros(m.n), np.zeros(len(last))
    return Slopes(
        columns([along(dx, no_rate, no_last) for dx in coordinate_changes(m, x).T], count),
        columns([along(no_x, rate, no_last) for rate in np.eye(m.n)], count),
        columns([along(no_x, no_rate, unit) for unit in np.eye(len(last))], count),
    )
