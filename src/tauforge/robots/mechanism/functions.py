"""The functions of a mechanism as formulas over any scalar, and their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.algebra.dual import Dual, derivative
from tauforge.algebra.scalars import Scalar, absolute
from tauforge.arrays import Array
from tauforge.evaluation.derivatives import columns_of, slope, unit_changes
from tauforge.evaluation.functions import Argument, Doubtful, Function, FunctionTable
from tauforge.formulations.mechanism import configuration, dynamics, kinematics, reactions
from tauforge.formulations.mechanism.dynamics import ReducedSolution
from tauforge.formulations.mechanism.parameters import MechanismParameters
from tauforge.formulations.mechanism.springs import nearness_of_ends
from tauforge.robots.loads import BASE_MOTION, PAYLOAD
from tauforge.robots.mechanism.guards import (
    DRIVEN_GUARD,
    FORCED_GUARD,
    IMPOSSIBLE_SHARE,
    MOVING_GUARD,
    POSSIBLE_GUARD,
    SUSPICIOUS_DOUBT,
)
from tauforge.robots.mechanism.model import loaded
from tauforge.validation import counted

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator

Scalars = Sequence[Scalar]
TINY = 1e-300  # keeps results among what the kernel looks at
MOST_IN_ONE = 40  # degrees of freedom whose derivatives might be one kernel


def doubtful(x: Scalars, found: ReducedSolution) -> Doubtful:
    values, complement, inertia, actuation = found

    def doubt() -> Scalar:
        ends = nearness_of_ends(complement.m, complement.posed) * SUSPICIOUS_DOUBT
        return complement.doubt(x, inertia, actuation) + absolute(values[0]) * TINY + ends

    return Doubtful(values, doubt)


def inverse_dynamics(
    model: MechanismParameters, x: Scalars, qd: Scalars, qdd: Scalars, reduced: int = 0, **acting: Scalars
) -> Doubtful:
    m, on = loaded(model, **acting)
    return doubtful(x, dynamics.inverse_dynamics(m, x, qd, qdd, on, reduced))


def generalised_forces(
    model: MechanismParameters, x: Scalars, qd: Scalars, qdd: Scalars, reduced: int = 0, **acting: Scalars
) -> Doubtful:
    m, on = loaded(model, **acting)
    return doubtful(x, dynamics.generalised_forces(m, x, qd, qdd, on, reduced))


def forward_dynamics(
    model: MechanismParameters, x: Scalars, qd: Scalars, tau: Scalars, reduced: int = 0, **acting: Scalars
) -> Doubtful:
    m, on = loaded(model, **acting)
    return doubtful(x, dynamics.forward_dynamics(m, x, qd, tau, on, reduced))


def mass_matrix(model: MechanismParameters, x: Scalars, **acting: Scalars) -> Doubtful:
    found, complement = dynamics.mass_matrix(loaded(model, **acting)[0], x)
    return Doubtful(found, lambda: complement.doubt(x))


def joint_wrenches(
    model: MechanismParameters, x: Scalars, qd: Scalars, qdd: Scalars, axes: str = "world", **acting: Scalars
) -> Doubtful:
    m, on = loaded(model, **acting)
    found, drives = reactions.joint_wrenches(m, x, qd, qdd, on, axes == "joint")

    def doubt() -> Scalar:
        total = drives.complement.doubt(x, actuation=drives.actuation)
        total = total + nearness_of_ends(m, drives.complement.posed) * SUSPICIOUS_DOUBT
        if len(m.working) >= len(m.independent):
            return total
        return total + SUSPICIOUS_DOUBT / IMPOSSIBLE_SHARE * dynamics.forces_left(m, x, qd, qdd, on)

    return Doubtful(found, doubt)


def forces_left(model: MechanismParameters, x: Scalars, qd: Scalars, qdd: Scalars, **acting: Scalars) -> list[Scalar]:
    """The share of the forces that no actuator gives."""
    m, on = loaded(model, **acting)
    return [dynamics.forces_left(m, x, qd, qdd, on)]


def energy(model: MechanismParameters, x: Scalars, qd: Scalars, **acting: Scalars) -> Doubtful:
    """Kinetic, potential."""
    kinetic, potential, complement = kinematics.energies(loaded(model, **acting)[0], x, qd)
    return Doubtful([kinetic, potential], lambda: complement.doubt(x))


def frames(model: MechanismParameters, x: Scalars) -> list[list[list[Scalar]]]:
    """World <- frame of every body, (bodies, 4, 4)."""
    return [
        [*([*row, t] for row, t in zip(frame.rotation.rows, frame.translation, strict=True)), [0.0, 0.0, 0.0, 1.0]]
        for frame in kinematics.body_frames(model, x)
    ]


def jacobians(model: MechanismParameters, x: Scalars) -> Doubtful:
    """Velocity of every body's origin and its angular velocity, by the independent rates: (bodies, 6, f)."""
    found, complement = kinematics.point_jacobians(model, x)
    return Doubtful(found, lambda: complement.doubt(x))


def loop_gap(model: MechanismParameters, x: Scalars) -> list[Scalar]:
    return [configuration.gap(model, x)]


def directions(model: MechanismParameters, x: Scalars) -> list[list[Scalar]]:
    """Changes of x by unit changes of the independent coordinates, a list for each of these: loops stay closed."""
    f = len(model.independent)
    return [configuration.coordinate_changes(model, x, [float(i == k) for i in range(f)]) for k in range(f)]


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


def table(m: MechanismParameters, size: int) -> FunctionTable:
    """The functions of a mechanism whose positions have so many entries."""
    f, actuators, bodies, joints = (len(own) for own in (m.independent, m.actuated, m.bodies, m.joints))
    x = (Argument("x", (size,), f"{{name}} has {counted(size, 'coordinate')}, all joints together"),)

    def rates(*names: str) -> tuple[Argument, ...]:
        return tuple(Argument(name, (f,), f"{{name}} has {counted(f, 'independent coordinate')}") for name in names)

    tau = (Argument("tau", (actuators,), f"{{name}} has {counted(actuators, 'actuator')}"),)
    state, motion = (*x, *rates("qd")), (*x, *rates("qd", "qdd"))
    forced = (*state, *tau)
    wrench = Argument("external_wrench", (6,), "force and moment at the tool body's origin")
    on, square = (wrench, PAYLOAD, BASE_MOTION), (f, f)
    choice = {"reduced": tuple(range(len(m.reductions))) if len(m.reductions) > 1 else 0}
    inverse = Function(inverse_dynamics, motion, ((actuators,),), on, choice, DRIVEN_GUARD, names=("tau",), large=True)
    forward = Function(forward_dynamics, forced, ((f,),), on, choice, FORCED_GUARD, names=("qdd",), large=True)
    whole = f <= MOST_IN_ONE
    from_nearby = (*rates("q"), Argument("near", (size,), "a position to start from"))

    def closing_function(formula: Any) -> Function:
        return Function(formula, from_nearby, ((size,), ()), quick=False, names=("position", "gap"))

    in_closed_form = {"closing_legs": closing_function(configuration.closed_in_one)} if m.legs else {}
    return {
        "inverse_dynamics": inverse,
        "forward_dynamics": forward,
        "inverse_dynamics_slope": slope_function(inverse),
        "forward_dynamics_slope": slope_function(forward),
        "closed_changes": Function(
            configuration.coordinate_changes,
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
        "coordinate_rates": Function(configuration.coordinate_rates, state, ((size,),), quick=False, names=("rates",)),
        "closing_steps": closing_function(configuration.closed),
        **in_closed_form,
    }
