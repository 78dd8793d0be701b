"""What Pedrammehr, Mahboubkhah & Khani 2012 say about forces and moments, beside what we measured."""

from __future__ import annotations

import numpy as np

from tauforge_papers.pedrammehr2012.measured import CLOSED, EXACT, IMPROVED, SIMPLIFIED, TERMS, Measured
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended, true_or_not
from tauforge_papers.stewart_misprints import TRIED_ON
from tauforge_papers.stewart_rules import EQUATION, MODEL
from tauforge_papers.wording import ROUNDING, within

ALONG_C = true_or_not(
    "It holds if a moment along c has no part about the axes u and v, about which the joint turns freely, and if with "
    "it, and everything else right, the leg forces are those of the exact model, in whose equations the joint's moment "
    f"does not occur; both within {ROUNDING:g} of the largest.",
    holds=lambda about_axes, errors, peak, rounding: about_axes < rounding and max(errors) < rounding * peak,
    rounding=ROUNDING,
)
NONE_ALONG = true_or_not(
    'It holds if the moment, which is along c, has no part along the pod ("cannot impose any"): |c.n| below '
    f"{ROUNDING:g} everywhere on paths 2 and 3.",
    holds=lambda largest, rounding: max(largest) < rounding,
    rounding=ROUNDING,
)
PREVIOUS = true_in_parts(
    'There are three parts. The first two ("neglected", "in the direction of its pod") are true if the forces of the '
    "equations of Dasgupta 1998 change when these assumptions are corrected; the third "
    '("not considered") is true if no parallel-axis term in its equations changes the forces.',
    parts=lambda spin, moment, parallel_axes, peak, rounding: [
        spin > rounding * peak,
        moment > rounding * peak,
        parallel_axes < rounding * peak,
    ],
    rounding=ROUNDING,
)
DIFFERENT = not_judged(
    'The words ("completely different") name no measure. Once the faults of both papers are mended their forces are '
    "those of the exact model, so that no other outcome is possible."
)
SAME_FORM = true_or_mended(
    "It holds if the leg forces of eqs 41-43, their misprints mended, are those of eqs 36-40 on path 3 within "
    f'{ROUNDING:g} of the largest ("can be obtained"); with a correction if one group of terms that eqs 42 and 43 lack '
    "makes them so.",
    holds=lambda apart, with_one_term, peak, rounding: apart < rounding * peak,
    corrected=lambda apart, with_one_term, peak, rounding: min(with_one_term) < rounding * peak,
    rounding=ROUNDING,
)
COMPLEX = not_judged(
    'What has more terms takes more operations: no other outcome is possible ("adds to the complexity").'
)


def newtons(values: tuple[float, ...]) -> str:
    slow, fast = values
    return f"{slow:.2f} N on path 2, {fast:.1f} N on path 3"


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_model(m), *_moments(m), *_forms(m))


def _model(m: Measured) -> tuple[Claim, ...]:
    published = m.costs.of("Pedrammehr et al. 2012 as published")
    pods = m.costs.of("parallel axis counted twice, both parts of the legs")
    platform = m.costs.of("parallel axis counted twice, platform")
    own = m.own_axes
    kindest = [min(pair) for pair in zip((*pods, *platform), (*own["pods"], *own["platform"]), strict=True)]
    before = [m.costs.of(name) for name in ("no leg spin", "moment along the leg")]
    considered = m.costs.of("parallel axis counted twice, upper part along the leg")
    peak = max(m.costs.peaks)
    return (
        Claim(
            name="vector-equations",
            where="sec. 6, sec. 7, sec. 8",
            claim="Eqs 26-31, 34-40, 45-47 and 49 are the equations of motion of the pods and the platform",
            printed="leg forces, N",
            measured=f"{within(max(m.mended) / peak)} of the largest force on both paths",
            reason="The bodies' own inertia tensors replace those of eqs 32, 33 and 50. Compared with the exact model "
            "in the coordinates of the universal joints, which shares no equation of a pod with the paper.",
            rule=EQUATION,
            evidence={"errors": list(m.mended), "peak": peak},
        ),
        Claim(
            name="all-effects",
            where="sec. 1",
            claim="The formulation incorporates all gravity, inertia, Coriolis, centripetal and external forces, the "
            "true angular velocities and accelerations of the pods, and viscous friction",
            printed="all forces, N",
            measured=f"largest error {newtons(published)}",
            reason="This is the vector form with eq. 25 corrected. Once the parallel-axis terms of eqs 32, 33 and 50 "
            f"are left out it agrees with the exact model {within(max(m.mended) / peak)} of the largest force, and "
            f"{within(m.under_load)} on {TRIED_ON} and random external forces and moments.",
            rule=MODEL,
            evidence={"published": list(published), "mended": list(m.mended), "peak": peak, "under_load": m.under_load},
        ),
        Claim(
            name="parallel-axes",
            where="sec. 7, sec. 8, eqs 32, 33, 50",
            claim="By the theorem of parallel axes the tensors of eqs 31 and 49 need the terms m (l.l E - l l')",
            printed="eqs 32, 33, 50, kg m²",
            measured=f"pods (32, 33): wrong by {newtons(pods)}; platform (50): {newtons(platform)}",
            reason="m L x L'' and m r x X_g'' in the same equations hold these terms already, so that they are counted "
            "twice. As printed the components are those of L and r in base axes, between T and its transpose; if they "
            f"are meant in the bodies' own axes, the pods' terms cost {newtons(own['pods'])}, the platform's "
            f"{newtons(own['platform'])}. Eq. 16 of Dasgupta 1998 has the same fault and gets the same verdict.",
            rule=EQUATION,
            evidence={"errors": kindest, "peak": peak},
        ),
        Claim(
            name="previous-models",
            where="sec. 1, sec. 7",
            claim="Dasgupta & Mruthyunjaya 1998 neglect the rotation of the pods about their axes, take the universal "
            "joint's moment along the pod, and do not consider the theorem of parallel axes",
            printed="neglected; along the pod; not considered",
            measured=f"first: costs {newtons(before[0])}; second: {newtons(before[1])}; third: eq. 16 of Dasgupta 1998 "
            f"does consider it, which costs {newtons(considered)}",
            reason="Two papers are named, refs 19 and 20; the one on inverse dynamics is judged. Its eq. "
            "16 adds m_u L² diag(0, 1, 1) to the upper part's inertia and so counts the term twice as well.",
            rule=PREVIOUS,
            evidence={
                "spin": before[0][1],
                "moment": before[1][1],
                "parallel_axes": considered[1],
                "peak": m.costs.peaks[1],
            },
        ),
        Claim(
            name="completely-different",
            where="sec. 1",
            claim="The newly derived dynamic equations are completely different from those introduced before",
            printed="completely different",
            measured=f"as printed forces are {newtons(m.apart)} apart; {within(max(m.mended_apart) / peak)} of the "
            "largest force once rotation, moment and tensors are right in both papers",
            reason="The equations of Dasgupta 1998 are judged as those introduced before. The papers differ in these "
            "three, which sec. 9 lists as the improvements. Everything else is the same in other letters: eqs 26, 27, "
            "29-31, 35, 36, 39, 45-47 and 49 are eqs 11-14, 19, 20, 24 and 30-34 of Dasgupta 1998, with M_u along c.",
            rule=DIFFERENT,
            evidence={"apart": list(m.mended_apart)},
        ),
    )


