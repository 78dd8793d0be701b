"""Exported C of mechanisms with loops: what the header says of positions, and how coordinates become positions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from support.c_compiler import STRICT, compiled, needs_gcc, run
from support.exported_functions import exported
from support.tolerances import CLOSED

PAGE = Path(__file__).parents[2] / "docs" / "c-code.md"


def words(header: Path) -> str:
    """The header's text without line breaks."""
    return re.sub(r"\s*\n \*\s*", " ", header.read_text())


def test_the_header_lists_the_entries_of_a_position(tmp_path):
    robot = tf.load("slider-crank")
    text = words(exported(robot, tmp_path / "c").header)
    entries = "; ".join(f"{k} {c.name} [{c.unit}]" for k, c in enumerate(robot.positions.entries))
    assert f"A position has 4 entries: {entries}. One position: " in text
    numbers = re.search(r"One position: (.*?)\. Coordinates", text)
    assert numbers is not None
    assert np.array_equal([float(x) for x in numbers[1].split(", ")], robot.positions.default)
    assert "Coordinates, from which the other entries follow: 0 crankshaft [rad]. Velocities and " in text
    assert "x[4]: position, with all its entries qd[1]: velocity [rad/s]" in text
    assert "Left out: computed_torque: slider-crank has positions with more entries than coordinates, which" in text
    assert "Time derivatives of all entries of a position, those of cut joints included. x[4]: position" in text
    assert "The position with the coordinates q in closed form, every leg assembled as it is at" in text
    with pytest.raises(
        tf.UnsupportedFeatureError, match=r"computed_torque: slider-crank has .* Write inverse_dynamics"
    ):
        tf.export_c(robot, tmp_path / "c", functions=["computed_torque"])


@pytest.mark.parametrize("name", ["planar-2r", "box", "delta", "flyball-governor"])
def test_no_shapes_of_python_are_left_in_the_comments(name, tmp_path):
    robot = tf.load(name)
    few = [key for key, entry in robot.functions.items() if entry.public and "derivatives" not in key]
    wanted = [key for key in few if name != "flyball-governor" or key not in ("inverse_dynamics", "joint_wrenches")]
    text = words(exported(robot, tmp_path / "c", functions=wanted).header)
    assert "..." not in text
    assert not re.search(r"(?<!\w)\((?:[nmfk]|\d+|bodies|joints)(?:, \w+)*\)(?! m/s)", text)
    assert not re.search(r"^ \* [,:.]", text, flags=re.MULTILINE)


@needs_gcc
def test_the_program_of_the_page_closes_the_loops(tmp_path):
    """What it prints is what the methods give."""
    (program,) = re.findall(r"```c\n(#include \"planar_3rrr.h\".*?)```", PAGE.read_text(), flags=re.DOTALL)
    robot = tf.load("planar-3rrr")
    made = exported(robot, tmp_path / "c", functions=["closing_steps", "inverse_dynamics"])
    (tmp_path / "c" / "main.c").write_text(program)
    run("gcc", *STRICT, "main.c", compiled(made, "-O1").name, "-lm", "-o", "main", cwd=tmp_path / "c")
    printed = run("./main", cwd=tmp_path / "c")
    q = np.array([-2.4309, -0.3365, 1.7579]) + 0.2
    x = robot.configuration(q)
    tau = robot.inverse_dynamics(x, np.ones(3), np.zeros(3))
    assert printed == "{:.4f} {:.4f} {:.4f} N m\n".format(*tau)


@pytest.mark.usefixtures("kernels_on")
@pytest.mark.parametrize(("way", "calls"), [(0.01, 1), (0.1, 2)])
def test_so_many_calls_close_the_loops_as_the_page_says(way, calls):
    rng = np.random.default_rng(0)
    for name in tf.catalogue():
        robot = tf.load(name)
        if robot.positions.entries == robot.coordinates:
            continue
        change = rng.uniform(-way, way, (50, robot.n))
        size = robot._analysis.size
        change *= [1.0 if c.unit == "rad" else size for c in robot.coordinates]
        q, x, gap = robot.positions.coordinates(robot.home) + change, robot.home, np.array(np.inf)
        for _ in range(calls):
            x, gap = robot._evaluator("closing_steps", {"q": q, "near": np.broadcast_to(x, (50, robot.positions.size))})
        assert gap.max() < CLOSED * size, name
