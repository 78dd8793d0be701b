"""Friction that is too stiff for the integrator's step: a joint at rest would move by itself, and nothing else says so.

Smoothed Coulomb friction T tanh(qd / v) is a damper of T / v about rest, so that speeds die out at the rates that are
the eigenvalues of M^-1 (T / v + viscous friction). Runge-Kutta's method of order 4 bears a rate times its step of up to
2.785. Beyond, the speed grows until the friction is at its largest: a step then changes it by |M^-1| T times the step.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.errors import StiffFrictionWarning
from tauforge.evaluation.functions import choices, has, results_of
from tauforge.evaluation.reference import reference
from tauforge.evaluation.unmodified import method_is_ours
from tauforge.robots.parts import Dampers
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import Law

Fields = Mapping[str, Array]
BEARABLE = 2.5  # rate times step: below Runge-Kutta's 2.785, for positions between those that are looked at
LOOKS = 256  # positions that are looked at
INVERTIBLE = 1e12  # condition number of mass matrices that say something about rates
MARGIN = 1.01  # of what is advised: it is printed with three digits


def _dampers(robot: Robot, fields: Fields) -> Dampers | None:
    return None if robot.dissipation is None else robot.dissipation.dampers(fields)


def warn_of_stiffness(
    plant: Robot, positions: Array, step: float, *, fields: Fields | None = None, law: Law = None
) -> None:
    """StiffFrictionWarning where Runge-Kutta's steps are too long for the friction at one of the positions (k, n).

    fields: varying fields of the plant, (k, ...) each
    law:    one that is asked continuously: computed torque takes the friction of its own model away
    """
    if not has(plant, "mass_matrix") or _dampers(plant, {}) is None:
        return
    if not method_is_ours(type(plant), "forward_dynamics"):
        return  # its friction is its own
    chosen = np.unique(np.linspace(0, len(positions) - 1, LOOKS).astype(int))
    shares = {name: value[chosen] for name, value in (fields or {}).items()}
    found = _dampers(plant, shares)
    if found is None or not found.coulomb.any():
        return
    M = mass_matrices(plant, positions[chosen], shares)
    sound = np.linalg.cond(np.where(np.isfinite(M), M, 0.0)) < INVERTIBLE
    slopes = found.slopes()
    known = _dampers(law.robot, {}) if isinstance(law, ComputedTorque) else None
    if known is not None:
        slopes = np.maximum(slopes - known.slopes(), 0.0)
    inverse = np.linalg.inv(M[sound])
    found = Dampers(_of(found.coulomb, sound), _of(found.viscous, sound), found.speed)
    slopes = _of(slopes, sound)
    rates = fastest(inverse, slopes)
    if not rates.size or step * rates.max() <= BEARABLE:
        return
    worst = int(rates.argmax())
    speeds = step * np.abs(inverse[worst]) @ found.coulomb[worst]
    fastest_one = plant.coordinates[int(speeds.argmax())]
    remedies = [f"a step of at most {BEARABLE / rates.max() / MARGIN:.3g} s"]
    viscous = fastest(inverse, found.viscous).max()
    if step * viscous < BEARABLE:
        smooth = fastest(inverse, found.coulomb).max() / (BEARABLE / step - viscous)
        remedies.append(f"coulomb_speed={smooth * MARGIN:.3g}")
    stiff = StiffFrictionWarning(
        f"the friction of {plant.name} is too stiff for steps of {step:g} s: at rest {fastest_one.name} may move at up "
        f"to {speeds.max():.2g} {fastest_one.unit}/s instead of creeping below coulomb_speed={found.speed:g}",
        remedy=f"Use {', or '.join(remedies)}",
    )
    warnings.warn(stiff, stacklevel=3)


def mass_matrices(robot: Robot, positions: Array, fields: Fields) -> Array:
    """(k, n, n), with varying fields (k, ...) instead of the robot's own; by the reference, for there are few."""
    function = robot.functions["mass_matrix"]
    (position,) = function.arguments

    def formula(**given: Any) -> Any:
        varied = {name: given.pop(name) for name in fields}
        model = robot.varied_model(varied) if varied else robot.model
        return results_of(function.formula(model, **given, **choices(function.options)[0]))

    columns = {name: value.reshape(len(value), -1) for name, value in fields.items()}
    return reference(formula, {position.name: positions} | columns, function.results)[0]


def fastest(inverse: Array, slopes: Array) -> Array:
    """(k,) 1/s, the largest eigenvalue of M^-1 diag(slopes), which a symmetric matrix shares."""
    roots = np.sqrt(slopes)
    return np.asarray(np.linalg.eigvalsh(roots[..., :, None] * inverse * roots[..., None, :])[..., -1])


def _of(values: Array, rows: Array) -> Array:
    """These rows of values (k, n), or of one row that stands for all."""
    return np.asarray(np.broadcast_to(values, (len(rows), values.shape[-1]))[rows])
