"""Section 4: the law on both formulations, what it compensates, and the equation that its error obeys."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauforge.analysis.comparison import relative_error
from tauforge.arrays import Array
from tauforge.motion import MotionSample
from tauforge.simulation.recording import Recording
from tauforge_papers.lee1982.control import ARMS, KP, KV, PERIOD, SLOW, START, move, puma
from tauforge_papers.lee1982.side_by_side import Rows, computed_torque, continuous, held, moves
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.rules import true_in_parts, true_or_not
from tauforge_papers.wording import ROUNDING, within

PAIR = ("lagrange-euler", "newton-euler")
OFFSET = 0.1  # rad, of the joints at the start
LITTLE = 1e-5  # of the offset: what an integrator's steps may leave
POSES = 4096
NOTHING, COUPLING, VELOCITY, GRAVITY = "nothing", "coupling inertias", "velocity terms", "gravity"
GROUPS = (NOTHING, COUPLING, VELOCITY, GRAVITY)
SAME_LAW = true_or_not(
    f'It holds if both laws give the same torques ("the same control effects"), within {ROUNDING:g} of the largest.',
    lambda difference, rounding: difference < rounding,
    rounding=ROUNDING,
)
DIES_OUT = true_or_not(
    "It holds if the error of every joint is the solution of the equation and dies out, each within "
    f"{LITTLE:g} of what it starts with.",
    lambda difference, left, little: difference < little and left < little,
    little=LITTLE,
)
ALONE = true_or_not(
    'It holds if an error of one joint moves no other joint by more than rounding and the integrator leave ("neglect '
    f'the position and derivative error effects between joints"): {LITTLE:g} of it.',
    lambda others, little: others < little,
    little=LITTLE,
)
NON_SINGULAR = true_or_not(
    'It holds if the smallest eigenvalue of D over its largest is above rounding at every pose tried ("always").',
    lambda smallest, rounding: smallest > rounding,
    rounding=ROUNDING,
)
COMPENSATES = true_in_parts(
    "It holds if the error is more than twice as large once the law leaves out the coupling inertias, the velocity "
    "terms or the gravity, each: then the law does compensate them. Mixed if that is so for some.",
    lambda whole, without, times: [error > times * whole for error in without],
    times=2.0,
)


def same_law(run: Recording) -> Claim:
    """Eq. 4.1 on Lagrange-Euler beside eqs 3.21-3.27 with 4.4, at every state of the run."""
    target = move(SLOW).sample(run.time)
    wanted = target.acceleration + KV * (target.velocity - run.velocity) + KP * run.error
    torques = [puma().inverse_dynamics(run.position, run.velocity, wanted, formulation=name) for name in PAIR]
    difference = relative_error(*torques)
    return Claim(
        name="same-law",
        where="sections 1 and 4",
        claim="The law on Newton-Euler has the same control effects as computed torque on Lagrange-Euler",
        printed="equal",
        measured=f"{within(difference)} of the largest torque",
        reason=f"At the {len(run.time)} states of the move of {SLOW:g} s.",
        rule=SAME_LAW,
        evidence={"difference": difference},
    )


def offset_runs(offsets: Array, kp: ArrayLike = KP, kv: ArrayLike = KV) -> Rows:
    """The paper's arm and move under a continuous law, from offsets of the joints (N, 6), rad."""
    law = computed_torque(puma(), kp, kv)
    initial = (START - offsets, np.zeros_like(offsets))
    return continuous(puma(), law, moves([SLOW] * len(offsets)), SLOW, initial)


def error_equation() -> list[Claim]:
    """e'' + Kv e' + Kp e = 0 from an offset of every joint, and from one of joint 1 alone."""
    run = offset_runs(OFFSET * np.array([np.ones(6), np.eye(6)[0]]))
    every, first = run.error[:, 0], run.error[:, 1]
    rate = np.sqrt(KP)
    expected = OFFSET * (1 + rate * run.time) * np.exp(-rate * run.time)
    difference = float(np.abs(every - expected[:, None]).max()) / OFFSET
    left = float(np.abs(every[-1]).max()) / OFFSET
    others = float(np.abs(first[:, 1:]).max()) / OFFSET
    return [
        Claim(
            name="error-dies-out",
            where="eqs 4.2, 4.3",
            claim="With the right model the error obeys e'' + Kv e' + Kp e = 0 and dies out",
            printed="e -> 0",
            measured=f"{within(difference, LITTLE)} of the initial {OFFSET:g} rad from the solution, and "
            f"{within(left, LITTLE)} of it from zero after {SLOW:g} s",
            reason="The paper's arm and move; all joints start with an error; the law is continuous.",
            rule=DIES_OUT,
            evidence={"difference": difference, "left": left},
        ),
        Claim(
            name="joints-apart",
            where="section 5",
            claim="Gains without non-diagonal elements neglect the error effects between joints",
            printed="no number",
            measured=f"the other joints stay {within(others, LITTLE)} of an offset of joint 1",
            reason="With the right model and a continuous law. D still spreads the correction of one joint over the "
            "torques of all.",
            rule=ALONE,
            evidence={"others": others},
        ),
    ]


def non_singular() -> Claim:
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSES, 6))
    bare, geared = (np.linalg.eigvalsh(puma(rotors).mass_matrix(q)) for rotors in ARMS)
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


def errors_without(rotors: bool = False) -> dict[str, float]:
    """rad: the largest error of the slow move where the law leaves out a group of terms; inf beyond half a turn."""
    arm = puma(rotors)
    coupling, velocity, gravity = (np.array([name == group for name in GROUPS])[:, None] for group in GROUPS[1:])

    def law(q: Array, qd: Array, target: MotionSample) -> Array:
        wanted = target.acceleration + KV * (target.velocity - qd) + KP * (target.position - q)
        whole = arm.inverse_dynamics(q, np.where(velocity, 0.0, qd), wanted)
        M = arm.mass_matrix(q)
        beside = np.einsum("nij,nj->ni", M, wanted) - np.diagonal(M, axis1=1, axis2=2) * wanted
        return np.asarray(whole - np.where(coupling, beside, 0.0) - np.where(gravity, arm.gravity_forces(q), 0.0))

    found = np.abs(held(arm, law, moves([SLOW] * len(GROUPS)), SLOW).error).max(axis=(0, 2))
    return {group: float(error) if error < np.pi else np.inf for group, error in zip(GROUPS, found, strict=True)}


def in_words(error: float) -> str:
    return f"{error:.1e} rad" if np.isfinite(error) else "more than half a turn"


def compensation() -> tuple[Claim, Table]:
    found = {rotors: errors_without(rotors) for rotors in ARMS}
    whole, *without = found[False].values()
    parts = "; ".join(f"{in_words(found[False][group])} without the {group}" for group in GROUPS[1:])
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
    rows = tuple((group, *(in_words(found[rotors][group]) for rotors in ARMS)) for group in GROUPS)
    table = Table(
        "compensation",
        "What the law compensates",
        f"Largest error of any joint in the move of {SLOW:g} s, sampled every {PERIOD:g} s.",
        ("left out of the law", *ARMS.values()),
        rows,
    )
    return claim, table
