"""Lee's move of a PUMA under computed torque, and how far the arm strays from it.

The paper prints neither the duration of the move nor its profile, nor the frames of the joints. The group's other
tables have the opposite twists of our PUMA, so the angles are mapped (the frames are inferred), the limits switched
off, and the move is quintic, without friction. The paper's equations have no reflected rotor inertia.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.control import ComputedTorque
from tauforge.formats.loading import load
from tauforge.motion import JointMove
from tauforge.robots.loads import Payload
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge.simulation.recording import Recording
from tauforge.simulation.simulate import simulate

KP, KV, PERIOD = 100.0, 20.0, 0.01  # 1/s^2, 1/s, s: section 5
G = 9.8  # m/s^2, as printed
ONE_BIT = 4.26e-4  # rad: "less than 4.26e-4 radian per bit"
HOLD_STEPS = 5  # integration steps between two samples
SLOW, FAST = 3.0, 1.0  # s, of the moves that are drawn
ARMS = {False: "the paper's arm", True: "with rotors"}  # by whether the rotors' reflected inertia is added
LOADS = {False: Payload(0.1, (0, 0, 0.05)), True: Payload(2.0, (0, 0, 0.05))}  # ours; link 6 weighs 0.09 kg


def our_angles(degrees: ArrayLike) -> Array:
    """The paper's six joint angles, degrees, in the frames of our PUMA, rad."""
    q = np.array(degrees, float)
    return np.deg2rad([q[0] - 180, q[1] + 180, q[2] + 180, q[3] + 180, -q[4], q[5]])


START, END = our_angles((90, 0, 90, 0, 0, 0)), our_angles((45, 30, 0, 45, 60, 90))


@cache
def puma(rotors: bool = False) -> SerialArm:
    """Without friction and limits, with the printed g. The paper's equations have no reflected rotor inertia: `rotors`
    adds ours.
    """
    arm: SerialArm = load("puma560")
    bare = arm.without_friction().replace(limits=[None] * 6, gravity=(0, 0, -G))
    return bare if rotors else bare.without_rotors()


def move(duration: float) -> JointMove:
    return JointMove(START, END, duration)


def follow(duration: float, rotors: bool = False) -> Recording:
    """The move under computed torque with the right model and the paper's gains and sampling."""
    arm = puma(rotors)
    law = ComputedTorque(arm, KP, KV)
    return simulate(arm, law, move(duration), step=PERIOD / HOLD_STEPS, control_period=PERIOD)


def held_force_error(duration: float, period: float = PERIOD, rotors: bool = False) -> float:
    """Estimate, rad: held torques are late by half a period on average; M^-1 of what they lack is an acceleration, and
    the loop leaves 1 / Kp of it.
    """
    arm, t = puma(rotors), np.linspace(0, duration, 501)
    state = move(duration).sample(t)
    lacking = np.gradient(arm.inverse_dynamics(*state), t, axis=0) * period / 2
    return float(np.abs(np.linalg.solve(arm.mass_matrix(state.position), lacking[..., None])).max()) / KP
