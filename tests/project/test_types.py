"""What a type checker tells a user of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args, get_overloads, get_type_hints

import tauforge as tf
from tauforge.formats import loading

KINDS = (tf.SerialArm, tf.StewartPlatform, tf.Mechanism)

PROGRAM = """
from pathlib import Path
import tauforge as tf

arm = tf.load("puma560")
platform = tf.load("dasgupta1998")
robot = tf.load(Path("somewhere.toml"))
forces = [one.inverse_dynamics([0.0] * 6, [0.0] * 6, [0.0] * 6) for one in (arm, platform, robot)]
links = arm.link_frames([0.0] * 6)
reveal_type(arm)
reveal_type(platform)
reveal_type(tf.analysis.compare)
arm.assembly_modes([1.0] * 6)
"""


def test_the_names_that_type_checkers_know_are_the_catalogue() -> None:
    found = {}
    for overload in get_overloads(tf.load):
        hints = get_type_hints(overload, {**vars(loading), **{kind.__name__: kind for kind in KINDS}})
        found |= {name: hints["return"] for name in get_args(hints["name_or_path"]) if isinstance(name, str)}
    assert found == {name: type(tf.load(name)) for name in tf.catalogue()}


def test_a_type_checker_knows_what_load_gives(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    options = ["--cache-dir", str(tmp_path / "cache"), "--config-file", "", "--ignore-missing-imports"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    notes = [line for line in done.stdout.splitlines() if line.startswith("program.py")]
    assert len(notes) == 4, done.stdout + done.stderr
    assert "serial_arm.SerialArm" in notes[0]
    assert "stewart_platform.StewartPlatform" in notes[1]
    assert "Comparison" in notes[2]
    assert '"SerialArm" has no attribute "assembly_modes"' in notes[3]
