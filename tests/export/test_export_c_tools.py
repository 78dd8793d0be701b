"""Exported C under other tools: sanitisers, cppcheck, clang, C++, Rust and CMake."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.c_compiler import STRICT, compiled, needs_cppcheck, needs_gcc, needs_gxx, needs_rust, run, self_test
from support.c_program import Program
from support.exported_functions import AGREE, allowed, exported
from support.tolerances import SINGLE, error

SANITISED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
MANY = 1_000_000 if SOAK > 1 else 20_000
LOADED = {"loads": ["payload", "tip_wrench", "base_motion"], "varying": ["mass", "d"]}
PLATFORM = ["inverse_dynamics", "forward_dynamics", "tracked_pose", "computed_torque"]


@needs_gcc
@pytest.mark.fault(19)
@pytest.mark.parametrize(
    ("name", "dtype", "functions", "options"),
    [
        ("stanford", "float64", None, {}),
        ("scara", "float32", None, LOADED),
        ("dasgupta1998", "float64", PLATFORM, {"loads": ["payload", "external_wrench"]}),
        ("box", "float32", PLATFORM[:2], {}),
    ],
)
def test_sanitisers_find_nothing_in_the_self_test(name, dtype, functions, options, tmp_path):
    """Arms with prismatic joints, platforms, loads; a soak takes every function of the platforms."""
    functions = None if SOAK > 1 else functions
    made = exported(tf.load(name), tmp_path / "c", functions=functions, dtype=dtype, **options)
    assert "agree" in self_test(made, compiled(made, "-O0", *SANITISED), "-O0", *SANITISED)


@needs_gcc
@pytest.mark.fault(19)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["puma560", "dasgupta1998"])
def test_many_random_states_under_sanitisers(name, dtype, tmp_path):
    """Optimised code in a program of its own: no report, and the kernels' numbers. A soak takes a million states."""
    robot = tf.load(name)
    functions = ["inverse_dynamics", "forward_dynamics"][: 2 if dtype == "float64" else 1]
    made = exported(robot, tmp_path / "c", functions=functions, dtype=dtype)
    flags = ("-O1", *SANITISED)
    target = compiled(made, *flags)
    for key in functions:
        program = Program(made, target, key, [(robot.n,)] * 3, [(robot.n,)], dtype, flags)
        given = {name: x.astype(dtype).astype(float) for name, x in robot.random_arguments(key, MANY, seed=2).items()}
        (got,), (want,) = program(list(given.values())), robot._evaluator(key, given)
        precision = 1.0 if dtype == "float64" else np.finfo("float32").eps / np.finfo(float).eps
        assert error(got, want) < precision * allowed(robot, given)


@needs_gcc
def test_sanitisers_see_a_read_beyond_an_array(tmp_path):
    robot, key = tf.load("planar-2r"), "gravity_forces"
    made = exported(robot, tmp_path / "c", functions=[key])
    text = made.source.read_text()
    assert "= q[1];" in text
    made.source.write_text(text.replace("= q[1];", "= q[2];"))
    flags = ("-O0", *SANITISED)
    program = Program(made, compiled(made, *flags), key, [(2,)], [(2,)], "float64", flags)
    with pytest.raises(AssertionError, match="AddressSanitizer: stack-buffer-overflow"):
        program([np.zeros((1, 2))])


@needs_cppcheck
@pytest.mark.parametrize(
    ("name", "functions", "options"),
    [
        ("scara", None, {}),
        ("stanford", ["inverse_dynamics"], {"dtype": "float32", **LOADED}),
        ("dasgupta1998", ["inverse_kinematics"], {}),
        ("puma560", ["coriolis_matrix"], {}),
    ],
)
def test_cppcheck_finds_nothing(name, functions, options, tmp_path):
    made = exported(tf.load(name), tmp_path / "c", functions=functions, **options)
    checks = "--enable=warning,style,performance,portability"
    known = "--suppress=duplicateExpression"  # of x == x, which asks for NaN
    run("cppcheck", checks, known, "--std=c99", "--error-exitcode=1", "--quiet", made.source, made.test, cwd=tmp_path)


@pytest.fixture
def one_state(request, tmp_path):
    """Inverse dynamics of a robot in a static library, arguments, and the forces that it should give."""
    name, dtype = request.param
    robot = tf.load(name)
    made = exported(robot, tmp_path / "c", functions=["inverse_dynamics"], dtype=dtype)
    run("ar", "rcs", f"lib{name}.a", compiled(made, "-O1").name, cwd=tmp_path / "c")
    given = [x[0].astype(dtype) for x in robot.random_states(1)]
    want = robot.inverse_dynamics(*(x.astype(float) for x in given))
    return made, dtype, given, want


one_of_each = pytest.mark.parametrize("one_state", [("scara", "float64"), ("dasgupta1998", "float32")], indirect=True)
SAME = {"float64": AGREE, "float32": SINGLE}


@needs_gxx
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
@one_of_each
def test_cpp_calls_it(one_state, standard):
    made, dtype, given, want = one_state
    number, prefix, folder = {"float64": "double", "float32": "float"}[dtype], made.source.stem, made.source.parent
    suffix = "f" if dtype == "float32" else ""
    rows = [", ".join(f"{float(y)!r}{suffix}" for y in x) for x in given]
    arrays = "".join(f"const {number} a{k}[] = {{{row}}};\n" for k, row in enumerate(rows))
    (folder / "main.cpp").write_text(
        f'#include "{prefix}.h"\n#include <cstdio>\nint main() {{\n{arrays}{number} f[{len(want)}];\n'
        f"{prefix}_inverse_dynamics(a0, a1, a2, f);\n"
        'for (auto x : f) std::printf("%.17g ", static_cast<double>(x));\n}\n'
    )
    run("g++", f"-std={standard}", *STRICT[1:], "main.cpp", "-L.", f"-l{prefix}", "-lm", "-o", "main", cwd=folder)
    assert error(np.array(run("./main", cwd=folder).split(), float), want) < SAME[dtype]


@needs_gcc
@needs_rust
@one_of_each
def test_rust_calls_it(one_state):
    """By what bindgen makes of the header."""
    made, dtype, given, want = one_state
    number, prefix, folder = {"float64": "f64", "float32": "f32"}[dtype], made.source.stem, made.source.parent
    run("bindgen", made.header.name, "-o", "robot.rs", cwd=folder)
    arrays = "".join(
        f"let a{k}: [{number}; {len(x)}] = [{', '.join(repr(float(y)) for y in x)}];\n" for k, x in enumerate(given)
    )
    (folder / "main.rs").write_text(
        f'include!("robot.rs");\nfn main() {{\n{arrays}let mut f: [{number}; {len(want)}] = [0.0; {len(want)}];\n'
        f"unsafe {{ {prefix}_inverse_dynamics(a0.as_ptr(), a1.as_ptr(), a2.as_ptr(), f.as_mut_ptr()); }}\n"
        'for x in f { print!("{:e} ", x); }\n}\n'
    )
    run("rustc", "-L.", f"-lstatic={prefix}", "-lm", "main.rs", "-o", "main", cwd=folder)
    assert error(np.array(run("./main", cwd=folder).split(), float), want) < SAME[dtype]


@needs_gcc
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_builds_and_tests(tmp_path):
    made = exported(tf.load("planar-2r"), tmp_path / "c", functions=["inverse_dynamics"])
    run("cmake", "-S", made.cmake.parent, "-B", "build", cwd=tmp_path)
    run("cmake", "--build", "build", cwd=tmp_path)
    run("ctest", "--output-on-failure", cwd=tmp_path / "build")
