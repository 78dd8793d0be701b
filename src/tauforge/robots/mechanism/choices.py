"""Choices that the library makes for a mechanism: independent coordinates, reductions of the equations, legs.

All reductions have the same outcome. They differ in the rates that the equations are reduced to and in the axes in
which the rows of the cuts are written. The few that promise to cost least, judged by the pattern of the loop matrix in
numbers, are kept, and whoever traces a function takes the best of them.

Legs are joints that follow in closed form from the independent ones. What a leg needs of the geometry (axes that are
parallel, or meet) is not asked of the axes. Each way to solve a loop is tried at positions whose loops are closed, and
is taken where it gives these positions back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from tauforge.algebra.elimination import elimination_work
from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, Vector, cross, dot
from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.evaluation.reference import reference
from tauforge.formulations.mechanism.cuts import sides
from tauforge.formulations.mechanism.legs import closed_by_legs
from tauforge.formulations.mechanism.parameters import (
    ACROSS_X,
    ACROSS_Y,
    DISTANCE,
    HEIGHT,
    RADIUS,
    WELD,
    LegStep,
    MechanismParameters,
    Reduction,
    TiedStep,
)
from tauforge.formulations.trees.frames import GROUND, ancestors
from tauforge.robots.mechanism.assembly import Assembly
from tauforge.robots.mechanism.loop_matrices import JointFrames, LoopEquations
from tauforge.robots.mechanism.mobility import (
    BAD_RATES,
    FEWEST_CLOSED_SAMPLES,
    ZERO_ENTRY,
    Mobility,
    chosen,
    goodness,
    places_of,
)
from tauforge.robots.mechanism.parts import GROUND_NAME, POSE_LABELS, Free
from tauforge.validation import counted, freedoms, known_names

if TYPE_CHECKING:
    from tauforge.robots.mechanism.description import MechanismDescription

AXES_PER_SET = 2  # axes for each set of rates
SHARED_LOOPS = 2  # loops that are closed at a body whose rates may take the place of the independent ones
Steps = tuple[LegStep | TiedStep, ...]
FOUND_AGAIN = 1e-6  # rad, or share of the size: a root loses half of the digits near a position between two ways
FOUND_SHARE = 0.75  # of the positions must be found again: the others may be such
MEETING_AXES = 1e-9  # share of the size by which axes that meet may miss each other
PARALLEL_AXES = 1e-6  # sine of the angle of axes that do not meet


def independent_body(m: MechanismDescription) -> tuple[str, ...]:
    """The body whose pose is to be independent, unless a Free joint gives it that."""
    wanted = (m.independent,) if isinstance(m.independent, str) else tuple(m.independent or ())
    names = {body.name for body in m.bodies}
    free = {joint.child for joint in _free_of_ground(m)}
    poses = {f"{body}.{label}": body for body in names for label in POSE_LABELS} | {body: body for body in names}
    coordinates = {name for joint in m.joints for name in (joint.name, *joint.coordinate_names)}
    bodies = {poses[name] for name in wanted if name in poses and name not in coordinates}
    return tuple(sorted(bodies - free))


def _free_of_ground(m: MechanismDescription) -> list[Free]:
    return [joint for joint in m.joints if isinstance(joint, Free) and joint.parent == GROUND_NAME]


def independent_rates(
    m: MechanismDescription, names: tuple[str, ...], found: Mobility, actuated: tuple[int, ...], assembly: Assembly
) -> tuple[int, ...]:
    if m.independent is None:
        if len(actuated) == found.freedom and goodness(found, actuated) > BAD_RATES:
            return actuated
        in_x = tuple(np.argsort(assembly.reads).tolist())
        return in_x if found.freedom == len(names) else chosen(found, actuated)
    wanted = (m.independent,) if isinstance(m.independent, str) else tuple(m.independent)
    known = {name: [k] for k, name in enumerate(names)}
    groups = {body.name: tuple(f"{body.name}.{label}" for label in POSE_LABELS) for body in m.bodies}
    groups |= {joint.child: joint.coordinate_names for joint in _free_of_ground(m)}
    groups |= {joint.name: joint.coordinate_names for joint in m.joints if len(joint.letters) > 1}
    for group, parts in groups.items():
        if group not in known and all(part in known for part in parts):
            known[group] = [known[part][0] for part in parts]
    for name in wanted:
        if name not in known:
            raise _no_coordinate(m, name, names)
    picked = [k for name in wanted for k in known[name]]
    if len(picked) > found.freedom and any(len(known[name]) > 1 for name in wanted):
        picked = list(chosen(found, (), picked))  # a pose of which only some coordinates move
    if len(picked) != found.freedom:
        named = f"{counted(len(picked), 'coordinate')} {'is' if len(picked) == 1 else 'are'} named"
        problem = f"{named}, but {m.name} has {freedoms(found.freedom)}"
        raise ModelError(problem, field="independent", remedy="Name as many, or leave independent out")
    if not goodness(found, picked) > BAD_RATES:
        does = "does" if len(picked) == 1 else "do"
        problem = (
            f"{', '.join(names[k] for k in picked)} {does} not determine the motion of {m.name}: others move while "
            f"{'it stands' if len(picked) == 1 else 'they stand'} still"
        )
        raise ModelError(problem, field="independent", remedy="Name others, or leave independent out")
    ordered = sorted(picked, key=lambda k: assembly.reads[k])
    if found.freedom == len(names) and picked != ordered:
        raise ModelError(
            "all coordinates are named, in another order than positions have: nothing would tell a position from its "
            "coordinates",
            field="independent",
            remedy=f"Leave independent out, or name them as {', '.join(names[k] for k in ordered)}",
        )
    return tuple(picked)


def _no_coordinate(m: MechanismDescription, name: str, names: Sequence[str]) -> ModelError:
    """names: of the tree's coordinates"""
    own = [joint for joint in m.joints if name in (joint.name, *joint.coordinate_names)]
    if not own:
        return ModelError(f"there is no coordinate {name!r}", field="independent", remedy=known_names(name, names))
    if not own[0].letters:
        return ModelError(f"{name!r} is a Weld, which does not move", field="independent", remedy="Name another")
    return ModelError(
        f"{name!r} is cut to open the loop", field="independent", remedy="Name another, or choose the cuts by cut="
    )


