"""Rules on Stewart platforms: other platforms, paths, models and wrong terms give each outcome that a rule names."""

from __future__ import annotations

import numpy as np

import tauforge as tf
from support.wrong_terms import verdict_with
from tauforge.algebra.vectors import dot
from tauforge.formulations.stewart.dasgupta1998 import DasguptaCorrections
from tauforge.motion import MotionSample
from tauforge_papers.dasgupta1998 import judged_cost, judged_model, kinematics, planning, spherical
from tauforge_papers.dasgupta1998.operations import reactions_extra
from tauforge_papers.misprints import as_printed
from tauforge_papers.pedrammehr2012 import accuracy_claims, claims, dynamics_claims, kinematics_claims
from tauforge_papers.pedrammehr2012.measured import IMPROVED, SIMPLIFIED, Measured
from tauforge_papers.stewart_legs import legs
from tauforge_papers.stewart_paths import FAST, SINGULAR, SLOW, constant_velocity, sampled

ROBOT = tf.load("pedrammehr2012")
DASGUPTA = DasguptaCorrections._fields
NO_UPPER_MASS = {"upper_mass": 0.0, "upper_inertia": np.zeros((3, 3))}


def largest(path, model="exact", corrections=(), robot=ROBOT, beside=None):
    """N: the largest force along a path, or difference from another model's."""
    states = sampled("", path, 31)
    found = states.forces(robot, model, corrections)
    return float(np.abs(found if beside is None else found - states.forces(robot, beside)).max())


def test_rates_with_and_without_the_spin():
    found, decide = Measured().random_kinematics, kinematics_claims.DERIVATIVES.decide
    assert decide(errors=[found.of("velocity_by_parts")]) == "holds"
    assert decide(errors=[found.of("velocity_without_spin")]) == "does not hold"


def test_a_pod_that_does_not_turn_about_itself_and_one_that_does():
    """Of the paper's pods on path 1, numbered from 0: 3 does not."""
    rotations = Measured().rotations["1"]
    for pod, expected in ((3, "holds"), (2, "does not hold")):
        differences = [rotation.apart[pod] for rotation in rotations]
        assert kinematics_claims.IDENTICAL.decide(differences=differences) == expected


def test_a_moment_along_the_normal_of_the_joint_and_along_the_pod():
    found = legs(ROBOT, sampled("", FAST, 31).states)

    def about_axes(direction):
        return max(np.abs(dot(direction(leg), axis)).max() for leg in found for axis in (leg.u, leg.v))

    along_the_pod = [one for one in DASGUPTA if one != DASGUPTA[1]]
    cases = ((lambda leg: leg.c, DASGUPTA, "holds"), (lambda leg: leg.s, along_the_pod, "does not hold"))
    for direction, corrections, expected in cases:
        errors = [largest(FAST, SIMPLIFIED, corrections, beside="exact")]
        evidence = {"about_axes": about_axes(direction), "errors": errors, "peak": largest(FAST)}
        assert dynamics_claims.ALONG_C.decide(**evidence) == expected


def test_a_moment_has_no_part_along_a_pod_that_lies_along_the_fixed_axis():
    """Within 1e-13 of it: on the axis itself the joint has no normal."""
    pose, rest = np.array([SLOW.start]), np.zeros((1, 6))
    at_start = MotionSample(pose, rest, rest)
    s = ROBOT.leg_motion(*at_start).directions[0]
    aside = 1e-13 * np.cross(s, [1.0, 0.0, 0.0])
    for robot, expected in ((ROBOT.replace(universal_axes=s + aside), "holds"), (ROBOT, "does not hold")):
        along = [np.abs(dot(leg.c, leg.s)).max() for leg in legs(robot, at_start)]
        assert dynamics_claims.NONE_ALONG.decide(largest=along) == expected


