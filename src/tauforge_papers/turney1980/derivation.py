"""Turney's sections 2 to 4 on a random arm: energies, Lagrange's equations, and the steps that lead to them."""

from __future__ import annotations

from functools import cache

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.serial.serial_arm import SerialArm
from tauforge_papers.derivation import DerivationStep, derivation_steps
from tauforge_papers.expansion_lines import Lines
from tauforge_papers.random_arms import random_arm
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended, true_or_not
from tauforge_papers.turney1980.notation import LINKS, SLOPE, STEP, different
from tauforge_papers.wording import ROUNDING, within

G = 9.8  # m/s^2, as printed
EVERY_EQUATION = true_in_parts(
    f"Every equation is a part. It is true if its sides agree within {ROUNDING:g} of the larger.",
    lambda differences, rounding: [difference < rounding for difference in differences],
    rounding=ROUNDING,
)
PRINTED_OR_MENDED = true_or_mended(
    f"It holds if the sides of all of them agree within {ROUNDING:g} of the larger as printed, and with a correction "
    "if they do as mended.",
    holds=lambda printed, mended, rounding: max(printed) < rounding,
    corrected=lambda printed, mended, rounding: max(mended) < rounding,
    rounding=ROUNDING,
)
READING = not_judged(
    "The machine that read our text may have exchanged letters, or lost a bar or seen one too many; another place of "
    "the paper has each right."
)


@cache
def arm_and_state() -> tuple[SerialArm, Array]:
    """An arm with nothing aligned, and (3, n) angles and their rates."""
    random = np.random.default_rng(1980)
    arm = random_arm(random, "R" * LINKS).replace(gravity=(0.0, 0.0, -G))
    return arm, random.normal(size=(3, LINKS))


def step_claims(paper: str) -> list[Claim]:
    """The steps of a paper's section 4 in three claims: right as printed, false as printed, and slips of reading."""
    arm, (q, qd, qdd) = arm_and_state()
    steps = derivation_steps(arm, q, qd, qdd, paper)
    right = {number: step for number, step in steps.items() if not step.slip}
    false = {number: step for number, step in steps.items() if step.slip and not step.reading}
    read = {number: step for number, step in steps.items() if step.reading}
    printed = [step.error_as_printed for step in false.values() if len(step.as_printed)]
    mended = [step.error_corrected for step in false.values()]
    return [
        Claim(
            name="derivation",
            where="section 4",
            claim="The recursion is expanded, step by step, into Lagrange's equations",
            printed="equal",
            measured=f"{within(max(step.error_as_printed for step in right.values()))}, {len(right)} equations",
            reason=f"Eqs {', '.join(right)} of a random arm with full inertias, all links. Left sides are those of the "
            "recursion. Lost dots and squares of derivatives, and i and j confused, are put back.",
            rule=EVERY_EQUATION,
            evidence={"differences": [step.error_as_printed for step in right.values()]},
            equations={number: step.error_as_printed for number, step in right.items()},
        ),
        Claim(
            name="derivation-slips",
            where=f"eqs {', '.join(false)}",
            claim="Steps in which a term, a factor, an order or a sum is wrong",
            printed="; ".join(f"{number}: {step.slip}" for number, step in false.items()),
            measured=f"{sizes(false)} as printed, {within(max(mended))} mended",
            reason="The same arm. Errors are over the larger side, of torques over the moments where those are larger.",
            rule=PRINTED_OR_MENDED,
            evidence={"printed": printed, "mended": mended},
            equations={number: step.error_corrected for number, step in false.items()},
        ),
        Claim(
            name="derivation-readings",
            where=f"eqs {', '.join(read)}",
            claim="Steps with an index, a bar or a limit that another place has otherwise",
            printed="; ".join(f"{number}: {step.slip}" for number, step in read.items()),
            measured=f"{sizes(read)} as printed, {within(max(step.error_corrected for step in read.values()))} mended",
            reason="The same arm.",
            rule=READING,
        ),
    ]


def sizes(steps: dict[str, DerivationStep]) -> str:
    """Errors as printed, in words."""
    return ", ".join(
        f"{number} is wrong by {step.error_as_printed:.2g}" if len(step.as_printed) else f"{number} has no meaning"
        for number, step in steps.items()
    )


