"""What the paper says of its equations: kinematics, legs, platform, constraint forces, parameters."""

from __future__ import annotations

import numpy as np

from tauforge.robots.plausibility import inertia_fault
from tauforge_papers.dasgupta1998.leg_forces import MODEL
from tauforge_papers.dasgupta1998.measured import K_1, Measured
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended, true_or_not
from tauforge_papers.stewart_legs import DIFFERENCES
from tauforge_papers.stewart_misprints import TRIED_ON
from tauforge_papers.stewart_rules import EQUATION, exact
from tauforge_papers.stewart_rules import MODEL as WHOLE_MODEL
from tauforge_papers.wording import ROUNDING, within

DERIVATIVES = true_or_not(
    "It holds if every one of these equations gives the derivative of the positions, taken by central differences "
    f"along path II, within {DIFFERENCES:g} of its largest value.",
    holds=lambda errors, differences: max(errors) < differences,
    differences=DIFFERENCES,
)
NO_SPIN = true_or_not(
    'It holds if no leg turns about itself on paths I and II ("no axial rotation of the leg is allowed"), within '
    f"{ROUNDING:g} rad/s.",
    holds=lambda spins, rounding: max(spins) < rounding,
    rounding=ROUNDING,
)
ELIMINATION = true_or_not(
    "It holds if these equations, given the right motion of the legs, inertia and direction of the moment, lead to the "
    f"forces of the exact model within {ROUNDING:g} of the largest one, on both paths.",
    holds=exact,
    rounding=ROUNDING,
)
GENERAL = true_or_mended(
    'It holds if the forces are right for random platforms in which nothing is aligned ("completely arbitrary"), '
    f"within {ROUNDING:g} of the largest one; with a correction if they are so once the leg's spin, the direction of "
    "the universal joint's moment and the inertia of the upper part are corrected.",
    holds=lambda published, mended, rounding: published < rounding,
    corrected=lambda published, mended, rounding: mended < rounding,
    rounding=ROUNDING,
)
REACTION_FORCES = true_or_not(
    "It holds if the forces at the universal joints add up to the rate of the whole momentum, gravity included, and "
    f"eq. 28 leaves no force along the leg, within {DIFFERENCES:g} of the largest force, everything else being right.",
    holds=lambda forces, across, differences: max(forces, across) < differences,
    differences=DIFFERENCES,
)
REACTION_MOMENT = true_or_not(
    f"It holds if M_u s is the moment of the universal joint, within {DIFFERENCES:g} of the largest one, everything "
    "else being right.",
    holds=lambda moments, differences: moments < differences,
    differences=DIFFERENCES,
)
MASSLESS = true_or_not(
    "It holds if eq. 41 gives the forces of the exact model of a platform with massless legs and frictionless joints, "
    f"within {ROUNDING:g} of the largest one.",
    holds=lambda error, rounding: error < rounding,
    rounding=ROUNDING,
)
REALISTIC = true_in_parts(
    'A tensor is realistic if a rigid body can have it ("realistic"): no principal moment is negative, none larger '
    "than the sum of the other two. It holds if all three printed ones are, and is mixed if some are.",
    parts=lambda least, triangle: [a >= 0 and b >= 0 for a, b in zip(least, triangle, strict=True)],
)


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_equations(m), *_faults(m), *_parameters(m))


def newtons(values: tuple[float, ...]) -> str:
    slow, fast = values
    return f"{slow:.1f} N on path I, {fast:.1f} N on path II"