def reduced_sets(m: MechanismParameters, found: Mobility, independent: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Sets of rates: the independent ones, and those on the way to a body at which several loops are closed."""
    sets = [independent]
    closed = [cut.a.joint_frame for cut in m.cuts] + [cut.b.joint_frame for cut in m.cuts]
    for k in sorted({k for k in closed if k != GROUND and closed.count(k) >= SHARED_LOOPS}):
        frames = [m.frames[j] for j in ancestors(m.frames, k)]
        own = [k for frame in frames for k in frame.span]
        picked = chosen(found, (), sorted(own))
        if goodness(found, picked) > BAD_RATES and picked not in sets:
            sets.append(picked)
    return tuple(sets)


def reductions(m: MechanismParameters, found: Mobility, sets: Sequence[tuple[int, ...]]) -> tuple[Reduction, ...]:
    """For each set of rates the axes that promise to cost least: the same kind of axes for every cut."""
    choices = [[GROUND, *a.path, *b.path] for a, b in (sides(m.frames, cut) for cut in m.cuts)]
    kinds = range(max(map(len, choices), default=1))
    wanted = [tuple(axes[min(kind, len(axes) - 1)] for axes in choices) for kind in kinds]
    positions = np.concatenate([found.positions, found.elsewhere])
    matrices = np.concatenate([found.matrices, LoopEquations(m).scaled(found.elsewhere)[0]])
    rotations = JointFrames(m).worlds(positions)[..., :3, :3].swapaxes(0, 1) if m.cuts else np.zeros(0)
    enough, near = len(found.matrices) > FEWEST_CLOSED_SAMPLES, len(found.matrices)
    tried = {axes: _present(m, matrices, rotations, axes, enough) for axes in dict.fromkeys(wanted)}
    at_home = {axes: _present(m, matrices[:near], rotations[:near], axes, enough) for axes in tried}
    kept = []
    for z in sets:
        others = [j for j in range(m.n) if j not in z]

        def work(present: Array, z: Sequence[int] = z, others: Sequence[int] = others) -> int:
            return elimination_work(present[:, others].tolist(), len(others)) + int(present[:, list(z)].sum())

        best = sorted(tried, key=lambda axes: work(tried[axes]))[:AXES_PER_SET]
        best_at_home = sorted(tried, key=lambda axes: work(at_home[axes]))[:1]  # for states, see `by_rates`
        for axes in dict.fromkeys(best + best_at_home):
            present = tried[axes]
            kept.append(Reduction(z, axes, places_of(~present), places_of(present & ~at_home[axes])))
    return tuple(kept)


def _present(m: MechanismParameters, matrices: Array, rotations: Array, axes: Sequence[int], enough: bool) -> Array:
    """(rows, n) mask of entries of the loop matrix, its rows in these axes, that are not zero everywhere.

    matrices, rotations: at samples, world <- joint frame; enough: whether these are enough to tell
    """
    J = matrices.copy()
    if not enough:
        return np.ones(J.shape[1:], bool)
    for rows, own in zip(m.rows_of_cuts, axes, strict=True):
        if own != GROUND:
            J[:, rows][:, :3] = np.swapaxes(rotations[:, own], 1, 2) @ J[:, rows][:, :3]
    largest: Array = np.abs(J).max(axis=0, initial=0.0)
    return np.asarray(largest > ZERO_ENTRY * max(largest.max(initial=0.0), 1e-300))


def legs(m: MechanismParameters, positions: Array) -> Steps:
    """Steps from the independent coordinates to all others; none where some loop has no closed form.

    positions: (k, N) with closed loops
    """
    known = {k for k, frame in enumerate(m.frames) if all(j in m.independent for j in frame.span)}
    found: list[LegStep | TiedStep] = []
    closed: set[int] = set()
    while len(known) < len(m.frames):
        steps = _followers(m, known) or _next_leg(m, known, closed, positions)
        if not steps:
            return ()
        found += steps
        known |= {step.joint for step in steps}
    return tuple(found)


def _followers(m: MechanismParameters, known: set[int]) -> Steps:
    """Joints that follow known ones by ties."""
    of_rate = {frame.at: k for k, frame in enumerate(m.frames)}
    return tuple(
        TiedStep(of_rate[tie.follower], number)
        for number, tie in enumerate(m.ties)
        if of_rate[tie.leader] in known and of_rate[tie.follower] not in known
    )[:1]


def _next_leg(m: MechanismParameters, known: set[int], closed: set[int], positions: Array) -> Steps:
    """The first loop that can be solved."""
    for number, cut in enumerate(m.cuts):
        a, b = sides(m.frames, cut)
        unknown = [k for k in (*reversed(a.path), *b.path) if k not in known]
        if number in closed or cut.kind == WELD or not 1 <= len(unknown) <= 3:
            continue
        if any(m.frames[k].turns_and_slides for k in unknown):
            continue
        for steps in _ways(m, number, unknown):
            if _gives_back(m._replace(legs=steps), positions):
                closed.add(number)
                return steps
    return ()


def _ways(m: MechanismParameters, cut: int, unknown: Sequence[int]) -> Iterator[Steps]:
    """Ways to find one, two or three unknown joints of a loop, one after another."""
    if len(unknown) == 1:
        yield (LegStep(unknown[0], cut),)
    elif len(unknown) == 2:
        for w, u in permutations(unknown):
            for kept in (RADIUS, HEIGHT) if m.frames[u].revolute else (ACROSS_X, ACROSS_Y):
                yield LegStep(w, cut, (u,), kept), LegStep(u, cut)
    else:
        for u, v, w in permutations(unknown):
            centres = _meeting(m, u, v)
            if centres is not None:
                yield LegStep(w, cut, (u, v), DISTANCE, centres), LegStep(v, cut, (u,), HEIGHT), LegStep(u, cut)


def _meeting(m: MechanismParameters, u: int, v: int) -> tuple[float, float] | None:
    """Distances along hinge u and along hinge v, which hangs from it, to where their axes meet; None for never."""
    if m.frames[v].parent != u or not (m.frames[u].revolute and m.frames[v].revolute):
        return None
    R, t = m.frames[v].before
    axis = R @ E_Z
    across = cross(E_Z, axis)
    square = dot(across, across)
    if square < PARALLEL_AXES**2 or abs(dot(across, t)) > MEETING_AXES * m.size * square**0.5:
        return None

    def along(e: Vector) -> float:
        return float(dot(cross(t, e), across) / square)

    return along(axis), along(E_Z)


def _gives_back(m: MechanismParameters, positions: Array) -> bool:
    """True if the steps of m find their joints again at most of the positions."""
    joints = [step.joint for step in m.legs]

    def formula(x: Sequence[Scalar]) -> list[Scalar]:
        tree = [x[k] for k in m.reads]
        found, _ = closed_by_legs(m, tree, tree)
        return [found[m.frames[k].at] for k in joints]

    with np.errstate(all="ignore"):
        (found,) = reference(formula, {"x": positions}, ((len(joints),),))
    rates = [m.frames[k].at for k in joints]
    wanted = positions[:, [m.reads[k] for k in rates]]
    error = np.abs(found - wanted) / np.array(m.scales)[rates]
    return float((error.max(axis=-1) < FOUND_AGAIN).mean()) >= FOUND_SHARE
