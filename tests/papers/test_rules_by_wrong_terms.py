"""Rules on equations and models: right and wrong terms, and other paths, give each outcome that a rule names."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tauforge as tf
from tauforge.formulations.serial import newton_euler
from tauforge.formulations.stewart.dasgupta1998 import DasguptaCorrections
from tauforge_papers import misprints, stewart_rules
from tauforge_papers.dasgupta1998 import judged_model
from tauforge_papers.lee1982 import gains
from tauforge_papers.pedrammehr2012 import accuracy_claims, dynamics_claims, kinematics_claims
from tauforge_papers.pedrammehr2012.measured import CLOSED, IMPROVED, ONCE, SIMPLIFIED, TERMS, Measured, Size
from tauforge_papers.stewart_paths import FAST, SLOW, sampled

ROBOT = tf.load("pedrammehr2012")
BARE = ROBOT.without_friction().replace(
    **{
        f"{part}_{kind}": value
        for part in ("lower", "upper")
        for kind, value in (("mass", 0.0), ("inertia", np.zeros((3, 3))))
    }
)
DASGUPTA = DasguptaCorrections._fields
PATHS = {"slow": SLOW, "fast": FAST}


@cache
def states(path):
    return sampled("", PATHS[path], 61)


@cache
def forces(path, model="exact", corrections=(), robot=ROBOT):
    return states(path).forces(robot, model, corrections)


def errors(model, corrections=(), robot=ROBOT, paths=PATHS):
    return [np.abs(forces(p, model, corrections, robot) - forces(p, robot=robot)).max() for p in paths]


@cache
def peak():
    return max(np.abs(forces(path)).max() for path in PATHS)


def test_an_equation_is_judged_by_the_forces_with_it():
    decide = stewart_rules.EQUATION.decide
    assert decide(errors=errors(SIMPLIFIED, DASGUPTA), peak=peak()) == "holds"
    for left_out in DASGUPTA:
        rest = tuple(one for one in DASGUPTA if one != left_out)
        assert decide(errors=errors(SIMPLIFIED, rest), peak=peak()) == "does not hold"
    assert judged_model.ELIMINATION.decide(errors=errors(SIMPLIFIED, DASGUPTA), peak=peak()) == "holds"
    assert judged_model.ELIMINATION.decide(errors=errors(SIMPLIFIED), peak=peak()) == "does not hold"


def test_a_model_is_judged_as_published_and_mended():
    """Massless legs make the faults of the legs vanish; two corrections of three do not mend the model."""
    two = DASGUPTA[:2]
    for robot, mended, verdict in (
        (BARE, (), "holds"),
        (ROBOT, DASGUPTA, "holds with a correction"),
        (ROBOT, two, "does not hold"),
    ):
        found = {
            "published": errors(SIMPLIFIED, (), robot),
            "mended": errors(SIMPLIFIED, mended, robot),
            "peak": peak(),
            "under_load": 0.0,
        }
        assert stewart_rules.MODEL.decide(**found) == verdict
        both = {name: max(found[name]) / peak() for name in ("published", "mended")}
        assert judged_model.GENERAL.decide(**both) == verdict


def sizes(path, model, corrections=()):
    return list(Size.of(forces(path, model, corrections) - forces(path)))


def test_a_model_is_more_accurate_than_another():
    decide = accuracy_claims.MORE_ACCURATE.decide
    assert decide(improved=sizes("slow", IMPROVED), previous=sizes("slow", SIMPLIFIED)) == "holds"
    assert decide(improved=sizes("fast", IMPROVED), previous=sizes("fast", SIMPLIFIED)) == "mixed"
    assert decide(improved=sizes("fast", IMPROVED), previous=sizes("fast", SIMPLIFIED, DASGUPTA)) == "does not hold"


def test_errors_fall_significantly():
    def verdict(corrections, paths):
        pairs = [(sizes(p, IMPROVED, corrections), sizes(p, SIMPLIFIED)) for p in paths]
        largest, rms = ([new[k] / old[k] for new, old in pairs] for k in (0, 1))
        return accuracy_claims.IMPROVES.decide(largest=largest, rms=rms)

    assert verdict(ONCE, PATHS) == "holds"
    assert verdict((), PATHS) == "mixed"
    assert verdict((), ["fast"]) == "does not hold"


def test_similar_trends_and_other_amplitudes():
    """The same forces have the same amplitudes; a path that is run backwards has them too, and other trends."""

    def verdict(a, b):
        swing = np.array([np.ptp(a, axis=0), np.ptp(b, axis=0)])
        return accuracy_claims.TRENDS.decide(
            correlations=[min(np.corrcoef(a[:, k], b[:, k])[0, 1] for k in range(6))],
            amplitudes=[(np.abs(swing[0] - swing[1]) / swing.max(axis=0)).max()],
        )

    paper = forces("slow", IMPROVED)
    assert verdict(paper, forces("slow", SIMPLIFIED)) == "holds"
    assert verdict(paper, paper) == "mixed"
    assert verdict(paper, paper[::-1]) == "does not hold"


def test_a_closed_form_with_all_terms_with_all_but_one_and_without():
    def apart(terms):
        return float(np.abs(forces("fast", CLOSED, tuple(terms)) - forces("fast", IMPROVED)).max())

    decide, most = dynamics_claims.SAME_FORM.decide, TERMS[1:]
    assert decide(apart=apart(TERMS), with_one_term=[apart(TERMS)], peak=peak()) == "holds"
    assert decide(apart=apart(most), with_one_term=[apart(TERMS)], peak=peak()) == "holds with a correction"
    alone = [apart([term]) for term in TERMS]
    assert decide(apart=apart([]), with_one_term=alone, peak=peak()) == "does not hold"


def test_pods_that_agree_and_pods_that_do_not():
    """Of the paper's pods on path 1, numbered from 0: 0, 1 and 5 agree, 2 does not."""
    velocity, acceleration = Measured().rotations["1"]
    consistent, others = kinematics_claims.CONSISTENT.decide, kinematics_claims.OTHER_PODS.decide

    def of(*pods):
        return {"velocities": velocity.apart[list(pods)], "accelerations": [acceleration.apart[2]] * (2 not in pods)}

    assert consistent(**of(0, 1, 5)) == "holds"
    assert consistent(**of(1, 2)) == "mixed"
    assert consistent(**of(2)) == "does not hold"
    assert others(velocities=velocity.apart[[2]], accelerations=[acceleration.apart[0]]) == "holds"
    assert others(velocities=velocity.apart[[2, 3]], accelerations=[]) == "mixed"
    assert others(velocities=velocity.apart[[0, 1]], accelerations=[acceleration.apart[3]]) == "does not hold"
    along = [velocity.beside(velocity.along)[pod] for pod in (3, 2)]
    perpendicular = kinematics_claims.PERPENDICULAR.decide
    assert [perpendicular(velocities=along[:k], accelerations=along[j:k]) for j, k in ((1, 1), (0, 2))] == [
        "holds",
        "mixed",
    ]
    assert perpendicular(velocities=along[1:], accelerations=[]) == "does not hold"


