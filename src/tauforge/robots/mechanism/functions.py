"""The functions of a mechanism as formulas over any scalar, and their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.algebra.dual import Dual, derivative
from tauforge.algebra.scalars import Scalar, absolute
from tauforge.algebra.vectors import Transform, Vector
from tauforge.arrays import Array
from tauforge.evaluation.derivatives import columns_of, slope, unit_changes
from tauforge.evaluation.functions import (
    Argument,
    Doubtful,
    Function,
    FunctionTable,
    Guard,
    Verdict,
)
from tauforge.formulations.bodies import Wrench, body_of
from tauforge.formulations.mechanism import configuration as closing
from tauforge.formulations.mechanism import dynamics, reactions
from tauforge.formulations.mechanism import kinematics as energies
from tauforge.formulations.mechanism.dynamics import Loads, ReducedSolution
from tauforge.formulations.mechanism.kinematics import body_frames, point_jacobians
from tauforge.formulations.mechanism.parameters import MechanismParameters
from tauforge.formulations.mechanism.springs import nearness_of_ends
from tauforge.formulations.trees.recursion import BaseState
from tauforge.robots.loads import BASE_MOTION, PAYLOAD
from tauforge.validation import counted, freedoms

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.robots.robot import Robot

Scalars = Sequence[Scalar]
STEPS_PER_CALL = 3  # in one call of the kernel
TINY = 1e-300  # keeps results among what the kernel looks at
SUSPICIOUS_DOUBT = 1e3  # a doubt that is looked at closely: sums of reciprocals of pivots beside usual ones
OPEN_LOOP = 1e-3  # share of the mechanism's size, or rad: gap of a loop that has no dynamics
SINGULAR_CONDITION = 1e12  # condition number
SINGULAR_CONDITION_SINGLE = 1e4  # the same for float32: results near it keep two or three digits
MOST_LOST = 1e-5  # share of accelerations that is rounding
MOST_LOST_SINGLE = 1e-2  # the same for float32
IMPOSSIBLE_SHARE = 1e-5  # share of the forces for accelerations that no actuator gives; single precision leaves less
MOST_IN_ONE = 40  # degrees of freedom whose derivatives might be one kernel


def held(m: MechanismParameters, payload: Scalars | None) -> MechanismParameters:
    return m if payload is None else dynamics.carrying(m, body_of(payload))


def loads(m: MechanismParameters, external_wrench: Scalars | None, base_motion: Scalars | None) -> Loads:
    wrench = None if external_wrench is None else Wrench(Vector(*external_wrench[:3]), Vector(*external_wrench[3:]))
    base = None
    if base_motion is not None:
        omega, alpha, a = (Vector(*base_motion[k : k + 3]) for k in (0, 3, 6))
        base = BaseState(omega, alpha, a - m.gravity)
    return dynamics.loads(m, wrench, base)


def doubtful(x: Scalars, found: ReducedSolution) -> Doubtful:
    values, complement, inertia, actuation = found

    def doubt() -> Scalar:
        ends = nearness_of_ends(complement.m, complement.posed) * SUSPICIOUS_DOUBT
        return complement.doubt(x, inertia, actuation) + absolute(values[0]) * TINY + ends

    return Doubtful(values, doubt)


def inverse_dynamics(
    model: MechanismParameters,
    x: Scalars,
    qd: Scalars,
    qdd: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    reduced: int = 0,
) -> Doubtful:
    m = held(model, payload)
    return doubtful(x, dynamics.inverse_dynamics(m, x, qd, qdd, loads(m, external_wrench, base_motion), reduced))


def generalised_forces(
    model: MechanismParameters,
    x: Scalars,
    qd: Scalars,
    qdd: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    reduced: int = 0,
) -> Doubtful:
    m = held(model, payload)
    return doubtful(x, dynamics.generalised_forces(m, x, qd, qdd, loads(m, external_wrench, base_motion), reduced))


def forward_dynamics(
    model: MechanismParameters,
    x: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    reduced: int = 0,
) -> Doubtful:
    m = held(model, payload)
    return doubtful(x, dynamics.forward_dynamics(m, x, qd, tau, loads(m, external_wrench, base_motion), reduced))


def mass_matrix(model: MechanismParameters, x: Scalars, payload: Scalars | None = None) -> Doubtful:
    found, complement = dynamics.mass_matrix(held(model, payload), x)
    return Doubtful(found, lambda: complement.doubt(x))


def joint_wrenches(
    model: MechanismParameters,
    x: Scalars,
    qd: Scalars,
    qdd: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
    axes: str = "world",
) -> Doubtful:
    m = held(model, payload)
    on = loads(m, external_wrench, base_motion)
    found, drives = reactions.joint_wrenches(m, x, qd, qdd, on, axes == "joint")

    def doubt() -> Scalar:
        total = drives.complement.doubt(x, actuation=drives.actuation)
        total = total + nearness_of_ends(m, drives.complement.posed) * SUSPICIOUS_DOUBT
        if len(m.working) >= len(m.independent):
            return total
        return total + SUSPICIOUS_DOUBT / IMPOSSIBLE_SHARE * dynamics.forces_left(m, x, qd, qdd, on)

    return Doubtful(found, doubt)


def forces_left(
    model: MechanismParameters,
    x: Scalars,
    qd: Scalars,
    qdd: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
) -> list[Scalar]:
    """The share of the forces that no actuator gives."""
    m = held(model, payload)
    return [dynamics.forces_left(m, x, qd, qdd, loads(m, external_wrench, base_motion))]


def energy(model: MechanismParameters, x: Scalars, qd: Scalars, payload: Scalars | None = None) -> Doubtful:
    """Kinetic, potential."""
    kinetic, potential, complement = energies.energies(held(model, payload), x, qd)
    return Doubtful([kinetic, potential], lambda: complement.doubt(x))


def loop_gap(model: MechanismParameters, x: Scalars) -> list[Scalar]:
    return [closing.gap(model, x)]


def closing_steps(model: MechanismParameters, q: Scalars, near: Scalars) -> list[Any]:
    """The position with the coordinates q, by three steps of Newton's method from `near`, and the largest gap of the
    loops that is left, m or rad. Where that is too large, call it again from the position it gave.
    """
    x, gap = closing.closed(model, q, near, STEPS_PER_CALL)
    return [x, gap]


def closing_legs(model: MechanismParameters, q: Scalars, near: Scalars) -> list[Any]:
    """The position with the coordinates q in closed form, every leg assembled as it is at `near`, and the largest gap
    of the loops, m or rad: rounding, or NaN where a leg does not reach.
    """
    return list(closing.closed_in_one(model, q, near))


def coordinate_rates(model: MechanismParameters, x: Scalars, qd: Scalars) -> list[Scalar]:
    """Time derivatives of all entries of a position."""
    return closing.coordinate_rates(model, x, qd)


def frames(model: MechanismParameters, x: Scalars) -> list[list[list[Scalar]]]:
    """World <- frame of every body, (bodies, 4, 4)."""
    return [homogeneous(frame) for frame in body_frames(model, x)]


def homogeneous(frame: Transform) -> list[list[Scalar]]:
    rows = [[*row, t] for row, t in zip(frame.rotation.rows, frame.translation, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def jacobians(model: MechanismParameters, x: Scalars) -> Doubtful:
    """Velocity of every body's origin and its angular velocity, by the independent rates: (bodies, 6, f)."""
    found, complement = point_jacobians(model, x)
    return Doubtful(found, lambda: complement.doubt(x))


