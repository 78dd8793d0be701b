"""Every function of every robot of the catalogue as strict C99, compiled and compared with its formula."""

from __future__ import annotations

import re
import shutil

import pytest

import tauforge as tf
from conftest import SOAK
from support.c_compiler import STRICT, Library, compiled, needs_gcc, run, self_test
from support.catalogue import in_turn
from support.exported_functions import agrees, exported
from support.robot_functions import tried
from tauforge.evaluation.reference import reference_call

LARGE = ("3-rps", "box", "motion-rig", "pedrammehr2012")  # like dasgupta1998: less is tried, a soak tries all
COMPILED = ("inverse_dynamics", "forward_dynamics", "inverse_kinematics", "tracked_pose")  # also beside the kernels
QUICK = LARGE if SOAK == 1 else ()


@needs_gcc
@pytest.mark.fault(19)
@pytest.mark.parametrize("name", in_turn(tried()))
def test_every_function_of_every_robot_in_double(name, tmp_path):
    robot = tf.load(name)
    made = exported(robot, tmp_path / "c")
    target = compiled(made, "-O0" if name in QUICK else "-O2")  # warnings about values need optimisation
    assert "agree" in self_test(made, target)
    if shutil.which("clang"):
        for path in (made.source, made.test):
            run("clang", *STRICT, "-fsyntax-only", path, cwd=tmp_path)
    public = {key for key, entry in robot.functions.items() if entry.public}
    written = {key.removeprefix(f"{made.source.stem}_") for key in made.functions}
    left_out = {reason.split(":")[0] for reason in made.left_out}
    assert written | left_out == public | {"computed_torque"}
    assert not written & left_out
    written -= {"computed_torque"}
    library = Library(made, target)
    agrees(robot, library, written, "float64", lambda key, given: reference_call(robot, key, given, {}))
    agrees(robot, library, written & {*COMPILED}, "float64", robot._evaluator)


@needs_gcc
@pytest.mark.fault(19)
@pytest.mark.parametrize("name", in_turn(tried()))
def test_every_function_of_every_robot_in_float(name, tmp_path):
    """Without a library, so that roots are our own. The self-test allows a multiple of the error that was measured."""
    robot = tf.load(name)
    functions = None
    if name in QUICK:
        functions = [key for key, entry in robot.functions.items() if entry.public and "derivatives" not in key]
    made = exported(robot, tmp_path / "c", functions=functions, dtype="float32")
    assert "agree" in self_test(made, compiled(made, "-O0", "-ffreestanding"))
    if shutil.which("g++"):
        run("g++", "-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", made.header, cwd=tmp_path)
    assert "double" not in re.sub(r"/\*.*?\*/", "", made.source.read_text(), flags=re.DOTALL)
