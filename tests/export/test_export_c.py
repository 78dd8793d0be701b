"""Exported C: it compiles strictly, agrees with the formulas and kernels, and keeps its promises about the stack."""

from __future__ import annotations

import ctypes
import re
import shutil

import numpy as np
import pytest

import tauforge as tf
from support.c_compiler import STRICT, Library, compiled, needs_cppcheck, needs_gcc, needs_gxx, run, self_test
from support.exported_functions import STATES, agrees, exported, some
from support.tolerances import error
from tauforge.kernels.c99 import body
from tauforge.kernels.c99.dialect import PREFIX, dialect
from tauforge.kernels.c_source.statements import functions as elementary_functions

SMALL = ("inverse_dynamics", "forward_dynamics", "inverse_kinematics", "tracked_pose", "computed_torque")
SANITISED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O0")


@needs_gcc
@pytest.mark.parametrize("name", ["puma560", "dasgupta1998"])
def test_optimised_code_agrees_with_the_kernels(name, tmp_path):
    robot = tf.load(name)
    functions = some(robot, SMALL)
    made = exported(robot, tmp_path / "c", functions=functions)
    target = compiled(made, "-O2")
    self_test(made, target, "-O2")
    table = [key for key in functions if key in robot.functions]
    agrees(robot, Library(made, target), table, "float64", robot._evaluator)
    single = exported(robot, tmp_path / "single", functions=["inverse_dynamics"], dtype="float32")
    # solved systems magnify the rounding of both: 5e8 units of double are one of float
    factor = 6e8 if "force_matrix" in robot.functions else 1e7
    agrees(
        robot,
        Library(single, compiled(single, "-O2"), "float32"),
        ["inverse_dynamics"],
        "float32",
        robot._evaluator,
        factor,
    )


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


@needs_gcc
def test_without_a_library(tmp_path):
    """-ffreestanding: the only name from outside is that of nothing; our own root is accurate."""
    platform = tf.load("dasgupta1998")
    made = exported(platform, tmp_path / "c", functions=["inverse_kinematics", "inverse_dynamics"])
    target = compiled(made, "-O2", "-ffreestanding", "-fno-math-errno")
    names = run("nm", "-u", target.name, cwd=target.parent).split()
    assert set(names) <= {"U", "_GLOBAL_OFFSET_TABLE_"}
    library = Library(made, target)
    agrees(platform, library, ["inverse_kinematics", "inverse_dynamics"], "float64", platform._evaluator)
    assert "malloc" not in made.source.read_text()
    data = run("nm", target.name, cwd=target.parent)
    assert not re.search(r" [BbDd] ", data), "no variable outside functions"


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
@pytest.mark.parametrize("name", ["puma560", "dasgupta1998"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_stack_is_within_its_bound(name, dtype, tmp_path):
    robot = tf.load(name)
    functions = some(robot, ("inverse_dynamics", "mass_matrix", "tracked_pose", "regressor", "computed_torque"))
    made = exported(robot, tmp_path / "c", functions=functions, dtype=dtype)
    bounds = re.findall(r"Stack: at most (\d+) bytes.*?\nvoid \w+?_(\w+)\(", made.header.read_text(), re.DOTALL)
    bounds = {key.removeprefix(f"{made.source.stem}_"): int(bytes_) for bytes_, key in bounds}
    assert set(bounds) == set(functions)
    for flag in ("-O0", "-O2", "-Os"):
        compiled(made, flag, "-fstack-usage")
        usage = {}
        for line in made.source.with_suffix(".su").read_text().splitlines():
            place, size, kind = line.split("\t")
            assert kind in ("static", "dynamic,bounded")
            usage[place.split(":")[-1]] = int(size)
        elementary = max(usage.get(f"tf_{key}", 0) for key in ("sincos", "tanh", "atan2"))
        for key, bound in bounds.items():
            parts = [size for part, size in usage.items() if re.fullmatch(rf"tf_{key}_\d+", part)]
            used = usage[f"{made.source.stem}_{key}"] + max(parts, default=0) + elementary
            assert used <= bound, (key, flag)


@needs_gcc
@pytest.mark.parametrize("name", ["puma560", "dasgupta1998"])
def test_the_machine_code_has_no_branches(name, tmp_path):
    """So its time does not depend on the state."""
    made = exported(tf.load(name), tmp_path / "c", functions=["inverse_dynamics"])
    target = compiled(made, "-O2", "-fno-math-errno")
    listing = run("objdump", "-d", "--no-show-raw-insn", target.name, cwd=target.parent)
    if "x86-64" not in listing:
        pytest.skip("the names of jumps are those of x86-64")
    assert "mulsd" in listing
    assert not re.findall(r"\t(j(?!mp)\w+) ", listing)


def test_values_of_elementary_functions_are_counted():
    for bits in (64, 32):
        for name, most in body.LINES.items():
            text = elementary_functions({name}, dialect("x"), bits, PREFIX)
            assert text.count("const ") <= most, (name, bits)


@needs_gcc
@pytest.mark.parametrize("name", ["planar-2r", "dasgupta1998"])
def test_sanitisers_find_nothing(name, tmp_path):
    robot = tf.load(name)
    made = exported(robot, tmp_path / "c", functions=some(robot, ("inverse_dynamics", "inverse_kinematics")))
    self_test(made, compiled(made, *SANITISED), *SANITISED)


@needs_cppcheck
@pytest.mark.parametrize(
    ("name", "functions"), [("scara", None), ("dasgupta1998", ["inverse_kinematics"]), ("puma560", ["coriolis_matrix"])]
)
def test_cppcheck_finds_nothing(name, functions, tmp_path):
    made = exported(tf.load(name), tmp_path / "c", functions=functions)
    checks = "--enable=warning,style,performance,portability"
    known = "--suppress=duplicateExpression"  # of x == x, which asks for NaN
    run("cppcheck", checks, known, "--std=c99", "--error-exitcode=1", "--quiet", made.source, made.test, cwd=tmp_path)


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
def test_a_result_that_is_not_nan_fails_the_self_test(tmp_path):
    made = exported(tf.load("puma560"), tmp_path / "c", functions=["mass_matrix"])
    text = made.source.read_text()
    made.source.write_text(re.sub(r"(mass_matrix\[35\] = [^;]*) \+ poison;", r"\1;", text))
    assert "a result is" in self_test(made, compiled(made, "-O0"), code=1)


@needs_gxx
def test_the_header_is_one_of_cpp(tmp_path):
    made = exported(tf.load("scara"), tmp_path / "c")
    program = tmp_path / "c" / "main.cpp"
    program.write_text(
        '#include "scara.h"\nint main() { double q[4] = {}, g[4]; scara_gravity_forces(q, g); return g[0] != 0; }\n'
    )
    run("gcc", *STRICT, "-c", "scara.c", cwd=program.parent)
    flags = ("-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror")
    run("g++", *flags, "main.cpp", "scara.o", "-lm", "-o", "main", cwd=program.parent)
    run("./main", cwd=program.parent)
    assert made.header.read_text().isascii()


@needs_gcc
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_builds_and_tests(tmp_path):
    made = exported(tf.load("planar-2r"), tmp_path / "c", functions=["inverse_dynamics"])
    run("cmake", "-S", made.cmake.parent, "-B", "build", cwd=tmp_path)
    run("cmake", "--build", "build", cwd=tmp_path)
    run("ctest", "--output-on-failure", cwd=tmp_path / "build")