def _equations(m: Measured) -> tuple[Claim, ...]:
    published = m.costs.of("Dasgupta & Mruthyunjaya 1998 as published")
    e, constraints = m.leg_errors, m.constraint_errors
    tips = [e.tip_velocity, e.rate, e.tip_acceleration, e.acceleration]
    peak = max(m.costs.peaks)
    on_random, mended_on_random = m.on_random_platforms
    return (
        Claim(
            name="all-effects",
            where="abstract, sec. 1, sec. 6",
            claim="The formulation models all the dynamic and gravity effects, external forces and the viscous "
            "friction at the joints",
            printed="all effects",
            measured=f"largest error {newtons(published)}",
            reason=f"Peak forces are {newtons(m.costs.peaks)}. With the leg's spin, the direction of the universal "
            "joint's moment and the inertia of the upper part corrected (the three claims below) the model agrees with "
            f"the exact one {within(max(m.mended) / peak)} of the peak, and {within(m.under_load)} of it on {TRIED_ON} "
            "and random external forces and moments.",
            rule=WHOLE_MODEL,
            evidence={"published": published, "mended": m.mended, "peak": peak, "under_load": m.under_load},
        ),
        Claim(
            name="general",
            where="abstract, sec. 1",
            claim="Points, axes and mass distribution are completely arbitrary: the most general architecture",
            printed="completely arbitrary",
            measured=f"median error {100 * on_random:.0f} % of the largest force on {TRIED_ON}",
            reason=f"With the same three corrections the error is {within(mended_on_random)} of the largest force. The "
            "errors are larger than on the paths of the paper.",
            rule=GENERAL,
            evidence={"published": on_random, "mended": mended_on_random},
        ),
        Claim(
            name="leg-lengths",
            where="sec. 2.1, eqs 1-5, 7, 8",
            claim="The expressions determine position, velocity and acceleration of the platform joint and of sliding",
            printed="eqs 1-5, 7, 8",
            measured=f"{within(max(tips), DIFFERENCES)} of the derivatives",
            reason="Eq. 8 is right because its W is that of eq. 6, the part across the leg.",
            rule=DERIVATIVES,
            evidence={"errors": tips},
        ),
        Claim(
            name="leg-centres",
            where="sec. 2.2, eqs 10-14",
            claim="The mass centres of both parts of a leg, and their accelerations, follow from the leg's angular "
            "velocity W and acceleration A",
            printed="eqs 10-14",
            measured=f"{within(e.centres, DIFFERENCES)} of the derivatives",
            reason="Tested with the true W and A, because those of eqs 6 and 9 are wrong.",
            rule=DERIVATIVES,
            evidence={"errors": [e.centres]},
        ),
        Claim(
            name="elimination",
            where="secs 2.3 and 3.2, eqs 15, 18, 22-24, 30-32, 34-37",
            claim="A proper elimination leads to six linear equations in six unknowns that give the actuator forces",
            printed="eqs 15, 18, 22-24, 30-32, 34-37",
            measured=f"{within(max(m.mended) / peak)} of the largest force",
            reason="Tested with eqs 6, 9, 16, 17, 19-21 and 29 corrected. Those are judged separately, and so is "
            "eq. 33, whose sign eq. 35 has right.",
            rule=ELIMINATION,
            evidence={"errors": m.mended, "peak": peak},
        ),
        Claim(
            name="reaction-forces",
            where="sec. 3.3, eqs 25-28",
            claim="Once the six unknowns x are known, the forces at the joints of each leg follow separately",
            printed="eqs 25-28",
            measured=f"{within(max(constraints.forces, constraints.across), DIFFERENCES)} of the largest force",
            reason="They follow from Newton's equations. Path II, without friction.",
            rule=REACTION_FORCES,
            evidence={"forces": constraints.forces, "across": constraints.across},
        ),
        Claim(
            name="reaction-moment",
            where="sec. 3.3, eq. 29",
            claim="The constraint moment at the universal joint is M_u = s.C, about the leg's direction s",
            printed="s.C, along s",
            measured=f"wrong by {100 * constraints.moments:.0f} % of the largest moment",
            reason="It is s.C / s.c, along the normal c = u x v of the joint's axes u and v. Path II, without "
            "friction.",
            rule=REACTION_MOMENT,
            evidence={"moments": constraints.moments},
        ),
        Claim(
            name="massless-legs",
            where="sec. 4.4, eq. 41",
            claim="With massless legs and frictionless joints the forces are H F_0 = -c_0",
            printed="eq. 41",
            measured=f"{within(m.massless)} of the largest force on path II",
            reason="Then all terms of the legs (C, K, D and f) vanish, whatever the leg's motion is.",
            rule=MASSLESS,
            evidence={"error": m.massless},
        ),
    )


