"""The paper's kinematics of a leg, and its constraint forces, against derivatives of positions along a path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.formulations.stewart.kinematics import centre_accelerations
from tauforge.motion import StraightLine
from tauforge.robots.poses import transforms
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.stewart_legs import (
    STEP,
    apart,
    derivatives,
    legs,
    matrices,
    smooth_times,
    turning,
    vectors,
    vectors_apart,
)

TIMES = 101


class LegErrors(NamedTuple):
    """Largest errors beside the largest value, over legs and times; of vectors by their norms."""

    tip_velocity: float  # eq. 4
    rate: float  # eq. 5
    tip_acceleration: float  # eq. 7
    acceleration: float  # eq. 8
    centres: float  # eqs 13 and 14, with the true angular velocity and acceleration
    angular_velocity: float  # eq. 6
    angular_acceleration: float  # eq. 9


class Along:
    """A platform along a line at times without steps of the acceleration; positions, and derivatives of them."""

    def __init__(self, platform: StewartPlatform, line: StraightLine) -> None:
        self.platform, self.line = platform, line
        self.t, self.h = smooth_times(line, TIMES), STEP * line.duration
        self.states = line.sample(self.t)

    def tips(self, t: Array) -> Array:
        """Platform joints from the base joints, (k, 6, 3)."""
        return vectors([leg.S for leg in legs(self.platform, self.line.sample(t))])

    def axes(self, t: Array) -> Array:
        """Axes of the legs, (k, 6, 3, 3)."""
        return matrices([leg.T for leg in legs(self.platform, self.line.sample(t))])

    def lengths(self, t: Array) -> Array:
        return self.platform.inverse_kinematics(self.line.sample(t).position)

    def centres(self, t: Array) -> Array:
        """Mass centres of the lower, then of the upper parts from the base joints, (k, 12, 3)."""
        T, parts = self.axes(t), self.platform.parameters.legs
        lower, upper = (np.array([[*getattr(leg, part).com] for leg in parts]) for part in ("lower", "upper"))
        turned = [np.einsum("klij,lj->kli", T, com) for com in (lower, upper)]
        return np.concatenate([turned[0], self.tips(t) + turned[1]], axis=1)

    def platform_centre(self, t: Array) -> Array:
        """(k, 3)."""
        frame = transforms(self.line.sample(t).position)
        return np.asarray(frame[:, :3, 3] + frame[:, :3, :3] @ np.array([*self.platform.parameters.body.com]))


def leg_errors(along: Along) -> LegErrors:
    t, h = along.t, along.h
    paper, true = (legs(along.platform, along.states, spin=spin) for spin in (False, True))
    S, L, T, r = (derivatives(f, t, h) for f in (along.tips, along.lengths, along.axes, along.centres))
    centres = [centre_accelerations(p, leg) for p, leg in zip(along.platform.parameters.legs, true, strict=True)]
    a = np.concatenate([vectors([x.a_d for x in centres]), vectors([x.a_u for x in centres])], axis=1)
    return LegErrors(
        tip_velocity=vectors_apart(vectors([leg.S_dot for leg in paper]), S.rate),
        rate=apart(np.stack([leg.Ldot for leg in paper], axis=1), L.rate),
        tip_acceleration=vectors_apart(vectors([leg.S_ddot for leg in paper]), S.second),
        acceleration=apart(np.stack([leg.Lddot for leg in paper], axis=1), L.second),
        centres=vectors_apart(a, r.second),
        angular_velocity=vectors_apart(vectors([leg.W for leg in paper]), turning(T.rate, T.value)),
        angular_acceleration=vectors_apart(vectors([leg.A for leg in paper]), turning(T.second, T.value)),
    )


class ConstraintErrors(NamedTuple):
    """Largest errors of eqs 25-29 beside the largest value, with everything else right; of vectors by their norms."""

    forces: float  # at the universal joints, eqs 25-27: their sum against the rate of the whole momentum
    across: float  # at the prismatic joints, eq. 28: what is left along the leg
    moments: float  # at the universal joints, eq. 29


def constraint_errors(along: Along) -> ConstraintErrors:
    """Without friction: the universal joint's moment is then the constraint's alone."""
    platform = along.platform.without_friction()
    p, g = platform.parameters, np.array([*platform.parameters.gravity])
    found = platform.joint_reactions(*along.states)
    s = platform.leg_motion(*along.states).directions
    masses = np.array([leg.lower.mass for leg in p.legs] + [leg.upper.mass for leg in p.legs])
    r, platform_r = (derivatives(f, along.t, along.h) for f in (along.centres, along.platform_centre))
    total = np.einsum("n,kni->ki", masses, r.second - g) + p.body.mass * (platform_r.second - g)
    actuators = platform.inverse_dynamics(*along.states)
    along_leg = np.einsum("kli,kli->kl", found.prismatic[..., :3], s) - actuators
    moments = found.universal[..., 3:]
    printed = s * np.einsum("kli,kli->kl", moments, s)[..., None]  # s.C = M_u (s.c): eq. 29 as printed, along s
    return ConstraintErrors(
        forces=vectors_apart(found.universal[..., :3].sum(axis=1), total),
        across=float(np.abs(along_leg).max() / np.abs(actuators).max()),
        moments=vectors_apart(printed, moments),
    )
