"""What Dasgupta & Mruthyunjaya 1998 assert, beside what we measured."""

from __future__ import annotations

import numpy as np

from tauforge.robots.physical import inertia_fault
from tauforge.studies.dasgupta1998.measured import ILL, MODEL, Measured
from tauforge.studies.stewart_tables import DASGUPTA_FLOPS
from tauforge.studies.study import ROUNDING, Claim, holds_if, judged, within

CORRECTIONS = ("leg_spin", "moment_along_c", "parallel_axis_once")
SERIAL_FLOPS = 132 * 6 + 111 * 6 - 4  # Fu, Gonzalez & Lee 1987, as the paper quotes them
LEG, PLATFORM, SOLUTION = 694, 273, 452  # flops, sec. 4.5
RATIO = 3.36  # to a serial arm, as printed
SAME_ORDER = 10**0.5  # at most, between numbers of the same order: half a decade
COMMON, MOST, ABOUT = 0.20, 0.40, 0.025  # fractions of Fig. 6, and how far a number may be from one read off a plot
USUAL = (0.2, 0.5)  # fractions of the conclusions
HIGH = 0.6  # fraction with a light platform
OFTEN = 0.5  # of legs and times
SIGNIFICANT = 1.2  # a rise by a fifth
POLE, NEAR_POLE = 1e5, 1e4  # N, sec. 5.2
ALIKE = 0.9  # rank correlation of numbers that say the same


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_model(m), *_cost(m), *_well_conditioned(m), *_ill_conditioned(m))


def _newtons(values: tuple[float, ...]) -> str:
    slow, fast = values
    return f"{slow:.1f} N on path I, {fast:.1f} N on path II"


def near(value: float, printed: float) -> bool:
    return bool(abs(value - printed) < ABOUT)


def _model(m: Measured) -> tuple[Claim, ...]:
    path, forces = m.paths["II"], m.forces["II"]
    mended = np.abs(path.forces(m.platform, MODEL, CORRECTIONS) - forces.exact).max() / np.abs(forces.exact).max()
    spins = [np.abs(m.platform.leg_motion(*m.paths[name].states).spins).max() for name in ("I", "II")]
    published = m.costs.of("Dasgupta & Mruthyunjaya 1998 as published")
    along_the_leg = m.costs.of("moment along the leg")
    twice = m.costs.of("parallel axis counted twice, upper part along the leg")
    peak = max(m.costs.peaks)
    moments = np.linalg.eigvalsh(m.inertias["I_d0"])
    faulty = [symbol for symbol, tensor in m.inertias.items() if inertia_fault(tensor)]
    mass_matrices = m.platform.mass_matrix(np.concatenate([p.states.position for p in m.paths.values()]))
    least = np.linalg.eigvalsh(mass_matrices).min()
    return (
        Claim(
            "abstract, sec. 6",
            "The formulation models all the dynamic and gravity effects",
            "all effects",
            f"largest error {_newtons(published)}",
            judged(max(published) < ROUNDING * peak, bool(mended < ROUNDING)),
            f"Peak forces are {_newtons(m.costs.peaks)}. With the next three corrected, it agrees with the "
            f"exact model on path II {within(float(mended))} of the peak.",
        ),
        Claim(
            "eqs 6, 8, 9",
            "A universal joint allows no rotation about the leg's axis: s.W = 0 and s.A = 0",
            "0 rad/s",
            f"spin up to {spins[0]:.3f} rad/s on path I, {spins[1]:.3f} rad/s on path II",
            holds_if(bool(max(spins) < ROUNDING)),
            "W lies in the plane of the joint's two axes, which is not normal to the leg. The assumption alone costs "
            f"{_newtons(m.costs.of('no leg spin'))}.",
        ),
        Claim(
            "eqs 17, 20, 21, 29",
            "The universal joint's constraint moment acts about the leg's axis",
            "M_u s",
            f"wrong by {_newtons(along_the_leg)}",
            holds_if(max(along_the_leg) < ROUNDING * peak),
            "It acts along c = u x v, the normal of both joint axes: M_u = s.C / s.c and K = (C - M_u c) x s / L.",
        ),
        Claim(
            "eq. 16",
            "The upper part's inertia needs m_u L² diag(0, 1, 1) by the theorem of parallel axes",
            "m_u L²",
            f"wrong by {_newtons(twice)}",
            holds_if(max(twice) < ROUNDING * peak),
            "m_u r_u x a_u of eq. 18 holds that term already: it is counted twice.",
        ),
        Claim(
            "sec. 5, appendix",
            "The relative values of the parameters of the test manipulator have been kept realistic",
            "I_d0, I_u0, I_p",
            "principal moments of I_d0: " + ", ".join(f"{x:.4f}" for x in moments) + " kg m²",
            judged(not faulty, len(faulty) < len(m.inertias)),
            f"No body has inertias like {', '.join(faulty) or 'none'}, whatever their scale: I_d0 is indefinite, "
            "I_u0 and I_p violate the triangle inequality. Masses and lengths are plausible. The inertias are small "
            f"beside m r²: the mass matrix stays positive definite on all paths (least eigenvalue {least:.2f}).",
        ),
    )