def _moments(m: Measured) -> tuple[Claim, ...]:
    along_the_pod = m.costs.of("moment along the leg")
    slow, fast = (m.moments[name] for name in ("2", "3"))
    return (
        Claim(
            name="moment-along-c",
            where="sec. 7, eqs 31, 34-40",
            claim="The universal joint's reaction moment is along c, the normal of its two axes, not along the pod",
            printed="m_i c_i, N m",
            measured=f"along c: forces {within(max(m.mended) / max(m.costs.peaks))} of the largest; along the pod "
            f"instead: wrong by {newtons(along_the_pod)}",
            reason="The joint turns freely about both of its axes and carries a moment along their normal only.",
            rule=ALONG_C,
            evidence={"about_axes": m.free_axes, "errors": list(m.mended), "peak": max(m.costs.peaks)},
        ),
        Claim(
            name="no-moment-along-the-pod",
            where="sec. 7, sec. 9",
            claim="The universal joint cannot impose any constraint moment in the direction of the pod",
            printed="0 N m along n",
            measured=f"|c.n| is {slow.least:.2f} to {slow.most:.2f} on path 2; the moment along the pod is up to "
            f"{slow.largest:.1f} N m there, {fast.largest:.1f} N m on path 3",
            reason="A moment m_i c has the part m_i c.n along the pod. Eq. 37 needs it: m_i = N.n / c.n. It vanishes "
            "only where the pod lies in the plane of the joint's axes, where that equation has no solution.",
            rule=NONE_ALONG,
            evidence={"largest": [slow.most, fast.most]},
        ),
    )


def _forms(m: Measured) -> tuple[Claim, ...]:
    apart = [float(np.abs(found[CLOSED] - found[IMPROVED]).max()) for found in m.forces.values()]
    alone, peak, counts = m.restored_alone, m.costs.peaks[1], m.flops
    best = min(alone, key=lambda term: alone[term])
    return (
        Claim(
            name="closed-form",
            where="sec. 7, eqs 41-43, 48, 51",
            claim="The closed form follows from the vector equations 36-40",
            printed="equal forces, N",
            measured=f"{apart[0]:.2f} N apart on path 2, {apart[1]:.1f} N on path 3",
            reason=f"{len(TERMS)} groups of terms are missing or wrong in eqs 42 and 43. The one that helps most "
            f"leaves {alone[best]:.1f} N on path 3; with all of them the forms agree "
            f"{within(m.term_costs[''] / peak)} of the largest force.",
            rule=SAME_FORM,
            evidence={"apart": apart[1], "with_one_term": list(alone.values()), "peak": peak},
        ),
        Claim(
            name="complexity",
            where="sec. 1, sec. 9, sec. 10",
            claim="To take the rotation of the pods into account adds to the complexity of the problem",
            printed="more complex (operations)",
            measured=f"{counts['with spin']} operations with the spin, {counts[SIMPLIFIED]} without, by the equations "
            "of Dasgupta 1998",
            reason=f"The vector form of this paper takes {counts[IMPROVED]}. The exact model, which has the spin, "
            f"takes {counts[EXACT]} when each pod is a body of two degrees of freedom about its joint.",
            rule=COMPLEX,
        ),
    )
