"""Exported C: it compiles strictly, agrees with the formulas and kernels, and its self-test finds faults."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

import tauforge as tf
from support.c_compiler import Library, compiled, needs_gcc, self_test
from support.exported_functions import STATES, agrees, exported
from support.tolerances import error


@needs_gcc
@pytest.mark.parametrize("name", ["puma560", "dasgupta1998"])
def test_optimised_float_agrees_with_the_kernels(name, tmp_path):
    robot, functions = tf.load(name), ["inverse_dynamics"]
    made = exported(robot, tmp_path / "c", functions=functions, dtype="float32")
    # solved systems magnify the rounding of both: 5e8 units of double are one of float
    factor = 6e8 if "force_matrix" in robot.functions else 1e7
    library = Library(made, compiled(made, "-O2"), "float32")
    agrees(robot, library, functions, "float32", robot._evaluator, factor)


@needs_gcc
@pytest.mark.parametrize("name", ["puma560", "box"])
def test_a_step_of_computed_torque_is_the_law(name, tmp_path):
    """Every coordinate with gains of its own; angles of a platform go the short way round."""
    robot, rng = tf.load(name), np.random.default_rng(3)
    made = exported(robot, tmp_path / "c", functions=["computed_torque"])
    library = Library(made, compiled(made, "-O1"))
    q, qd, qdd = robot.random_states(STATES, 5)
    kp, kv = rng.uniform(10, 200, robot.n), rng.uniform(1, 30, robot.n)
    target = q + 0.1 * rng.normal(size=q.shape)
    for k, coordinate in enumerate(robot.coordinates):
        target[:, k] += 2 * np.pi * coordinate.wraps
    law = tf.control.ComputedTorque(robot, kp, kv)
    want = np.array(
        [law.force(0.0, q[k], qd[k], tf.motion.MotionSample(target[k], qdd[k], qd[k])) for k in range(STATES)]
    )
    gains = [np.tile(x, (STATES, 1)) for x in (kp, kv)]
    (got,) = library("computed_torque", [q, qd, target, qdd, qd, *gains], [(len(robot.actuators),)])
    assert error(got, want) < 1e-10


def elementary(folder, dtype, statement, *flags):
    """A function of arrays (x, y, z, count) that runs the statement, which sees what the generated code sees."""
    made = exported(tf.load("dasgupta1998"), folder, functions=["inverse_kinematics"], dtype=dtype)
    number = {"float64": "double", "float32": "float"}[dtype]
    head = f"void each(const {number} x[], {number} y[], {number} z[], int n)"
    loop = f"    int k;\n    for (k = 0; k < n; k++) {{\n        {statement}\n    }}\n"
    made.source.write_text(f"{made.source.read_text()}\n{head};\n{head}\n{{\n{loop}}}\n")
    each = Library(made, compiled(made, "-O2", *flags), dtype)._library.each

    def call(x):
        y, z = np.full_like(x, 777), np.full_like(x, 777)
        each(*(ctypes.c_void_p(values.ctypes.data) for values in (x, y, z)), len(x))
        return y, z

    return call


@needs_gcc
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_our_own_root(dtype, tmp_path):
    """Within a unit in the last place from the smallest numbers to the largest; NaN below zero."""
    roots = elementary(tmp_path / "c", dtype, "y[k] = tf_root(x[k]); z[k] = y[k];", "-ffreestanding")
    info, rng = np.finfo(dtype), np.random.default_rng(0)
    x = np.exp(rng.uniform(np.log(float(info.tiny)), np.log(float(info.max)) - 0.01, 20_000)).astype(dtype)
    special = [0.0, info.smallest_subnormal, info.tiny, 1.0, 4.0, info.max, -1.0]
    y, _ = roots(np.r_[x, np.array(special).astype(dtype)])
    want = np.sqrt(np.r_[x, np.array(special[:-1]).astype(dtype)].astype("longdouble"))
    assert np.isnan(y[-1])
    assert (np.abs(y[:-1] - want) <= 1.01 * np.spacing(want.astype(dtype))).all()


@needs_gcc
@pytest.mark.parametrize(("dtype", "largest"), [("float64", 1e9), ("float32", 6e3)])
def test_our_own_sines(dtype, largest, tmp_path):
    """2.5 units in the last place up to the angle that the header names, NaN beyond."""
    sines = elementary(tmp_path / "c", dtype, "tf_sincos(x[k], &y[k], &z[k]);")
    rng = np.random.default_rng(0)
    x = np.r_[rng.uniform(-10, 10, 50_000), largest * rng.uniform(-1, 1, 50_000)].astype(dtype)
    wide = np.longdouble if dtype == "float64" else np.float64
    for got, function in zip(sines(x), (np.sin, np.cos), strict=True):
        want = function(x.astype(wide))
        assert (np.abs(got - want) / np.spacing(np.abs(want).astype(dtype))).max() < 2.5
    beyond = np.array([1.01 * largest, -1.01 * largest, np.inf, -np.inf, np.nan], dtype)
    assert np.isnan(sines(beyond)).all()


@needs_gcc
def test_a_corrupted_source_fails_the_self_test(tmp_path):
    made = exported(tf.load("puma560"), tmp_path / "c", functions=["inverse_dynamics"])
    text = made.source.read_text()
    place = text.index("void puma560_inverse_dynamics")
    constant = re.compile(r"= (0\.\d{3,}) \* ").search(text, place)
    made.source.write_text(text[: constant.start(1)] + "0.5" + text[constant.end(1) :])
    printed = self_test(made, compiled(made, "-O0"), code=1)
    assert "puma560_inverse_dynamics, tau[" in printed
    assert "failed" in printed


@needs_gcc
@pytest.mark.parametrize(("dtype", "fault"), [("float64", 3e-13), ("float32", 24 * float(np.finfo("float32").eps))])
def test_the_self_test_finds_small_faults(dtype, fault, tmp_path):
    """One that is a few times the rounding: a vector that asks for the largest number and so much more is refused."""
    made = exported(tf.load("planar-2r"), tmp_path / "c", functions=["inverse_dynamics"], dtype=dtype)
    target = compiled(made, "-O0")
    assert "agree" in self_test(made, target)
    text = made.test.read_text()
    place = text.index("wanted0")
    numbers = re.compile(r"-?\d+\.\d+(e[-+]\d+)?").finditer(text, place, text.index(";", place))
    largest = max(numbers, key=lambda found: abs(float(found[0])))
    shifted = repr(float(largest[0]) * (1 + fault))
    made.test.write_text(text[: largest.start()] + shifted + text[largest.end() :])
    assert f"instead of {float(np.dtype(dtype).type(shifted)):.17g}" in self_test(made, target, code=1)


@needs_gcc
def test_a_result_that_is_not_nan_fails_the_self_test(tmp_path):
    made = exported(tf.load("puma560"), tmp_path / "c", functions=["mass_matrix"])
    text = made.source.read_text()
    made.source.write_text(re.sub(r"(mass_matrix\[35\] = [^;]*) \+ poison;", r"\1;", text))
    assert "a result is" in self_test(made, compiled(made, "-O0"), code=1)