def _faults(m: Measured) -> tuple[Claim, ...]:
    spins = [float(np.abs(m.platform.leg_motion(*m.paths[name].states).spins).max()) for name in ("I", "II")]
    along_the_leg = m.costs.of("moment along the leg")
    twice = m.costs.of("parallel axis counted twice, upper part along the leg")
    peak, e = max(m.costs.peaks), m.leg_errors
    return (
        Claim(
            name="no-spin",
            where="sec. 2.1, eqs 6, 9",
            claim="A universal joint allows no rotation about the leg's axis: s.W = 0 and s.A = 0",
            printed="0 rad/s",
            measured=f"spin up to {spins[0]:.3f} rad/s on path I, {spins[1]:.3f} rad/s on path II",
            reason="W lies in the plane of the joint's two axes, which is not normal to the leg. Without the spin W is "
            f"wrong by {100 * e.angular_velocity:.0f} % and A by {100 * e.angular_acceleration:.0f} % of the largest, "
            f"and the forces by {newtons(m.costs.of('no leg spin'))}.",
            rule=NO_SPIN,
            evidence={"spins": spins},
        ),
        Claim(
            name="moment-along-leg",
            where="eqs 17, 19-21, 29",
            claim="The universal joint's constraint moment acts about the leg's axis",
            printed="M_u s",
            measured=f"wrong by {newtons(along_the_leg)}",
            reason="It acts along c = u x v, the normal of both joint axes: M_u = s.C / s.c and K = (C - M_u c) x s / "
            "L.",
            rule=EQUATION,
            evidence={"errors": along_the_leg, "peak": peak},
        ),
        Claim(
            name="parallel-axis",
            where="eq. 16",
            claim="The upper part's inertia needs m_u L² diag(0, 1, 1) by the theorem of parallel axes",
            printed="m_u L² diag(0, 1, 1)",
            measured=f"wrong by {newtons(twice)}",
            reason="m_u r_u x a_u of eq. 18 holds that term already: it is counted twice.",
            rule=EQUATION,
            evidence={"errors": twice, "peak": peak},
        ),
    )


def _parameters(m: Measured) -> tuple[Claim, ...]:
    tensors = {symbol: np.linalg.eigvalsh(tensor) for symbol, tensor in m.inertias.items()}
    faulty = [symbol for symbol, tensor in m.inertias.items() if inertia_fault(tensor)]
    masses = m.platform.mass_matrix(np.concatenate([p.states.position for p in m.paths.values()]))
    shortest = float(m.platform.inverse_kinematics(m.paths["I"].states.position).min())
    reach = -float(m.platform.parameters.legs[0].upper.com.x)
    friction = [float(np.abs(m.parts[name][MODEL].friction).max()) for name in ("I", "II")]
    readings = m.axis_readings
    worst = {model: [max(x[model][k] for x in readings.values()) for k in (0, 1)] for model in (MODEL, "exact")}
    return (
        Claim(
            name="realistic",
            where="sec. 5, appendix",
            claim="The relative values of the parameters of the test manipulator have been kept realistic",
            printed="I_d0, I_u0, I_p (kg m²)",
            measured="principal moments of I_d0: " + ", ".join(f"{x:.4f}" for x in tensors["I_d0"]) + " kg m²",
            reason=f"No body has inertias like {', '.join(faulty) or 'none'}, whatever their scale. Masses and lengths "
            f"are plausible, although the upper part's mass centre, {reach:.1f} m below the platform joint, lies "
            f"beyond the base joint where a leg is only {shortest:.2f} m long (path I). The inertias are small beside "
            "m r²: the mass matrix stays positive definite on all paths (least eigenvalue "
            f"{np.linalg.eigvalsh(masses).min():.2f}).",
            rule=REALISTIC,
            evidence={
                "least": [float(x[0]) for x in tensors.values()],
                "triangle": [float(x[0] + x[1] - x[2]) for x in tensors.values()],
            },
        ),
        Claim(
            name="unit-axes",
            where="appendix",
            claim="k_1 is a unit vector along the fixed axis of the first universal joint",
            printed=f"k_1 = [{K_1[0]}, {K_1[1]}, 0.0000], of length {np.linalg.norm(K_1):.3f}",
            measured=f"if a third component of {' or '.join(readings)} was lost, forces of the "
            f"paper's model change by up to {newtons((worst[MODEL][0], worst[MODEL][1]))}; exact ones by "
            f"{newtons((worst['exact'][0], worst['exact'][1]))}",
            reason="We take the printed direction: eq. 10 divides by |k x s|, so that the length of k does not matter. "
            "Pedrammehr 2012, who use this robot, find the angular velocity of leg 1 on their path 1 the same without "
            "the spin; it differs by "
            + ", ".join(f"{100 * x:.1f} % with a third component of {third}" for third, x in m.first_pod.items())
            + ".",
            rule=not_judged("Our text of the appendix is read by a machine, which may have lost a digit."),
        ),
        Claim(
            name="friction",
            where="abstract, appendix",
            claim="Viscous friction at the joints is included, with the coefficients of the appendix",
            printed="C_u = 0.0001 N m s, C_p = 0.001 N s/m, C_s = 0.0002 N m s (SI units)",
            measured=f"changes forces by at most {friction[0]:.4f} N on path I, {friction[1]:.3f} N on path II",
            reason="It is included correctly: see the first claim. With these coefficients it is too small to be seen "
            "in any figure.",
            rule=not_judged("The paper does not say how much friction matters."),
        ),
    )
