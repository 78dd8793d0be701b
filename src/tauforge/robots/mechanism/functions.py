"""The functions of a mechanism as formulas over any scalar, and their table.

Those of `state_table` serve integrators: the state, its rates, and whether the usual rates are good. None is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.algebra.dual import Dual, derivative
from tauforge.algebra.scalars import Scalar, Scalars, absolute
from tauforge.arrays import Array
from tauforge.evaluation.derivatives import columns_of, slope, unit_changes
from tauforge.evaluation.functions import Argument, Doubtful, Function, FunctionTable
from tauforge.formulations.mechanism import configuration, dynamics, kinematics, reactions, state
from tauforge.formulations.mechanism.complement import Complement
from tauforge.formulations.mechanism.cuts import loop_rows, posed_at
from tauforge.formulations.mechanism.dynamics import ReducedSolution
from tauforge.formulations.mechanism.parameters import CUT_ROWS, MechanismParameters
from tauforge.formulations.mechanism.springs import nearness_of_ends
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import BASE_MOTION, PAYLOAD
from tauforge.robots.mechanism.guards import (
    DRIVEN_GUARD,
    FORCED_GUARD,
    IMPOSSIBLE_SHARE,
    INERTIA_SUM,
    MOVING_GUARD,
    POSSIBLE_GUARD,
    SUSPICIOUS_DOUBT,
)
from tauforge.robots.mechanism.model import loaded
from tauforge.validation import Rows, counted, from_transform

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator

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
    """Kinetic and potential energy."""
    kinetic, potential, complement = kinematics.energies(loaded(model, **acting)[0], x, qd)
    return Doubtful([kinetic, potential], lambda: complement.doubt(x))


def frames(model: MechanismParameters, x: Scalars) -> list[Rows]:
    """World <- frame of every body, (bodies, 4, 4)."""
    return [from_transform(frame) for frame in kinematics.body_frames(model, x)]


def jacobians(model: MechanismParameters, x: Scalars) -> Doubtful:
    """Velocity of every body's origin and its angular velocity, by the independent rates: (bodies, 6, f)."""
    found, complement = kinematics.point_jacobians(model, x)
    return Doubtful(found, lambda: complement.doubt(x))


def loop_gap(model: MechanismParameters, x: Scalars) -> list[Scalar]:
    return [configuration.gap(model, x)]


def moved(model: MechanismParameters, x: Scalars) -> list[Dual]:
    """The position with its derivatives by the independent coordinates: loops stay closed."""
    f = len(model.independent)
    columns = [configuration.coordinate_changes(model, x, [float(i == k) for i in range(f)]) for k in range(f)]
    return [Dual(value, {k: column[i] for k, column in enumerate(columns)}) for i, value in enumerate(x)]


def slopes(formula: Any, names: tuple[str, str, str]) -> Any:
    """Derivatives of dynamics by the independent coordinates, with loops closed, and by the two other arguments."""

    def derivatives(model: MechanismParameters, **given: Any) -> Doubtful:
        x, second, third = (given.pop(name) for name in names)
        f, last = len(second), len(third)
        moving = {
            names[0]: moved(model, x),
            names[1]: [Dual(value, {f + k: 1.0}) for k, value in enumerate(second)],
            names[2]: [Dual(value, {2 * f + k: 1.0}) for k, value in enumerate(third)],
        }
        values = formula(model, **moving, **given).results
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
    """Derivatives by directions, as `derivatives.by_directions`; x moves along the f independent coordinates."""
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


