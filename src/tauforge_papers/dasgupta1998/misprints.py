"""Slips of the printed equations, each run with the line put back as printed. Our copy of the paper is machine-read."""

from __future__ import annotations

from collections.abc import Callable

from tauforge.formulations.stewart import dasgupta1998, kinematics
from tauforge_papers.misprints import Line, Misprint, Trial, misprint_results
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.stewart_misprints import TRIED_ON, on_platforms

DOTS = "The machine that read our copy loses dots over letters, here and elsewhere."
SUBSCRIPTS = "The machine that read our copy may have taken one letter for another."


def _with(*lines: Line) -> Callable[[], Trial]:
    """Everything else right."""
    right = dasgupta1998.DasguptaCorrections(True, True, True)
    return on_platforms(dasgupta1998, *lines, robot="dasgupta1998", corrections=right)


MISPRINTS = (
    Misprint(
        "eq. 9",
        "angular acceleration of a leg",
        "A = (s x S - 2 L W) / L",
        "A = (s x S'' - 2 L' W) / L",
        "misprint-9",
        _with(Line(kinematics, "cross(s, S_ddot) - W_n * (2.0 * Ldot)", "cross(s, S) - W_n * (2.0 * L)")),
        DOTS,
    ),
    Misprint(
        "before eq. 24",
        "viscous force at the prismatic joint",
        "C_p L",
        "C_p L', as after eq. 24",
        "misprint-24",
        _with(Line(dasgupta1998, "l.Ldot * p.friction.prismatic", "l.L * p.friction.prismatic")),
        DOTS,
    ),
    Misprint(
        "eq. 25",
        "viscous force in the reaction of the universal joint",
        "C_p L s",
        "C_p L' s, as in eq. 26",
        "misprint-25",
        reading=DOTS,
    ),
    Misprint(
        "eq. 27",
        "reaction of the universal joint",
        "F_u, a number",
        "F_u, a vector, as in eq. 25",
        "misprint-27",
        reading="The machine that read our copy loses bold type.",
    ),
    Misprint(
        "eq. 31",
        "acceleration of the platform's mass centre",
        "t with a hat",
        "t'', as in eq. 7",
        "misprint-31",
        reading=DOTS,
    ),
    Misprint(
        "eq. 33",
        "the sum of the legs' forces across themselves, in the equation of forces",
        "+ sum of K_i",
        "- sum of K_i, as in eq. 35",
        "misprint-33",
        _with(Line(dasgupta1998, "force, moment = force + K, moment", "force, moment = force - K, moment")),
        "The machine that read our copy may have taken one sign for the other. Eq. 35 has it right.",
    ),
    Misprint(
        "appendix",
        "inertia of the upper part of a leg",
        "I_d0, for the second time",
        "I_u0",
        "misprint-appendix",
        reading=SUBSCRIPTS,
    ),
    Misprint(
        "sec. 5.2, path III",
        "duration and largest angular velocity",
        "tau_c, Q",
        "tau_f, Omega",
        "misprint-path-3",
        reading=SUBSCRIPTS,
    ),
)


def results() -> tuple[list[Claim], Table]:
    return misprint_results(MISPRINTS, "misprints", "Misprints of the paper", TRIED_ON, paths=("path I", "path II"))