def test_what_previous_models_leave_out():
    """Without mass of the upper parts no parallel axis counts; a leg that stays in a plane neither spins nor twists."""
    across = np.array(ROBOT.platform_points) - ROBOT.base_points
    plane = ROBOT.replace(universal_axes=np.cross([0.0, 0.0, 1.0], across + [0.1, 0.0, 0.0]))
    up = tf.motion.StraightLine([0.1, 0, 0.4, 0, 0, 0], [0.1, 0, 0.6, 0, 0, 0], 0.6, 0.5, 0.5)

    def found(robot, path):
        without = ([one for one in DASGUPTA if one != left_out] for left_out in DASGUPTA)
        costs = [largest(path, SIMPLIFIED, corrections, robot, "exact") for corrections in without]
        named = dict(zip(("spin", "moment", "parallel_axes"), costs, strict=True))
        return dynamics_claims.PREVIOUS.decide(**named, peak=largest(path, robot=robot))

    assert found(ROBOT.replace(**NO_UPPER_MASS), FAST) == "holds"
    assert found(ROBOT, FAST) == "mixed"
    assert found(plane, up) == "does not hold"


def test_differences_that_show_which_model_is_wrong():
    def found(paths, model):
        errors, apart = ([largest(p, IMPROVED, beside=other) for p in paths] for other in ("exact", model))
        shares = [x / largest(p) for x, p in zip(apart, paths, strict=True)]
        return accuracy_claims.NECESSARY.decide(shares=shares, apart=apart, errors=errors)

    assert found([SLOW], SIMPLIFIED) == "holds"
    assert found([SLOW, FAST], SIMPLIFIED) == "mixed"
    assert found([SLOW, FAST], IMPROVED) == "does not hold"


def test_a_path_of_the_printed_velocity():
    def found(speed):
        path = constant_velocity("", speed, 6.0, 2)
        distance = float(np.ptp(path.states.position[:, 0]))
        return claims.PATH_1.decide(distance=distance, speed=0.08, duration=6.0)

    assert [found(speed) for speed in (0.07, 0.5 / 6, 0.09)] == ["holds", "holds with a correction", "does not hold"]


def test_reactions_with_and_without_the_weight_of_the_legs():
    robot = tf.load("dasgupta1998")
    for changes, expected in (((), "holds"), ((("masses, r.second - g", "masses, r.second"),), "does not hold")):
        names = as_printed(kinematics, *changes)
        names["TIMES"] = 5
        found = names["constraint_errors"](names["Along"](robot, FAST))
        assert judged_model.REACTION_FORCES.decide(forces=found.forces, across=found.across) == expected


def test_reactions_beside_the_model_and_beside_that_with_massless_legs():
    robot = tf.load("dasgupta1998").without_friction()
    alone, with_it = (float(cost.flops) for cost in reactions_extra(robot.parameters))
    massless = float(tf.operation_count(robot, "massless-legs").flops)
    decide = judged_cost.SMALL_AMOUNT.decide
    assert decide(alone=alone, with_it=with_it) == "holds"
    assert decide(alone=massless, with_it=massless + with_it - alone) == "does not hold"


def test_spherical_legs_light_symmetric_and_universal():
    def found(robot):
        others = {"symmetric_manipulator": lambda: robot, "sampled": lambda name, path: sampled(name, path, 5)}
        return verdict_with(spherical, "spherical_legs", **others)

    symmetric = spherical.symmetric_manipulator()
    assert found(symmetric.replace(**NO_UPPER_MASS)) == "holds"
    assert found(symmetric) == "holds with a correction"
    assert found(tf.load("dasgupta1998")) == "does not hold"


def test_a_planned_path_and_the_straight_line_itself():
    robot, kept = tf.load("dasgupta1998"), np.concatenate([SINGULAR.end[:3], SINGULAR.start[3:]])
    case = planning._case(robot, "", SINGULAR.start, kept)
    planned, straight = (case.crossings, case.mean_ratio, case.peak_ratio), (0, 1.0, 1.0)

    def found(*paths):
        crossings, means, peaks = zip(*paths, strict=True)
        return planning.rule().decide(crossings=crossings, mean_ratio=means, peak_ratio=peaks)

    assert [found(planned), found(planned, straight), found(straight)] == ["holds", "mixed", "does not hold"]
