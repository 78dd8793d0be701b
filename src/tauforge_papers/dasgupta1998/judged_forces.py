"""What the paper says of trajectories and of the leg forces on paths I and II."""

from __future__ import annotations

import numpy as np

from tauforge.analysis.stewart_curves import LegForceParts, sign_changes
from tauforge.arrays import Array
from tauforge.motion import StraightLine
from tauforge_papers.dasgupta1998.leg_forces import MODEL, Forces
from tauforge_papers.dasgupta1998.measured import ILL, Measured
from tauforge_papers.policy import SAME_ORDER, of_the_order
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts, true_or_not
from tauforge_papers.wording import ROUNDING, within

SMOOTH = 0.01  # of the largest force: a step that a plot does not show
COMMON, MOST, ABOUT = 0.20, 0.40, 0.025  # fractions of Fig. 6, and how far a number may be from one read off a plot
USUAL = (0.2, 0.5)  # fractions of the conclusions
HIGH, OFTEN = 0.6, 0.5  # fraction with a light platform; "often", "generally": of legs and times
SIGNIFICANT = 1.2  # a rise by a fifth

TRAJECTORY = true_or_not(
    f"It holds if positions end where they should, within {ROUNDING:g} of the distance, and the largest linear and "
    "angular velocities are V and Omega, on all three paths.",
    holds=lambda ends, velocities, rounding: max(*ends, *velocities) < rounding,
    rounding=ROUNDING,
)
OF_THE_ORDER = true_in_parts(
    "Six parts, one for each leg. A leg's part holds if its largest force is within half a decade of the weight of "
    f'platform and payload, {1 / SAME_ORDER:.2f} to {SAME_ORDER:.2f} times ("of the same order").',
    parts=lambda multiples, same_order: [of_the_order(x, 1.0, same_order) for x in multiples],
    same_order=SAME_ORDER,
)
SMOOTHLY = true_or_not(
    f'It holds if no force steps by more than {100 * SMOOTH:.0f} % of the largest one ("vary smoothly").',
    holds=lambda largest_step, peak, smooth: largest_step < smooth * peak,
    smooth=SMOOTH,
)
FAR = true_or_not(
    f"It holds if det H keeps its sign and the condition number stays below {ILL[0]:.0f}, which the paper calls high.",
    holds=lambda determinants, highest: min(determinants) * max(determinants) > 0 and highest < ILL[0],
)
SHARES = true_in_parts(
    f"Two parts: the median of |F_d / F| is {100 * COMMON:.0f} % "
    f'("around"), the largest where F does not cross zero is at most {100 * MOST:.0f} % ("may go up to"), each within '
    f"{100 * ABOUT:.1f} points, as one reads a plot.",
    parts=lambda median, largest, about: [abs(median - COMMON) <= about, largest <= MOST + about],
    about=ABOUT,
)
STANDS_FOR = true_in_parts(
    "Two parts: paths I and II. A part holds if inertia and friction make up more of F_d than the weight of the legs "
    "does, by root mean square.",
    parts=lambda moving, weight: [a > b for a, b in zip(moving, weight, strict=True)],
)
CROSSING = true_or_not(
    "It holds if the total force changes its sign in these legs and in no other.",
    holds=lambda legs: list(legs) == [5, 6],
)
OFTEN_HIGH = true_or_not(
    f'It holds if the fraction is above {100 * HIGH:.0f} % at more than half of all legs and times ("often").',
    holds=lambda share, often: share > often,
    often=OFTEN,
)
RISE = true_in_parts(
    "Three parts. The largest force, and the largest |F_d / F| of legs whose force crosses zero on neither path, rise "
    'by a fifth at least ("significant rise in the bounds"). At more than half of all legs and times |F_d / F| differs '
    "by a fifth at least from what it is in the same pose on path I "
    '("distribution is also altered significantly").',
    parts=lambda rises, altered, significant, often: [
        *(x >= significant for x in rises),
        altered > often,
    ],
    significant=SIGNIFICANT,
    often=OFTEN,
)
STEEP = true_or_not(
    "It holds if the forces step only where the accelerations of the legs step: from one of 60 000 samples to the next "
    f"they change elsewhere by less than {100 * SMOOTH:.0f} % of the smallest such step.",
    holds=lambda forces, accelerations, elsewhere, smooth: min(accelerations) > 0 and elsewhere < smooth * min(forces),
    smooth=SMOOTH,
)
GENERALLY = true_in_parts(
    "Two parts, paths I and II. A part holds if more than half of all legs and times are between 20 and 50 % "
    '("generally").',
    parts=lambda shares, often: [x > often for x in shares],
    often=OFTEN,
)
INCREASES = true_in_parts(
    "Two parts: with the speed and with less payload. A part holds if the median fraction is larger.",
    parts=lambda before, faster, lighter: [faster > before, lighter > before],
)


