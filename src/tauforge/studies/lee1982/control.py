"""Lee's move of a PUMA under computed torque, and how far the arm strays from it.

The paper prints neither the duration of the move nor its profile, nor the frames of the joints. The group's other
tables have the opposite twists of our PUMA, so the angles are mapped (the frames are inferred), the limits switched
off, and the move is quintic, without friction.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.control import ComputedTorque
from tauforge.control.controller import Controller
from tauforge.motion import JointMove
from tauforge.robots.load import load
from tauforge.robots.serial_arm import SerialArm
from tauforge.simulation.recording import Recording
from tauforge.simulation.simulate import simulate

Array = NDArray[Any]
KP, KV, PERIOD = 100.0, 20.0, 0.01  # 1/s^2, 1/s, s: section 5
ONE_BIT = 4.26e-4  # rad: "less than 4.26e-4 radian per bit"
HOLD_STEPS = 5  # integration steps between two samples


def our_angles(degrees: ArrayLike) -> Array:
    """The paper's six joint angles, degrees, in the frames of our PUMA, rad."""
    q = np.array(degrees, float)
    return np.deg2rad([q[0] - 180, q[1] + 180, q[2] + 180, q[3] + 180, -q[4], q[5]])


START, END = our_angles((90, 0, 90, 0, 0, 0)), our_angles((45, 30, 0, 45, 60, 90))


@cache
def puma(rotors: bool = False) -> SerialArm:
    """Without friction and limits. The paper's equations have no reflected rotor inertia: `rotors` adds ours."""
    arm = load("puma560")
    assert isinstance(arm, SerialArm)
    bare = arm.without_friction().replace(limits=[None] * 6)
    return bare if rotors else bare.without_rotors()


def move(duration: float) -> JointMove:
    return JointMove(START, END, duration)


def follow(
    duration: float, period: float = PERIOD, law: Controller | None = None, plant: SerialArm | None = None
) -> Recording:
    """The move under computed torque with the right model, or under another law or with another plant."""
    law = ComputedTorque(puma(), KP, KV) if law is None else law
    return simulate(puma(), law, move(duration), step=period / HOLD_STEPS, control_period=period, plant=plant)


@cache
def largest_error(duration: float, period: float = PERIOD) -> float:
    """rad, of any joint at any time."""
    return float(np.abs(follow(duration, period).error).max())


def largest_jerk(duration: float) -> float:
    """rad/s^3, of any joint along the move."""
    t = np.linspace(0, duration, 2001)
    return float(np.abs(np.gradient(move(duration).sample(t).acceleration, t, axis=0)).max())


def held_command_error(duration: float, period: float = PERIOD) -> float:
    """Estimate, rad: the wanted acceleration is late by half a period on average, and the loop leaves jerk x period /
    (2 Kp) of it. The turning of the arm while the forces are held is left out.
    """
    return largest_jerk(duration) * period / 2 / KP


def shortest_duration(bound: float = ONE_BIT, longest: float = 5.0) -> float:
    """s, to a tenth: the fastest move whose error stays within the bound at the paper's sampling period."""
    tenths = np.arange(10, round(10 * longest) + 1)
    low, high = 0, len(tenths) - 1  # the error falls with the duration
    while low < high:
        middle = (low + high) // 2
        if largest_error(tenths[middle] / 10) < bound:
            high = middle
        else:
            low = middle + 1
    return float(tenths[high] / 10)
