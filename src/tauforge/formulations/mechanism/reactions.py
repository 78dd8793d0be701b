"""Reactions: the force and moment that every joint of a mechanism carries.

The bodies beyond a joint need a force and a moment; whatever cuts, springs and the environment do not give comes
through the joint. All in base axes, about the base's origin until the last step.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauforge.algebra.inertias import rotated
from tauforge.algebra.scalars import Scalar, Scalars, sqrt
from tauforge.algebra.vectors import ZERO, Vector, cross
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.mechanism.complement import Complement, MovingComplement
from tauforge.formulations.mechanism.cuts import Posed, posed_at
from tauforge.formulations.mechanism.dynamics import ExternalLoads, ReducedSolution, actuator_forces, tree_forces
from tauforge.formulations.mechanism.parameters import BodyInTree, FixedFrame, MechanismParameters
from tauforge.formulations.mechanism.springs import spring_forces
from tauforge.formulations.trees.frames import GROUND
from tauforge.formulations.trees.recursion import FrameMotion, outward

PlacedWrench = tuple[FixedFrame, Wrench]  # on the body of a frame; base axes, about the base's origin


def joint_wrenches(
    m: MechanismParameters, x: Scalars, yd: Scalars, ydd: Scalars, on: ExternalLoads, own_axes: bool = False
) -> tuple[list[list[Scalar]], ReducedSolution]:
    """Force and moment on the child of each joint, at the joint, base axes or the joint's own.

    Components that redundant constraints leave open, or actuators that can work against each other, are NaN. Where the
    actuators cannot give every acceleration these must be those of the mechanism: see `dynamics.forces_left`.
    Identity: they and the loads on a body balance its inertia forces.
    """
    m = m._replace(actuated=m.working)
    posed = posed_at(m, x)
    complement = Complement(m, posed, m.independent)
    v = complement.rates(yd)
    acceleration = MovingComplement(complement, v).accelerations(ydd)
    forces = tree_forces(m, posed, v, acceleration, on)
    drives = actuator_forces(complement, forces)
    for a, force in zip(m.actuated, drives.values, strict=True):
        forces[a] = forces[a] - force
    multipliers = complement.projected_and_multipliers(forces)[1]
    at_cuts = cut_wrenches(m, posed, multipliers)
    motions = outward(posed.frames, posed.places, v, acceleration, on.base)
    needed = [_inertia_forces(posed, body, motions[body.place.joint_frame]) for body in m.bodies]
    open_value = sqrt(-1.0 - yd[0] * yd[0])
    return _carried(m, posed, needed, [*at_cuts, *_loads(m, posed, v, on)], own_axes, open_value), drives


def wrenches_of_multipliers(
    m: MechanismParameters, x: Scalars, multipliers: Scalars, own_axes: bool = False
) -> list[list[Scalar]]:
    """Reactions for these multipliers of the loop matrix's rows alone, without masses and loads."""
    posed = posed_at(m, x)
    return _carried(m, posed, [NO_WRENCH] * len(m.bodies), cut_wrenches(m, posed, multipliers), own_axes)


def cut_wrenches(m: MechanismParameters, posed: Posed, multipliers: Scalars) -> list[PlacedWrench]:
    """On side a and on side b of each cut, one after the other."""
    found: list[PlacedWrench] = []
    for cut, rows in zip(m.cuts, m.rows_of_cuts, strict=True):
        values = [*multipliers[rows], 0.0, 0.0, 0.0]
        force = posed.transported(Vector(*values[:3]), cut.axes, GROUND)
        own = cut.a.displacement.rotation @ Vector(*values[3:6])
        moment = posed.transported(own, cut.a.joint_frame, GROUND) + cross(posed.point(cut.a), force)
        found += [(cut.a, Wrench(force, moment)), (cut.b, Wrench(-force, -moment))]
    return found


def _inertia_forces(posed: Posed, body: BodyInTree, motion: FrameMotion) -> Wrench:
    """The wrench that a body needs for its motion, gravity included, base axes, about the base's origin."""
    k, (R, p), _ = body.place
    mass, com, inertia = body.parameters
    c = R @ com + p
    I = rotated(inertia, R)
    force = (motion.a + motion.U @ c) * mass
    moment = I @ motion.alpha + cross(motion.omega, I @ motion.omega)
    centre = posed.point(FixedFrame(k, body.place.displacement._replace(translation=c)))
    f = posed.transported(force, k, GROUND)
    return Wrench(f, posed.transported(moment, k, GROUND) + cross(centre, f))


def _loads(m: MechanismParameters, posed: Posed, v: Scalars, on: ExternalLoads) -> list[PlacedWrench]:
    """The environment's and the springs'."""
    found: list[PlacedWrench] = []
    if on.wrench is not None:
        force, moment = on.wrench
        found.append((m.tool, Wrench(force, moment + cross(posed.point(m.tool), force))))
    for place, force in spring_forces(m, posed, v):
        found.append((place, Wrench(force, cross(posed.point(place), force))))
    return found


def _carried(
    m: MechanismParameters,
    posed: Posed,
    needed: list[Wrench],
    given: Sequence[PlacedWrench],
    own_axes: bool,
    open_value: Scalar | None = None,
) -> list[list[Scalar]]:
    """Six for each joint.

    needed: by each body
    given:  what does not come through the joints of the tree: at the cuts, and then loads
    """
    for place, w in given:
        if place.body != GROUND:
            before = needed[place.body]
            needed[place.body] = Wrench(before.force - w.force, before.moment - w.moment)
    found = []
    for at, beyond, sign, cut, unknown, unknown_in_own in m.joints:
        if cut is not None:
            force, moment = given[2 * cut + 1][1]
        else:
            force = moment = ZERO
            for body, w in zip(m.bodies, needed, strict=True):
                if body.place.body in beyond:
                    force, moment = force + w.force, moment + w.moment
            force, moment = force * sign, moment * sign
        parts = [force, moment - cross(posed.point(at), force)]
        if own_axes:
            to_own = at.displacement.rotation.T
            parts = [to_own @ posed.transported(part, GROUND, at.joint_frame) for part in parts]
        six = [x for part in parts for x in part]
        open_ones = unknown_in_own if own_axes else unknown
        found.append(six if open_value is None else [open_value if k in open_ones else x for k, x in enumerate(six)])
    return found
