"""Exported C: the stack, branches, instructions and symbols of its machine code are what the header promises."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tauforge as tf
from support.c_compiler import Library, compiled, needs_gcc, needs_valgrind, run
from support.c_program import Program
from support.exported_functions import agrees, exported, some
from tauforge.kernels.c99 import body
from tauforge.kernels.c99.body import dialect
from tauforge.kernels.c_common import elementary_functions

COUNTED = 500  # states; `benchmarks/instructions.py` counts a million


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
        for name, most in body.ELEMENTARY_VALUES.items():
            text = elementary_functions({name}, dialect("x"), bits)
            assert text.count("const ") <= most, (name, bits)


@needs_gcc
@needs_valgrind
@pytest.mark.parametrize(
    ("name", "dtype", "largest"),
    [("puma560", "float64", 9e8), ("stanford", "float32", 5e3), ("dasgupta1998", "float64", 0)],
)
def test_every_state_takes_the_same_instructions(name, dtype, largest, tmp_path):
    """largest: of the angles of an arm, beside those within the limits, rad"""
    robot, key = tf.load(name), "inverse_dynamics"
    made = exported(robot, tmp_path / "c", functions=[key], dtype=dtype)
    target = compiled(made, "-O2")
    program = Program(made, target, key, [(robot.n,)] * 3, [(robot.n,)], dtype, ["-O2"])
    position, *rates = robot.random_states(COUNTED)
    if largest:
        scales = np.geomspace(1e-9, largest, COUNTED // 2)
        position[1::2] = scales[:, None] * np.random.default_rng(0).uniform(-1, 1, (COUNTED // 2, robot.n))
        position[0] = 0.0

    def instructions(rows):
        counts = made.source.parent / "counts"
        options = ("--tool=callgrind", f"--callgrind-out-file={counts}", f"--toggle-collect={made.functions[0]}")
        (force,) = program([x[rows] for x in (position, *rates)], "valgrind", *options)
        assert np.isfinite(force).all()
        return int(re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.MULTILINE)[1])

    one = instructions(slice(0, 1))
    assert one > 300
    assert instructions(slice(None)) == COUNTED * one
