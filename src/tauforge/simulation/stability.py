"""Warnings of friction that is too stiff for the integrator's step, and of sampled loops that are unstable.

Smoothed Coulomb friction T tanh(qd / v) is a damper of T / v about rest, so that speeds die out at the rates that are
the eigenvalues of M^-1 (T / v + viscous friction). Runge-Kutta's method of order 4 bears a rate times its step of up to
2.785. Beyond, the speed grows until the friction is at its largest: a step then changes it by |M^-1| T times the step.
A joint at rest would move by itself, and nothing else says so.

Near its target a law asks for -kp e - kv e' (`Controller.feedback`), in accelerations or in forces of the actuators.
Forces that are held for a control period arrive too late for large gains. With an acceleration a held over a period T,
e' becomes e' + T a and e becomes e + T e' + T^2 / 2 a. The loop is unstable where an eigenvalue of this map is larger
than 1. For one coordinate with a mass m this is so where kv T > 2 m, or kp T > 2 kv. Delays of sensors and of forces
add up; answers that wait to act, and the error before, are then part of the map.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any
from weakref import ref

import numpy as np

from tauforge.arrays import Array
from tauforge.control.computed_torque import ComputedTorque
from tauforge.control.controller import Controller
from tauforge.errors import StiffFrictionWarning, UnstableLoopWarning
from tauforge.evaluation.functions import choices, has, results_of
from tauforge.evaluation.reference import reference
from tauforge.evaluation.unmodified import method_is_ours
from tauforge.robots.plausibility import levels_to_the_caller
from tauforge.robots.records import Dampers
from tauforge.robots.robot import Robot
from tauforge.simulation.checks import Law
from tauforge.simulation.sensors import Sensing

Fields = Mapping[str, Array]
BEARABLE = 2.5  # rate times step: below Runge-Kutta's 2.785, for positions between those that are looked at
CHECKED_POSITIONS = 256  # positions that are looked at
INVERTIBLE = 1e12  # condition number of mass matrices that say something about rates
ADVICE_MARGIN = 1.01  # of what is advised: it is printed with three digits
GROWTH = 2.0  # of errors in a run: less is no reason to warn
EIGENVALUE_ROUNDING = 1e-6  # of an eigenvalue: rounding leaves 1e-8 of two that are equal
STABLE = 1e-9  # by which the largest eigenvalue of a stable loop may be above 1
PERIOD_HALVINGS = 8  # of the control period, in search of one that is stable
MOST_LATE = 64  # periods of a delay, in that search
# The first start of each robot tells the size of its masses: every start would cost more than a short run itself.
# Robots are known by their id, for they need no hash.
_starts: dict[int, tuple[ref[Robot], Array, Array]] = {}


def _dampers(robot: Robot, fields: Fields) -> Dampers | None:
    return None if robot.dissipation is None else robot.dissipation.dampers(fields)


def warn_of_stiffness(
    plant: Robot, positions: Array, step: float, *, fields: Fields | None = None, law: Law = None
) -> None:
    """StiffFrictionWarning where Runge-Kutta's steps are too long for the friction at one of the positions (k, n).

    fields: varying fields of the plant, (k, ...) each
    law:    one that is asked continuously: computed torque takes the friction of its own model away
    """
    own = not method_is_ours(type(plant), "forward_dynamics")  # its friction is its own
    if own or not has(plant, "mass_matrix") or _dampers(plant, {}) is None:
        return
    chosen = np.unique(np.linspace(0, len(positions) - 1, CHECKED_POSITIONS).astype(int))
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
    remedies = [f"a step of at most {BEARABLE / rates.max() / ADVICE_MARGIN:.3g} s"]
    viscous = fastest(inverse, found.viscous).max()
    if step * viscous < BEARABLE:
        smooth = fastest(inverse, found.coulomb).max() / (BEARABLE / step - viscous)
        remedies.append(f"coulomb_speed={smooth * ADVICE_MARGIN:.3g}")
    stiff = (
        f"the friction of {plant.name} is too stiff for steps of {step:g} s: at rest {fastest_one.name} may move at up "
        f"to {speeds.max():.2g} {fastest_one.unit}/s instead of creeping below coulomb_speed={found.speed:g}"
    )
    warnings.warn(StiffFrictionWarning(stiff, remedy=f"Use {', or '.join(remedies)}"), stacklevel=3)


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


def warn_of_sampling(
    law: object,
    plant: Robot,
    position: Array | None,
    period: float,
    periods: int,
    sensing: Sensing | None = None,
    delay: int = 0,
) -> None:
    """UnstableLoopWarning where errors grow to GROWTH times their size in so many periods.

    position: (N,) of the start; None where it is not at hand, and laws that ask for forces are not looked into
    delay:    in periods, of the forces
    """
    gains = _gains(law, plant, position)
    if gains is None:
        return
    differenced = sensing is not None and sensing.differenced
    late = delay + (0 if sensing is None else sensing.delay)
    if late > MOST_LATE:
        return
    growth = _growth(*gains, period, late, differenced)
    if growth <= 1 + EIGENVALUE_ROUNDING or periods * math.log(growth) < math.log(GROWTH):
        return
    enough = None
    for k in (2**k for k in range(1, PERIOD_HALVINGS + 1)):
        if late * k <= MOST_LATE and _growth(*gains, period / k, late * k, differenced) <= 1 + STABLE:
            enough = period / k
            break
    other = "a shorter delay" if late else "a larger kv"
    advice = other if enough is None else f"a control period of {enough:.3g} s"
    unstable = (
        f"{type(law).__name__}, asked every {period:.6g} s, is unstable with {plant.name}: errors grow by a factor of "
        f"{growth:.4g} in every period"
    )
    warning = UnstableLoopWarning(unstable, remedy=f"Use smaller gains, or {advice}")
    warnings.warn(warning, stacklevel=levels_to_the_caller())


def _gains(law: object, plant: Robot, position: Array | None) -> tuple[Array, Array] | None:
    """kp and kv (n, n) in accelerations; None where they are not known."""
    feedback = law.feedback() if isinstance(law, Controller) and _tells_its_feedback(law) else None
    if feedback is None or not feedback.of_forces:
        return None if feedback is None else (feedback.kp, feedback.kv)
    if position is None or not has(plant, "mass_matrix") or not method_is_ours(type(plant), "forward_dynamics"):
        return None
    if plant.dissipation is not None and plant.dissipation.takes_energy:
        return None  # large enough, it damps whatever a held force swings up
    M, J = _at_first_start(plant, position)
    if not np.isfinite(M).all() or np.linalg.cond(M) > INVERTIBLE:
        return None
    kp, kv = (np.linalg.solve(M, J.T @ K @ J) for K in (feedback.kp, feedback.kv))
    return kp, kv


def _tells_its_feedback(law: Controller) -> bool:
    """True if `feedback` belongs to `force`; a class that defines `force` alone answers to errors in its own way."""
    owner = next(cls for cls in type(law).__mro__ if "force" in vars(cls))
    told = any("feedback" in vars(cls) for cls in type(law).__mro__ if issubclass(cls, owner))
    return told and "force" not in vars(law)


def _at_first_start(plant: Robot, position: Array) -> tuple[Array, Array]:
    """The mass matrix (n, n), and the rates of the actuators by the velocity (m, n)."""
    key, n = id(plant), plant.n
    known = _starts.get(key)
    if known is None or known[0]() is not plant:
        rates = plant.sensors.motion(np.tile(position, (n, 1)), np.eye(n))[1].T
        M = mass_matrices(plant, position[None], {})[0]
        known = _starts[key] = (ref(plant, lambda _: _starts.pop(key, None)), M, rates)
    return known[1:]


def _growth(kp: Array, kv: Array, T: float, late: int, differenced: bool) -> float:
    """The largest magnitude of an eigenvalue of the error from one period to the next.

    late: periods, after which an answer acts; differenced: whether e' is the change of e in a period
    """
    count = 3 + late
    e, rate, before, *asked = np.split(np.eye(len(kp) * count), count)  # answers that wait, the newest first
    asked.insert(0, -kp @ e - kv @ ((e - before) / T if differenced else rate))
    a = asked[-1]
    held = np.vstack([e + T * rate + T**2 / 2 * a, rate + T * a, e, *asked[:-1]])
    return float(np.abs(np.linalg.eigvals(held)).max())