def directions(model: MechanismParameters, x: Scalars) -> list[list[Scalar]]:
    """Changes of x by unit changes of the independent coordinates, a list for each of these: loops stay closed."""
    f = len(model.independent)
    return [closing.coordinate_changes(model, x, [float(i == k) for i in range(f)]) for k in range(f)]


def slopes(formula: Any, names: tuple[str, str, str]) -> Any:
    """Derivatives of dynamics by the independent coordinates, with loops closed, and by the two other arguments."""

    def derivatives(model: MechanismParameters, **given: Any) -> Doubtful:
        x, second, third = (given.pop(name) for name in names)
        f, last = len(second), len(third)
        columns = directions(model, x)
        moved = [Dual(value, {k: columns[k][i] for k in range(f)}) for i, value in enumerate(x)]
        state = {
            names[0]: moved,
            names[1]: [Dual(value, {f + k: 1.0}) for k, value in enumerate(second)],
            names[2]: [Dual(value, {2 * f + k: 1.0}) for k, value in enumerate(third)],
        }
        values = formula(model, **state, **given).results
        spans = ((0, f), (f, 2 * f), (2 * f, 2 * f + last))
        matrices = [[[derivative(y, k) for k in range(*span)] for y in values] for span in spans]
        plain = formula(model, **dict(zip(names, (x, second, third), strict=True)), **given)
        return Doubtful(matrices, plain.doubt)

    return derivatives