def energies() -> dict[str, float]:
    """Eqs 2.1-2.10 and the base acceleration: number -> difference of the sides; 2.6 and 2.7 as printed and mended.

    Energies, velocities of the mass centres and the momentum are the arm's own, their slopes differences of them.
    """
    arm, (q, qd, qdd) = arm_and_state()
    x, still = Lines(arm, q, qd, qdd), Lines(arm, q, 0 * q, 0 * q)
    kinetic, height = (float(energy) for energy in arm.energy(q, qd))
    links, n = range(1, x.n + 1), x.n
    velocities = arm.link_motions(q, qd, qdd).velocities
    centre = np.append(x.r_bar[n], 1.0)
    element = np.outer(centre, centre)  # 1 kg in the mass centre of the last link
    M = np.array([[_inertia(x, i, j) for j in links] for i in links])
    turns = STEP * np.eye(n)
    slope, weight = ((arm.energy(q + turns, qd)[k] - arm.energy(q - turns, qd)[k]) / (2 * STEP) for k in (0, 1))
    later, before = (arm.mass_matrix(q + t * qd + t**2 / 2 * qdd) @ (qd + t * qdd) for t in (STEP, -STEP))
    heights = sum(x.m[i] * x.lift @ x.place(i, x.r_bar[i]) for i in links)
    return {
        "2.1": different(-heights, height),
        "m g h": different(heights, height),
        "2.4": different([_velocity(x, i) for i in links], velocities),
        "2.5": different(
            x.double(n, lambda j, k: np.trace(x.dT(n, j) @ element @ x.dT(n, k).T)) / 2,
            velocities[-1] @ velocities[-1] / 2,
        ),
        "2.6": different(qd @ M @ qd / 2, kinetic),
        "2.6 as printed": different(M.sum() / 2, kinetic),
        "2.7": different([_rate(x, i) + _slope(x, i) + w for i, w in zip(links, weight, strict=True)], x.tau[1:]),
        "2.7 as printed": different(-weight, weight),
        "2.8": different([sum(x.lift_of(link, i) for link in range(i, n + 1)) for i in links], weight),
        "2.9": different([_rate(x, i) for i in links], (later - before) / (2 * STEP)),
        "2.10": different([_slope(x, i) for i in links], -slope),
        "a_0": different(still.tau[1:], weight),
        "symmetry": different(M, M.T),
    }


def _velocity(x: Lines, i: int) -> Array:
    """Of the mass centre of link i, by derivatives of T_0^i."""
    return np.asarray(x.single(i, lambda j: x.dT(i, j) @ np.append(x.r_bar[i], 1.0), x.qd)[:3])


def _inertia(x: Lines, i: int, j: int) -> float:
    """M_ij: the traces of its links, in the order of the text."""
    return float(sum(np.trace(x.dT(q, j) @ x.Ja[q] @ x.dT(q, i).T) for q in range(i, x.n + 1)))


def _mixed(x: Lines, q: int, i: int) -> float:
    """Sum of Tr{dT/dq_j J (d2T/dq_i dq_k)'} qd_j qd_k for link q."""
    return float(x.double(q, lambda j, k: np.trace(x.dT(q, j) @ x.Ja[q] @ x.d2T(q, i, k).T)))


def _rate(x: Lines, i: int) -> float:
    """Rate of the slope of the kinetic energy by the rate of joint i, 2.9."""
    beyond = range(i, x.n + 1)
    return float(sum(x.lagrange(q, i) - x.lift_of(q, i) + _mixed(x, q, i) for q in beyond))


def _slope(x: Lines, i: int) -> float:
    """Minus the slope of the kinetic energy by the angle of joint i, 2.10."""
    return -sum(_mixed(x, q, i) for q in range(i, x.n + 1))


