"""Turney's forces at the hand: f_{n+1} and n_{n+1} as a wrist sensor would measure them (end of section 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauforge.analysis.comparison import random_states, relative_error
from tauforge.arrays import Array
from tauforge.control import ComputedTorque
from tauforge.simulation.simulate import simulate
from tauforge_papers.lee1982.control import HOLD_STEPS, KP, KV, PERIOD, move, puma
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.rules import true_in_parts
from tauforge_papers.turney1980.simulation import FORMULATION
from tauforge_papers.wording import ROUNDING, within

DURATION, STEP = 3.0, 0.01  # s
WRENCH = np.array([5.0, -3.0, -10.0, 0.05, 0.03, -0.02])  # N, N m: on the tool, world axes
STATES = 100
LITTLE = 0.1  # of the error with the force not felt
ADJUSTS = true_in_parts(
    "The two halves of the sentence are parts. The first is true if the torques are those of virtual work, within "
    f"{ROUNDING:g} of the largest; the second if the error of a move with the force sensed is at most {LITTLE:g} of "
    f'that with the force not sensed ("adjust"), measured at any time and every {PERIOD:g} s.',
    lambda balance, unfelt, felt, rounding, little: [
        balance < rounding,
        all(knowing <= little * blind for knowing, blind in zip(felt, unfelt, strict=True)),
    ],
    rounding=ROUNDING,
    little=LITTLE,
)


class Errors(NamedTuple):
    """rad: the largest error of any joint on the move, without a force, with the force felt, and not felt."""

    free: float
    felt: float
    unfelt: float


def strayed(rotors: bool, acting: Array, felt: Array, period: float | None) -> float:
    """rad: the largest error of any joint on Lee's move, under computed torque that is told of the wrench `felt`."""
    arm, motion = puma(rotors), move(DURATION)
    law = ComputedTorque(arm, KP, KV, formulation=FORMULATION, wrench=felt)
    step = STEP if period is None else period / HOLD_STEPS
    run = simulate(arm, law, motion, step=step, control_period=period, disturbance=lambda t: acting)
    return float(np.abs(run.error).max())


def errors(rotors: bool, period: float | None = None) -> Errors:
    """period: s, between two measurements; None: the force is measured whenever the integrator asks."""
    nothing = np.zeros(6)
    cases = ((nothing, nothing), (WRENCH, WRENCH), (WRENCH, nothing))
    return Errors(*(strayed(rotors, acting, felt, period) for acting, felt in cases))


def balance(rotors: bool) -> float:
    """Torques with the hand's wrench set, against those without it less J' w."""
    arm = puma(rotors)
    state = random_states(arm, STATES)
    w = np.random.default_rng(11).normal(size=(STATES, 6)) * WRENCH
    under_load = arm.inverse_dynamics(*state, tip_wrench=w, formulation=FORMULATION)
    work = np.einsum("kji,kj->ki", arm.jacobian(state[0]), w)
    return relative_error(under_load, arm.inverse_dynamics(*state, formulation=FORMULATION) - work)


def wrist_forces() -> tuple[Claim, Table]:
    exact = balance(False)
    found = {
        (arm, how): errors(rotors, period)
        for arm, rotors in (("without rotors", False), ("with rotors", True))
        for how, period in (("at any time", None), (f"every {PERIOD:g} s", PERIOD))
    }
    paper, sampled, ours, _ = found.values()
    force, moment = (float(np.linalg.norm(part)) for part in (WRENCH[:3], WRENCH[3:]))
    claim = Claim(
        name="wrist-forces",
        where="section 3",
        claim="f_{n+1} and n_{n+1} can be set from wrist sensors, and let the arm adjust to the forces at the hand",
        printed="possible",
        measured=f"torques {within(exact)} of virtual work; largest error of the move {said(paper.felt)} with the "
        f"force sensed, {said(paper.free)} without a force, {said(paper.unfelt)} with the force not sensed",
        reason=f"Lee's move of the PUMA in {DURATION:g} s under computed torque, with {force:.1f} N and "
        f"{moment:.2f} N m at the tool; arm, move and force are our choice. The arm has no rotors, as in the paper; "
        f"with rotors the force not sensed costs {said(ours.unfelt)}. The force is measured at any time; measured "
        f"every {PERIOD:g} s the errors are {said(sampled.felt)} sensed and {said(sampled.free)} without a force. "
        f"f_{{n+1}} is what the hand exerts on its surroundings, the reaction to what it encounters.",
        rule=ADJUSTS,
        evidence={
            "balance": exact,
            "unfelt": [paper.unfelt, sampled.unfelt],
            "felt": [paper.felt, sampled.felt],
        },
    )
    rows: list[tuple[Cell, ...]] = [(arm, how, *one) for (arm, how), one in found.items()]
    table = Table(
        "hand",
        "Section 3: a force at the hand, sensed and not sensed",
        f"Largest error of any joint on Lee's move in {DURATION:g} s under computed torque. The paper's arm has no "
        "rotors.",
        ("arm", "measured", "no force (rad)", "force sensed (rad)", "force not sensed (rad)"),
        tuple(rows),
    )
    return claim, table


def said(error: float) -> str:
    return f"{error:.2g} rad"
