"""What `export_c` refuses, and that it leaves nothing half-written; names that could break out of comments."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tauforge as tf
from support.c_compiler import compiled, needs_gcc, self_test
from support.cart_pendulum import CartPendulum
from support.command_line import error_of, parsed
from support.command_line import run as command
from support.strategies import random_arm
from tauforge.export import c_files
from tauforge.export.c_files import rounding
from tauforge.kernels.c99 import function as c_function
from tauforge.kernels.c99.function import KEYWORDS, check_prefix, comment_text, parameter, prefix_of


@pytest.fixture(scope="module")
def arm():
    return tf.load("planar-2r")


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"functions": ["inverse_dynamic"]}, tf.UnsupportedFeatureError, r"no function 'inverse_dynamic'\. Use one of"),
        ({"functions": "energy"}, tf.UnsupportedFeatureError, "expected a sequence of names"),
        ({"functions": []}, tf.UnsupportedFeatureError, "no function is named"),
        ({"functions": [3]}, tf.UnsupportedFeatureError, "expected a sequence of names"),
        ({"prefix": "2r"}, tf.ModelError, "letters, digits and single underscores"),
        ({"prefix": "my-arm"}, tf.ModelError, "letters, digits"),
        ({"prefix": "a__b"}, tf.ModelError, "single underscores"),
        ({"prefix": "_arm"}, tf.ModelError, "a letter first"),
        ({"prefix": "../arm"}, tf.ModelError, "letters, digits"),
        ({"prefix": ""}, tf.ModelError, "letters, digits"),
        ({"prefix": 7}, tf.ModelError, "letters, digits"),
        ({"prefix": "double"}, tf.ModelError, "a word of C"),
        ({"prefix": "template"}, tf.ModelError, "a word of C"),
        ({"prefix": "tf_arm"}, tf.ModelError, "inside the generated code"),
        ({"prefix": "a" * 41}, tf.ModelError, "at most 40 characters"),
        ({"dtype": "float16"}, tf.UnsupportedFeatureError, "Use float64 or float32"),
        ({"dtype": "int32"}, tf.UnsupportedFeatureError, "Use float64 or float32"),
        ({"dtype": "number"}, tf.UnsupportedFeatureError, "Use float64 or float32"),
        ({"dtype": None}, tf.UnsupportedFeatureError, "Use float64 or float32"),
    ],
)
def test_bad_arguments_are_refused_by_name(arm, tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        tf.export_c(arm, tmp_path, **options)
    assert left(tmp_path) == []


def test_the_folder_is_made(arm, tmp_path):
    made = tf.export_c(arm, tmp_path / "for" / "arms", functions=["energy"])
    assert made.header == tmp_path / "for" / "arms" / "planar_2r.h"
    assert made.header.is_file()
    assert parsed("export-c", "scara", tmp_path / "for" / "scara", "--function", "energy")["functions"]
    assert left(tmp_path / "for") == ["arms", "scara"]


def test_no_folder_is_made_for_nothing(arm, tmp_path):
    with pytest.raises(tf.UnsupportedFeatureError, match="no function 'nothing'"):
        tf.export_c(arm, tmp_path / "new", functions=["nothing"])
    assert left(tmp_path) == []


@pytest.mark.parametrize("below", ["", "folder", "folder/folder"])
def test_a_file_in_the_way_is_named(arm, tmp_path, monkeypatch, below):
    """Before the functions are made, which may take a while."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(c_files, "chosen", lambda *_: pytest.fail("it began to work"))
    words = re.escape(f"{tmp_path / 'file'}: directory: expected a folder, got a file. Name another folder")
    with pytest.raises(tf.ModelError, match=words):
        tf.export_c(arm, tmp_path / "file" / below)