def claims(m: Measured) -> tuple[Claim, ...]:
    return (_trajectory(m), *_path_one(m), *_fractions(m), *_fast(m))


def _trajectory(m: Measured) -> Claim:
    ends, velocities = [], []
    for line in m.lines.values():
        end = line.sample(np.array([line.duration])).position[0]
        ends.append(float(np.abs(end - line.end).max() / np.abs(np.subtract(line.end, line.start)).max()))
        velocities += [abs(x - 1.0) for x in _top_speeds(line)]
    return Claim(
        name="trajectory",
        where="secs 4.1 and 4.3, eqs 38-40",
        claim="Each coordinate is linear with parabolic blends, from t_0, theta_0 to t_1, theta_1 in tau_f, with "
        "velocities up to V and Omega",
        printed="eqs 38-40",
        measured=f"ends and largest velocities {within(max(*ends, *velocities))} of those given",
        reason="Eqs 39 and 40 bound the rates of the angles. These are the angular velocity, in magnitude, because "
        "theta_x and theta_z change together on none of the paths.",
        rule=TRAJECTORY,
        evidence={"ends": ends, "velocities": velocities},
    )


def _top_speeds(line: StraightLine) -> list[float]:
    """Largest linear and angular velocity along the line, over V and Omega."""
    twist = line.sample(np.linspace(0.0, line.duration, 1001)).velocity
    linear, angular = (float(np.linalg.norm(x, axis=1).max()) for x in (twist[:, :3], twist[:, 3:]))
    return [linear / line.max_speed, angular / line.max_rate]


def _path_one(m: Measured) -> tuple[Claim, ...]:
    slow, steps = m.forces["I"], m.steps["I"]
    g = float(np.linalg.norm(m.platform.gravity))
    weight = m.mass * g
    peaks, true = (np.abs(F).max(axis=0) for F in (slow.T, slow.exact))
    exact_steps = m.exact_steps["I"]
    beyond = [str(leg + 1) for leg in np.flatnonzero(peaks > SAME_ORDER * weight)]
    condition = m.conditions["I"]
    determinants = np.linalg.det(m.platform.force_matrix(m.paths["I"].states.position))
    return (
        Claim(
            name="moderate",
            where="sec. 5.1, Fig. 4",
            claim="On path I the leg forces are moderate, of the order of the weight of platform and payload (40 kg)",
            printed=f"40 kg; {weight:.0f} N with our g of {g:.2f} m/s²",
            measured="largest force of each leg "
            + ", ".join(f"{x:.0f}" for x in peaks)
            + f" N: {peaks.min() / weight:.2f} to {peaks.max() / weight:.2f} times the weight",
            exact=", ".join(f"{x:.0f}" for x in true) + " N",
            reason=f"Leg {', '.join(beyond) or 'none'} needs more; the root mean square over all legs and times is "
            f"{np.sqrt((slow.T**2).mean()):.0f} N. The paper does not give g.",
            rule=OF_THE_ORDER,
            evidence={"multiples": [float(x / weight) for x in peaks]},
            true={"multiples": [float(x / weight) for x in true]},
        ),
        Claim(
            name="smooth",
            where="sec. 5.1, Fig. 4",
            claim="On path I the leg forces vary smoothly along the trajectory",
            printed="smoothly",
            measured=f"steps of up to {max(steps.forces):.1f} N at the ends of the blends, of {peaks.max():.0f} N",
            exact=f"{max(exact_steps.forces):.1f} N, of {true.max():.0f} N",
            reason="The acceleration steps there, as on path II, by a hundredth as much.",
            rule=SMOOTHLY,
            evidence={"largest_step": max(steps.forces), "peak": float(peaks.max())},
            true={"largest_step": max(exact_steps.forces), "peak": float(true.max())},
        ),
        Claim(
            name="well-conditioned",
            where="sec. 5.1, Fig. 5",
            claim="The manipulator is quite well conditioned on path I, far from singularity",
            printed="Fig. 5 (not at hand)",
            measured=f"condition number {condition.min():.1f} to {condition.max():.1f}",
            reason=f"Path III, for comparison, is nowhere below {m.conditions['III'].min():.0f}.",
            rule=FAR,
            evidence={
                "determinants": [float(determinants.min()), float(determinants.max())],
                "highest": float(condition.max()),
            },
        ),
    )


