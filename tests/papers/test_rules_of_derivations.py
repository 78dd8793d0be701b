"""Rules on the derivations of Turney and of Lee: wrong terms and other arms give each outcome that a rule names."""

from __future__ import annotations

import numpy as np
import pytest

from support.wrong_terms import claims_with, verdict, verdict_with
from tauforge.analysis.comparison import random_states, relative_error, row_errors
from tauforge.formulations.serial import INVERSE_DYNAMICS, newton_euler
from tauforge_papers import base_axes
from tauforge_papers.derivation import PAPERS, derivation_steps
from tauforge_papers.lee1982 import control, errata, error_equation
from tauforge_papers.lee1982 import derivation as lees
from tauforge_papers.misprints import WITNESS
from tauforge_papers.random_arms import random_arm, reference
from tauforge_papers.turney1980 import derivation, notation
from tauforge_papers.turney1980 import study as turney
from tauforge_papers.wording import ROUNDING


def arm(kinds, seed=5):
    return random_arm(np.random.default_rng(seed), kinds)


def values(claim):
    return claim.evidence["differences"]


def test_a_factor_of_the_spin_matrices():
    rule, one, i = notation.spin_claim().rule, notation.spin(1.0), notation.spin(1j)
    pairs = ((i, i), (one, i), (one, one))
    found = [rule.decide(printed=printed, mended=mended) for printed, mended in pairs]
    assert found == ["holds", "holds with a correction", "does not hold"]


def test_notation_with_wrong_terms():
    def claims(*changes):
        return claims_with(notation, "notation_claims", *changes)

    right = claims()
    assert {verdict(right[name]) for name in ("identities", "derivatives", "inertial-matrix")} == {"holds"}
    sign = claims(("[0, 0, -1], [0, 1, 0]", "[0, 0, 1], [0, 1, 0]"))["identities"]
    assert verdict(sign) == "mixed"
    assert verdict(sign, differences=[x for x in values(sign) if x > ROUNDING]) == "does not hold"
    for change, expected in (
        (("twice = before @ R(j - 1, k - 1) @ Q", "twice = before @ Q @ R(j - 1, k - 1)"), "mixed"),
        (("before = R(0, j - 1) @ Q", "before = R(0, i - 1) @ Q"), "does not hold"),
    ):
        found = claims(change)["derivatives"]
        assert verdict(found) == expected
        assert lees.IS_SLOPE.decide(**found.evidence) == expected
    assert lees.IS_SLOPE.decide(**right["derivatives"].evidence) == "holds"
    skewed = list(notation.inertial_matrix(False).values())
    assert verdict(right["inertial-matrix"], differences=skewed) == "does not hold"


@pytest.mark.parametrize("paper", PAPERS)
def test_steps_as_printed_and_mended(paper):
    state = np.random.default_rng(2).normal(size=(3, 3))
    steps = derivation_steps(arm("RRR"), *state, paper).values()
    right = [step.error_as_printed for step in steps if not step.slip]
    slips = [step for step in steps if step.error_as_printed > ROUNDING]
    wrong, mended = [step.error_as_printed for step in slips], [step.error_corrected for step in slips]
    found = [derivation.EVERY_EQUATION.decide(differences=x) for x in (right, right + wrong, wrong)]
    assert found == ["holds", "mixed", "does not hold"]
    pairs = ((right, right), (wrong, mended), (wrong, wrong))
    found = [derivation.PRINTED_OR_MENDED.decide(printed=a, mended=b) for a, b in pairs]
    assert found == ["holds", "holds with a correction", "does not hold"]


def test_base_axes_with_a_wrong_term():
    assert verdict_with(base_axes, "base_axes_claim", LINKS=2) == "holds"
    wrong = ("w[i - 1] + x.qd[i] * z)", "w[i - 1] - x.qd[i] * z)")
    (claim,) = claims_with(base_axes, "base_axes_claim", wrong, LINKS=2).values()
    assert verdict(claim) == "mixed"
    assert verdict(claim, differences=[x for x in values(claim) if x > ROUNDING]) == "does not hold"


def energies(*changes, qd=(0.7, -1.2), gravity=(0.0, 0.0, -9.8)):
    """Verdicts on the energies of an arm with two joints."""
    case = arm("RR").replace(gravity=gravity), np.array([(0.3, 0.9), qd, (1.1, -0.4)])
    others = {"step_claims": lambda paper: [], "arm_and_state": lambda: case}
    found = claims_with(derivation, "derivation_claims", *changes, **others)
    return {name: claim.verdict for name, claim in found.items()}


def test_energies_with_other_states_and_wrong_terms():
    """At unit speeds eq. 2.6 needs none of them; without gravity no sign of it is wrong."""
    right = energies()
    assert {right[name] for name in ("symmetry", "slopes-of-the-energy", "base-acceleration")} == {"holds"}
    assert {right[name] for name in ("kinetic-energy", "potential-energy")} == {"holds with a correction"}
    assert energies(qd=(1.0, 1.0))["kinetic-energy"] == "holds"
    assert energies(gravity=(0.0, 0.0, 0.0))["potential-energy"] == "holds"
    other_link = energies(("x.dT(q, j) @ x.Ja[q] @ x.dT(q, i).T", "x.dT(i, j) @ x.Ja[q] @ x.dT(q, i).T"))
    assert {other_link[name] for name in ("symmetry", "kinetic-energy")} == {"does not hold"}
    sign = ("return -sum(_mixed", "return sum(_mixed")
    rate = ("+ _mixed(x, q, i) for q in beyond", "- _mixed(x, q, i) for q in beyond")
    assert energies(sign)["slopes-of-the-energy"] == "mixed"
    assert energies(sign, rate)["slopes-of-the-energy"] == "does not hold"
    assert energies(("[sum(x.lift_of", "[-sum(x.lift_of"))["potential-energy"] == "does not hold"
    falling = ("Lines(arm, q, 0 * q, 0 * q)", "Lines(arm.replace(gravity=(0.0, 0.0, 0.0)), q, 0 * q, 0 * q)")
    assert energies(falling)["base-acceleration"] == "does not hold"


def test_formulations_with_and_without_gravity_are_equivalent_or_not():
    made = arm("RRRR")
    state = random_states(made, 5)
    right = [reference(INVERSE_DYNAMICS[n], made.model.parameters, *state) for n in ("lagrange-euler", "newton-euler")]
    weightless = made.replace(gravity=(0.0, 0.0, 0.0)).model.parameters
    other = reference(newton_euler.inverse_dynamics, weightless, *state)
    for forces, expected in ((right[1], "holds"), (other, "does not hold")):
        difference = relative_error(right[0], forces)
        assert error_equation.SAME_LAW.decide(difference=difference) == expected
        assert turney.EQUIVALENT.decide(largest=difference) == expected


def test_second_moments_of_links_in_principal_axes_and_in_others():
    def error(made):
        state = random_states(made, 3)
        forces = [reference(f, made.model.parameters, *state) for f in (errata.without_products, WITNESS)]
        return float(np.max(row_errors(*forces)))

    principal, any_axes = error(control.puma()), error(arm("RRR"))
    pairs = ((principal, principal), (any_axes, principal), (any_axes, any_axes))
    found = [errata.PRINCIPAL.decide(any_axes=a, principal=b) for a, b in pairs]
    assert found == ["holds", "holds with a correction", "does not hold"]