def coordinate_accelerations(model: MechanismParameters, x: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Second time derivatives of all entries of a position."""
    rates = configuration.coordinate_rates(model, x, qd)
    travelled = [Dual(value, {0: rate}) for value, rate in zip(x, rates, strict=True)]
    turned = [Dual(value, {0: rate}) for value, rate in zip(qd, qdd, strict=True)]
    return [derivative(rate, 0) for rate in configuration.coordinate_rates(model, travelled, turned)]


def rate_slopes(model: MechanismParameters, x: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Derivatives of the independent coordinates' rates by these coordinates, with loops closed, (f, f)."""
    rates = configuration.coordinate_rates(model, moved(model, x), list(qd))
    return [[derivative(rates[model.reads[k]], j) for j in range(len(model.independent))] for k in model.independent]


def state_of_position(model: MechanismParameters, x: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """The state: s and v (`formulations.mechanism.state`)."""
    return [state.state_of(model, x), Complement(model, posed_at(model, x), model.independent).rates(qd)]


def state_rates(
    model: MechanismParameters, s: Scalars, v: Scalars, tau: Scalars, by: str = "", **acting: Scalars
) -> state.StateRates:
    """s', v', nearness and spread."""
    m, on = loaded(state.by_rates(model, by), **acting)
    return state.state_rates(m, s, v, tau, on)


def closed_state(model: MechanismParameters, s: Scalars, v: Scalars, by: str = "") -> state.ClosedState:
    """s, v, gap, nearness and spread, after one step of Newton's method: enough for what a good integrator leaves."""
    return state.closed_state(state.by_rates(model, by), s, v, 1)


def loop_matrix(model: MechanismParameters, x: Scalars) -> list[list[Scalar]]:
    """The loop matrix J with all of its rows and columns."""
    rows = loop_rows(model._replace(zeros=frozenset()), posed_at(model, x))
    return [[row.get(j, 0.0) for j in range(model.n)] for row in rows]


def spread(model: MechanismParameters, x: Scalars) -> list[Scalar]:
    """Size of the other rates beside the usual ones."""
    m = state.by_rates(model, "")
    return [Complement(m, posed_at(m, x), m.independent).spread()]


def start_doubt(model: MechanismParameters, x: Scalars, by: str = "") -> list[Scalar]:
    """Doubt whether a motion can start at a position, where the actuators need not control it."""
    m = state.by_rates(model, by)
    return [m.doubts[0].inertia * dynamics.usual_sums(m, x, False)[INERTIA_SUM]]


def table(m: MechanismParameters, size: int) -> FunctionTable:
    """The functions of a mechanism whose positions have so many entries."""
    f, actuators, bodies, joints = (len(own) for own in (m.independent, m.actuated, m.bodies, m.joints))
    x = (Argument("x", (size,), f"{{name}} has {counted(size, 'coordinate')}, all joints together"),)

    def rates(*names: str) -> tuple[Argument, ...]:
        return tuple(Argument(name, (f,), f"{{name}} has {counted(f, 'independent coordinate')}") for name in names)

    tau = (Argument("tau", (actuators,), f"{{name}} has {counted(actuators, 'actuator')}"),)
    moving, motion = (*x, *rates("qd")), (*x, *rates("qd", "qdd"))
    forced = (*moving, *tau)
    wrench = Argument("external_wrench", (6,), "force and moment at the tool body's origin")
    on, square = (wrench, PAYLOAD, BASE_MOTION), (f, f)
    choice = {"reduced": tuple(range(len(m.reductions))) if len(m.reductions) > 1 else 0}
    inverse = Function(inverse_dynamics, motion, ((actuators,),), on, choice, DRIVEN_GUARD, names=("tau",), large=True)
    forward = Function(forward_dynamics, forced, ((f,),), on, choice, FORCED_GUARD, names=("qdd",), large=True)

    from_nearby = (*rates("q"), Argument("near", (size,), "a position to start from"))

    def closing_function(formula: Any) -> Function:
        return Function(formula, from_nearby, ((size,), ()), quick=False, names=("position", "gap"))

    def derivatives(formula: Any, of: Function, slope_name: str) -> Function:
        """By the independent coordinates and by the two other arguments."""
        (values,), (_, *others) = of.results, of.arguments
        return Function(
            formula,
            of.arguments,
            ((*values, f), *((*values, other.numbers) for other in others)),
            (PAYLOAD,),
            guard=of.guard,
            in_parts=partial(by_closed_directions, slope_name, of.arguments, f),
            names=tuple(f"d{of.names[0]}_d{by}" for by in ("q", *(other.name for other in others))),
            whole=f <= MOST_IN_ONE,
        )

    in_closed_form = {"closing_legs": closing_function(configuration.closed_in_one)} if m.legs else {}
    return {
        "inverse_dynamics": inverse,
        "forward_dynamics": forward,
        "inverse_dynamics_slope": slope_function(inverse),
        "forward_dynamics_slope": slope_function(forward),
        "generalised_forces": Function(generalised_forces, motion, ((f,),), on, choice, MOVING_GUARD),
        "inverse_dynamics_derivatives": derivatives(inverse_dynamics_derivatives, inverse, "inverse_dynamics_slope"),
        "forward_dynamics_derivatives": derivatives(forward_dynamics_derivatives, forward, "forward_dynamics_slope"),
        "mass_matrix": Function(mass_matrix, x, (square,), (PAYLOAD,), guard=MOVING_GUARD),
        "joint_wrenches": Function(joint_wrenches, motion, ((joints, 6),), on, {"axes": "world"}, guard=POSSIBLE_GUARD),
        "forces_left": Function(forces_left, motion, ((),), on, quick=False, public=False),
        "energy": Function(energy, moving, ((), ()), (PAYLOAD,), guard=MOVING_GUARD, names=("kinetic", "potential")),
        "loop_gap": Function(loop_gap, x, ((),)),
        "body_frames": Function(frames, x, ((bodies, 4, 4),)),
        "body_jacobians": Function(jacobians, x, ((bodies, 6, f),), guard=MOVING_GUARD),
        "coordinate_rates": Function(configuration.coordinate_rates, moving, ((size,),), quick=False, names=("rates",)),
        "closing_steps": closing_function(configuration.closed),
        **in_closed_form,
        **state_table(m, (*motion, *tau, wrench)),
    }


def state_table(m: MechanismParameters, given: Sequence[Argument]) -> FunctionTable:
    """The functions that serve integrators and derivatives of positions. None is public.

    given: x, qd, qdd, tau and the external wrench
    """
    x, qd, qdd, tau, wrench = given
    f, n, (size,) = len(m.independent), m.n, x.core
    dq = Argument("dq", (f,), "changes of the independent coordinates")
    s, v = Argument("s", (state.state_size(m),), "the tree without angles"), Argument("v", (n,), "rates of the tree")
    both: tuple[Shape, ...] = (s.core, v.core)
    by, rows = {"by": ""}, sum(CUT_ROWS[cut.kind] for cut in m.cuts) + len(m.ties)

    def hidden(formula: Any, arguments: tuple[Argument, ...], *results: Shape, **more: Any) -> Function:
        return Function(formula, arguments, results, quick=False, public=False, **more)

    return {
        "closed_changes": hidden(configuration.coordinate_changes, (x, dq), x.core),
        "coordinate_accelerations": hidden(coordinate_accelerations, (x, qd, qdd), x.core),
        "rate_slopes": hidden(rate_slopes, (x, qd), (f, f)),
        "state_of_position": hidden(state_of_position, (x, qd), *both),
        "position_of_state": hidden(state.position_of, (s,), x.core, options={"size": size}),
        "state_rates": hidden(state_rates, (s, v, tau), *both, (), (), optional=(wrench, PAYLOAD), options=by),
        "rates_of_motion": hidden(state.rates_of_motion, (s, v, qdd), *both),
        "rates_of_tree": hidden(state.rates_of_tree, (s, v), s.core),
        "closed_state": hidden(closed_state, (s, v), *both, (), (), (), options=by),
        "loop_matrix": hidden(loop_matrix, (x,), (rows, n)),
        "spread": hidden(spread, (x,), ()),
        "start_doubt": hidden(start_doubt, (x,), (), options=by),
    }
