"""The contract of robots: it is narrow, and formulation= and external_wrench= mean the same for every kind."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import FORMULATIONS, error
from tauforge.robots.robot import Robot

MOST_IN_THE_CONTRACT, MOST_OF_AN_ARM = 45, 70
KINDS = ("puma560", "dasgupta1998", "five-bar")
OWN_WRENCH = {"puma560": "tip_wrench"}
OWN_FORMULATION = {"dasgupta1998": "model"}
WRENCH = np.array([5.0, -3.0, 2.0, 0.4, 0.2, -0.3])


def public(names):
    return [name for name in names if not name.startswith("_")]


def test_the_contract_is_narrow():
    annotated = [name for base in Robot.__mro__ for name in vars(base).get("__annotations__", ())]
    assert len(set(public([*dir(Robot), *annotated]))) <= MOST_IN_THE_CONTRACT
    assert len(public(dir(tf.load("puma560")))) <= MOST_OF_AN_ARM


@pytest.fixture(params=KINDS)
def robot(request):
    return tf.load(request.param)


def state(robot, rows=3):
    return robot.random_states(rows, seed=4)


def test_every_formulation_by_one_keyword(robot):
    given = state(robot)
    expected = robot.inverse_dynamics(*given)
    assert np.array_equal(robot.inverse_dynamics(*given, formulation=None), expected)
    assert np.array_equal(robot.inverse_dynamics(*given, formulation=robot.formulations.default), expected)
    own = OWN_FORMULATION.get(robot.name, "formulation")
    for name in robot.formulations if own == "formulation" else ("dasgupta1998", "massless-legs"):
        found = robot.inverse_dynamics(*given, formulation=name)
        if own == "formulation":
            assert error(found, expected) < FORMULATIONS
        else:
            assert np.array_equal(found, robot.inverse_dynamics(*given, **{own: name}))
            assert error(found, expected) > FORMULATIONS
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown \w+ 'newton'"):
        robot.inverse_dynamics(*given, formulation="newton")


def test_an_external_wrench_by_one_keyword(robot):
    """It is a force and a moment on the moved body: forces change by the Jacobian's or H's share of it."""
    position, velocity, acceleration = state(robot)
    plain = robot.inverse_dynamics(position, velocity, acceleration)
    for _ in range(2):  # the method, and then its shortcut
        pushed = robot.inverse_dynamics(position, velocity, acceleration, external_wrench=WRENCH)
        if isinstance(robot, tf.StewartPlatform):
            change = -np.linalg.solve(robot.force_matrix(position), np.broadcast_to(WRENCH, plain.shape)[..., None])
            change = change[..., 0]
        else:
            change = -np.swapaxes(robot.jacobian(position), -1, -2) @ WRENCH
        assert error(pushed - plain, change) < 1e3 * FORMULATIONS  # digits that the difference of forces loses
        back = robot.forward_dynamics(position, velocity, pushed, external_wrench=WRENCH)
        assert error(back, acceleration) < 1e3 * FORMULATIONS
    own = OWN_WRENCH.get(robot.name)
    if own is not None:
        assert np.array_equal(robot.inverse_dynamics(position, velocity, acceleration, **{own: WRENCH}), pushed)


def test_two_spellings_at_once_are_refused():
    arm, platform = tf.load("puma560"), tf.load("dasgupta1998")
    for robot, twice in (
        (arm, {"tip_wrench": WRENCH, "external_wrench": WRENCH}),
        (platform, {"model": "exact", "formulation": "exact"}),
    ):
        with pytest.raises(tf.UnsupportedFeatureError, match="are one argument of inverse_dynamics"):
            robot.inverse_dynamics(*state(robot), **twice)


def test_kernels_take_the_common_keyword(kernels_on):
    platform = tf.load("dasgupta1998")
    given = state(platform)
    found = platform.kernel("inverse_dynamics", formulation="massless-legs")(*given)
    assert np.array_equal(found, platform.inverse_dynamics(*given, model="massless-legs"))
