"""Newton-Euler expanded into Lagrange, equation by equation, on an arm that is nobody's but ours."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.study_checks import without_evaluation
from support.tolerances import EPSILON, FORMULATIONS
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError
from tauforge_papers.derivation import PAPERS, derivation_steps
from tauforge_papers.expansion import Expansion
from tauforge_papers.expansion_lines import Lines
from tauforge_papers.random_arms import random_inertias
from tauforge_papers.report.study import Claim, Item, Study
from tauforge_papers.rules import not_judged, true_or_not

FALSE = {  # as printed, with numbers; other equations with a slip have no meaning as printed
    "turney1980": "4.3 4.5 4.7 4.9 4.11 4.14 4.15 4.17 4.19 4.21 4.22 4.23 4.24 4.25 4.27 4.29 4.30 4.31 4.32 4.33",
    "lee1982": "4.10 4.11 4.12 4.15 4.18 4.21 4.25 4.26 4.28 4.29 4.30 4.36 4.37 4.38",
}
NUMBERS = {
    "turney1980": ["2.11", *(f"4.{k}" for k in range(1, 35))],
    "lee1982": ["4.1", *(f"4.{k}" for k in range(5, 42))],
}
SLIP = 1e-4  # a slip changes sides by more than this on an arm with nothing aligned, with rates of about 1 rad/s


def own_arm(n: int = 4, convention: str = "modified") -> tf.SerialArm:
    """Full inertias, gravity across all axes; drives and friction, which the papers do not have."""
    random = np.random.default_rng(30)
    return tf.SerialArm.from_dh(
        joints="R" * n,
        alpha=random.uniform(-2, 2, n),
        a=random.uniform(0.1, 0.5, n),
        d=random.uniform(-0.3, 0.3, n),
        mass=random.uniform(2, 5, n),
        com=random.uniform(-0.2, 0.2, (n, 3)),
        inertia=random_inertias(random, n),
        gravity=(2.0, -3.0, -9.0),
        base=np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]),
        convention=convention,
        viscous=[1.0] * n,
        motor_inertia=[1e-3] * n,
        gear_ratio=[50.0] * n,
    )


def state(n: int = 4) -> np.ndarray:
    return np.random.default_rng(31).normal(size=(3, n))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_step_of_anybodys_arm_agrees_as_mended(paper):
    arm = own_arm()
    steps = derivation_steps(arm, *state(), paper)
    assert {number: step.error_corrected for number, step in steps.items() if step.error_corrected > FORMULATIONS} == {}
    assert sorted(steps) == sorted(NUMBERS[paper])
    last = list(steps.values())[-1]
    assert np.allclose(last.left, arm.without_friction().without_rotors().inverse_dynamics(*state()), rtol=FORMULATIONS)


@pytest.mark.parametrize("paper", PAPERS)
def test_equations_with_a_slip_are_false_as_printed_and_others_are_not(paper):
    steps = derivation_steps(own_arm(), *state(), paper)
    false = [number for number, step in steps.items() if step.error_as_printed > SLIP]
    assert false == FALSE[paper].split()
    for number, step in steps.items():
        assert bool(step.slip) == (number in false or np.isnan(step.error_as_printed))
        assert number in false or not step.error_as_printed > FORMULATIONS
        assert len(step.as_printed) == 0 or step.as_printed.shape[1:] == step.left.shape
    meaningless = [number for number, step in steps.items() if np.isnan(step.error_as_printed)]
    assert meaningless == ([] if paper == "turney1980" else ["4.39", "4.40"])


def test_lees_410_drops_gravity_and_an_order():
    """Without gravity the order of the two Q is left; with one joint turning there is no order."""
    q, qd, qdd = state()
    floating = own_arm().replace(gravity=(0, 0, 0))
    whole, order = (derivation_steps(arm, q, qd, qdd, "lee1982")["4.10"] for arm in (own_arm(), floating))
    assert whole.error_as_printed > 0.5
    assert SLIP < order.error_as_printed < whole.error_as_printed
    turning = derivation_steps(floating, q, qd * [0, 1, 0, 0], qdd, "lee1982")
    assert max(turning[number].error_as_printed for number in ("4.10", "4.12", "4.18")) < FORMULATIONS


def test_accelerations_as_the_factor_of_all_terms():
    """Eq. 4.21 as printed is right where the velocities are zero and one joint accelerates by 1 rad/s^2."""
    one = own_arm(1, "standard")
    for qd, qdd, right in (([0], [1], True), ([0], [2], True), ([1], [2], False)):
        assert (derivation_steps(one, [0.3], qd, qdd)["4.21"].error_as_printed < FORMULATIONS) is right


def test_the_derivation_can_fail(monkeypatch):
    """With the second derivatives of other joints no expansion in derivatives fits; those in Q do."""
    monkeypatch.setattr(Expansion, "d2T", lambda x, i, j, k: x._TT[i - 1][0, 0])
    steps = derivation_steps(own_arm(), *state())
    assert min(steps[k].error_corrected for k in ("4.7", "4.9", "4.16", "4.21", "4.26", "4.27", "2.11")) > SLIP
    assert max(steps[k].error_corrected for k in ("4.1", "4.6", "4.8", "4.14", "4.29")) < FORMULATIONS


def test_points_have_the_moments_of_a_link():
    x = Lines(own_arm(), *state())
    for i in range(1, x.n + 1):
        moments = x.integral(i, lambda d: np.outer(np.append(d, 1.0), np.append(d, 1.0)))
        assert np.abs(moments - x.Ja[i]).max() < 100 * EPSILON * np.abs(x.Ja[i]).max()


def test_an_arm_with_one_joint_has_no_next_link():
    assert "4.28" not in (steps := derivation_steps(own_arm(1), [0.3], [1.0], [2.0]))
    assert max(step.error_corrected for step in steps.values()) < FORMULATIONS


def test_what_the_derivations_do_not_cover():
    arm, (q, qd, qdd) = own_arm(), state()
    with pytest.raises(ModelError, match=r"no derivation of 'angeles'. The papers are turney1980, lee1982"):
        derivation_steps(arm, q, qd, qdd, "angeles")
    with pytest.raises(ShapeError, match=r"qd: expected \(4,\), got \(1, 4\). The steps are those of one state"):
        derivation_steps(arm, q, qd[None], qdd)
    with pytest.raises(ShapeError, match="qdd: expected numbers, got text"):
        derivation_steps(arm, q, qd, "none")
    with pytest.raises(UnsupportedFeatureError, match=r"the prismatic joint 'joint3'. Lock it, or compare"):
        derivation_steps(tf.load("stanford"), *state(6))
    with pytest.raises(UnsupportedFeatureError, match="expected a serial arm"):
        derivation_steps(tf.load("dasgupta1998"), q, qd, qdd)


@pytest.mark.parametrize(
    ("number", "rule", "equations", "found"),
    [
        ("4.6", true_or_not("...", lambda: True), {}, []),  # our source cites it
        ("1.21", true_or_not("...", lambda: True), {}, ["1.21"]),
        ("1.21", true_or_not("...", lambda: True), {"1.20": 0.0}, ["1.21"]),
        ("1.21", true_or_not("...", lambda: True), {"1.21": 0.0}, []),
        ("1.21", true_or_not("...", lambda: False), {}, []),
        ("1.21", not_judged("..."), {}, []),
    ],
)
def test_an_equation_that_holds_without_an_evaluation_is_found(number, rule, equations, found):
    texts = dict.fromkeys(("where", "claim", "printed", "measured", "reason"), "")
    claim = Claim(name="some", rule=rule, equations=equations, **texts)
    contents = (Item("equation", number, "", ("some",)), Item("equation", "1.5", "", standing="definition"))
    assert without_evaluation(Study("turney1980", "", "", (claim,), (), (), contents)) == found
