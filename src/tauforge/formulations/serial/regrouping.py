"""Arms as chains of joint frames, and their base parameters (`trees.economical_frames`)."""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.inertias import point_mass_inertia, rotated
from tauforge.algebra.vectors import NO_DISPLACEMENT, Transform
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.formulations.trees import economical_frames
from tauforge.formulations.trees.frames import JointFrame


class Chain(NamedTuple):
    """The links in their joint frames, and the last frame of the arm, seen from the last joint frame."""

    frames: tuple[JointFrame, ...]
    last: Transform  # joint frame n <- frame n


def in_joint_frames(arm: ArmParameters) -> Chain:
    """The arm's bodies in their joint frames, not regrouped."""
    frames: list[JointFrame] = []
    before = NO_DISPLACEMENT
    for i, (joint, body) in enumerate(zip(arm.joints, arm.bodies, strict=True)):
        R, p = joint.constant
        c = R @ body.com + p
        I = rotated(body.inertia, R) + point_mass_inertia(body.mass, c)
        kind = "R" if joint.revolute else "P"
        frames.append(JointFrame(i - 1, kind, i, joint.offset, before, body.mass, c * body.mass, I))
        before = joint.constant
    return Chain(tuple(frames), before)


def regrouped(chain: Chain) -> Chain:
    """The same motion from fewer parameters."""
    return Chain(economical_frames.regrouped(chain.frames), chain.last)


def carrying(chain: Chain, payload: BodyParameters, tool: Transform) -> Chain:
    """The chain whose last link holds the payload too, which is given in the tool frame. It is not regrouped.

    Regrouping would make parameters of every link depend on the payload. Here only ten of the last link do.
    Identity: moves as the chain of the arm whose last body is both as one (`parameters.with_payload`).
    """
    R, p = chain.last
    place = Transform(R.times(tool.rotation), R @ tool.translation + p)
    c = place.rotation @ payload.com + place.translation
    I = rotated(payload.inertia, place.rotation) + point_mass_inertia(payload.mass, c)
    last = chain.frames[-1]
    both = last._replace(
        mass=last.mass + payload.mass,
        first_moment=last.first_moment + c * payload.mass,
        inertia=last.inertia + I,
        flat=False,
    )
    return Chain((*chain.frames[:-1], both), chain.last)
