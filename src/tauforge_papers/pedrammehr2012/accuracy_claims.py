"""What Pedrammehr, Mahboubkhah & Khani 2012 conclude from their simulations, beside what we measured."""

from __future__ import annotations

import numpy as np

from tauforge_papers.pedrammehr2012.measured import IMPROVED, OTHER, SIMPLIFIED, Measured, Size
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts

UNLIKE = 0.01  # one less the correlation of curves that rise and fall together
VISIBLE = 0.01  # of the larger amplitude, or of the largest force
SIGNIFICANTLY = 0.8  # of the error before: a fall by a fifth

MORE_ACCURATE = true_in_parts(
    'There are three measures of the errors of the leg forces against the exact model ("more accurate in comparison '
    'with previous ones"): largest, root mean square, mean. Each is a part, true if the error is smaller than that of '
    "the previous model, Dasgupta 1998.",
    parts=lambda improved, previous: [new < old for new, old in zip(improved, previous, strict=True)],
)
TRENDS = true_in_parts(
    'There are two parts for each path. "Similar trends": the correlation of both forces is above 0.99 in every pod. '
    '"Difference in amplitudes": largest less smallest force differs by more than 1 % in some pod.',
    parts=lambda correlations, amplitudes, unlike, visible: [
        *(x > 1 - unlike for x in correlations),
        *(x > visible for x in amplitudes),
    ],
    unlike=UNLIKE,
    visible=VISIBLE,
)
NECESSARY = true_in_parts(
    'There are two parts for each path. "Significant differences": both models differ by more than 1 % of the largest '
    'force. "Evident": the difference exceeds the error of the improved model, for otherwise it does not show which '
    "model is wrong.",
    parts=lambda shares, apart, errors, visible: [
        *(x > visible for x in shares),
        *(x > error for x, error in zip(apart, errors, strict=True)),
    ],
    visible=VISIBLE,
)
IMPROVES = true_in_parts(
    'Each path is a part ("significantly improved"): true if the largest and the root mean square error of the leg '
    "forces both fall by at least a fifth.",
    parts=lambda largest, rms, significantly: [max(pair) < significantly for pair in zip(largest, rms, strict=True)],
    significantly=SIGNIFICANTLY,
)


def told(new: Size, old: Size) -> str:
    return "; ".join(
        f"{name} {after:.4g} N, previous model {before:.4g} N"
        for name, after, before in zip(("largest", "root mean square", "mean"), new, old, strict=True)
    )


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*(_accuracy(m, name) for name in ("2", "3")), *_comparison(m))


def _accuracy(m: Measured, name: str) -> Claim:
    new, old = (m.sizes[m.platform.name, name, model] for model in (IMPROVED, SIMPLIFIED))
    there = told(*(m.sizes[OTHER, name, model] for model in (IMPROVED, SIMPLIFIED)))
    by_pod = [np.sqrt((m.error(name, model) ** 2).mean(axis=0)) for model in (IMPROVED, SIMPLIFIED)]
    better = ", ".join(str(pod + 1) for pod in np.flatnonzero(by_pod[0] < by_pod[1])) or "none"
    which = {"2": ("slow", "Fig. 9", 0), "3": ("fast", "Fig. 10", 1)}[name]
    explained = {
        "2": "At low speed the direction of the joint's moment matters most, and the paper corrects it.",
        "3": "The parallel-axis term counted twice offsets the gain, because it grows with the square of the speed.",
    }[name]
    return Claim(
        name=f"accuracy-path-{name}",
        where=f"abstract, sec. 10, {which[1]}",
        claim=f"The improved formulation is more accurate in comparison with previous ones: {which[0]} path {name}",
        printed="more accurate (N)",
        measured=f"errors of force: {told(new, old)}",
        reason=f"Compared with the exact model, with forces up to {m.costs.peaks[which[2]]:.0f} N. By root mean "
        f"square the improved model is the better one in pods {better}. {explained} On the robot of Dasgupta 1998, "
        f"whose L_uo ends in +0.08 m instead of -0.08 m: {there}.",
        rule=MORE_ACCURATE,
        evidence={"improved": list(new), "previous": list(old)},
    )


def _comparison(m: Measured) -> tuple[Claim, ...]:
    pairs = [(found[IMPROVED], found[SIMPLIFIED]) for found in m.forces.values()]
    correlations = [min(np.corrcoef(new[:, pod], old[:, pod])[0, 1] for pod in range(6)) for new, old in pairs]
    amplitudes = []
    for new, old in pairs:
        swing = np.array([np.ptp(new, axis=0), np.ptp(old, axis=0)])
        amplitudes.append(float((np.abs(swing[0] - swing[1]) / swing.max(axis=0)).max()))
    sizes = [[m.sizes[m.platform.name, name, model] for model in (IMPROVED, SIMPLIFIED)] for name in ("2", "3")]
    errors = [new.largest for new, _ in sizes]
    shares = [apart / peak for apart, peak in zip(m.apart, m.costs.peaks, strict=True)]
    largest, rms = ([new[k] / old[k] for new, old in sizes] for k in (0, 1))
    return (
        Claim(
            name="similar-trends",
            where="sec. 9, Figs 9 and 10",
            claim="Both models show similar trends of change and differ in amplitude",
            printed="similar trends, different amplitudes (N)",
            measured=f"correlation at least {correlations[0]:.4f} on path 2, {correlations[1]:.4f} on path 3; "
            f"amplitudes differ by up to {100 * amplitudes[0]:.1f} and {100 * amplitudes[1]:.1f} %",
            reason=f"The forces are up to {m.apart[0]:.1f} N apart on path 2, {m.apart[1]:.1f} N on path 3. Computed "
            "from the equations of both papers; our source of the paper has the captions of its figures, not the "
            "curves.",
            rule=TRENDS,
            evidence={"correlations": [float(x) for x in correlations], "amplitudes": amplitudes},
        ),
        Claim(
            name="significant-differences",
            where="abstract, sec. 9, sec. 10",
            claim="The necessity of the improvement is evident from significant differences between both models",
            printed="significant differences (N)",
            measured=f"path 2: {m.apart[0]:.1f} N apart, improved model {errors[0]:.1f} N from the exact one; path 3: "
            f"{m.apart[1]:.1f} N and {errors[1]:.1f} N",
            reason="A difference shows that one model is wrong, but not which one. Compared with the exact model the "
            "previous one does need improving. On path 3 the errors of the improved one exceed the difference.",
            rule=NECESSARY,
            evidence={"shares": shares, "apart": list(m.apart), "errors": errors},
        ),
        Claim(
            name="significantly-improved",
            where="sec. 10",
            claim="The simulations prove that the new method significantly improved the dynamic equations",
            printed="significantly improved (N)",
            measured="; ".join(
                f"path {name}: largest error {100 * a:.0f} % of the previous one, root mean square {100 * b:.0f} %"
                for name, a, b in zip(("2", "3"), largest, rms, strict=True)
            ),
            reason="Compared with the exact model, which the paper did not have.",
            rule=IMPROVES,
            evidence={"largest": largest, "rms": rms},
        ),
    )
