"""Section 4: the law on both formulations, what it compensates, and the equation that its error obeys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauforge.analysis.comparison import relative_error
from tauforge.control import ComputedTorque
from tauforge.errors import DivergenceError
from tauforge.simulation.recording import Recording
from tauforge.simulation.simulate import simulate
from tauforge.studies.lee1982.control import HOLD_STEPS, KP, KV, PERIOD, SLOW, START, move, puma
from tauforge.studies.rules import true_in_parts, true_or_not
from tauforge.studies.study import ROUNDING, Claim, Table, within

Array = NDArray[Any]
PAIR = ("lagrange-euler", "newton-euler")
OFFSET = 0.1  # rad, of the joints at the start
STEP = 2e-3  # s, of the continuous loop
LITTLE = 1e-5  # of the offset: what an integrator's steps may leave
POSES = 4096
NOTHING, COUPLING, VELOCITY, GRAVITY = "nothing", "coupling inertias", "velocity terms", "gravity"
GROUPS = (NOTHING, COUPLING, VELOCITY, GRAVITY)
SAME_LAW = true_or_not(
    f'It holds if both laws give the same torques ("the same control effects"), within {ROUNDING:g} of the largest.',
    lambda difference: difference < ROUNDING,
)
DIES_OUT = true_or_not(
    "It holds if the error of every joint is the solution of the equation and dies out, each within "
    f"{LITTLE:g} of what it starts with.",
    lambda difference, left: difference < LITTLE and left < LITTLE,
)
ALONE = true_or_not(
    'It holds if an error of one joint moves no other joint by more than rounding and the integrator leave ("neglect '
    f'the position and derivative error effects between joints"): {LITTLE:g} of it.',
    lambda others: others < LITTLE,
)
NON_SINGULAR = true_or_not(
    'It holds if the smallest eigenvalue of D over its largest is above rounding at every pose tried ("always").',
    lambda smallest: smallest > ROUNDING,
)
COMPENSATES = true_in_parts(
    "It holds if the error is more than twice as large once the law leaves out the coupling inertias, the velocity "
    "terms or the gravity, each: then the law does compensate them. Mixed if that is so for some.",
    lambda whole, without: [error > 2 * whole for error in without],
)


def same_law(run: Recording) -> Claim:
    """Eq. 4.1 on Lagrange-Euler beside eqs 3.21-3.27 with 4.4, at every state of the run."""
    target = move(SLOW).sample(run.time)
    wanted = target.acceleration + KV * (target.velocity - run.velocity) + KP * run.error
    torques = [puma().inverse_dynamics(run.position, run.velocity, wanted, formulation=name) for name in PAIR]
    difference = relative_error(*torques)
    return Claim(
        name="same-law",
        where="sections 1 and 4, eqs 4.1-4.41",
        claim="The law on Newton-Euler has the same control effects as computed torque on Lagrange-Euler",
        printed="equal",
        measured=f"{within(difference)} of the largest torque",
        reason=f"At the {len(run.time)} states of the move of {SLOW:g} s. The derivation from eq. 4.5 to eq. 4.41 "
        "shows the same.",
        rule=SAME_LAW,
        evidence={"difference": difference},
    )


def offset_run(offsets: Array) -> Recording:
    """The law asked at every step of the integrator, from an offset of the joints, rad."""
    arm, motion = puma(), move(SLOW)
    initial = (START - offsets, np.zeros(6))
    return simulate(arm, ComputedTorque(arm, KP, KV), motion, initial=initial, step=STEP)


def error_dies_out() -> Claim:
    """e'' + Kv e' + Kp e = 0 from an offset of every joint."""
    run = offset_run(np.full(6, OFFSET))
    rate = np.sqrt(KP)
    expected = OFFSET * (1 + rate * run.time) * np.exp(-rate * run.time)
    difference = float(np.abs(run.error - expected[:, None]).max()) / OFFSET
    left = float(np.abs(run.error[-1]).max()) / OFFSET
    return Claim(
        name="error-dies-out",
        where="eqs 4.2, 4.3",
        claim="With the right model the error obeys e'' + Kv e' + Kp e = 0 and dies out",
        printed="e -> 0",
        measured=f"{within(difference, LITTLE)} of {OFFSET:g} rad beside the solution, {within(left, LITTLE)} of it "
        f"left after {SLOW:g} s",
        reason="The paper's arm and move, all joints off at the start, the law asked at every step of the integrator.",
        rule=DIES_OUT,
        evidence={"difference": difference, "left": left},
    )