def test_the_third_equation_makes_the_system_regular():
    """Without it the rank is 2; v.omega = 0 of a fixed second axis adds a row along the pod."""
    n = np.array([0.1, 0.2, 0.9]) / np.linalg.norm([0.1, 0.2, 0.9])
    skew = np.cross(np.eye(3), 0.6 * n)
    for matrix, verdict in ((skew, "holds"), (skew + np.outer(n, n), "does not hold")):
        values = np.linalg.svd(matrix, compute_uv=False)
        assert kinematics_claims.NOT_FULL_RANK.decide(least=values[2] / values[0]) == verdict


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [("", "holds"), ("cross(omega, cross(omega, r[i]))", "holds with a correction")],
)
def test_a_line_of_a_recursion_as_printed(wrong, verdict):
    right = "cross(omega, cross(omega, r_bar))"
    trial = misprints.on_random_arms(newton_euler, (right, wrong or right))()
    assert misprints.RULE.decide(printed=trial.printed, mended=trial.mended) == verdict
    if wrong:  # and what is called mended is as wrong
        assert misprints.RULE.decide(printed=trial.printed, mended=trial.printed) == "does not hold"


def test_gains_that_keep_and_break_the_conditions():
    made = {one.name[:3]: one for one in gains.examples()}
    decays = {name: gains.DIES_OUT.decide(slowest=gains.slowest(one.kp, one.kv)) for name, one in made.items()}
    assert decays["as "] == "holds"
    assert set(decays.values()) == {"holds", "does not hold"}

    def criterion(one):
        least = [float(np.linalg.eigvalsh((K + K.T) / 2).min()) for K in (one.kp, one.kv)]
        return gains.CRITERION.decide(kp=least[0], kv=least[1], rank=gains.rank_of(one.kp, one.kv))

    assert criterion(made["as "]) == "holds"
    assert criterion(made["(a)"]) == "does not hold"


def test_a_natural_frequency():
    def verdict(kp, kv):
        return gains.CHOICE.decide(frequency=np.sqrt(kp) / (2 * np.pi), damping=kv / (2 * np.sqrt(kp)))

    hertz = (2 * np.pi * 10) ** 2
    assert verdict(hertz, 2 * np.sqrt(hertz)) == "holds"
    assert verdict(100.0, 20.0) == "holds with a correction"
    assert verdict(100.0, 10.0) == "does not hold"
