"""Our cheapest inverse dynamics: joint frames, base parameters, and Turney's A matrix. The default.

An arm is a tree without branches: `trees.recursion` has the two passes. `frame_choice` places the frames where they
cost least.
"""

from __future__ import annotations

from tauforge.algebra.scalars import Scalar, Scalars
from tauforge.algebra.vectors import cross
from tauforge.formulations.bodies import NO_WRENCH, Wrench
from tauforge.formulations.serial.frame_choice import Chain, aligned, in_joint_frames, placed, regrouped
from tauforge.formulations.serial.parameters import ArmParameters, base_at_rest
from tauforge.formulations.trees.frames import placements
from tauforge.formulations.trees.recursion import BaseState, inward, outward


def base_chain(arm: ArmParameters) -> Chain:
    """The arm by its base parameters, with aligned axes and the original origins."""
    return regrouped(in_joint_frames(aligned(arm)))


def cheapest_chain(arm: ArmParameters) -> Chain:
    """The arm in the frames and by the parameters that cost least; it depends only on the robot."""
    return placed(base_chain(arm))


def inverse_dynamics_of(
    chain: Chain, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench, base: BaseState
) -> list[Scalar]:
    """Joint forces of a chain. tip: what the environment exerts on link n, at the origin of frame n, frame-n axes."""
    R, p = chain.last
    force = R @ tip.force
    at_joint = Wrench(force, R @ tip.moment + cross(p, force))
    frames = chain.frames
    motions = outward(frames, placements(frames, q), qd, qdd, base)
    return inward(frames, motions, {} if tip is NO_WRENCH else {len(frames) - 1: at_joint})


def inverse_dynamics(
    arm: ArmParameters, q: Scalars, qd: Scalars, qdd: Scalars, tip: Wrench = NO_WRENCH, base: BaseState | None = None
) -> list[Scalar]:
    """Actuator forces of the rigid bodies (no friction, no rotors).

    tip: what the environment exerts on link n, at the origin of frame n, frame-n axes.
    Identity: equals every other formulation of this folder.
    """
    return inverse_dynamics_of(cheapest_chain(arm), q, qd, qdd, tip, base or base_at_rest(arm))