inverse_dynamics_derivatives = slopes(inverse_dynamics, ("x", "qd", "qdd"))
forward_dynamics_derivatives = slopes(forward_dynamics, ("x", "qd", "tau"))


def judged(drives: bool, inertia: bool) -> Any:
    """Are the loops open, or singular there? drives: or the actuation; inertia: are accelerations rounding?"""

    def judge(
        robot: Robot, arguments: Mapping[str, Array], results: tuple[Array, ...], options: Mapping[str, Any]
    ) -> Verdict:
        mechanism: Any = robot
        own = results[0] if "reduced" in options else None
        lost = mechanism.lost_in_accelerations(arguments, own) if inertia else None
        forces = any(argument in arguments for argument in ("qdd", "tau"))
        found: Verdict = mechanism.singularities(arguments["x"], drives, lost, arguments.get("payload"), forces=forces)
        return found

    return judge


def judged_motion(
    robot: Robot, arguments: Mapping[str, Array], results: tuple[Array, ...], options: Mapping[str, Any]
) -> Verdict:
    """Are the loops open, is it singular there, or are these accelerations none of the mechanism's?"""
    mechanism: Any = robot
    verdict: Verdict = judged(drives=True, inertia=False)(robot, arguments, results, options)
    if mechanism._analysis.controlled:
        return verdict
    (left,) = mechanism._evaluator("forces_left", {name: value.astype(float) for name, value in arguments.items()})
    impossible = ~(left <= IMPOSSIBLE_SHARE) & ~verdict.refused
    actuators = counted(len(mechanism.actuators), "actuator")
    why = f"it has {actuators} for {freedoms(mechanism.n)}, so its accelerations follow from the forces"
    refused = verdict.refused | impossible
    return verdict._replace(
        refused=refused,
        reasons=[why if bad else text for bad, text in zip(impossible, verdict.reasons, strict=True)],
        condition=np.where(impossible, np.nan, verdict.condition),  # which has nothing to do with it
        remedy="Pass those of forward_dynamics(x, qd, tau)" if impossible[refused.argmax()] else verdict.remedy,
    )


MOVING_GUARD = Guard(SUSPICIOUS_DOUBT, judged(drives=False, inertia=False))
DRIVEN_GUARD = Guard(SUSPICIOUS_DOUBT, judged(drives=True, inertia=False))
FORCED_GUARD = Guard(SUSPICIOUS_DOUBT, judged(drives=False, inertia=True))
POSSIBLE_GUARD = Guard(SUSPICIOUS_DOUBT, judged_motion)


def closed_changes(model: MechanismParameters, x: Scalars, dq: Scalars) -> list[Scalar]:
    """Changes of x by changes of the independent coordinates: loops stay closed."""
    return closing.coordinate_changes(model, x, dq)


def by_closed_directions(
    name: str, wanted: tuple[Argument, ...], f: int, evaluator: Evaluator, arguments: Mapping[str, Array]
) -> tuple[Array, ...]:
    """As `derivatives.by_directions`, x along changes of the f independent coordinates."""
    x, second, third = (argument.name for argument in wanted)
    counts = [f, *(argument.numbers for argument in wanted[1:])]
    dq, d_second, d_third = unit_changes(counts, arguments)
    (moved,) = evaluator("closed_changes", {"x": arguments["x"], "dq": dq[:f]})
    still = np.broadcast_to(np.zeros((), moved.dtype), (sum(counts) - f, *moved.shape[1:]))
    changes = {f"d{x}": np.concatenate([moved, still]), f"d{second}": d_second, f"d{third}": d_third}
    return columns_of(name, wanted, counts, changes, evaluator, arguments)


