"""The command `design`: what it finds, writes and refuses."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run
from support.tolerances import FORMULATIONS

SMALL = ("--evaluations", 40, "--population", 10, "--states", 3)
ASKED = ("design", "motion-rig", "--parameter", "base_radius=700mm:1.1", "--parameter", "z=0.9:1.1")


@pytest.fixture(autouse=True)
def _pymoo():
    pytest.importorskip("pymoo", reason="no pymoo: pip install tauforge[design]")


def test_words_and_files(tmp_path):
    table, picture = tmp_path / "front.csv", tmp_path / "front.png"
    said = run(*ASKED, *SMALL, "-o", table, "--picture", picture).stdout
    assert said.startswith("motion-rig: ")
    assert "of 40 designs are surpassed by no other" in said
    assert said.endswith(f"The front is in {table}\nIts picture is in {picture}\n")
    with table.open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["base_radius [m]", "z [m]", "condition", "force [N]"]
    assert lines
    assert picture.stat().st_size


def test_json():
    asked = (*ASKED, *SMALL, "--objective", "stiffness", "--objective", "base_radius", "--stiffness", "2e6")
    found = parsed(*asked, "--seed", 3)
    assert found["units"] == {"base_radius": "m", "z": "m", "stiffness": "N/m"}
    first = found["designs"][0]
    assert first["objectives"]["base_radius"] == first["parameters"]["base_radius"]
    assert first["objectives"]["stiffness"] > 1e4
    assert parsed(*asked, "--seed", 3) == found


def test_a_mechanism():
    asked = (
        "design",
        "delta",
        "--parameter",
        "motor 1=0.2:0.4",
        "--parameter",
        "motor 2=0.2:0.4",
        "--at",
        "motor 3=0.3",
    )
    found = parsed(*asked, *SMALL, "--at", "motor 3=0.3", "--length", "200mm")
    assert found["units"] == {"motor 1": "rad", "motor 2": "rad", "condition": "", "force": "N m"}
    delta, first = tf.load("delta"), found["designs"][0]
    states = tf.designs.states_around(delta, 3)
    home = np.array([*first["parameters"].values(), 0.3])
    condition = delta.condition_number(delta.configuration(home + states.offsets), characteristic_length=0.2)
    assert first["objectives"]["condition"] == pytest.approx(condition.max(), rel=FORMULATIONS)
    assert "0 actuators" in error_of("design", "bricard", "--parameter", "hinge 1=0:0.2")


def test_list():
    said = run("design", "motion-rig", "--list").stdout
    assert "base_radius" in said
    assert "largest condition number" in said
    found = parsed("design", "planar-2r", "--list")
    assert list(found["parameters"]) == ["a1", "a2"]
    assert "payload" in found["others"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("design", "motion-rig"), "a search needs a parameter"),
        (("design", "motion-rig", "--parameter", "base_radius"), "expected NAME=VALUE"),
        (("design", "motion-rig", "--parameter", "base_radius=1"), "expected base_radius=LOWEST:HIGHEST"),
        (("design", "motion-rig", "--parameter", "base_radius=1:2:3"), "expected base_radius=LOWEST:HIGHEST"),
        (("design", "motion-rig", "--parameter", "base_radius=1:2deg"), "expected a number in m"),
        (("design", "motion-rig", "--parameter", "base_width=1:2"), "'base_width' is no design parameter"),
        (("design", "motion-rig", "--parameter", "z=2:1"), "the bounds are reversed"),
        ((*ASKED, "--objective", "beauty", "--objective", "force"), "'beauty' is no measure"),
        ((*ASKED, "--objective", "force"), "two or more different objectives"),
        ((*ASKED, "--at", "height=1"), "no coordinate is called 'height'"),
        ((*ASKED, "-o", "front.txt"), "expected a file that ends with .csv"),
        ((*ASKED, "--picture", "front.gif"), "expected a file that ends with .png"),
    ],
)
def test_bad_input(arguments, message):
    assert message in error_of(*arguments)


def test_no_design_within_limits():
    assert "is within limits at every state" in error_of("design", "motion-rig", "--parameter", "z=2:3", *SMALL, code=1)