def _cost(m: Measured) -> tuple[Claim, ...]:
    ours, exact, serial, frames = (m.operations[name] for name in (MODEL, "exact", "newton-euler", "joint-frames"))
    total = 6 * LEG + PLATFORM + SOLUTION
    written = ours.as_written
    printed, counted = DASGUPTA_FLOPS / SERIAL_FLOPS, ours.flops / serial.flops
    in_all = written.multiplications + written.additions + written.divisions + written.roots
    depth, serial_depth = (sum(count.critical_path) for count in (ours, serial))
    return (
        Claim(
            "sec. 4.5",
            "One inverse dynamics takes 6 x 694 + 273 + 452 floating point operations, friction left out",
            f"{DASGUPTA_FLOPS} flops",
            f"{ours.flops} flops",
            judged(ours.flops == DASGUPTA_FLOPS, total == DASGUPTA_FLOPS),
            f"The parts add up ({total}); MATLAB counted a program in vectors and matrices that made no effort to save "
            f"any. The same equations written out take {in_all}, with common subexpressions once {ours.flops}; the "
            f"exact model takes {exact.flops}.",
        ),
        Claim(
            "sec. 4.5, sec. 6",
            f"The load is only {RATIO} times that of the Newton-Euler formulation for a serial arm of six joints",
            f"{RATIO}",
            f"{printed:.2f} from the printed counts; {counted:.2f} from ours",
            judged(round(printed, 2) == RATIO and counted <= RATIO, counted <= SAME_ORDER * RATIO),
            f"{DASGUPTA_FLOPS} / {SERIAL_FLOPS} as printed; {ours.flops} / {serial.flops} for our texts of the same "
            f"two methods; {exact.flops} / {frames.flops} = {exact.flops / frames.flops:.2f} for the quickest of each "
            "kind.",
        ),
        Claim(
            "sec. 4.5, sec. 6",
            "In parallel it takes the same order of time as, or even less than, a serial arm's formulation",
            "same order or less",
            f"{depth} dependent operations against {serial_depth}",
            judged(depth <= serial_depth, depth < SAME_ORDER * serial_depth),
            f"One leg and the final system are {LEG + SOLUTION} of the printed operations, fewer than the serial arm's "
            f"{SERIAL_FLOPS} done one after another. Where both are spread over processors the longest chain of "
            f"multiplications and additions is {depth / serial_depth:.1f} times the arm's: same order, not less.",
        ),
    )


