"""Lee, Chung, Mudge & Turney 1982: a PUMA under computed torque, and what its controller costs."""

from __future__ import annotations

from tauforge_papers.lee1982 import adaptation, derivation, near_minimum_time, resolved_rate
from tauforge_papers.lee1982.contents import CONTENTS
from tauforge_papers.lee1982.control import SLOW
from tauforge_papers.lee1982.cost import costs, printed_rivals
from tauforge_papers.lee1982.errata import MISPRINTS, second_moments_claim
from tauforge_papers.lee1982.error_equation import compensation, error_equation, non_singular, same_law
from tauforge_papers.lee1982.gains import choice, conditions
from tauforge_papers.lee1982.schematics import schematics
from tauforge_papers.lee1982.tracking import (
    curve,
    duration_figure,
    error_figure,
    error_table,
    one_bit,
    oscillation,
    runs,
    time_delay,
    within_a_bit,
)
from tauforge_papers.misprints import misprint_results
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.rules import not_judged


def study(progress: Progress = nothing) -> Study:
    """Everything of the paper that can be computed."""
    progress("the PUMA along its move")
    moves = runs()
    progress("error against duration")
    found = curve()
    figures = [*schematics(), *(error_figure(joint, moves) for joint in range(6)), duration_figure(found)]
    progress("error against sampling period and delay")
    tables = [error_table()]
    claims = [within_a_bit(moves, found), oscillation(moves), one_bit()]
    claims.append(time_delay(printed_rivals().newton.milliseconds()))
    progress("the law and the equation of its error")
    claims += [same_law(moves[False, SLOW]), *derivation.claims(), *error_equation(), non_singular()]
    claim, table = compensation()
    claims, tables = [*claims, claim], [*tables, table]
    progress("conditions of stability and the choice of gains")
    more, figure, table = conditions()
    claims, figures, tables = claims + more, [*figures, figure], [*tables, table]
    claim, figure = choice()
    claims, figures = [*claims, claim], [*figures, figure]
    progress("a load that varies, and laws that adapt")
    cycles = adaptation.cycles()
    claims, figures = claims + adaptation.claims(cycles), [*figures, adaptation.figure(cycles)]
    tables.append(adaptation.table(cycles))
    progress("the other methods of section 4")
    claim, figure = resolved_rate.result()
    claims += [claim, cerebellar_model(), optimal_control(), *near_minimum_time.claims()]
    figures += [figure, near_minimum_time.figure()]
    progress("what the controllers cost")
    more, counts = costs()
    claims, tables = claims + more, tables + counts
    progress("misprints")
    more, table = misprint_results(MISPRINTS, "misprints", "Misprints of the paper")
    claims, tables = [*claims, second_moments_claim(), *more], [*tables, table]
    return Study(
        "lee1982",
        "C. S. G. Lee, M. J. Chung, T. N. Mudge & J. L. Turney, On the control of mechanical manipulators, 1982",
        "The law on Newton-Euler is computed torque, its error dies out under the conditions that the paper gives, and "
        "the milliseconds of the PDP-11 follow from its tables. Whether the errors stay within the printed bound "
        f"depends on the duration, which is not printed: the paper's arm, without rotors, needs "
        f"{found.crossing[False]:g} s or more, an arm with rotors {found.crossing[True]:g} s. Kp = 100 1/s^2 is ten "
        "radians, not ten periods, a second.",
        tuple(claims),
        tuple(figures),
        tuple(tables),
        CONTENTS,
    )


def cerebellar_model() -> Claim:
    return Claim(
        name="cerebellar-model",
        where="section 4",
        claim="Problems such as memory size and accuracy of the cerebellar model controller need to be solved",
        printed="no number",
        measured="not measured",
        reason="The paper cites the method in a sentence, without equations.",
        rule=not_judged("The paper gives nothing to build it from."),
    )


def optimal_control() -> Claim:
    return Claim(
        name="optimal-control",
        where="section 4",
        claim="A closed form solution of the optimal control is very difficult, if not impossible",
        printed="no number",
        measured="not measured",
        reason="We have none either: near-minimum-time control comes near it.",
        rule=not_judged("How difficult it is has no measure."),
    )
