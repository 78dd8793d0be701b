"""`tauforge view`: it says where the robot is, refuses what it cannot show, and ends on a signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import tauforge as tf
from support.command_line import arm_motion, error_of
from support.usual_signals import with_usual_signals
from tauforge.formats.loading import CATALOGUE_FOLDER
from tauforge.viewer.guard import bound_socket

pytest.importorskip("viser")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    motion = arm_motion(tmp_path)
    command = [sys.executable, "-m", "tauforge", "view", "puma560", "--motion", str(motion), "--port", "0", "--no-open"]
    process = subprocess.Popen(with_usual_signals(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("puma560 is at http://127.0.0.1:")
        with urllib.request.urlopen(said.split()[-1], timeout=30) as answer:
            assert answer.status == 200
        process.send_signal(number)
        rest, notes = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert rest == ""
    assert notes == "note: Ctrl-C ends it\n"


def test_other_machines_are_warned_of(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tauforge", "view", "planar-2r", "--host", "0.0.0.0", "--port", "0", "--no-open"]
    process = subprocess.Popen(with_usual_signals(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=60)
    finally:
        process.kill()
    assert len(said.strip().rstrip("/").rpartition("/")[2]) >= 20  # the token
    assert notes.startswith("warning: other machines can reach 0.0.0.0")


def test_a_port_that_is_taken() -> None:
    with bound_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        words = error_of("view", "planar-2r", "--port", port, "--no-open")
    assert f"cannot listen on port {port} of 127.0.0.1: address already in use\n  Give another port" in words


def test_an_address_that_another_machine_has() -> None:
    words = error_of("view", "planar-2r", "--host", "203.0.113.5", "--no-open")  # of RFC 5737: nobody has it
    assert "host: this machine has no address 203.0.113.5\n  Give an address of this machine" in words
    assert "port" not in words


def test_robots_that_cannot_be_loaded(tmp_path: Path) -> None:
    assert "no robot named 'nobody'" in error_of("view", "nobody")
    bad = tmp_path / "bad.toml"
    bad.write_text('format = "tauforge-arm-1"\nname = "bad"\n')
    assert "bad.toml" in error_of("view", bad)


def test_what_does_not_fit_the_robot(tmp_path: Path) -> None:
    arm = tf.load("planar-2r")
    path = tmp_path / "run.npz"
    tf.simulate(arm, None, duration=0.1, initial=([0, 0], [0, 0])).save(path)
    words = error_of("view", "scara", "--recording", path, "--port", "0")
    assert f"--recording: {path}: the recording is of planar-2r, not of scara\n" in words
    words = error_of("view", "five-bar", "--recording", path, "--port", "0")
    assert f"--recording: {path}: the recording is of planar-2r, not of five-bar\n" in words
    alike = tmp_path / "alike.toml"
    alike.write_text((CATALOGUE_FOLDER / "planar-2r.toml").read_text().replace('name = "planar-2r"', 'name = "alike"'))
    words = error_of("view", alike, "--recording", path, "--port", "0")
    assert f"--recording: {path}: the recording is of planar-2r, not of alike\n" in words
    assert "dataclasses" not in words
    nameless = tmp_path / "run.csv"
    tf.Recording.load(path).save(nameless)
    assert "4 coordinates, as scara has" in error_of("view", "scara", "--recording", nameless, "--port", "0")
    assert "no such file" in error_of("view", "scara", "--recording", tmp_path / "none.npz")
    assert "none.csv: no such file" in error_of("view", "scara", "--motion", tmp_path / "none.csv")
    assert "there is no --motion to smooth" in error_of("view", "scara", "--smooth", "5")
