"""Functions of a mechanism for integrators: its state, the rates of the state, and which rates may be independent."""

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
from tauforge.formulations.mechanism.parameters import CUT_ROWS, MechanismParameters, Reduction
from tauforge.formulations.trees.frames import FREEDOMS, GROUND
from tauforge.kernels.specification import Shape
from tauforge.robots.loads import PAYLOAD
from tauforge.robots.mechanism.functions import directions, held, loads

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


def usual_reduction(m: MechanismParameters) -> int:
    """The way by which states are computed where it is good: through the rates of a floating body, which cost least, or
    through the independent ones. The axes are those in which most is zero only as assembled at home.
    """
    floating = [
        set(range(frame.at, frame.at + FREEDOMS[frame.kind]))
        for frame in m.frames
        if frame.kind == "F" and frame.parent == GROUND
    ]
    through = [r.rates for r in m.reductions if any(set(r.rates) <= rates for rates in floating)]
    wanted = through[0] if through else m.reductions[0].rates
    own = [k for k, reduction in enumerate(m.reductions) if reduction.rates == wanted]
    return max(own, key=lambda k: len(m.reductions[k].zeros_at_home))


def usual_rates(m: MechanismParameters) -> tuple[int, ...]:
    return m.reductions[usual_reduction(m)].rates


def by_rates(m: MechanismParameters, by: str) -> MechanismParameters:
    """With other independent rates: their numbers, as text; "" for the usual ones.

    With the usual ones the mechanism is presumed to be assembled as at home. So it stays where other assemblies begin,
    at positions such as those of a parallelogram whose bars are in line.
    """
    usual = usual_reduction(m)
    (kept, rates), presumed = m.reduced(usual), m.reductions[usual].zeros_at_home
    if by:
        kept, rates, presumed = m, tuple(map(int, by.split())), frozenset()
    zeros = kept.zeros | presumed
    own = Reduction(rates, tuple(cut.axes for cut in kept.cuts), zeros)
    return kept._replace(independent=rates, reductions=(own,), zeros=zeros, presumed=presumed)


def state_of_position(model: MechanismParameters, x: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """s and v."""
    return [states.state_of(model, x), Complement(model, posed_at(model, x), model.independent).rates(qd)]


def position_of_state(model: MechanismParameters, s: Scalars, size: int = 0) -> list[Scalar]:
    return states.position_of(model, s, size)


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
    m = by_rates(held(model, payload), by)
    return list(states.state_rates(m, s, v, tau, loads(m, external_wrench, None)))


def rates_of_motion(model: MechanismParameters, s: Scalars, v: Scalars, qdd: Scalars) -> list[Any]:
    """s' and v' with these independent accelerations."""
    return list(states.rates_of_motion(model, s, v, qdd))


def rates_of_tree(model: MechanismParameters, s: Scalars, v: Scalars) -> list[Scalar]:
    """s' for rates that are taken as they are."""
    return states.rates_of_tree(model, s, v)


def closed_state(model: MechanismParameters, s: Scalars, v: Scalars, by: str = "") -> list[Any]:
    """s, v, gap, nearness and spread, after one step of Newton's method: enough for what a good integrator leaves."""
    return list(states.closed_state(by_rates(model, by), s, v, 1))


def loop_matrix(model: MechanismParameters, x: Scalars) -> list[list[Scalar]]:
    """J, all of its rows and columns."""
    rows = loop_rows(model._replace(zeros=frozenset()), posed_at(model, x))
    return [[row.get(j, 0.0) for j in range(model.n)] for row in rows]


def spread(model: MechanismParameters, x: Scalars) -> list[Scalar]:
    """How large the other rates are beside the usual ones."""
    m = by_rates(model, "")
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
        "position_of_state": hidden(position_of_state, (s,), x.core, options={"size": size}),
        "state_rates": hidden(state_rates, (s, v, tau), *both, (), (), optional=(wrench, PAYLOAD), options=by),
        "rates_of_motion": hidden(rates_of_motion, (s, v, qdd), *both),
        "rates_of_tree": hidden(rates_of_tree, (s, v), s.core),
        "closed_state": hidden(closed_state, (s, v), *both, (), (), (), options=by),
        "loop_matrix": hidden(loop_matrix, (x,), (rows, n)),
        "spread": hidden(spread, (x,), ()),
    }
