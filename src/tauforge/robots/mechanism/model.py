"""Parameters of a mechanism's formulas, and loads on it: over any scalar, so that masses may vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalars, is_number
from tauforge.algebra.vectors import IDENTITY, NO_DISPLACEMENT, ZERO, Matrix, Transform, Vector
from tauforge.errors import ModelError
from tauforge.formulations.bodies import MASSLESS_BODY, BodyParameters, Wrench, body_of
from tauforge.formulations.drives import DriveParameters
from tauforge.formulations.mechanism.dynamics import ExternalLoads, carrying
from tauforge.formulations.mechanism.parameters import (
    BodyInTree,
    FixedFrame,
    MechanismParameters,
    ReactionParameters,
    SpringParameters,
    Tie,
)
from tauforge.formulations.trees.economical_frames import COORDINATE_ERROR, regrouped, tidy
from tauforge.formulations.trees.frames import GROUND
from tauforge.formulations.trees.recursion import BaseState
from tauforge.robots.mechanism.assembly import Assembly, cuts_of, largest_coordinate, mechanism_size, own_axes
from tauforge.robots.mechanism.parts import GROUND_NAME, check_part
from tauforge.robots.mechanism.spanning_tree import SpanningTree

if TYPE_CHECKING:
    from tauforge.robots.mechanism.description import MechanismDescription

NO_DRIVE = DriveParameters(0.0, 0.0, 0.0, 0.0, 1.0)


def model_of(
    m: MechanismDescription, bare: MechanismParameters, values: Mapping[str, Scalars] | None = None
) -> MechanismParameters:
    """The parameters with masses. bare: those without; values: fields, flat, instead of the mechanism's own.

    Centres of mass and inertias are given in the world and in the home position.
    """
    given = values or {}
    size = largest_coordinate(m.bodies, m.joints)
    frames, bodies = list(bare.frames), list(bare.bodies)
    for i, body in enumerate(m.bodies):
        mass = given["mass"][i] if "mass" in given else body.mass
        com = given["com"][3 * i : 3 * i + 3] if "com" in given else body.com
        rows = (
            [given["inertia"][9 * i + 3 * r : 9 * i + 3 * r + 3] for r in range(3)]
            if "inertia" in given
            else body.inertia
        )
        place, (axes, origin) = bodies[i].place, body.home_frame
        own = BodyParameters(mass, axes.T @ (Vector(*com) - origin), rotated(Matrix.of(rows), axes.T))
        bodies[i] = BodyInTree(place, own)
        k = place.joint_frame
        if k != GROUND:
            R, p = place.displacement
            c = R @ own.com + p
            if all(is_number(x) for x in c):
                c = tidy(c, size)
            frames[k] = frames[k].carrying(mass, c, _without_rounding(rotated(own.inertia, R)))
    gravity = Vector(*given["gravity"]) if "gravity" in given else bare.gravity
    return bare._replace(frames=regrouped(frames), bodies=tuple(bodies), gravity=gravity)


def _without_rounding(I: Matrix) -> Matrix:
    """0 for products of inertia that the tensor's turn into the frame left; they are there only by rounding."""
    entries = [x for row in I.rows for x in row]
    if not all(is_number(x) for x in entries):
        return I
    most = 2 * COORDINATE_ERROR * max(abs(x) for x in entries)
    return Matrix.of([[0.0 if abs(x) <= most else x for x in row] for row in I.rows])


