"""Slips of print and of reading in Pedrammehr, Mahboubkhah & Khani 2012, and what they cost where they can be run."""

from __future__ import annotations

from typing import Final

from tauforge.formulations.stewart import pedrammehr2012, pedrammehr2012_closed
from tauforge_papers.misprints import Line, Misprint, misprint_results
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Table
from tauforge_papers.stewart_misprints import TRIED_ON, on_platforms

ROBOT: Final = "pedrammehr2012"
ONCE = pedrammehr2012.PedrammehrCorrections(legs_once=True, platform_once=True)
COMPLETE = pedrammehr2012_closed.Terms(*[True] * len(pedrammehr2012_closed.Terms._fields))


def _closed(ours: str, printed: str) -> Line:
    return Line(pedrammehr2012_closed, ours, printed)


MISPRINTS = (
    Misprint(
        "eqs 9, 30, 36, 40",
        "accelerations of the pods and their mass centres",
        "marks over l, X and L that are tildes, hats or single dots",
        "two dots for accelerations; one dot for X in the third term of 9",
        name="marks-of-accelerations",
        reading="The same letters have their two dots in eqs 11, 29 and 31, so that the marks were misread.",
    ),
    Misprint(
        "eqs 15, 17",
        "the spin of a pod",
        "omega_li n_i; omega_ii",
        "omega_ti n_i; omega_ti = -omega_ni.c_i / (n_i.c_i)",
        name="index-of-the-spin",
        reading="The small letters t, l and i look alike; our text has omega_ii for omega_li in other places too.",
    ),
    Misprint(
        "eq. 21",
        "the acceleration that the joint's rates explain",
        "omega_ui omega_vi x l_i n_i",
        "omega_ui omega_vi (c_i x l_i n_i), from eqs 18 and 11",
        name="lost-vector-c",
        reading="A number cannot stand before a cross product, so that a letter is lost; the machine may have lost it.",
    ),
    Misprint(
        "eqs 13, 14, 17, 19, 20, 25, 37",
        "divisors",
        "/ l_i n_i . c_i; / 1 - (u_i.n_i)²",
        "/ (l_i n_i . c_i); / (1 - (u_i.n_i)²), as eqs 42 and 43 have it",
    ),
    Misprint(
        "sec. 7, before eq. 40",
        "the equation into which 37 and 39 are substituted",
        "eq. 36",
        "eq. 38",
    ),
    Misprint(
        "eq. 42",
        "the inertia tensors in the second row of Q_i",
        "L_ui + I_di",
        "I_ui + I_di",
        name="tensor-in-q",
        reading="A bold I and a bold L look alike, and the third row of the same equation has I_ui + I_di.",
    ),
    Misprint(
        "eq. 43",
        "the centripetal term of the lower part",
        "m_d {L_di x [omega_li x (omega_li x L_ui)]} x n_i",
        "m_d {L_di x [omega_li x (omega_li x L_di)]} x n_i, from eqs 29 and 36",
        name="centripetal-term",
        trial=on_platforms(
            pedrammehr2012_closed,
            _closed(
                "across = levered(alpha_n) + centripetal",
                "across = levered(alpha_n) + centripetal + cross(L_d, cross(W, cross(W, L_u - L_d))) * m_d",
            ),
            robot=ROBOT,
            terms=COMPLETE,
            corrections=ONCE,
        ),
        reading="The index d may have been read as u; L_di x before it has the right one.",
    ),
    Misprint(
        "appendix 1",
        "the last term of S_i",
        "2 omega_li x l_i n_i",
        "2 omega_li x l_i' n_i, as in eq. 23",
        name="rate-in-s",
        trial=on_platforms(
            pedrammehr2012_closed,
            _closed(
                "cross(W, n) * (2.0 * w.Ldot))  # appendix 1", "cross(W, n) * (2.0 * l))  # the rate's dot left out"
            ),
            robot=ROBOT,
            terms=COMPLETE,
            corrections=ONCE,
        ),
        reading="A dot over l is lost, and eq. 23, from which the term comes, has it.",
    ),
    Misprint(
        "eq. 46",
        "the acceleration of the platform's mass centre",
        "X_g = X + alpha x r + omega x (omega x r)",
        "X_g'' = X'' + alpha x r + omega x (omega x r)",
        name="dots-of-the-platform",
        reading="The dots over X are lost; eq. 45 has them, and the text calls X_g an acceleration.",
    ),
    Misprint(
        "sec. 9", "the paths of Figs 9 and 10", "path 1 and path 2", "path 2 and path 3, as their captions have it"
    ),
    Misprint("sec. 9", "the reference model of Figs 9 and 10", "ref. 19, and further down ref. 20", "ref. 19"),
)


def results() -> tuple[list[Claim], Table]:
    return misprint_results(
        MISPRINTS, "misprints", "Misprints of the paper", tried_on=TRIED_ON, paths=("path 2", "path 3")
    )
