"""Which joints of a mechanism follow in closed form from the independent ones: legs are looked for loop after loop.

What a leg needs of the geometry (axes that are parallel, or meet) is not asked of the axes. Each way to solve a loop is
tried at positions whose loops are closed, and is taken where it gives these positions back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import E_Z, Vector, cross, dot
from tauforge.arrays import Array
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
    TiedStep,
)
from tauforge.formulations.trees.frames import FREEDOMS

Steps = tuple[LegStep | TiedStep, ...]
FOUND_AGAIN = 1e-6  # rad, or share of the size: a root loses half of the digits near a position between two ways
FOUND_SHARE = 0.75  # of the positions must be found again: the others may be such
MEETING_AXES = 1e-9  # share of the size by which axes that meet may miss each other
PARALLEL_AXES = 1e-6  # sine of the angle of axes that do not meet


def legs(m: MechanismParameters, positions: Array) -> Steps:
    """Steps from the independent coordinates to all others; none where some loop has no closed form.

    positions: (k, N) with closed loops
    """
    known = {
        k for k, frame in enumerate(m.frames) if all(frame.at + i in m.independent for i in range(FREEDOMS[frame.kind]))
    }
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
                yield (
                    LegStep(w, cut, (u, v), DISTANCE, centres),
                    LegStep(v, cut, (u,), HEIGHT),
                    LegStep(u, cut),
                )


def _meeting(m: MechanismParameters, u: int, v: int) -> tuple[float, float] | None:
    """Where the axis of hinge u meets that of hinge v, which hangs from it: along the one and along the other."""
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
    """Whether the steps of m find their joints again at most of the positions."""
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