def rms(x: Array) -> float:
    return float(np.sqrt((x**2).mean()))


def _told(parts: LegForceParts) -> str:
    """Largest magnitudes, from the largest part to the smallest."""
    return ", ".join(f"{name} {np.abs(getattr(parts, name)).max():.3g} N" for name in ("weight", "inertia", "friction"))


def _fractions(m: Measured) -> tuple[Claim, ...]:
    slow = m.forces["I"]
    found = [np.abs(x) for x in (slow.fraction, slow.exact_fraction)]
    medians = [float(np.median(x)) for x in found]
    largest = [float(x[:, ~slow.crossing].max()) for x in found]
    crossing, true_crossing = (
        [float(leg + 1) for leg in np.flatnonzero(sign_changes(F).any(axis=0))] for F in (slow.T, slow.exact)
    )
    light, true_light = (np.abs(x) for x in (m.light_forces["I"].fraction, m.light_forces["I"].exact_fraction))
    parts = [m.parts[name][model] for name in ("I", "II") for model in (MODEL, "exact")]
    difference = [np.abs(part.difference).max() for part in parts]
    moving, weight = [rms(p.inertia + p.friction) for p in parts], [rms(p.weight) for p in parts]
    return (
        Claim(
            name="legs-share",
            where="sec. 5.1, Fig. 6",
            claim="Leg inertia contributing around 20 % of the force on path I is quite common, and the maximum may go "
            "up to 40 %",
            printed="20 %, up to 40 %",
            measured=f"median {100 * medians[0]:.1f} %, up to {100 * largest[0]:.1f} %",
            exact=f"{100 * medians[1]:.1f} %, up to {100 * largest[1]:.1f} %",
            reason="|F_d / F| of eq. 42, the largest over legs whose total force does not cross zero. It is the part "
            "of the legs, and nearly all of it is their weight: see the next claim.",
            rule=SHARES,
            evidence={"median": medians[0], "largest": largest[0]},
            true={"median": medians[1], "largest": largest[1]},
        ),
        Claim(
            name="inertia-or-weight",
            where="sec. 4.4, eq. 42; sec. 5.1",
            claim="F_d = F - F_0 stands for the part of the forces that accounts for leg inertia and joint friction",
            printed="leg inertia and joint friction",
            measured=f"path I: {_told(parts[0])} of F_d up to {difference[0]:.0f} N; path II: {_told(parts[2])} of F_d "
            f"up to {difference[2]:.0f} N",
            exact=f"path I: {_told(parts[1])}; path II: {_told(parts[3])}",
            reason="Largest over legs and times. F_0 leaves out the gravity of the legs too, as "
            "sec. 4.4 says, so that F_d holds it. Inertia is F_d less its value at rest and less the "
            "friction.",
            rule=STANDS_FOR,
            evidence={"moving": moving[::2], "weight": weight[::2]},
            true={"moving": moving[1::2], "weight": weight[1::2]},
        ),
        Claim(
            name="crossing",
            where="sec. 5.1, Fig. 6",
            claim="The dynamic fraction jumps in legs 5 and 6, where the total force crosses zero",
            printed="legs 5 and 6",
            measured="legs " + " and ".join(f"{leg:.0f}" for leg in crossing),
            exact="legs " + " and ".join(f"{leg:.0f}" for leg in true_crossing),
            reason="Sign of the total force on path I.",
            rule=CROSSING,
            evidence={"legs": crossing},
            true={"legs": true_crossing},
        ),
        Claim(
            name="light-platform",
            where="sec. 5.1",
            claim="With a platform of the mass of a leg the dynamic fraction is often above 60 %",
            printed="> 60 %, often",
            measured=f"above 60 % at {100 * (light > HIGH).mean():.0f} % of legs and times; median "
            f"{100 * np.median(light):.0f} %",
            exact=f"at {100 * (true_light > HIGH).mean():.0f} % of legs and times; median "
            f"{100 * np.median(true_light):.0f} %",
            reason=f"Platform mass {m.light_mass:.0f} kg instead of {m.mass:.0f} kg, everything else kept, path I.",
            rule=OFTEN_HIGH,
            evidence={"share": float((light > HIGH).mean())},
            true={"share": float((true_light > HIGH).mean())},
        ),
    )


