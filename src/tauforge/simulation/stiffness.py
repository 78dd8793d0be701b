"""Friction that is too stiff for the integrator's step: a joint at rest would move by itself, and nothing else says so.

Smoothed Coulomb friction T tanh(qd / v) is a damper of T / v about rest, so that speeds die out at the rates that are
the eigenvalues of M^-1 (T / v + viscous friction). Runge-Kutta's method of order 4 bears a rate times its step of up to
2.785. Beyond, the speed grows until the friction is at its largest: a step then changes it by |M^-1| T times the step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.control.controller import Robot
from tauforge.errors import StiffFrictionWarning
from tauforge.robots.evaluate import evaluate
from tauforge.robots.own_classes import method_is_as_written
from tauforge.robots.serial import functions as formulas
from tauforge.robots.serial import varying
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.checks import Law

Fields = Mapping[str, Array]
BEARABLE = 2.5  # rate times step: below Runge-Kutta's 2.785, for positions between those that are looked at
LOOKS = 256  # positions that are looked at
INVERTIBLE = 1e12  # condition number of mass matrices that say something about rates
MARGIN = 1.01  # of what is advised: it is printed with three digits


class Dampers(NamedTuple):
    """Of every joint, (..., n)."""

    coulomb: Array  # N m or N, the largest friction
    viscous: Array  # N m s/rad or N s/m

    def slopes(self, coulomb_speed: float) -> Array:
        """The largest slopes of the friction about rest."""
        return np.asarray(self.coulomb / coulomb_speed + self.viscous)


def warn_of_stiffness(
    plant: Robot, positions: Array, step: float, *, fields: Fields | None = None, law: Law = None
) -> None:
    """StiffFrictionWarning where Runge-Kutta's steps are too long for an arm's friction at one of the positions (k, n).

    fields: varying numbers of the plant, (k, ...) each
    law:    one that is asked continuously: computed torque takes the friction of its own model away
    """
    if not (isinstance(plant, SerialArm) and plant.coulomb_speed):
        return
    if not method_is_as_written(type(plant), "forward_dynamics"):
        return  # its friction is its own
    chosen = np.unique(np.linspace(0, len(positions) - 1, LOOKS).astype(int))
    shares = {name: value[chosen] for name, value in (fields or {}).items()}
    found = dampers(plant, shares)
    if not found.coulomb.any():
        return
    M = mass_matrices(plant, positions[chosen], shares)
    sound = np.linalg.cond(np.where(np.isfinite(M), M, 0.0)) < INVERTIBLE
    slopes = found.slopes(plant.coulomb_speed)
    if isinstance(law, ComputedTorque) and isinstance(law.robot, SerialArm) and law.robot.coulomb_speed:
        slopes = np.maximum(slopes - dampers(law.robot, {}).slopes(law.robot.coulomb_speed), 0.0)
    inverse = np.linalg.inv(M[sound])
    found, slopes = Dampers(*(_of(part, sound) for part in found)), _of(slopes, sound)
    rates = fastest(inverse, slopes)
    if not rates.size or step * rates.max() <= BEARABLE:
        return
    worst = int(rates.argmax())
    speeds = step * np.abs(inverse[worst]) @ found.coulomb[worst]
    joint = int(speeds.argmax())
    unit = "rad/s" if plant.joints[joint].kind == "R" else "m/s"
    remedies = [f"a step of at most {BEARABLE / rates.max() / MARGIN:.3g} s"]
    viscous = fastest(inverse, found.viscous).max()
    if step * viscous < BEARABLE:
        smooth = fastest(inverse, found.coulomb).max() / (BEARABLE / step - viscous)
        remedies.append(f"coulomb_speed={smooth * MARGIN:.3g}")
    stiff = StiffFrictionWarning(
        f"the friction of {plant.name} is too stiff for steps of {step:g} s: at rest {plant.joints[joint].name} may "
        f"move at up to {speeds[joint]:.2g} {unit} instead of creeping below coulomb_speed={plant.coulomb_speed:g}",
        remedy=f"Use {', or '.join(remedies)}",
    )
    warnings.warn(stiff, stacklevel=3)


def dampers(arm: SerialArm, fields: Fields) -> Dampers:
    """Friction of the arm on the side of its joints, with varying numbers (k, ...) instead of its own."""

    def number(field: str) -> Array:
        return fields.get(field, np.array([getattr(joint, field) for joint in arm.joints])[None])

    ratio = np.abs(number("gear_ratio"))
    return Dampers(ratio * number("coulomb").max(axis=-1), ratio**2 * number("viscous"))


def mass_matrices(arm: SerialArm, positions: Array, fields: Fields) -> Array:
    """(k, n, n), with varying numbers (k, ...) instead of the arm's own; by the reference, for there are few."""
    formula: Callable[..., object] = formulas.mass_matrix
    if fields:
        formula = varying.formula_of(arm, formula, tuple(fields))
    flat = {name: value.reshape(len(value), -1) for name, value in fields.items()}
    return evaluate(partial(formula, arm.model), {"q": positions} | flat, [(arm.n, arm.n)])[0]


def fastest(inverse: Array, slopes: Array) -> Array:
    """(k,) 1/s, the largest eigenvalue of M^-1 diag(slopes), which a symmetric matrix shares."""
    roots = np.sqrt(slopes)
    return np.asarray(np.linalg.eigvalsh(roots[..., :, None] * inverse * roots[..., None, :])[..., -1])


def _of(values: Array, rows: Array) -> Array:
    """These rows of values (k, n), or of one row that stands for all."""
    return np.asarray(np.broadcast_to(values, (len(rows), values.shape[-1]))[rows])
