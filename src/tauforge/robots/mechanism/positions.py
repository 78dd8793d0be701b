"""Positions whose loops are closed: from independent coordinates, for a pose of the tool body, and at random.

A long way from the position nearby is followed in strides, so that the mechanism stays assembled as it is.

The position for a pose is found by damped least squares on the independent rates, loops closed after every step. A
mechanism rarely has all six freedoms: the place of the tool body counts most, its orientation only where it costs the
place little.
Source: Levenberg 1944; Marquardt 1963, with the step that a limit allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ConvergenceError, ShapeError
from tauforge.evaluation.arguments import as_argument
from tauforge.formulations.mechanism.parameters import LegStep
from tauforge.robots.mechanism.loop_matrices import LoopEquations
from tauforge.robots.poses import pose_error
from tauforge.validation import broadcast_shape, counted

if TYPE_CHECKING:
    from tauforge.robots.mechanism.kinematics import MechanismKinematics
    from tauforge.robots.mechanism.mechanism import Mechanism

CLOSED_GAP = 1e-13  # of the mechanism's size (or rad): gap of a loop that is closed
COORDINATE_ROUNDING = 1e-15  # of the largest coordinate: gaps that are its rounding
KERNEL_CALLS = 8  # calls of the kernel, each of a few steps of Newton's method
STRIDE = 0.25  # rad or share of the mechanism's size: longest way between two points at which loops are closed
LEG_STRIDE = 1.0  # the same in closed form, where only full turns must not be missed
HOPELESS_GAP = 1e-3  # of the mechanism's size: gap of a point on the way from which no search comes back
REFINEMENTS = (1, 8, 64)  # times as many points, tried one after another
MOST_WAYPOINTS = 2**14  # on one way: longer ones take minutes
POSE_STEPS = 40
ANGLE_WEIGHT = 0.01  # of the mechanism's size: a radian counts as an error of place so large
LONGEST_POSE_STEP = 0.3  # rad, or share of the size: of one step
LEAST_DAMPING, MOST_DAMPING = 1e-9, 1e9  # damping, as a share of the largest diagonal term
TOOL_POSE_TOLERANCE = 1e-11  # of the size
SHORTEST_POSE_STEP = 1e-12  # rad or share of the size: a step that no longer counts
MARGIN_ROUNDING = 1e-12  # of a limit: rounding


HOME_TURN, HOME_TRAVEL = 0.3, 0.1  # rad and shares of the mechanism's size: how far from home coordinates are
TRIES_NEARER_HOME = 12  # times that what does not fit is tried again, nearer to home
WORST_CONDITION = 1e4  # condition number
NEARBY_OFFSET = 1e-3  # rad or m beside a position: where Newton's method starts from


def configuration(m: MechanismKinematics, q: ArrayLike, near: ArrayLike | None, on_failure: str) -> Array:
    """x (..., N) from independent coordinates (..., f), as `Mechanism.configuration` says."""
    if on_failure not in ("raise", "nan"):
        raise ShapeError("on_failure", expected="'raise' or 'nan'", got=repr(on_failure))
    f, size = m.n, len(m.coordinate_names)
    given = as_argument("q", q, f, f"{m.name} has {counted(f, 'independent coordinate')}").astype(float)
    start = as_argument("near", m.home if near is None else near, size, "a position").astype(float)
    batch = broadcast_shape("near", {"q": given[..., 0], "near": start[..., 0]})
    flat_q = np.broadcast_to(given, (*batch, f)).reshape(-1, f)
    flat_x = np.broadcast_to(start, (*batch, size)).reshape(-1, size)
    found = np.full(flat_x.shape, np.nan)
    left = np.isfinite(flat_q).all(axis=-1) & np.isfinite(flat_x).all(axis=-1)
    gaps = np.full(len(flat_q), np.nan)
    ways = [("closing_steps", finer / STRIDE) for finer in REFINEMENTS]
    if m.structure.in_closed_form:
        ways.insert(0, ("closing_legs", 1.0 / LEG_STRIDE))
    short = np.full(len(flat_q), -1)  # the place of a joint whose leg does not reach, which no search can mend
    for number, (function, points_per_unit) in enumerate(ways):
        points = _points(m, flat_q, flat_x, points_per_unit)
        for count in np.unique(points[left & (points <= MOST_WAYPOINTS)]).tolist():
            rows = np.flatnonzero(left & (points == count))
            x, gap = followed(m, function, flat_q[rows], flat_x[rows], count, to_the_end=number == 0)
            done = is_closed(m, x, gap)
            found[rows[done]], gaps[rows] = x[done], gap
            left[rows[done]] = False
            if function == "closing_legs":
                short[rows] = _short_legs(m, x)
                left[short >= 0] = False
    failed = ~np.isfinite(found).all(axis=-1) & np.isfinite(flat_q).all(axis=-1) & np.isfinite(flat_x).all(axis=-1)
    if failed.any() and on_failure == "raise":
        row = int(np.flatnonzero(failed)[0])
        raise _not_closed(m, flat_q[row], flat_x[row], short[row], gaps[row])
    return found.reshape(*batch, size)


def _not_closed(m: MechanismKinematics, q: Array, near: Array, short: int, gap: float) -> ConvergenceError:
    """The error for coordinates (f,) whose loops do not close. short: place of a leg that does not reach, or -1"""
    reason = f"{m.name}: the loops do not close at [{', '.join(f'{value:.6g}' for value in q)}]"
    residual, iterations, remedy = np.nan, 0, "Give a nearer start by near="
    points = int(_points(m, q[None], near[None], 1.0 / STRIDE)[0])
    if short >= 0:
        reason += f": the bodies between {_ends_of_leg(m, short)} cannot meet there"
        remedy = "If the machine can be assembled in another way, pass a position of that assembly as near="
    elif points > MOST_WAYPOINTS:
        reason += ": the way there from near is too long to be followed"
    else:
        residual, iterations = float(gap), KERNEL_CALLS * points
        remedy = "The position may be out of reach; give a nearer start by near="
    return ConvergenceError(reason, residual=residual, iterations=iterations, remedy=remedy)


def _short_legs(m: MechanismKinematics, x: Array) -> Array:
    """(k,) place among the joints in closed form of the first that was not found, since its leg is too short or too
    long; -1 where all were found.
    """
    places = [m.coordinate_names.index(name) for name in m.structure.in_closed_form]
    missing = ~np.isfinite(x[:, places])
    return np.where(missing.any(axis=-1), missing.argmax(axis=-1), -1)


def _ends_of_leg(m: MechanismKinematics, place: int) -> str:
    """The joint at this place among those in closed form, and the joint at which its loop is cut."""
    step = m._analysis.parameters.legs[place]
    assert isinstance(step, LegStep)  # a joint that follows another is found where that is
    return f"{m.structure.in_closed_form[place]} and {m._analysis.cut_names[step.cut]}"


def _points(m: MechanismKinematics, q: Array, near: Array, points_per_unit: float) -> Array:
    """(k,) at how many points loops are closed on the way from positions (k, N) to coordinates (k, f): powers of two,
    so that there are few groups.
    """
    p = m._analysis.parameters
    if not p.cuts:  # nothing to lose on the way
        return np.ones(len(q), int)
    scale = np.array(p.scales)[list(p.independent)]
    ways = np.abs((q - m.positions.coordinates(near)) / scale).max(axis=-1, initial=0.0)
    wanted = np.where(np.isfinite(ways), ways, 0.0) * points_per_unit
    return (2 ** np.ceil(np.log2(np.clip(wanted, 1.0, 2 * MOST_WAYPOINTS)))).astype(int)


def is_closed(m: MechanismKinematics, x: Array, gap: Array) -> Array:
    """(k,) mask of rows of x (k, N) whose loops are closed. gap: the largest of each row, m or rad"""
    analysis = m._analysis
    rounding = COORDINATE_ROUNDING * analysis.assembly.size  # coordinates may be large beside the mechanism itself
    done = gap <= max(CLOSED_GAP * min(1.0, analysis.size), rounding)
    unsure = ~done & (gap <= CLOSED_GAP * max(1.0, analysis.size))
    if unsure.any():  # lengths count beside the mechanism's size
        scaled = LoopEquations(analysis.parameters).scaled(x[unsure])[1]
        done[unsure] = np.abs(scaled).max(axis=-1) <= CLOSED_GAP
    return np.asarray(done)


def followed(
    m: MechanismKinematics, function: str, q: Array, near: Array, points: int, *, to_the_end: bool = True
) -> tuple[Array, Array]:
    """x (k, N) and gaps (k,), on a way of some points from where `near` is.

    to_the_end: go on where no loop of any row closes on the way
    """
    if function == "closing_legs":
        return _followed_by_legs(m, q, near, points)
    start, x, gap = m.positions.coordinates(near), near, np.full(len(q), np.inf)
    hopeless = HOPELESS_GAP * m._analysis.size
    with np.errstate(all="ignore"):
        for share in np.linspace(0.0, 1.0, points + 1)[1:]:
            between = q if share == 1.0 else start + share * (q - start)
            last = np.full(len(q), np.inf)
            for _ in range(KERNEL_CALLS):
                x, gap = m._evaluator(function, {"q": between, "near": x})
                if not (gap < 0.5 * last).any() or (gap <= 1e-3 * CLOSED_GAP).all():
                    break
                last = gap
            if not to_the_end and not (gap <= hopeless).any():
                break
    return x, np.where(np.isfinite(gap) & np.isfinite(x).all(axis=-1), gap, np.inf)


def _followed_by_legs(m: MechanismKinematics, q: Array, near: Array, points: int) -> tuple[Array, Array]:
    """Points on the way count turns alone: one that is out of reach is passed."""
    start, x = m.positions.coordinates(near), near
    with np.errstate(all="ignore"):
        for share in np.linspace(0.0, 1.0, points + 1)[1:-1]:
            found, _ = m._evaluator("closing_legs", {"q": start + share * (q - start), "near": x})
            x = np.where(np.isfinite(found).all(axis=-1, keepdims=True), found, x)
        x, gap = m._evaluator("closing_legs", {"q": q, "near": x})
    return x, np.where(np.isfinite(gap) & np.isfinite(x).all(axis=-1), gap, np.inf)


def tool_towards(m: Mechanism, pose: Array, near: Array) -> Array:
    """The position (N,) nearest to a pose of the tool body, loops closed, within the limits that hold at `near`."""
    if not np.isfinite(pose).all():
        return near
    size, x = m._analysis.size, m.positions.at(near)
    scale = np.array([1.0 if c.turns else size for c in m.coordinates])
    weights = np.array([1.0 / size] * 3 + [ANGLE_WEIGHT] * 3)
    room = np.minimum(m.bounds.margins(x), 0.0) - MARGIN_ROUNDING
    error, damping = weights * pose_error(pose, m.forward_kinematics(x)), 1e-3
    for _ in range(POSE_STEPS):
        J = weights[:, None] * m.jacobian(x, on_singular="nan") * scale
        if not np.isfinite(J).all() or np.abs(error).max() <= TOOL_POSE_TOLERANCE:
            break
        while damping < MOST_DAMPING:
            moved = _pose_step(m, x, J, error, damping, scale)
            if moved is None:
                return x
            if np.isfinite(moved).all() and (m.bounds.margins(moved) >= room).all():
                now = weights * pose_error(pose, m.forward_kinematics(moved))
                if now @ now < error @ error:
                    x, error, damping = moved, now, max(0.1 * damping, LEAST_DAMPING)
                    break
            damping *= 10.0
        else:
            break
    return x


def _pose_step(m: Mechanism, x: Array, J: Array, error: Array, damping: float, scale: Array) -> Array | None:
    """A step from x, NaN where its loops do not close; None where it goes nowhere.

    J: (6, f) by rates in units of `scale`. A coordinate at its limit stays there if the step would take it beyond.
    """
    q = m.positions.coordinates(x)
    low, high = (np.array([getattr(c, side) for c in m.coordinates]) for side in ("lower", "upper"))
    free = np.ones(m.n, bool)
    for _ in range(m.n + 1):
        own = J[:, free]
        A = own.T @ own
        step = np.zeros(m.n)
        if not A.any():
            return None
        step[free] = np.linalg.solve(A + damping * A.diagonal().max() * np.eye(len(A)), own.T @ error)
        blocked = free & (((q <= low) & (step < 0)) | ((q >= high) & (step > 0)))
        if not blocked.any():
            break
        free &= ~blocked
    longest = np.abs(step).max(initial=0.0)
    if longest <= SHORTEST_POSE_STEP:
        return None
    step *= scale * min(1.0, LONGEST_POSE_STEP / longest)
    to = q + m.positions.rates(x, step)[0]
    inside = np.where((q >= low) & (q <= high), np.clip(to, low, high), to)
    return m.configuration(inside, x, on_failure="nan")


def random_states(m: Mechanism, count: int, seed: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    home = m.positions.coordinates(m.home)
    reach = np.array([HOME_TURN if c.turns else HOME_TRAVEL * m._analysis.size for c in m.coordinates])
    low, high = (np.array([getattr(c, side) for c in m.coordinates]) for side in ("lower", "upper"))
    step = reach * random.uniform(-1.0, 1.0, (count, m.n))
    position, left = np.tile(m.home, (count, 1)), np.arange(count)
    for _ in range(TRIES_NEARER_HOME):
        # a step over a limit is turned about, and kept within the other limit
        q = home + step[left]
        q = np.clip(np.where((q < low) | (q > high), home - step[left], q), low, high)
        x = m.configuration(q, on_failure="nan")
        good = np.flatnonzero(np.isfinite(x).all(axis=-1))
        good = good[(m.bounds.margins(x[good]) >= 0).all(axis=-1) & (m.loop_condition(x[good]) < WORST_CONDITION)]
        position[left[good]] = x[good]
        left = np.delete(left, good)
        if not len(left):
            break
        step[left] *= 0.5
    else:
        problem = f"{m.name}: there are no positions near home within the limits"
        raise ConvergenceError(problem, residual=np.nan, iterations=TRIES_NEARER_HOME)
    return position, random.normal(size=(count, m.n)), random.normal(size=(count, m.n))


def random_argument(m: Mechanism, argument: str, states: tuple[Array, Array, Array]) -> Array:
    """Arguments that only mechanisms have, at random states: q, near, s or v."""
    x, qd, _ = states
    q = m.positions.coordinates(x)
    if argument == "q":
        return q
    if argument == "near":
        return m.configuration(q + NEARBY_OFFSET * np.sin(np.arange(len(x)))[:, None], x)
    return m._evaluator("state_of_position", {"x": x, "qd": qd})["sv".index(argument)]
