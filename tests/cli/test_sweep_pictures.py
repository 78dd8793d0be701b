"""The command `sweep` with motions and pictures."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run
from support.sweep_motions import move_of, move_options, write_motion
from tauforge.sweeps import open_dataset

SMALL = ("sweep", "holding-forces", "motion-rig", "--axis", "x=-50mm:50mm:3", "--axis", "theta_x=-5deg:5deg:2")
SIZING = ("sweep", "sizing", "motion-rig", "--axis", "speed=1,2", "--axis", "payload=0kg:100kg:3")
PNG = b"\x89PNG"


def options_of(robot):
    return [part for name, text in move_options(robot).items() for part in ("--option", f"{name}={text}")]


def test_a_picture_of_the_first_result(tmp_path):
    said = run(*SMALL, "-o", tmp_path / "s.zarr", "--picture", tmp_path / "s.png").stdout
    assert said.endswith(f"The picture is in {tmp_path / 's.png'}\n")
    assert (tmp_path / "s.png").read_bytes()[:4] == PNG


def test_a_picture_of_a_store_that_is_there(tmp_path):
    sizing = (*SIZING, *options_of(tf.load("motion-rig")), "-o", tmp_path / "s.zarr")
    run(*sizing)
    picture = ("--picture", tmp_path / "s.svg", "--result", "peak_power", "--slice", "actuator=leg 2")
    assert parsed(*sizing, *picture, "--slice", "payload=50kg")["computed"] == 0
    words = (tmp_path / "s.svg").read_text(encoding="utf-8")
    assert "<!-- speed -->" in words
    assert "<!-- Actuator sizing of motion-rig, leg 2, payload = 50 kg -->" in words


def test_motions_from_files(tmp_path, monkeypatch):
    arm = tf.load("planar-2r")
    monkeypatch.chdir(tmp_path)
    for name, duration in (("slow", 0.8), ("fast", 0.3)):
        write_motion(f"{name}.csv", arm, move_of(arm, duration=duration))
    run("sweep", "sizing", "planar-2r", "--axis", "motion=1,2", "--option", "motions=slow.csv,fast.csv", "-o", "s.zarr")
    peaks = open_dataset("s.zarr").peak_speed.values
    np.testing.assert_allclose(peaks[1], peaks[0] * 0.8 / 0.3, rtol=0.05)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--result", "largest_force"), "--result: it needs a file: give --picture FILE"),
        (("--slice", "x=0"), "--slice: it needs a file: give --picture FILE"),
        (("--picture", "s.txt"), "picture: expected a file name that ends in .png, .svg, .pdf, got 's.txt'"),
        (("--picture", "s.png", "--result", "power"), "has no result 'power'; the results are largest_force"),
        (("--picture", "s.png", "--slice", "y=0"), "largest_force has no dimension 'y'; they are x, theta_x"),
        (("--picture", "s.png", "--slice", "x"), "--slice: expected NAME=VALUE, got 'x'"),
    ],
)
def test_bad_pictures_are_refused_before_the_sweep(tmp_path, monkeypatch, given, message):
    monkeypatch.chdir(tmp_path)
    said = " ".join(error_of(*SMALL, "-o", "s.zarr", *given).split())
    assert message in said.replace("Invalid value for ", "")
    assert list(tmp_path.iterdir()) == []
