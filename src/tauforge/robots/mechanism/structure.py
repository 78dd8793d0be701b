"""Analysis of a mechanism: its tree, its cuts, its freedom, and the coordinates in which it is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.evaluation.reference import reference
from tauforge.formulations.mechanism.parameters import MechanismParameters
from tauforge.formulations.mechanism.reactions import wrenches_of_multipliers
from tauforge.robots.mechanism.assembly import Assembly, assembled
from tauforge.robots.mechanism.choices import independent_body, independent_rates, legs, reduced_sets, reductions
from tauforge.robots.mechanism.loop_matrices import LoopEquations
from tauforge.robots.mechanism.mobility import (
    Mobility,
    controls,
    first_large,
    independent_forces,
    mobility,
    picked_rows,
)
from tauforge.robots.mechanism.model import bare_parameters
from tauforge.robots.mechanism.parts import POSE_LABELS, MechanismJoint, Slider, body_in_text
from tauforge.robots.mechanism.spanning_tree import SpanningTree, spanning_tree
from tauforge.validation import counted, freedoms

if TYPE_CHECKING:
    from tauforge.robots.mechanism.description import MechanismDescription

ROW_NAMES = ("x", "y", "z", "turn about x", "turn about y", "turn about z")
FELT_REACTION = 1e-9  # share of a reaction that a redundant constraint changes
AS_LARGE = 1.0 - 1e-9  # of the largest row's size, from which one counts as large
MISALIGNED = 1e-3  # rad, or share of the mechanism's size: more is meant
ALIGNED = 1e-11  # the same: less is rounding, and locks nothing
WORST_GAP = 1e-9  # of the mechanism's size, of a home position that is called closed


@with_field_docs
class Structure(NamedTuple):
    """The result of the analysis, as `mechanism.structure` shows it.

    tree:        (inner body, joint, outer body) from the ground outward; no joint where a body floats
    cut:         names of the joints that were cut
    through:     (joint, body): loops that were cut through a body
    floating:    bodies whose pose stands in x after the joints' coordinates
    freedom:     degrees of freedom
    redundant:   (joint, rows): constraints that others imply; which of them are called so is a choice
    independent: names of the coordinates whose rates the caller gives
    actuated:    names of the coordinates that have actuators
    reduced:     names of the coordinates that the mass matrix is reduced to
    in_closed_form: names of the coordinates that follow from the independent ones without a search, in their order; all
                 coordinates of the tree do, or none
    """

    tree: tuple[tuple[str, str | None, str], ...]
    cut: tuple[str, ...]
    through: tuple[tuple[str, str], ...]
    floating: tuple[str, ...]
    freedom: int
    redundant: tuple[tuple[str, tuple[str, ...]], ...]
    independent: tuple[str, ...]
    actuated: tuple[str, ...]
    reduced: tuple[tuple[str, ...], ...]
    in_closed_form: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{freedoms(self.freedom)}, {counted(len(self.actuated), 'actuator')}"]
        shown = partial(body_in_text, joints={*(joint for _, joint, _ in self.tree), *self.cut})
        lines += [f"  {shown(inner)} - {joint or 'floats'} - {shown(outer)}" for inner, joint, outer in self.tree]
        if self.cut:
            lines.append(f"cut at {', '.join(self.cut)}")
        lines += [f"cut through {shown(body)} at {joint}" for joint, body in self.through]
        lines += [f"redundant: {joint}, {', '.join(rows)}" for joint, rows in self.redundant]
        lines.append(f"independent: {', '.join(self.independent)}")
        if self.in_closed_form:
            lines.append(f"in closed form: {', '.join(self.in_closed_form)}")
        return "\n".join(lines)


class Analysis(NamedTuple):
    """The structure, and what the formulas need of it: parameters without masses."""

    structure: Structure
    tree: SpanningTree
    assembly: Assembly
    parameters: MechanismParameters
    mobility: Mobility
    names: tuple[str, ...]  # of the tree's rates
    cut_names: tuple[str, ...]
    size: float
    controlled: bool  # whether the actuators can give every acceleration


def analyse(m: MechanismDescription) -> Analysis:
    tree = spanning_tree(m.bodies, m.joints, independent_body(m), m.cut)
    assembly = assembled(m.bodies, m.joints, tree)
    names = rate_names(m, tree, assembly)
    bare = bare_parameters(m, tree, assembly)
    loops = LoopEquations(bare)
    found = mobility(loops, assembly.home)
    through = tuple((m.joints[b.joint].name, b.copy_of) for b in tree.branches if b.copy_of and b.joint is not None)
    cut_names = (*(m.joints[k].name for k in tree.cut), *(joint for joint, _ in through))
    _check_home(loops, assembly, cut_names, names)
    if found.freedom == 0:
        raise ModelError(
            "it cannot move: its constraints lock it", field="joints", remedy=_why_locked(found, m.joints, bare.size)
        )
    by_joint = zip(m.joints, assembly.joint_rates, strict=True)
    actuated = tuple(k for joint, rates in by_joint if joint.actuated for k in rates or ())
    independent = independent_rates(m, names, found, actuated, assembly)
    sets = reduced_sets(bare, found, independent)
    parameters, _ = bare._replace(
        independent=independent,
        reductions=reductions(bare, found, sets),
        actuated=actuated,
        working=independent_forces(found, actuated),
    ).reduced(0)
    parameters = parameters._replace(legs=legs(parameters, found.positions))
    parameters = _with_unknown_reactions(parameters, found)
    structure = Structure(
        tuple((b.inner, None if b.joint is None else m.joints[b.joint].name, b.outer) for b in tree.branches),
        cut_names[: len(tree.cut)],
        through,
        tree.floating,
        found.freedom,
        _redundant(bare, found, cut_names),
        tuple(names[k] for k in independent),
        tuple(names[k] for k in actuated),
        tuple(tuple(names[k] for k in z) for z in sets),
        tuple(names[parameters.frames[step.joint].at] for step in parameters.legs),
    )
    controlled = controls(found, actuated)
    return Analysis(structure, tree, assembly, parameters, found, names, cut_names, bare.size, controlled)


def rate_names(m: MechanismDescription, tree: SpanningTree, assembly: Assembly) -> tuple[str, ...]:
    found = [""] * len(assembly.reads)
    for joint, rates in zip(m.joints, assembly.joint_rates, strict=True):
        for name, k in zip(joint.coordinate_names, rates or (), strict=bool(rates)):
            found[k] = name
    floating = iter(tree.floating)
    for frame in assembly.frames:
        if frame.kind == "F" and not found[frame.at]:
            body = next(floating)
            found[frame.at : frame.at + 6] = [f"{body}.{label}" for label in POSE_LABELS]
    return tuple(found)


# ------------------------------------------------------------------------------------------------------------ freedom


def _check_home(loops: LoopEquations, assembly: Assembly, names: Sequence[str], rates: Sequence[str]) -> None:
    m, gaps = loops.parameters, loops.scaled(assembly.home[None])[1][0]
    for rows, name in zip(m.rows_of_cuts, names, strict=True):
        own = np.abs(gaps[rows])
        if not own.max() <= WORST_GAP:
            raise ModelError(
                f"the home position does not close: the loop at {name} is open by {own.max():.3g} of its size or rad",
                field="joints",
            )
    for tie, left in zip(m.ties, gaps[len(gaps) - len(m.ties) :], strict=True):
        if not abs(left) <= WORST_GAP:
            wanted = tie.factor * assembly.home[m.reads[tie.leader]] + tie.offset
            problem = f"its home is {assembly.home[m.reads[tie.follower]]:.6g}, and by the mimic it is {wanted:.6g}"
            remedy = "Give the joint home= as factor times the leader's home, plus offset"
            raise ModelError(problem, field=f"{rates[tie.follower]}.home", remedy=remedy)


def _why_locked(found: Mobility, joints: Sequence[MechanismJoint], size: float) -> str:
    if not found.matrices.shape[2]:
        return "All joints are welds"
    (_, constraints, rates), redundant = found.matrices.shape, found.redundant
    stand = f"{counted(constraints, 'constraint')} {'stands' if constraints == 1 else 'stand'}"
    counts = f"{stand} against {counted(rates, 'freedom')}"
    if redundant:
        counts += f"; {redundant} of them {'is' if redundant == 1 else 'are'} redundant"
    astray = misaligned_axes(joints, size)
    return f"{counts}. Axes that should be parallel or meet must be exactly so" + (f": {astray}" if astray else "")


def _redundant(
    m: MechanismParameters, found: Mobility, cut_names: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Rows that others imply, found by picking rows one after another, the most independent first."""
    if not found.redundant:
        return ()
    rows = found.matrices[-1]
    kept = picked_rows(rows, len(rows) - found.redundant, lambda sizes, _: first_large(sizes, AS_LARGE))
    found_rows = (
        (name, tuple(ROW_NAMES[k - own.start] for k in range(own.start, own.stop) if k not in kept))
        for own, name in zip(m.rows_of_cuts, cut_names, strict=True)
    )
    return tuple((name, texts) for name, texts in found_rows if texts)


