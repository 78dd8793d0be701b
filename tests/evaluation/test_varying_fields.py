"""Every field that may vary, one at a time: the formulas with the field as an argument equal those of changed robots.

By the reference, which compiles nothing, so that many robots and functions are looked at; `test_varying` has kernels.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.platforms import random_motion, random_platform
from support.strategies import random_arm, random_inertia, random_rotation, random_state
from support.tolerances import ROUNDING, error, solve_tolerance
from tauforge.evaluation.reference import reference_call
from tauforge.robots.serial.model import DH_FIELDS, JOINT_SHARES
from tauforge.robots.stewart import model as platform_model

ROWS = 2
ARM_FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "joint_wrenches", "forward_kinematics", "energy")
PLATFORM_FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "leg_motion", "joint_reactions", "energy")
SOLVED = ("inverse_dynamics", "forward_dynamics", "joint_reactions")


def several(result):
    return tuple(result) if isinstance(result, tuple) else (result,)


def changed_values(rng, number):
    """Near a robot's own numbers, no two rows alike; whatever is zero there changes too."""
    return number * rng.uniform(0.9, 1.1, (ROWS, *number.shape)) + 0.02 * (number == 0)


def assert_same(got, want, row, allowed):
    for mine, theirs in zip(got, want, strict=True):
        assert error(mine[row], theirs, core=theirs.ndim) < allowed


ARM_FIELDS = ("gravity", *JOINT_SHARES)
ARMS = [(convention, field) for convention in ("standard", "modified") for field in ARM_FIELDS]
ARMS += [("general", field) for field in ARM_FIELDS if field not in DH_FIELDS]


@pytest.mark.parametrize(("convention", "field"), ARMS)
def test_arms(convention, field):
    rng = np.random.default_rng(ARM_FIELDS.index(field))
    for _ in range(SOAK):
        arm = random_arm(rng, "RPR", convention, drives=True).replace(coulomb_speed=0.1)
        values = changed_values(rng, arm.own_values([field])[field])
        if field == "inertia":
            values = np.array([[random_inertia(rng) for _ in arm.joints] for _ in range(ROWS)])
        for name in ARM_FUNCTIONS:
            function = arm.functions[name]
            state = dict(zip(("q", "qd", "qdd"), random_state(rng, 3, ROWS), strict=True))
            names = [argument.name for argument in function.arguments]
            given = {key: state[key if key in state else "qdd"] for key in names}
            got = reference_call(arm, name, given, {field: values})
            for row in range(ROWS):
                changed = arm.replace(**{field: values[row]})
                want = several(getattr(changed, name)(*(value[row] for value in given.values())))
                allowed = solve_tolerance(changed.mass_matrix(state["q"][row])) if name in SOLVED else ROUNDING
                assert_same(got, want, row, allowed)


PLATFORM_FIELDS = tuple(platform_model.FIELD_SHAPES)


def turned_platform(rng, axes):
    """Its base lies askew, so that the default axes are not what a symmetrical one has."""
    platform = random_platform(rng)
    askew = np.eye(3) + 0.3 * (random_rotation(rng) - np.eye(3))
    points = np.array(platform.base_points) @ np.linalg.qr(askew)[0].T
    return platform.replace(base_points=points, universal_axes=platform.universal_axes if axes == "given" else None)


@pytest.mark.parametrize("axes", ["given", "default"])
@pytest.mark.parametrize("field", PLATFORM_FIELDS)
def test_platforms(field, axes):
    rng = np.random.default_rng(PLATFORM_FIELDS.index(field))
    shape = platform_model.FIELD_SHAPES[field]
    for _ in range(SOAK):
        platform = turned_platform(rng, axes)
        assert platform.axes_are_default == (axes == "default")
        values = changed_values(rng, platform.own_values([field])[field])
        if field.endswith("inertia"):
            one_each = [random_inertia(rng) for _ in range(ROWS * math.prod(shape[:-2]))]
            values = np.array(one_each).reshape(ROWS, *shape)
        for name in PLATFORM_FUNCTIONS:
            function = platform.functions[name]
            motion = dict(zip(("pose", "twist", "acceleration"), random_motion(rng, (ROWS,)), strict=True))
            names = [argument.name for argument in function.arguments]
            given = {key: motion.get(key, 100 * motion["acceleration"]) for key in names}
            got = reference_call(platform, name, given, {field: values})
            for row in range(ROWS):
                changed = platform.replace(**{field: values[row]})
                want = several(getattr(changed, name)(*(value[row] for value in given.values())))
                pose, allowed = motion["pose"][row], ROUNDING
                if name in SOLVED:
                    allowed = solve_tolerance(changed.force_matrix(pose)) + solve_tolerance(changed.mass_matrix(pose))
                assert_same(got, want[: len(got)], row, allowed)


def test_axes_that_were_given_stay_and_default_ones_follow(tmp_path):
    """Also after saving and loading, which writes the axes in both cases."""
    rng = np.random.default_rng(5)
    for axes in ("given", "default"):
        platform = turned_platform(rng, axes)
        platform.save(tmp_path / "platform.toml")
        for one in (platform, tf.load(tmp_path / "platform.toml")):
            assert one.axes_are_default == (axes == "default")
            moved = one.replace(base_points=np.array(one.base_points) + rng.uniform(-0.1, 0.1, (6, 3)))
            assert (moved.universal_axes == one.universal_axes) == (axes == "given")