def _well_conditioned(m: Measured) -> tuple[Claim, ...]:
    slow, fast = m.forces["I"], m.forces["II"]
    g = float(np.linalg.norm(m.platform.gravity))
    weight, rms = m.mass * g, float(np.sqrt((slow.T**2).mean()))
    peak, fast_peak = (float(np.abs(f.T).max()) for f in (slow, fast))
    condition = m.conditions["I"]
    sizes, fast_sizes = np.abs(slow.fraction), np.abs(fast.fraction)
    median, fast_median = np.median(sizes), np.median(fast_sizes)
    exact_median = np.median(np.abs(slow.exact_fraction))
    exact_fast_median = np.median(np.abs(fast.exact_fraction))
    rises = fast_peak / peak, fast_median / median
    exact_rises = m.costs.peaks[1] / m.costs.peaks[0], exact_fast_median / exact_median
    largest = sizes[:, ~slow.crossing].max()
    exact_largest = np.abs(slow.exact_fraction)[:, ~slow.crossing].max()
    legs = " and ".join(str(leg + 1) for leg in np.flatnonzero(slow.crossing))
    light = np.abs(m.light_forces["I"].fraction)
    signs = np.sign(np.linalg.det(m.platform.force_matrix(m.paths["I"].states.position)))
    one_sign = bool((signs == signs[0]).all())
    rest = np.zeros(6)
    poses = m.paths["I"].states.position
    resting = np.subtract(*(m.platform.inverse_dynamics(poses, rest, rest, model=x) for x in (MODEL, "massless-legs")))
    moving = np.abs(slow.D - resting).max()
    quarters = [np.percentile(100 * x, (25, 75)) for x in (sizes, fast_sizes)]
    within = [100 * ((x >= USUAL[0]) & (x <= USUAL[1])).mean() for x in (sizes, fast_sizes)]
    return (
        Claim(
            "sec. 5.1, Fig. 4",
            "On path I the leg forces are moderate, of the order of the weight of platform and payload (40 kg)",
            "40 kg",
            f"{rms:.0f} N rms, {peak:.0f} N at most",
            holds_if(weight / SAME_ORDER < rms < SAME_ORDER * weight),
            f"With our g of {g:.2f} m/s² the weight is {weight:.0f} N; the largest force is {peak / weight:.1f} times "
            "that.",
        ),
        Claim(
            "sec. 5.1, Fig. 5",
            "The manipulator is well conditioned on path I, far from singularity",
            "Fig. 5",
            f"condition number {condition.min():.1f} to {condition.max():.1f}",
            holds_if(one_sign and condition.max() < ILL[0]),
            f"det H {'keeps' if one_sign else 'changes'} its sign, and the paper calls condition numbers of the order "
            f"of {ILL[0]:.0f} high.",
        ),
        Claim(
            "sec. 5.1, Fig. 6",
            "Leg inertia commonly contributes around 20 % of the force on path I, and the maximum may go up to 40 %",
            "20 %, up to 40 %",
            f"median {100 * median:.1f} %, up to {100 * largest:.1f} %",
            judged(
                near(median, COMMON) and max(largest, exact_largest) < MOST + ABOUT,
                near(median, COMMON) or largest < MOST + ABOUT,
            ),
            "By the paper's own model, the largest over legs whose total force does not cross zero. By the exact one: "
            f"median {100 * exact_median:.1f} %, up to {100 * exact_largest:.1f} %. Of F_d at most {moving:.0f} N "
            f"come from motion and the rest, up to {np.abs(resting).max():.0f} N, from the legs' weight.",
        ),
        Claim(
            "sec. 5.1, Fig. 6",
            "The dynamic fraction jumps in legs 5 and 6, where the total force crosses zero",
            "legs 5 and 6",
            f"legs {legs}",
            holds_if(legs == "5 and 6"),
            "The total force of these legs, and of no other, changes its sign on path I.",
        ),
        Claim(
            "sec. 5.1",
            "With a platform as light as a leg the dynamic fraction is often above 60 %",
            "> 60 %, often",
            f"above 60 % at {100 * (light > HIGH).mean():.0f} % of legs and times; median {100 * np.median(light):.0f} "
            "%",
            holds_if((light > HIGH).mean() > OFTEN),
            f"Platform mass {m.light_mass:.0f} kg instead of {m.mass:.0f} kg, everything else kept, path I.",
        ),
        Claim(
            "sec. 5.1, Figs 7 and 8",
            "Ten times the speed (path II) raises forces and dynamic fractions significantly",
            "significant rise",
            f"peak {peak:.0f} to {fast_peak:.0f} N, median fraction {100 * median:.1f} to {100 * fast_median:.1f} %",
            judged(min(*rises, *exact_rises) > SIGNIFICANT, min(rises) > SIGNIFICANT),
            f"As the paper's model has it. By the exact one the peak rises from {m.costs.peaks[0]:.0f} to "
            f"{m.costs.peaks[1]:.0f} N, the median fraction only from {100 * exact_median:.1f} to "
            f"{100 * exact_fast_median:.1f} %.",
        ),
        Claim(
            "sec. 6",
            "Leg inertia has generally been found to contribute 20 to 50 % of the forces",
            "20 to 50 %",
            " and ".join(
                f"{low:.0f} to {high:.0f} % on path {name}"
                for (low, high), name in zip(quarters, ("I", "II"), strict=True)
            ),
            judged(min(within) > 50, max(within) > 50),
            f"The middle half of all legs and times. Between 20 and 50 % lie {within[0]:.0f} % of them on path I and "
            f"{within[1]:.0f} % on path II: true of the fast path, high for the slow one.",
        ),
        Claim(
            "sec. 6",
            "The fraction increases with the speed and with less payload",
            "increases",
            f"median {100 * median:.1f} % on path I, {100 * fast_median:.1f} % on path II; "
            f"{100 * np.median(light):.1f} % with {m.light_mass:.0f} kg",
            holds_if(bool(median < min(fast_median, np.median(light)) and exact_median < exact_fast_median)),
            "Leg inertia grows with the square of the speed; the legs' weight does not shrink with the payload.",
        ),
    )