def _with_unknown_reactions(p: MechanismParameters, found: Mobility) -> MechanismParameters:
    """Marks components of reactions that are open, by redundant constraints or by actuators that can work against each
    other: multipliers that need no force on any rate without an actuator are free.
    """
    loops = LoopEquations(p)
    if not loops.rows:
        return p
    passive = [k for k in range(p.n) if k not in p.actuated]
    J = loops.scaled(found.positions)[0]
    shape = (2, len(p.joints), 6)  # base axes, the joint's own

    def formula(x: Sequence[Scalar], multipliers: Sequence[Scalar]) -> list[Scalar]:
        both = [wrenches_of_multipliers(p, x, multipliers, own_axes) for own_axes in (False, True)]
        return [y for wrenches in both for six in wrenches for y in six]

    free, places = list[Array](), list[Array]()
    for matrix, x in zip(J, found.positions, strict=True):
        U, s, _ = np.linalg.svd(matrix[:, passive])
        rank = int((s > 1e-9 * np.abs(matrix).max(initial=1e-300)).sum())
        free.append(U[:, rank:].T / loops.row_scale)
        places.append(np.broadcast_to(x, (len(free[-1]), len(x))))
    given = {"x": np.concatenate(places), "multipliers": np.concatenate(free)}  # of all samples: one evaluation
    (wrenches,) = reference(formula, given, (shape,)) if len(given["x"]) else (np.zeros((0, *shape)),)
    open_ = (np.abs(wrenches) * np.array([p.size] * 3 + [1.0] * 3)).max(axis=0, initial=0.0) > FELT_REACTION
    return p._replace(
        joints=tuple(
            joint._replace(unknown=_places(base), unknown_in_own=_places(own))
            for joint, base, own in zip(p.joints, *open_, strict=True)
        )
    )


