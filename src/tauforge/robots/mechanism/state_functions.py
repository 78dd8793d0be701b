"""Functions of a mechanism for integrators: its state, the rates of the state, and whether the usual rates are good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tauforge.algebra.dual import Dual, derivative
from tauforge.algebra.scalars import Scalar
from tauforge.evaluation.functions import Argument, Function, FunctionTable
from tauforge.formulations.mechanism import configuration as closing
from tauforge.formulations.mechanism import state as states
from tauforge.formulations.mechanism.complement import Complement
from tauforge.formulations.mechanism.cuts import loop_rows, posed_at
from tauforge.formulations.mechanism.parameters import CUT_ROWS, MechanismParameters
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import PAYLOAD
from tauforge.robots.mechanism.functions import directions
from tauforge.robots.mechanism.model import loaded

Scalars = Sequence[Scalar]


def coordinate_accelerations(model: MechanismParameters, x: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Second time derivatives of all coordinates of x."""
    rates = closing.coordinate_rates(model, x, qd)
    moved = [Dual(value, {0: rate}) for value, rate in zip(x, rates, strict=True)]
    turned = [Dual(value, {0: rate}) for value, rate in zip(qd, qdd, strict=True)]
    return [derivative(rate, 0) for rate in closing.coordinate_rates(model, moved, turned)]


def rate_slopes(model: MechanismParameters, x: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Derivatives of the independent coordinates' rates by these coordinates, with loops closed, (f, f)."""
    columns = directions(model, x)
    f = len(columns)
    moved = [Dual(value, {k: columns[k][i] for k in range(f)}) for i, value in enumerate(x)]
    rates = closing.coordinate_rates(model, moved, list(qd))
    return [[derivative(rates[model.reads[k]], j) for j in range(f)] for k in model.independent]


def state_of_position(model: MechanismParameters, x: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """s and v."""
    return [states.state_of(model, x), Complement(model, posed_at(model, x), model.independent).rates(qd)]


def state_rates(
    model: MechanismParameters,
    s: Scalars,
    v: Scalars,
    tau: Scalars,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    by: str = "",
) -> list[Any]:
    """s', v', nearness and spread."""
    m, on = loaded(states.by_rates(model, by), external_wrench, payload)
    return list(states.state_rates(m, s, v, tau, on))


def closed_state(model: MechanismParameters, s: Scalars, v: Scalars, by: str = "") -> list[Any]:
    """s, v, gap, nearness and spread, after one step of Newton's method: enough for what a good integrator leaves."""
    return list(states.closed_state(states.by_rates(model, by), s, v, 1))


def loop_matrix(model: MechanismParameters, x: Scalars) -> list[list[Scalar]]:
    """J, all of its rows and columns."""
    rows = loop_rows(model._replace(zeros=frozenset()), posed_at(model, x))
    return [[row.get(j, 0.0) for j in range(model.n)] for row in rows]


def spread(model: MechanismParameters, x: Scalars) -> list[Scalar]:
    """Size of the other rates beside the usual ones."""
    m = states.by_rates(model, "")
    return [Complement(m, posed_at(m, x), m.independent).spread()]


def table(m: MechanismParameters, size: int) -> FunctionTable:
    """The functions of a mechanism whose positions have so many entries. None is public."""
    f, n = len(m.independent), m.n
    x = Argument("x", (size,), "all joints together")
    qd, qdd = (Argument(name, (f,), "one for each independent coordinate") for name in ("qd", "qdd"))
    tau = Argument("tau", (len(m.actuated),), "one for each actuator")
    wrench = Argument("external_wrench", (6,), "force and moment at the tool body's origin")
    s, v = Argument("s", (states.state_size(m),), "the tree without angles"), Argument("v", (n,), "rates of the tree")
    both: tuple[Shape, ...] = (s.core, v.core)
    by, rows = {"by": ""}, sum(CUT_ROWS[cut.kind] for cut in m.cuts) + len(m.ties)

    def hidden(formula: Any, arguments: tuple[Argument, ...], *results: Shape, **more: Any) -> Function:
        return Function(formula, arguments, results, quick=False, public=False, **more)

    return {
        "coordinate_accelerations": hidden(coordinate_accelerations, (x, qd, qdd), x.core),
        "rate_slopes": hidden(rate_slopes, (x, qd), (f, f)),
        "state_of_position": hidden(state_of_position, (x, qd), *both),
        "position_of_state": hidden(states.position_of, (s,), x.core, options={"size": size}),
        "state_rates": hidden(state_rates, (s, v, tau), *both, (), (), optional=(wrench, PAYLOAD), options=by),
        "rates_of_motion": hidden(states.rates_of_motion, (s, v, qdd), *both),
        "rates_of_tree": hidden(states.rates_of_tree, (s, v), s.core),
        "closed_state": hidden(closed_state, (s, v), *both, (), (), (), options=by),
        "loop_matrix": hidden(loop_matrix, (x,), (rows, n)),
        "spread": hidden(spread, (x,), ()),
    }