def bare_parameters(m: MechanismDescription, tree: SpanningTree, assembly: Assembly) -> MechanismParameters:
    """Parameters without masses and without a choice of coordinates."""
    places = [assembly.fixed_frame(body.name, body.home_frame) for body in m.bodies]
    copies = list(assembly.numbers)[len(places) : -1]
    places += [FixedFrame(assembly.of_body[name], NO_DISPLACEMENT, assembly.numbers[name]) for name in copies]
    drives = [NO_DRIVE] * len(assembly.reads)
    ties = []
    by_name = {joint.name: k for k, joint in enumerate(m.joints)}
    for joint, rates in zip(m.joints, assembly.joint_rates, strict=True):
        for k in rates or ():
            drives[k] = joint.drive
        if joint.mimic is not None:
            leader, factor, offset = joint.mimic
            check_part("joint", leader, by_name, f"{joint.name}.mimic")
            led, own = assembly.joint_rates[by_name[leader]], rates
            if led is None or own is None or len(led) != 1:
                raise ModelError(f"{leader!r} is no Hinge or Slider", field=f"{joint.name}.mimic")
            ties.append(Tie(own[0], led[0], factor, offset))
    _check_leaders(m)
    return MechanismParameters(
        assembly.frames,
        assembly.reads,
        cuts_of(assembly, m.joints, tree),
        tuple(ties),
        tuple(drives),
        m.coulomb_speed,
        Vector(*m.gravity),
        tuple(BodyInTree(place, MASSLESS_BODY) for place in places),
        tuple(_springs(m, assembly)),
        places[assembly.numbers[m.tool_body]],
        _reactions(m, tree, assembly),
        mechanism_size(m.bodies, m.joints),
    )


def _check_leaders(m: MechanismDescription) -> None:
    """Refuses joints that follow each other in a circle."""
    leaders = {joint.name: joint.mimic[0] for joint in m.joints if joint.mimic is not None}
    for name in leaders:
        met, leader = [name], leaders[name]
        while leader in leaders and leader not in met:
            met.append(leader)
            leader = leaders[leader]
        if leader in met:
            raise ModelError(f"{', '.join(met)} mimic each other in a circle", field=f"{name}.mimic")


def _springs(m: MechanismDescription, assembly: Assembly) -> Iterator[SpringParameters]:
    known = (GROUND_NAME, *(body.name for body in m.bodies))
    for spring in m.springs:
        ends = []
        for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b)):
            check_part("body", name, known, "springs")
            ends.append(assembly.fixed_frame(name, Transform(IDENTITY, Vector(*point))))
        yield SpringParameters(ends[0], ends[1], spring.stiffness, spring.length, spring.damping)


def _reactions(m: MechanismDescription, tree: SpanningTree, assembly: Assembly) -> tuple[ReactionParameters, ...]:
    outside: dict[str, set[int]] = {}
    for branch in reversed(tree.branches):  # each begins where an earlier one ended
        own = outside.setdefault(branch.outer, set()) | {assembly.numbers[branch.outer]}
        outside[branch.outer] = own
        outside.setdefault(branch.inner, set()).update(own)
    branches = {branch.joint: branch for branch in tree.branches}
    found = []
    for k, joint in enumerate(m.joints):
        world = own_axes(joint)
        if k in tree.cut:
            at = assembly.fixed_frame(joint.child, world)
            found.append(ReactionParameters(at, frozenset(), 1.0, tree.cut.index(k)))
            continue
        branch = branches[k]
        outward = (branch.copy_of or branch.outer) == joint.child
        at = assembly.fixed_frame(branch.outer if outward else joint.child, world)
        found.append(ReactionParameters(at, frozenset(outside[branch.outer]), 1.0 if outward else -1.0, None))
    return tuple(found)


def loaded(
    model: MechanismParameters,
    external_wrench: Scalars | None = None,
    payload: Scalars | None = None,
    base_motion: Scalars | None = None,
) -> tuple[MechanismParameters, ExternalLoads]:
    """The mechanism that holds the payload, and what else acts on it besides its actuators."""
    m = model if payload is None else carrying(model, body_of(payload))
    wrench = None if external_wrench is None else Wrench(Vector(*external_wrench[:3]), Vector(*external_wrench[3:]))
    if base_motion is None:
        return m, ExternalLoads(wrench, BaseState(ZERO, ZERO, -m.gravity))
    omega, alpha, a = (Vector(*base_motion[k : k + 3]) for k in (0, 3, 6))
    return m, ExternalLoads(wrench, BaseState(omega, alpha, a - m.gravity))