def alone() -> Claim:
    run = offset_run(OFFSET * np.eye(6)[0])
    others = float(np.abs(run.error[:, 1:]).max()) / OFFSET
    return Claim(
        name="joints-apart",
        where="section 5",
        claim="Gains without non-diagonal elements neglect the error effects between joints",
        printed="no number",
        measured=f"the other joints stay {within(others, LITTLE)} of an offset of joint 1",
        reason="With the right model and a continuous law. D still spreads the correction of one joint over the "
        "torques of all.",
        rule=ALONE,
        evidence={"others": others},
    )


def non_singular() -> Claim:
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSES, 6))
    bare, geared = (np.linalg.eigvalsh(puma(rotors).mass_matrix(q)) for rotors in (False, True))
    return Claim(
        name="d-non-singular",
        where="section 4",
        claim="D is always non-singular",
        printed="no number",
        measured=f"smallest eigenvalue {bare[:, 0].min():.1e} kg m^2, {geared[:, 0].min():.2f} kg m^2 with rotors; "
        f"largest over smallest at most {(bare[:, -1] / bare[:, 0]).max():.1e}",
        reason=f"{POSES} random poses. The smallest is the last link about its own axis.",
        rule=NON_SINGULAR,
        evidence={"smallest": float((bare[:, 0] / bare[:, -1]).min())},
    )


def error_without(group: str, rotors: bool = False) -> float:
    """rad: the largest error of the move where the law leaves out a group of terms; inf where the arm runs away."""
    arm, motion = puma(rotors), move(SLOW)
    weightless = arm.replace(gravity=(0.0, 0.0, 0.0))

    def law(t: float, q: Array, qd: Array) -> Array:
        target = motion.sample(t)
        wanted = target.acceleration + KV * (target.velocity - qd) + KP * (target.position - q)
        model = weightless if group == GRAVITY else arm
        torque = model.inverse_dynamics(q, 0 * qd if group == VELOCITY else qd, wanted)
        if group == COUPLING:
            M = arm.mass_matrix(q)
            torque = torque - (M - np.diag(np.diag(M))) @ wanted
        return np.asarray(torque)

    try:
        run = simulate(arm, law, motion, step=PERIOD / HOLD_STEPS, control_period=PERIOD)
    except DivergenceError:
        return np.inf
    error = float(np.abs(run.error).max())
    return error if error < np.pi else np.inf


def in_words(error: float) -> str:
    return f"{error:.1e} rad" if np.isfinite(error) else "more than half a turn"


def compensation() -> tuple[Claim, Table]:
    found = {(group, rotors): error_without(group, rotors) for group in GROUPS for rotors in (False, True)}
    whole, *without = (found[group, False] for group in GROUPS)
    parts = "; ".join(f"{in_words(found[group, False])} without the {group}" for group in GROUPS[1:])
    claim = Claim(
        name="compensation",
        where="abstract, section 1",
        claim="The controller compensates the inertia loading, the coupling forces between joints and the gravity",
        printed="no number",
        measured=f"{in_words(whole)} with all terms; {parts}",
        reason=f"The paper's arm, its move in {SLOW:g} s, errors of any joint.",
        rule=COMPENSATES,
        evidence={"whole": whole, "without": without},
    )
    rows = tuple(
        (group, *(in_words(found[group, rotors]) for rotors in (False, True))) for group in GROUPS
    )
    table = Table(
        "compensation",
        "What the law compensates",
        f"Largest error of any joint in the move of {SLOW:g} s, sampled every {PERIOD:g} s.",
        ("left out of the law", "the paper's arm", "with rotors"),
        rows,
    )
    return claim, table