def derivation_claims() -> list[Claim]:
    found = energies()
    return [
        *step_claims("turney1980"),
        Claim(
            name="symmetry",
            where="section 2",
            claim="The inertia matrix M is symmetric",
            printed="equal",
            measured=within(found["symmetry"]),
            reason="M_ij and M_ji, each a sum of traces, of a random arm. The C^i are symmetric because second "
            "derivatives are.",
            rule=true_or_not(
                f"It holds if M_ij and M_ji, computed separately, agree within {ROUNDING:g} of the largest.",
                lambda asymmetry, rounding: asymmetry < rounding,
                rounding=ROUNDING,
            ),
            evidence={"asymmetry": found["symmetry"]},
        ),
        Claim(
            name="velocities",
            where="eqs 2.4, 2.5",
            claim="The velocity of an element of mass, and its kinetic energy, follow from derivatives of T",
            printed="equal",
            measured=within(max(found["2.4"], found["2.5"])),
            reason="Against the velocities of the mass centres of a random arm.",
            rule=EVERY_EQUATION,
            evidence={"differences": [found["2.4"], found["2.5"]]},
            equations={number: found[number] for number in ("2.4", "2.5")},
        ),
        Claim(
            name="kinetic-energy",
            where="eq. 2.6",
            claim="The kinetic energy is a sum of traces",
            printed="no velocities in eq. 2.6",
            measured=f"wrong by {found['2.6 as printed']:.2g} of the energy as printed, {within(found['2.6'])} with "
            "qd_j qd_k",
            reason="A random arm, against the energies of its links in translation and rotation. Eq. 2.5 has the "
            "velocities, and eq. 2.9 follows with them.",
            rule=true_or_mended(
                f"It holds if eq. 2.6 is the energy of the links within {ROUNDING:g}, and with a correction if that is "
                "so with the velocities of eq. 2.5.",
                holds=lambda printed, mended, rounding: printed < rounding,
                corrected=lambda printed, mended, rounding: mended < rounding,
                rounding=ROUNDING,
            ),
            evidence={"printed": found["2.6 as printed"], "mended": found["2.6"]},
            equations={"2.6": found["2.6"]},
        ),
        Claim(
            name="slopes-of-the-energy",
            where="eqs 2.9, 2.10",
            claim="The slopes of the kinetic energy, and their rates, are sums of traces",
            printed="equal",
            measured=f"{within(max(found['2.9'], found['2.10']), SLOPE)} of the slopes",
            reason="A random arm, against differences of its momentum along a motion and of its kinetic energy.",
            rule=true_in_parts(
                f"Every equation is a part. It is true if it gives the derivatives within {SLOPE:g}.",
                lambda differences, slope: [difference < slope for difference in differences],
                slope=SLOPE,
            ),
            evidence={"differences": [found["2.9"], found["2.10"]]},
            equations={number: found[number] for number in ("2.9", "2.10")},
        ),
        Claim(
            name="potential-energy",
            where="eqs 2.1, 2.7, 2.8",
            claim="Eqs 2.1, 2.7 and 2.8 give the potential energy, its place in Lagrange's relation and the torques",
            printed="-g z' T m r-bar; - dP.E./dq; + g z' dT/dq m r-bar",
            measured=f"2.1 and 2.7 have the opposite sign; 2.8 is {within(found['2.8'], SLOPE)} of the derivatives "
            "of m g h",
            reason="P.E. is m g h, as the text has it, and Lagrange's relation for L = K.E. - P.E. adds its "
            "derivatives. Both signs must be plus; they cancel in 2.8, which is right.",
            rule=true_or_mended(
                "It holds if 2.1 is m g h, 2.7 adds its derivatives and 2.8 equals them, "
                f"within {SLOPE:g}. It holds with a correction if 2.8, from which both signs cancel, is right.",
                holds=lambda energy, relation, torque, slope: max(energy, relation, torque) < slope,
                corrected=lambda energy, relation, torque, slope: torque < slope,
                slope=SLOPE,
            ),
            evidence={"energy": found["2.1"], "relation": found["2.7 as printed"], "torque": found["2.8"]},
            equations={"2.1": found["m g h"], "2.7": found["2.7"], "2.8": found["2.8"]},
        ),
        Claim(
            name="base-acceleration",
            where="section 3",
            claim="Gravity can be included by starting with an upward base acceleration of g",
            printed="equivalent",
            measured=f"{within(found['a_0'], SLOPE)} of the derivatives of m g h",
            reason='A random arm at rest. The printed "a_0 = 9.8 m/s^2" is a vector along z_0, as in eq. 4.6.',
            rule=true_or_not(
                f"It holds if the torques at rest are the derivatives of the potential energy within {SLOPE:g}.",
                lambda difference, slope: difference < slope,
                slope=SLOPE,
            ),
            evidence={"difference": found["a_0"]},
        ),
    ]