def slope_function(function: Function) -> Function:
    """The derivative in one direction of x and of the two other arguments."""
    names = tuple(argument.name for argument in function.arguments)
    changes = tuple(Argument(f"d{a.name}", a.core, f"a change of {a.name}") for a in function.arguments)
    return function._replace(
        formula=slope(function.formula, names),
        arguments=(*function.arguments, *changes),
        guard=None,
        quick=False,
        public=False,
        names=(),
    )


def table(size: int, f: int, actuators: int, bodies: int, joints: int, reduced: int, legs: bool) -> FunctionTable:
    """The functions of a mechanism with so many coordinates, degrees of freedom, actuators, bodies and joints.

    reduced: number of ways to reduce the equations; legs: whether positions have a closed form
    """
    x = (Argument("x", (size,), f"{{name}} has {counted(size, 'coordinate')}, all joints together"),)

    def rates(*names: str) -> tuple[Argument, ...]:
        return tuple(Argument(name, (f,), f"{{name}} has {counted(f, 'independent coordinate')}") for name in names)

    tau = (Argument("tau", (actuators,), f"{{name}} has {counted(actuators, 'actuator')}"),)
    state, motion = (*x, *rates("qd")), (*x, *rates("qd", "qdd"))
    forced = (*state, *tau)
    wrench = Argument("external_wrench", (6,), "force and moment at the tool body's origin")
    on, square = (wrench, PAYLOAD, BASE_MOTION), (f, f)
    choice = {"reduced": tuple(range(reduced)) if reduced > 1 else 0}
    inverse = Function(inverse_dynamics, motion, ((actuators,),), on, choice, DRIVEN_GUARD, names=("tau",), large=True)
    forward = Function(forward_dynamics, forced, ((f,),), on, choice, FORCED_GUARD, names=("qdd",), large=True)
    whole = f <= MOST_IN_ONE
    from_nearby = (*rates("q"), Argument("near", (size,), "a position to start from"))

    def closing_function(formula: Any) -> Function:
        return Function(formula, from_nearby, ((size,), ()), quick=False, names=("position", "gap"))

    in_closed_form = {"closing_legs": closing_function(closing_legs)} if legs else {}
    return {
        "inverse_dynamics": inverse,
        "forward_dynamics": forward,
        "inverse_dynamics_slope": slope_function(inverse),
        "forward_dynamics_slope": slope_function(forward),
        "closed_changes": Function(
            closed_changes,
            (*x, Argument("dq", (f,), "changes of the independent coordinates")),
            ((size,),),
            quick=False,
            public=False,
        ),
        "generalised_forces": Function(generalised_forces, motion, ((f,),), on, choice, MOVING_GUARD),
        "inverse_dynamics_derivatives": Function(
            inverse_dynamics_derivatives,
            motion,
            ((actuators, f), (actuators, f), (actuators, f)),
            (PAYLOAD,),
            guard=DRIVEN_GUARD,
            in_parts=partial(by_closed_directions, "inverse_dynamics_slope", motion, f),
            names=("dtau_dq", "dtau_dqd", "dtau_dqdd"),
            whole=whole,
        ),
        "forward_dynamics_derivatives": Function(
            forward_dynamics_derivatives,
            forced,
            (square, square, (f, actuators)),
            (PAYLOAD,),
            guard=FORCED_GUARD,
            in_parts=partial(by_closed_directions, "forward_dynamics_slope", forced, f),
            names=("dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
            whole=whole,
        ),
        "mass_matrix": Function(mass_matrix, x, (square,), (PAYLOAD,), guard=MOVING_GUARD),
        "joint_wrenches": Function(joint_wrenches, motion, ((joints, 6),), on, {"axes": "world"}, guard=POSSIBLE_GUARD),
        "forces_left": Function(forces_left, motion, ((),), on, quick=False, public=False),
        "energy": Function(energy, state, ((), ()), (PAYLOAD,), guard=MOVING_GUARD, names=("kinetic", "potential")),
        "loop_gap": Function(loop_gap, x, ((),)),
        "body_frames": Function(frames, x, ((bodies, 4, 4),)),
        "body_jacobians": Function(jacobians, x, ((bodies, 6, f),), guard=MOVING_GUARD),
        "coordinate_rates": Function(coordinate_rates, state, ((size,),), quick=False, names=("rates",)),
        "closing_steps": closing_function(closing_steps),
        **in_closed_form,
    }
