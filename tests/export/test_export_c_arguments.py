"""Loads and varying fields as arguments of exported C: equal to the methods with these loads, of robots so changed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tauforge as tf
from support.c_compiler import Library, compiled, needs_gcc, self_test
from support.command_line import error_of, parsed
from support.exported_functions import STATES, allowed, exported
from support.platforms import random_platform, with_spherical_legs
from support.tolerances import error
from tauforge.robots.loads import SYMMETRIC

WRENCH = {"stanford": "tip_wrench", "dasgupta1998": "external_wrench"}


def some_payload(rng):
    turns = np.linalg.qr(rng.normal(size=(STATES, 3, 3)))[0]
    inertias = turns @ np.diag([0.1, 0.2, 0.25]) @ np.swapaxes(turns, -1, -2)
    return tf.Payload(rng.uniform(0.0, 5.0, STATES), rng.normal(size=(STATES, 3)), inertias)


@pytest.fixture(scope="module", params=["stanford", "dasgupta1998"])
def loaded(request, tmp_path_factory):
    """An arm with a prismatic joint, or a platform, and its library with every load."""
    robot = tf.load(request.param)
    loads = (WRENCH[request.param], "payload", "base_motion")
    made = exported(
        robot,
        tmp_path_factory.mktemp("c"),
        functions=["inverse_dynamics", "forward_dynamics", "mass_matrix", "computed_torque"],
        loads=("base_motion", "payload", WRENCH[request.param]),
    )
    target = compiled(made, "-O1")
    assert "agree" in self_test(made, target)
    return robot, loads, made, Library(made, target)


@needs_gcc
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
def test_loads_are_those_of_the_method(loaded, function):
    robot, (wrench, *_), _, library = loaded
    rng = np.random.default_rng(5)
    given = robot.random_arguments(function, STATES, 3)
    wrenches, payload, base = rng.normal(size=(STATES, 6)), some_payload(rng), rng.normal(size=(STATES, 9))
    moved = tf.BaseMotion(base[:, :3], base[:, 3:6], base[:, 6:])
    want = getattr(robot, function)(*given.values(), **{wrench: wrenches}, payload=payload, base_motion=moved)
    (got,) = library(function, [*given.values(), wrenches, payload.numbers(), base], [(robot.n,)])
    assert error(got, want) < allowed(robot, given)


@needs_gcc
def test_a_function_takes_the_loads_that_it_knows(loaded):
    """A mass matrix has a payload and no wrench. Zeros are no payload."""
    robot, _, made, library = loaded
    given, payload = robot.random_arguments("mass_matrix", STATES, 3), some_payload(np.random.default_rng(6))
    core = (robot.n, robot.n)
    (got,) = library("mass_matrix", [*given.values(), payload.numbers()], [core])
    assert error(got, robot.mass_matrix(*given.values(), payload=payload).reshape(STATES, -1)) < allowed(robot, given)
    (got,) = library("mass_matrix", [*given.values(), np.zeros((STATES, 10))], [core])
    assert error(got, robot.mass_matrix(*given.values()).reshape(STATES, -1)) < allowed(robot, given)
    shown = ", ".join(f"I{'xyz'[a]}{'xyz'[b]}" for a, b in SYMMETRIC)
    assert f"{shown} of a held body" in made.header.read_text()
    assert "not the order of inertial_parameters" in " ".join(made.header.read_text().replace("*", " ").split())


@needs_gcc
def test_a_loaded_step_of_computed_torque(loaded):
    """Without errors of the motion it is inverse dynamics with these loads; with them, the law of a carrying robot."""
    robot, (wrench, *_), _, library = loaded
    rng = np.random.default_rng(7)
    q, qd, qdd = robot.random_states(STATES, 5)
    payload, wrenches = some_payload(rng), rng.normal(size=(STATES, 6))
    gains = [np.full((STATES, robot.n), gain) for gain in (90.0, 15.0)]
    rest = np.zeros((STATES, 9))
    (got,) = library("computed_torque", [q, qd, q, qd, qdd, *gains, wrenches, payload.numbers(), rest], [(robot.n,)])
    want = robot.inverse_dynamics(q, qd, qdd, payload=payload, **{wrench: wrenches})
    assert error(got, want) < allowed(robot, {robot.functions["mass_matrix"].arguments[0].name: q})
    target = q + 0.1 * rng.normal(size=q.shape)
    (got,) = library(
        "computed_torque", [q, qd, target, qd, qdd, *gains, 0 * wrenches, payload.numbers(), rest], [(robot.n,)]
    )
    for k in range(3):
        carrying = robot.carrying(tf.Payload(payload.mass[k], payload.com[k], payload.inertia[k]))
        law = tf.control.ComputedTorque(carrying, 90.0, 15.0)
        want = law.force(0.0, q[k], qd[k], tf.motion.MotionSample(target[k], qd[k], qdd[k]))
        assert error(got[k], want) < 1e-10


@needs_gcc
@pytest.mark.parametrize(
    ("name", "fields"), [("stanford", ("mass", "d", "gravity")), ("dasgupta1998", ("platform_mass", "base_points"))]
)
def test_varying_fields_are_those_of_another_robot(name, fields, tmp_path):
    robot, rng = tf.load(name), np.random.default_rng(8)
    functions = ["inverse_dynamics", "computed_torque"]
    made = exported(robot, tmp_path / "c", functions=functions, varying=fields, loads=["payload"])
    target = compiled(made, "-O1")
    assert "agree" in self_test(made, target)
    library, payload = Library(made, target), some_payload(rng)
    own = robot.own_values(fields)
    other = {field: value * rng.uniform(0.9, 1.1) for field, value in own.items()}
    changed = robot.replace(**other)
    given = list(changed.random_states(STATES, 9))
    rows = [np.tile(x.ravel(), (STATES, 1)) for x in other.values()]
    (got,) = library("inverse_dynamics", [*given, payload.numbers(), *rows], [(robot.n,)])
    want = changed.inverse_dynamics(*given, payload=payload)
    assert error(got, want) < allowed(changed, {robot.functions["mass_matrix"].arguments[0].name: given[0]})


def test_a_function_takes_the_fields_that_it_depends_on(tmp_path):
    arm = tf.load("puma560")
    functions = ["inverse_dynamics", "forward_kinematics", "gravity_forces"]
    made = tf.export_c(arm, tmp_path, functions, varying=["gravity", "mass", "d"])
    arguments = {
        key: re.findall(r"const double (\w+)\[", text)
        for key, text in re.findall(r"void puma560_(\w+)\((.*?)\);", made.header.read_text(), re.DOTALL)
    }
    assert arguments == {
        "inverse_dynamics": ["q", "qd", "qdd", "gravity", "mass", "d"],
        "forward_kinematics": ["q", "d"],
        "gravity_forces": ["q", "gravity", "mass", "d"],
    }
    own = ", ".join(f"{x:.9g}" for x in arm.own_values(["mass"])["mass"])
    assert f"mass of the robot, SI units; its own: {own}" in re.sub(r"\s*\n \*\s*", " ", made.header.read_text())


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("puma560", {"loads": ["wrench"]}, r"takes a load 'wrench'\. Use one of tip_wrench, payload, base_motion"),
        ("puma560", {"loads": "payload"}, "expected a sequence of names, got 'payload'"),
        ("puma560", {"loads": [3]}, "expected a sequence of names"),
        ("puma560", {"loads": None}, "expected a sequence of names"),
        ("puma560", {"varying": ["weight"]}, "'weight' cannot vary. Use one of gravity, mass"),
        ("puma560", {"varying": ["mass", "mass"]}, "a field is named twice"),
        ("puma560", {"functions": ["jacobian"], "loads": ["payload"]}, "no function that is written needs 'payload'"),
        ("puma560", {"functions": ["jacobian"], "varying": ["mass"]}, "no function that is written needs 'mass'"),
    ],
)
def test_bad_arguments(name, options, words, tmp_path):
    with pytest.raises(tf.UnsupportedFeatureError, match=words):
        tf.export_c(tf.load(name), tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_load_that_the_method_refuses(tmp_path):
    """Friction of spherical base joints on a base that turns would spin a leg."""
    rng = np.random.default_rng(0)
    platform = with_spherical_legs(random_platform(rng), rng).replace(friction=(0.1, 0.0, 0.0))
    with pytest.raises(tf.UnsupportedFeatureError, match="nothing holds its spin"):
        tf.export_c(platform, tmp_path, ["inverse_dynamics"], loads=["base_motion"])
    with pytest.raises(tf.UnsupportedFeatureError, match="cannot vary where legs have spherical joints"):
        tf.export_c(platform, tmp_path, ["inverse_dynamics"], varying=["lower_com"])


def test_a_robot_without_masses_has_none_to_vary(tmp_path):
    made = tf.export_c(tf.load("dietmaier"), tmp_path, ["inverse_kinematics"], varying=["base_points"])
    assert "base_points[DIETMAIER_RESTRICT 18]" in made.header.read_text()
    with pytest.raises(tf.ModelError, match="'platform_mass' cannot vary where the platform has none"):
        tf.load("dietmaier").own_values(["platform_mass"])


def test_the_command_takes_loads_and_fields(tmp_path):
    options = ("--function", "inverse_dynamics", "--load", "payload", "--varying", "mass", "--varying", "gravity")
    made = parsed("export-c", "scara", tmp_path, *options)
    assert made["functions"] == ["scara_inverse_dynamics"]
    text = (tmp_path / "scara.h").read_text()
    assert all(f"const double {name}[SCARA_RESTRICT" in text for name in ("payload", "mass", "gravity"))
    assert "takes a load 'hat'" in error_of("export-c", "scara", tmp_path, "--load", "hat")