def test_bad_folders_are_refused(arm, tmp_path):
    for name in ("a\0b", "a" * 300):
        with pytest.raises(tf.ModelError, match="the folder cannot be made"):
            tf.export_c(arm, tmp_path / name, functions=["energy"])
    with pytest.raises(tf.ShapeError, match="expected a path"):
        tf.export_c(arm, 3)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(arm, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(tf.ModelError, match="cannot be written"):
            tf.export_c(arm, tmp_path)
        with pytest.raises(tf.ModelError, match="the folder cannot be made: Permission denied"):
            tf.export_c(arm, tmp_path / "new")
    finally:
        tmp_path.chmod(0o700)


def test_something_else_than_a_robot_is_refused(tmp_path):
    with pytest.raises(tf.ModelError, match="expected a robot"):
        tf.export_c("puma560", tmp_path)


def test_files_of_others_are_not_replaced(arm, tmp_path):
    tf.export_c(arm, tmp_path, functions=["energy"])
    tf.export_c(arm, tmp_path, functions=["energy", "mass_matrix"])
    assert "mass_matrix" in (tmp_path / "planar_2r.h").read_text()
    before = (tmp_path / "planar_2r.c").read_text()
    (tmp_path / "CMakeLists.txt").write_text("project(mine)\n")
    with pytest.raises(tf.ModelError, match="no export of planar_2r wrote it"):
        tf.export_c(arm, tmp_path, functions=["energy"])
    assert (tmp_path / "CMakeLists.txt").read_text() == "project(mine)\n"
    assert (tmp_path / "planar_2r.c").read_text() == before


def test_an_error_on_the_way_leaves_nothing(arm, tmp_path, monkeypatch):
    def fails(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(tf.ModelError, match="No space left"):
        tf.export_c(arm, tmp_path, functions=["energy"])
    assert left(tmp_path) == []


def test_a_robot_without_masses(tmp_path):
    """Its geometry is exported; dynamics that is asked for is refused."""
    platform = tf.load("dietmaier")
    with pytest.raises(tf.ModelError, match="no masses"):
        tf.export_c(platform, tmp_path, functions=["inverse_dynamics"])
    with pytest.raises(tf.ModelError, match="no masses"):
        tf.export_c(platform, tmp_path, functions=["computed_torque"])
    made = tf.export_c(platform, tmp_path)
    assert "dietmaier_inverse_kinematics" in made.functions
    assert any("inverse_dynamics" in reason for reason in made.left_out)
    assert "Left out: inverse_dynamics: dietmaier has a geometry but no masses" in re.sub(
        r"\s*\n \*\s*", " ", made.header.read_text()
    )


def test_a_function_that_is_too_large(tmp_path):
    long = random_arm(np.random.default_rng(0), "R" * 14, "standard")
    with pytest.raises(
        tf.UnsupportedFeatureError, match=r"forward_dynamics_derivatives has \d{5} operations, and at most 40000 are"
    ):
        tf.export_c(long, tmp_path, functions=["forward_dynamics_derivatives"])
    assert left(tmp_path) == []


def test_functions_that_are_too_large_are_left_out_of_all(arm, tmp_path, monkeypatch):
    monkeypatch.setattr(c_function, "MAX_OPERATIONS", 60)
    made = tf.export_c(arm, tmp_path)
    assert any(reason.startswith("forward_dynamics_derivatives") for reason in made.left_out)


def test_a_constant_beyond_float(tmp_path):
    heavy = tf.load("planar-2r").replace(gravity=(0.0, -1e39, 0.0))
    tf.export_c(heavy, tmp_path, functions=["gravity_forces"])
    with pytest.raises(tf.UnsupportedFeatureError, match="not a finite number of 32 bits"):
        tf.export_c(heavy, tmp_path, functions=["gravity_forces"], dtype="float32")


@needs_gcc
@pytest.mark.parametrize("name", ['*/ int x = "', "a\nb\\", "arm \u202e\x1b[31m", "??/", "/* nested", "7", "int", "v1"])
def test_no_name_breaks_out_of_a_comment(name, tmp_path):
    named = tf.load("planar-2r").replace(name=name)
    made = tf.export_c(named, tmp_path, functions=["inverse_dynamics"])
    compiled(made, "-O0", "-trigraphs")
    assert all(path.read_text(encoding="ascii") for path in made[:4])


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.text())
def test_texts_become_names_and_comments(text):
    assert check_prefix(prefix_of(text))
    assert re.fullmatch("[A-Za-z][A-Za-z0-9_]*", f"x{parameter(text)}")
    assert parameter(text) not in KEYWORDS
    shown = comment_text(text)
    assert shown.isascii()
    assert "*/" not in shown
    assert not shown.endswith("\\")


def test_the_command(tmp_path):
    done = command("export-c", "scara", tmp_path, "--function", "inverse_dynamics", "--prefix", "mine")
    assert "mine_inverse_dynamics" in done.output
    assert left(tmp_path) == ["CMakeLists.txt", "mine.c", "mine.h", "mine_test.c"]
    again = parsed("export-c", "scara", tmp_path, "--function", "energy", "--prefix", "mine", "--dtype", "float32")
    assert again["functions"] == ["mine_energy"]
    assert "float q[" in (tmp_path / "mine.h").read_text()
    assert "there is no function 'nothing'" in error_of("export-c", "scara", tmp_path, "--function", "nothing")
    assert "no export of scara wrote it" in error_of("export-c", "scara", tmp_path, "--function", "energy")


def test_vectors_are_those_of_the_method(arm, tmp_path):
    """The first state of the self-test, read back, and the method's answer."""
    made = tf.export_c(arm, tmp_path, functions=["inverse_dynamics"])
    text = made.test.read_text()
    tables = {
        key: np.array([float(x) for x in re.split(r"[,\s]+", rows.split("}")[0].strip())])
        for key, rows in re.findall(r"const double (\w+)\[\d+\]\[\d+\] = \{\s*\{([^;]*)\};", text)
    }
    tau = arm.inverse_dynamics(tables["given0"], tables["given1"], tables["given2"])
    np.testing.assert_allclose(tau, tables["wanted0"], rtol=1e-13)


def test_states_without_an_answer_say_nothing_of_the_rounding():
    """A header tells the error over the other states: NaN in either precision, and no error of 0 by 0."""
    want = np.array([[1.0, -4.0], [2.0, 0.0], [np.nan, 1.0], [0.0, 0.0], [1.0, 8.0], [1.0, 1.0]])
    got = want + np.array([[0.0, 1.0], [0.0, -0.2], [0.0, 0.0], [0.0, 0.0], [2.0, 1.0], [np.nan, 0.0]])
    (found,) = rounding([got], [want])  # 1/4, 0.2/2, none, 0, 2/8 and none
    assert found.largest == 0.25
    assert found.median == pytest.approx((0.1 + 0.25) / 2)
    assert rounding([got[[2, 5]]], [want[[2, 5]]]) == [(0.0, 0.0)]


@needs_gcc
def test_a_kind_of_robot_that_the_package_does_not_know(tmp_path):
    """Its table is all that is asked; results without names are called like the function."""
    made = tf.export_c(CartPendulum(), tmp_path)
    assert "cart_computed_torque" in made.functions
    assert "double energy_2[CART_RESTRICT 1]" in made.header.read_text()
    assert "agree" in self_test(made, compiled(made, "-O1"))


def test_equal_robots_give_equal_files(tmp_path):
    """In every process, so that they can be kept under version control."""
    code = "import sys, tauforge as tf; tf.export_c(tf.load('puma560'), sys.argv[1], ['coriolis_matrix', 'jacobian'])"
    folders = [tmp_path / seed for seed in ("1", "2", "3")]
    for folder in folders:
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": folder.name}
        subprocess.run([sys.executable, "-c", code, folder], env=environment, check=True)
    texts = [[(path.name, path.read_text()) for path in sorted(folder.iterdir())] for folder in folders]
    assert "work[" in dict(texts[0])["puma560.c"]
    assert texts[0] == texts[1] == texts[2]
