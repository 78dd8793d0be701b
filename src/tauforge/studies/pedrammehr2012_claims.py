"""What Pedrammehr, Mahboubkhah & Khani 2012 assert, beside what we measured."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.complexity import operation_count
from tauforge.studies.pedrammehr2012_measured import (
    CLOSED,
    DURATION,
    EXACT,
    IMPROVED,
    SIMPLIFIED,
    SPEED,
    TERMS,
    WAY,
    Measured,
)
from tauforge.studies.study import Claim

CONSISTENT = 0.02  # beside a pod's largest angular velocity: curves that lie on each other in a figure


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_kinematics(m), *_equations(m), *_accuracy(m), *_data(m))


def _newtons(values: tuple[float, ...]) -> str:
    slow, fast = values
    return f"{slow:.2f} N on path 2, {fast:.1f} N on path 3"


def _kinematics(m: Measured) -> tuple[Claim, ...]:
    with_spin, without = m.turning_of_the_axes
    error, largest = m.printed_spin_rate
    velocity, acceleration = m.rotations["1"]
    alike = [pod + 1 for pod, apart in enumerate(velocity.apart) if apart < CONSISTENT]
    still = [pod + 1 for pod, spin in enumerate(np.abs(m.spins["1"]).max(axis=0)) if spin < 1e-12]
    nearest = 1 + min((pod for pod in range(6) if pod + 1 not in still), key=lambda pod: float(acceleration.apart[pod]))
    share = [float(x) for x in np.abs(m.spins["1"]).max(axis=0) / velocity.full.max(axis=0)]
    spinning = [pod for pod in alike if pod not in still]
    return (
        Claim(
            "sec. 5, eqs 12-23",
            "The universal joint lets a pod rotate about its axis; eqs 12-23 give its true angular velocity",
            "exact",
            f"{with_spin:.0e} rad/s off on path 3; {without:.3f} rad/s without the spin",
            "holds",
            "Against how the pod's own axes turn, differentiated from positions alone.",
        ),
        Claim(
            "eq. 25",
            "The spin's acceleration is (alpha_n.u)(u.n) / (1 - (u.n)²) - omega_u omega_v",
            "- omega_u omega_v",
            f"off by up to {error:.2f} of {largest:.2f} rad/s² on path 3",
            "holds with a correction",
            "The last term is + omega_u omega_v / (c.n).",
        ),
        Claim(
            "sec. 9, Figs 5 and 6",
            "On path 1 the simplified angular velocities agree in pods 1, 2 and 6, the accelerations in pod 3",
            "pods 1, 2, 6; pod 3",
            f"velocities within {100 * CONSISTENT:.0f} % in pods {', '.join(map(str, alike))}; accelerations of the "
            f"others nearest in pod {nearest} ({100 * acceleration.apart[nearest - 1]:.1f} %)",
            "holds with a correction",
            f"The sizes agree as the paper says, and in pod {still[0]}, whose fixed axis lies along the motion, "
            "exactly. But those pods are not perpendicular to their rotation, as it concludes: pods "
            f"{', '.join(map(str, spinning))} spin with up to {100 * max(share[pod - 1] for pod in spinning):.0f} % of "
            "their angular velocity, which the size hides.",
        ),
    )


def _equations(m: Measured) -> tuple[Claim, ...]:
    closed = float(np.abs(m.forces["3"][CLOSED] - m.forces["3"][IMPROVED]).max())
    slow = float(np.abs(m.forces["2"][CLOSED] - m.forces["2"][IMPROVED]).max())
    counts = {model: operation_count(m.platform, model).flops for model in (SIMPLIFIED, IMPROVED, EXACT)}
    return (
        Claim(
            "eqs 34-40",
            "The universal joint's reaction moment is along c, the normal of its two axes, not along the pod",
            "m_i c_i",
            f"along the pod instead: wrong by {_newtons(m.costs.of('moment along the leg'))}",
            "holds",
            "The joint is free about both of its axes and carries moment only along their normal.",
        ),
        Claim(
            "eqs 32, 33, 50",
            "The inertia tensors in eqs 31 and 49 need the terms of the theorem of parallel axes",
            "m (l.l E - l l')",
            f"pods: wrong by {_newtons(m.costs.of('parallel axis counted twice, both parts of the legs'))}; "
            f"platform: {_newtons(m.costs.of('parallel axis counted twice, platform'))}",
            "does not hold",
            "m L x L'' of the same equations holds them already, so they are counted twice; besides, components in "
            "base axes are put between T and its transpose.",
        ),
        Claim(
            "sec. 7",
            "The previous models do not consider the theorem of parallel axes",
            "not considered",
            "eq. 16 of Dasgupta 1998 does, at a cost of "
            + _newtons(m.costs.of("parallel axis counted twice, upper part along the leg")),
            "does not hold",
            "It adds m_u L² diag(0, 1, 1), and counts twice in the same way.",
        ),
        Claim(
            "eqs 41-43",
            "The closed form follows from the vector equations 36-40",
            "equal",
            f"{slow:.2f} N apart on path 2, {closed:.1f} N on path 3",
            "holds with a correction",
            f"{len(TERMS)} groups of terms are missing or wrong in eqs 42 and 43; with them the forms agree within "
            f"{m.term_costs['']:.0e} N.",
        ),
        Claim(
            "sec. 1, sec. 10",
            "The improvements add to the complexity of the problem",
            "more complex",
            f"{counts[IMPROVED]} flops against {counts[SIMPLIFIED]}",
            "holds with a correction",
            f"True of these equations; the exact model, spin and all, takes {counts[EXACT]} when each leg is taken as "
            "a body of two degrees of freedom about its joint.",
        ),
    )


def _accuracy(m: Measured) -> tuple[Claim, ...]:
    before = m.costs.of("Dasgupta & Mruthyunjaya 1998 as published")
    after = m.costs.of("Pedrammehr et al. 2012 as published")
    apart = [np.abs(m.forces[name][IMPROVED] - m.forces[name][SIMPLIFIED]).max() for name in ("2", "3")]
    alike = min(
        np.corrcoef(m.forces[name][IMPROVED][:, pod], m.forces[name][SIMPLIFIED][:, pod])[0, 1]
        for name in ("2", "3")
        for pod in range(6)
    )
    rms = [np.sqrt((m.error("3", model) ** 2).mean()) for model in (IMPROVED, SIMPLIFIED)]
    lost = {model: float(np.abs(balance.imbalance).max()) for model, balance in m.powers["3"].items()}
    peak = float(np.abs(m.powers["3"][EXACT].actuators).max())
    return (
        Claim(
            "abstract, Fig. 9",
            "The improved formulation is more accurate than the previous one: slow path 2",
            "more accurate",
            f"largest error {after[0]:.2f} N; before {before[0]:.1f} N",
            "holds",
            f"Against the exact model, with forces up to {m.costs.peaks[0]:.0f} N. At low speed the moment's direction "
            "matters most, and that is mended.",
        ),
        Claim(
            "abstract, Fig. 10",
            "The improved formulation is more accurate than the previous one: fast path 3",
            "more accurate",
            f"largest error {after[1]:.1f} N; before {before[1]:.1f} N",
            "does not hold",
            f"Against the exact model, with forces up to {m.costs.peaks[1]:.0f} N; root mean squares over all pods "
            f"{rms[0]:.1f} and {rms[1]:.1f} N. The parallel axis counted twice grows with the square of the speed.",
        ),
        Claim(
            "sec. 9, Figs 9 and 10",
            "Both models show similar trends and differ in amplitude",
            "similar",
            f"correlation at least {alike:.4f} in every pod; up to {apart[0]:.1f} N apart on path 2, {apart[1]:.1f} N "
            "on 3",
            "holds",
            "The same curves, shifted and stretched.",
        ),
        Claim(
            "sec. 9, sec. 10",
            "The significant differences between both models prove the improvement necessary",
            "significant",
            f"path 3: {apart[1]:.1f} N apart, yet {after[1]:.1f} and {before[1]:.1f} N from the exact model",
            "does not hold",
            "Models that differ show that one of them is wrong, not which. An improvement is necessary; on the fast "
            "path this is not it.",
        ),
        Claim(
            "abstract",
            "From a theoretical point the improved formulation is the accurate one: balance of power, path 3",
            "accurate",
            f"imbalance {lost[IMPROVED]:.1f} W; before {lost[SIMPLIFIED]:.1f} W; exact model {lost[EXACT]:.0e} W",
            "does not hold",
            f"Of at most {peak:.0f} W of the actuators. Power of actuators, gravity and friction less the rate of the "
            f"kinetic energy must vanish; the closed form is out by {lost[CLOSED]:.1f} W.",
        ),
    )


def _data(m: Measured) -> tuple[Claim, ...]:
    states = sum(len(m.paths[name].t) for name in ("1", "2", "3"))
    return (
        Claim(
            "appendix 2, path 1",
            "0.5 m along x in 6 s at 0.08 m/s, constant velocity",
            "6 s",
            f"{WAY / SPEED:.2f} s",
            "holds with a correction",
            f"In {DURATION:.0f} s it comes to x = {m.paths['1'].states.position[-1, 0]:.2f} m; the printed way needs "
            f"{WAY / DURATION:.4f} m/s. Both are drawn.",
        ),
        Claim(
            "sec. 9, appendix 2",
            "The test manipulator has the same geometric and inertial properties as that of Dasgupta 1998",
            "the same",
            f"exact forces differ by up to {m.sign_of_the_mass_centre:.1f} N on path 2",
            "holds with a correction",
            "The third component of L_uo is -0.08 m here and +0.08 m there; the universal axes are not listed and are "
            "taken from there.",
        ),
        Claim(
            "sec. 9",
            "The improved model takes 1.58 s for the paths on a Core 2 Duo, fit for use on-line",
            "1.58 s",
            f"{m.seconds:.4f} s for {states} states",
            "holds",
            "On the machine that made this report; the paper does not give its number of states.",
        ),
    )
