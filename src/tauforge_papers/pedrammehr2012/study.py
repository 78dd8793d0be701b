"""S. Pedrammehr, M. Mahboubkhah, N. Khani, Journal of Mechanical Science and Technology 26 (2012): the study."""

from __future__ import annotations

import numpy as np

from tauforge_papers.pedrammehr2012 import misprints
from tauforge_papers.pedrammehr2012.claims import claims
from tauforge_papers.pedrammehr2012.contents import CONTENTS
from tauforge_papers.pedrammehr2012.figures import NAMES, figures
from tauforge_papers.pedrammehr2012.measured import IMPROVED, OTHER, SIMPLIFIED, Measured
from tauforge_papers.pedrammehr2012.schematics import schematics
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.study import Study
from tauforge_papers.report.table import Cell, Table

PAPER = (
    "S. Pedrammehr, M. Mahboubkhah, N. Khani, Improved dynamic equations for the generally configured Stewart platform "
    "manipulator, Journal of Mechanical Science and Technology 26 (2012) 711-721"
)
TERM_NAMES = {
    "": "none: every term restored",
    "spin_rate_sign": "the spin's rate as it should be in eq. 43",
    "spin_in_forces": "spin acceleration in the moments of both parts' inertia forces",
    "spin_in_moments": "spin acceleration in the inertia moments",
    "extension": "sliding acceleration of the upper part's offset",
    "offset_axial": "axial acceleration of the upper part's offset",
    "velocity_in_moment": "centripetal and Coriolis terms of the moment along the pod",
}


def study(progress: Progress = nothing) -> Study:
    """Figures 5 to 10, and both papers' models against the exact one."""
    measured = Measured()
    progress("rotations of the pods, forces of four models")
    drawn = (*schematics(), *figures(measured))
    progress("tables of assumptions, accuracy, power and closed form")
    tables = (measured.costs.table(), _accuracy(measured), _power(measured), _terms(measured), _rotation(measured))
    progress("slips of print and of reading")
    slips, slips_table = misprints.results()
    progress("verdicts")
    judged = (*claims(measured), *slips)
    return Study("pedrammehr2012", PAPER, _summary(measured), judged, drawn, (*tables, slips_table), CONTENTS)


def _summary(m: Measured) -> str:
    slow, fast = ([m.sizes[m.platform.name, path, model] for model in (SIMPLIFIED, IMPROVED)] for path in ("2", "3"))
    return (
        "The kinematics of the universal joint and the direction of its moment are right except for one term (eq. 25), "
        "and correct Dasgupta & Mruthyunjaya 1998. The parallel-axis terms are wrong: they count twice what the "
        f"equations hold already. The improved model is better on the slow path (largest error {slow[0].largest:.1f} "
        f"N becomes {slow[1].largest:.1f} N); on the fast one the outcome is mixed (largest error "
        f"{fast[0].largest:.1f} N becomes {fast[1].largest:.1f} N, root mean square {fast[0].rms:.1f} N becomes "
        f"{fast[1].rms:.1f} N). Its closed form is not equal to its vector form. Our source is a machine-read text "
        "with the captions of the figures but without their curves: the figures are computed anew, and what the text "
        "says of them is judged. The robot is the paper's own: L_uo ends in -0.08 m, in Dasgupta's paper in +0.08 m."
    )


def _accuracy(m: Measured) -> Table:
    signs = {m.platform.name: "this paper, L_uo ends in -0.08 m", OTHER: "Dasgupta 1998, L_uo ends in +0.08 m"}
    rows: list[tuple[Cell, ...]] = [
        (m.paths[path].name, signs[robot], NAMES[model], *size) for (robot, path, model), size in m.sizes.items()
    ]
    return Table(
        "accuracy",
        "Errors of the models on both robots",
        "Errors of the leg forces against the exact model, over all pods and times of the path.",
        ("path", "robot", "model", "largest (N)", "root mean square (N)", "mean (N)"),
        tuple(rows),
    )


def _power(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, found in m.powers.items():
        for model, balance in found.items():
            lost, peak = (float(np.abs(x).max()) for x in (balance.imbalance, balance.actuators))
            error = float(np.abs(m.error(name, model)).max())
            rows.append((m.paths[name].name, NAMES[model], lost, peak, 100 * lost / peak, error))
    return Table(
        "power",
        "Balance of power",
        "Power of actuators, gravity and friction less the rate of the kinetic energy, which is differentiated "
        "exactly; largest magnitudes along the path.",
        ("path", "model", "imbalance (W)", "actuators (W)", "imbalance (%)", "error of force (N)"),
        tuple(rows),
    )


def _terms(m: Measured) -> Table:
    return Table(
        "closed-form",
        "What the closed form leaves out",
        "Largest difference of a force between the closed form and the vector form on path 3, every missing term "
        "restored but one.",
        ("left out", "switch", "difference (N)"),
        tuple((TERM_NAMES[term], term or None, cost) for term, cost in m.term_costs.items()),
    )


def _rotation(m: Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (velocity, acceleration) in m.rotations.items():
        for pod in range(len(velocity.apart)):
            rows.append(
                (
                    m.paths[name].name,
                    pod + 1,
                    float(velocity.full[:, pod].max()),
                    float(np.abs(velocity.along[:, pod]).max()),
                    float(100 * velocity.apart[pod]),
                    float(acceleration.full[:, pod].max()),
                    float(100 * acceleration.apart[pod]),
                )
            )
    return Table(
        "rotations",
        "What the simplification changes in the rotation of the pods",
        "Largest magnitudes along the paths; differences of magnitudes beside the largest of the pod.",
        (
            "path",
            "pod",
            "angular velocity (rad/s)",
            "spin (rad/s)",
            "difference of velocity (%)",
            "angular acceleration (rad/s²)",
            "difference of acceleration (%)",
        ),
        tuple(rows),
    )
