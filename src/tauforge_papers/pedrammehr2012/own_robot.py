"""The figures of Pedrammehr, Mahboubkhah & Khani 2012 for a platform and a motion of anybody's."""

from __future__ import annotations

from tauforge.analysis.stewart_curves import leg_rotations, rotation_panels
from tauforge.charts.figure import Figure
from tauforge.motion import CsvMotion
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.pedrammehr2012.figures import both_forces, errors_of_forces
from tauforge_papers.pedrammehr2012.measured import EXACT, MODELS
from tauforge_papers.stewart_poles import poles_of

SPIN = (
    "Magnitudes with the spin that the universal joint gives the pods, by the equations of Dasgupta 1998, which leave "
    "it out, and their difference."
)


def figures(platform: StewartPlatform, motion: CsvMotion) -> tuple[Figure, ...]:
    """Figs 5 to 10, and one that the paper does not have."""
    t, states = motion.times, motion.samples
    turning = leg_rotations(platform, *states)
    forces = {model: platform.inverse_dynamics(*states, model=model) for model in MODELS}
    poles = poles_of(platform, motion, forces[EXACT])
    found = {model: poles.parted(values) for model, values in forces.items()}
    return (
        Figure(
            "angular-velocities",
            "Figs 5, 7: angular velocities",
            SPIN,
            rotation_panels(t, "velocity", *turning[:2], "pod"),
            columns=3,
        ),
        Figure(
            "angular-accelerations",
            "Figs 6, 8: angular accelerations",
            SPIN,
            rotation_panels(t, "acceleration", *turning[2:], "pod"),
            columns=3,
        ),
        Figure(
            "pod-forces",
            "Figs 9, 10: pod forces",
            "By the equations of this paper in vector form, and by those of Dasgupta & Mruthyunjaya 1998."
            + poles.words,
            both_forces(t, found, marks=poles.marks, y_range=poles.y_range),
            columns=3,
        ),
        Figure(
            "errors",
            "Both models against the exact one",
            "Forces of each model less those of the exact one.",
            errors_of_forces(t, found, marks=poles.marks, y_range=poles.y_range),
            columns=3,
        ),
    )