def _ill_conditioned(m: Measured) -> tuple[Claim, ...]:
    from scipy.stats import spearmanr

    time, force = m.at_the_papers_steps
    path, along = m.conditions["III"], np.abs(m.forces["III"].T).max(axis=1)
    high = along[(path >= ILL[0]) & (path <= ILL[1])]
    poses = m.random_poses
    inside = poses.force[(poses.condition >= ILL[0]) & (poses.condition <= ILL[1])]
    rank, scaled = (float(spearmanr(x, poses.force).statistic) for x in (poses.condition, poses.scaled))
    alike = float(spearmanr(poses.condition, poses.scaled).statistic)
    states = m.paths["I"].states.position
    other = m.platform.condition_number(states, m.radius)
    slow = float(spearmanr(m.conditions["I"], np.abs(m.forces["I"].T).max(axis=1)).statistic)
    highest = m.paths["III"].t[path.argmax()]
    return (
        Claim(
            "sec. 5.2, Fig. 9",
            "Path III meets a singularity where the leg forces are of the order of 10^5 N",
            "10^5 N",
            f"{force:.1e} N at t = {time:.1f} s in the paper's steps; no bound at t = {m.singular_time:.7f} s",
            judged(POLE / SAME_ORDER < force < SAME_ORDER * POLE, force > POLE),
            "det H changes its sign there, so the forces have a pole and their peak is whatever the time step makes "
            "it.",
        ),
        Claim(
            "sec. 5.2, Fig. 10",
            "The condition number rises sharply at precisely that place",
            "same place",
            f"highest at t = {highest:.2f} s",
            holds_if(bool(abs(highest - m.singular_time) < np.diff(m.paths["III"].t).max())),
            f"Steps of 0.01 s; it exceeds {path.max():.0e} there and is {path.min():.0f} at its lowest on this path.",
        ),
        Claim(
            "sec. 5.2",
            "Near a singularity, at condition numbers of 10² to 10³, the forces are of the order of 10^4 N or more",
            "10^4 N",
            f"{high.min():.0f} to {high.max():.0f} N on path III; median {np.median(inside):.0f} N at random poses",
            judged(min(high.min(), np.median(inside)) > NEAR_POLE, bool(high.min() > NEAR_POLE)),
            f"True along path III. Of {len(inside)} random poses at rest with such condition numbers only "
            f"{100 * (inside >= NEAR_POLE).mean():.0f} % need 10^4 N: H is ill-conditioned for some loads, and the "
            "weight need not be one of them.",
        ),
        Claim(
            "sec. 6",
            "Directly related: the higher the condition number, the higher the actuator forces",
            "direct relation",
            f"rank correlation {rank:.2f} over random poses ({scaled:.2f} with moments made forces by the platform's "
            f"radius), {slow:.2f} along path I",
            holds_if(min(rank, slow) > ALIKE),
            "A tendency over the workspace; but along the paper's own path I the largest force falls while the "
            "condition number rises.",
        ),
        Claim(
            "sec. 4.2",
            "Although it mixes forces and moments, the condition number reliably measures the conditioning, in quality",
            "reliable",
            f"rank correlation {alike:.2f} with the number made dimensionless, over random poses",
            holds_if(alike > ALIKE),
            f"With moments divided by the platform's mean radius ({m.radius:.2f} m) path I has {other.min():.1f} to "
            f"{other.max():.1f} instead of {m.conditions['I'].min():.1f} to {m.conditions['I'].max():.1f}: another "
            "number, much the same order of poses. Of the conditioning alone: what it says of the forces is the claim "
            "above.",
        ),
    )