def _places(mask: Array) -> frozenset[int]:
    return frozenset(np.flatnonzero(mask).tolist())


class _Axis(NamedTuple):
    joint: str
    point: Array | None  # None for a slider, whose axis has a direction alone
    direction: Array


def misaligned_axes(joints: Sequence[MechanismJoint], size: float) -> str:
    """The two axes that are farthest from parallel or from meeting, among those that nearly are; "" for none.

    size: m, of the mechanism
    """
    astray = [pair for one, other in combinations(_axes(joints), 2) if (pair := _pair(one, other, size)) is not None]
    return max(astray, key=lambda pair: float(f"{pair[0]:.3g}"))[1] if astray else ""  # the first of equals


def _axes(joints: Sequence[MechanismJoint]) -> Iterator[_Axis]:
    for joint in joints:
        own = getattr(joint, "axes", (joint.axis,) if hasattr(joint, "axis") else ())
        point = None if isinstance(joint, Slider) else np.array(joint.at)
        for direction in own:
            yield _Axis(joint.name, point, np.array(direction))


def _pair(one: _Axis, other: _Axis, size: float) -> tuple[float, str] | None:
    """Misalignment (rad, or share of the size) and a sentence about it; None if the axes are exact or clearly apart."""
    if one.joint == other.joint:
        return None
    across = np.cross(one.direction, other.direction)
    sine = float(np.linalg.norm(across))
    names = f"those of {one.joint} and {other.joint}"
    if sine < MISALIGNED:
        return (sine, f"{names} are parallel but for {sine:.2g} rad") if sine > ALIGNED else None
    if one.point is None or other.point is None:
        return None
    distance = abs(float((other.point - one.point) @ across)) / sine
    if not ALIGNED * size < distance < MISALIGNED * size:
        return None
    return distance / size, f"{names} miss each other by {distance:.2g} m"