def _bounds(slow: Forces, fast: Forces) -> list[list[float]]:
    """The largest |F_d / F| on both paths, by both models, of legs whose force crosses zero on neither."""
    found = []
    for f in (slow, fast):
        of_models = []
        for fraction, totals in ((f.fraction, (slow.T, fast.T)), (f.exact_fraction, (slow.exact, fast.exact))):
            crossing = np.any([sign_changes(total).any(axis=0) for total in totals], axis=0)
            of_models.append(float(np.abs(fraction[:, ~crossing]).max()))
        found.append(of_models)
    return found


def _altered(slow: Forces, fast: Forces) -> list[float]:
    """By both models: the share of legs and times at which |F_d / F| differs by a fifth, pose by pose."""
    quotients = (np.abs(b / a) for a, b in ((slow.fraction, fast.fraction), (slow.exact_fraction, fast.exact_fraction)))
    return [float(((x >= SIGNIFICANT) | (x <= 1 / SIGNIFICANT)).mean()) for x in quotients]


def _fast(m: Measured) -> tuple[Claim, ...]:
    slow, fast, light = m.forces["I"], m.forces["II"], m.light_forces["I"]
    steps, exact_steps = m.steps["II"], m.exact_steps["II"]
    peaks = [[float(np.abs(x).max()) for x in (f.T, f.exact)] for f in (slow, fast)]
    before, faster, lighter = (
        [float(np.median(np.abs(x))) for x in (f.fraction, f.exact_fraction)] for f in (slow, fast, light)
    )
    sizes, true_sizes = ([np.abs(x) for x in (a, b)] for a, b in zip(slow.fractions, fast.fractions, strict=True))
    bounds, altered = _bounds(slow, fast), _altered(slow, fast)
    quarters = [np.percentile(100 * x, (25, 75)) for x in sizes]
    usual, true_usual = ([float(((x >= USUAL[0]) & (x <= USUAL[1])).mean()) for x in s] for s in (sizes, true_sizes))
    rises = [[b[k] / a[k] for a, b in (peaks, bounds)] for k in (0, 1)]
    k = steps.largest
    return (
        Claim(
            name="speed-raises",
            where="sec. 5.1, Figs 7 and 8",
            claim="Ten times the speed (path II) raises the bounds of the forces and the dynamic fractions "
            "significantly, and their distribution is altered significantly",
            printed="significant rise, altered significantly",
            measured=f"largest force {peaks[0][0]:.0f} to {peaks[1][0]:.0f} N, largest fraction "
            f"{100 * bounds[0][0]:.1f} to {100 * bounds[1][0]:.0f} %; fraction altered at {100 * altered[0]:.0f} % of "
            "legs and times",
            exact=f"{peaks[0][1]:.0f} to {peaks[1][1]:.0f} N, {100 * bounds[0][1]:.1f} to {100 * bounds[1][1]:.0f} %; "
            f"{100 * altered[1]:.0f} %",
            reason="On path II the force of leg 3 comes near zero, "
            "which makes its fraction large. The median fraction rises less: by the paper's model from "
            f"{100 * before[0]:.1f} to {100 * faster[0]:.1f} %, by the exact one only from {100 * before[1]:.1f} to "
            f"{100 * faster[1]:.1f} %, since what is counted twice grows with the speed.",
            rule=RISE,
            evidence={"rises": rises[0], "altered": altered[0]},
            true={"rises": rises[1], "altered": altered[1]},
        ),
        Claim(
            name="steep-changes",
            where="sec. 5.1, Fig. 7",
            claim="The steep change of the forces at a few instants is the result of similar steep changes in the leg "
            "accelerations",
            printed="at a few instants",
            measured="steps of "
            + ", ".join(f"{x:.0f}" for x in steps.forces)
            + " N at t = "
            + ", ".join(f"{t:.3f}" for t in steps.times)
            + " s",
            exact=", ".join(f"{x:.0f}" for x in exact_steps.forces) + " N",
            reason="A blend of the position or of the angles ends or begins there. The planned acceleration steps, "
            "and with it the accelerations of the leg lengths, by "
            + ", ".join(f"{x:.1f}" for x in steps.accelerations)
            + f" m/s². The largest step is {steps.forces[k]:.0f} N: the platform's own inertia makes "
            f"{steps.massless[k]:.0f} N of it and the legs the rest.",
            rule=STEEP,
            evidence={
                "forces": steps.forces,
                "accelerations": steps.accelerations,
                "elsewhere": steps.elsewhere,
            },
            true={"forces": exact_steps.forces, "elsewhere": exact_steps.elsewhere},
        ),
        Claim(
            name="usual-share",
            where="sec. 6",
            claim="Leg inertia has generally been found to contribute 20 to 50 % of the forces",
            printed="20 to 50 %",
            measured=f"{100 * usual[0]:.0f} % of legs and times on path I and {100 * usual[1]:.0f} % on path II are "
            "between 20 and 50 %",
            exact=f"{100 * true_usual[0]:.0f} % and {100 * true_usual[1]:.0f} %",
            reason="The middle half of all legs and times is at "
            + " and ".join(
                f"{low:.0f} to {high:.0f} % on path {name}"
                for (low, high), name in zip(quarters, ("I", "II"), strict=True)
            )
            + ". The range is right for the fast path and too high for the slow one.",
            rule=GENERALLY,
            evidence={"shares": usual},
            true={"shares": true_usual},
        ),
        Claim(
            name="share-increases",
            where="sec. 6",
            claim="The fraction increases when the speed is high and when the payload is less",
            printed="increases",
            measured=f"median {100 * before[0]:.1f} % on path I, {100 * faster[0]:.1f} % on path II; "
            f"{100 * lighter[0]:.1f} % with {m.light_mass:.0f} kg",
            exact=", ".join(f"{100 * x[1]:.1f} %" for x in (before, faster, lighter)),
            reason="The inertia of the legs grows with the square of the speed; their weight does not shrink with the "
            "payload.",
            rule=INCREASES,
            evidence={"before": before[0], "faster": faster[0], "lighter": lighter[0]},
            true={"before": before[1], "faster": faster[1], "lighter": lighter[1]},
        ),
    )
