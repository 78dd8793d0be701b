"""The command `sweep`: what it computes, how it is interrupted and goes on, and what it refuses."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run, shell
from support.sweep_studies import data_bytes
from support.usual_signals import with_usual_signals
from tauforge import sweeps
from tauforge.extras import how_to_install
from tauforge.sweeps.store import Store

SMALL = ("sweep", "holding-forces", "motion-rig", "--axis", "x=-50mm:50mm:3", "--axis", "theta_x=-5deg:5deg:2")
# some hundred thousand points for each of its twelve blocks: seconds without kernels
LARGE = ("sweep", "holding-forces", "planar-2r", "--axis", "q1=-1:1:2000", "--axis", "q2=-1:1:1500")


def test_results_and_words(tmp_path):
    store = tmp_path / "s.zarr"
    said = run(*SMALL, "--at", "z=1.02", "-o", store).stdout
    assert said.startswith("holding-forces: 6 points in ")
    assert said.endswith(f"The results are in {store}\n")
    found = sweeps.open_dataset(store).largest_force.load()
    robot = tf.load("motion-rig")
    position = np.array(robot.positions.default)
    position[[0, 2, 3]] = -0.05, 1.02, np.deg2rad(5)
    wanted = np.abs(robot.holding_forces(position[None])).max()
    np.testing.assert_allclose(found.sel(x=-0.05).isel(theta_x=1), wanted, rtol=np.finfo(np.float32).eps)
    again = parsed(*SMALL, "--at", "z=1020mm", "-o", store, "--verify")
    assert (again["points"], again["blocks"], again["computed"], again["damaged"]) == (6, 1, 0, 0)


def test_axes_whose_names_have_spaces(tmp_path):
    """Coordinates of mechanisms: computed, stored, read, drawn and resumed."""
    store, delta = tmp_path / "s.zarr", tf.load("delta")
    asked = ("sweep", "workspace", "delta", "--axis", "motor 1=0:1:3", "--axis", "motor 2=0,0.2")
    asked += ("--at", "motor 3=0.1", "-o", store)
    picture = tmp_path / "p.png"
    run(*asked, "--picture", picture, "--result", "condition", "--slice", "motor 2=0.2")
    assert picture.stat().st_size > 0
    found = sweeps.open_dataset(store)
    assert found.condition.dims == ("motor 1", "motor 2")
    x = delta.configuration([1.0, 0.2, 0.1])
    one = found.sel({"motor 1": 1.0}).isel({"motor 2": 1})
    np.testing.assert_allclose(one.condition, delta.condition_number(x), rtol=np.finfo(np.float32).eps)
    table = found.to_dataframe()
    assert table.index.names == ["motor 1", "motor 2"]
    again = parsed(*asked, "--verify")
    assert (again["blocks"], again["computed"], again["damaged"]) == (1, 0, 0)


def test_the_store_says_how_it_was_asked_for(tmp_path):
    shell(*SMALL, "-o", "s.zarr", cwd=tmp_path)
    command = sweeps.open_dataset(tmp_path / "s.zarr").attrs["command"]
    assert command == f"tauforge {' '.join(SMALL)} -o s.zarr"


def test_damage_is_told(tmp_path):
    run(*SMALL, "-o", tmp_path / "s.zarr")
    store = Store(tmp_path / "s.zarr")
    (file,) = store.shard_files((0, 0))
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert "1 damaged blocks computed again" in run(*SMALL, "-o", store.path, "--verify").stdout
    assert sweeps.verify(store.path) == ((), (), ())


def test_worker_processes_give_the_same_bytes(tmp_path, switch):
    kernels = {"TAUFORGE_KERNELS": switch, "TAUFORGE_CACHE": str(tmp_path / "kernels")}
    for way in ("--threads", "--workers"):
        done = shell(*SMALL, "-o", tmp_path / f"{way[2:]}.zarr", way, 2, env=kernels)
        assert done.returncode == 0, done.stderr
    assert data_bytes(tmp_path / "threads.zarr") == data_bytes(tmp_path / "workers.zarr")


def test_the_list_of_studies():
    assert "holding-forces" in run("sweep", "--list").stdout
    assert list(parsed("sweep", "--list")["studies"]) == list(sweeps.STUDIES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("holding-forces", "box"), "--output: it is missing"),
        (("holding-forces",), "ROBOT: it is missing"),
        ((), "STUDY: it is missing"),
        (("workroom", "box", "-o", "s"), "no study is called 'workroom'"),
        (("holding-forces", "nobody", "-o", "s"), "no robot named 'nobody' in the catalogue"),
        (("holding-forces", "box", "-o", "s"), "axis: a sweep needs an axis"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=0:1:0"), "axis x: the axis has zero points"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=1:0:3"), "axis x: the bounds are reversed: 1 is above 0"),
        (("holding-forces", "box", "-o", "s", "--axis", "w=0:1:3"), "axis w: unknown axis"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=0:1:3", "--axis", "x=0"), "axis x: the axis is given twice"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=0deg:1deg:3"), "axis x: expected values in m, got rad"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=0", "--at", "y"), "--at: expected NAME=VALUE, got 'y'"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=0", "--at", "y=a"), "--at: expected a number in rad or m"),
        (("holding-forces", "box", "-o", "s", "--axis", "x=0", "--option", "a=1"), "holding-forces has no option 'a'"),
        (
            ("holding-forces", "box", "-o", "s", "--axis", "x=0", "--threads", "2", "--workers", "2"),
            "--threads, --workers, --scheduler: give one of them",
        ),
        (
            ("holding-forces", "box", "-o", "s", "--axis", "x=0", "--scheduler", "nonsense://h"),
            "nonsense://h: no scheduler answers",
        ),
    ],
)
def test_bad_use(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    said = error_of("sweep", *arguments)
    assert message in said.replace("Invalid value for ", "")
    assert list(tmp_path.iterdir()) == []


def test_a_changed_grid_needs_a_word(tmp_path):
    run(*SMALL, "-o", tmp_path / "s.zarr")
    other = (*SMALL[:-1], "theta_x=-5deg:5deg:4", "-o", tmp_path / "s.zarr")
    assert "the store is of another sweep: axes.theta_x.points was 2 and is 4" in error_of(*other)
    assert parsed(*other, "--restart")["points"] == 12


def test_a_full_disk_is_no_bad_use(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "write", full)
    said = error_of(*SMALL, "-o", tmp_path / "s.zarr", code=1)
    assert said.startswith(f"error: {tmp_path / 's.zarr'}: the disk is full\n")
    assert "goes on where it stopped" in said


def test_without_the_libraries(tmp_path):
    code = (
        "import sys; sys.modules['zarr'] = None\n"
        "from tauforge.__main__ import main\n"
        f"sys.argv[1:] = {[*SMALL, '-o', 's.zarr']}\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: sweeps need zarr\n  {how_to_install('sweeps')}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_store_that_goes_on(tmp_path, number):
    command = [sys.executable, "-m", "tauforge", *LARGE, "-o", "s.zarr"]
    running = subprocess.Popen(
        with_usual_signals(command),
        cwd=tmp_path,
        env={**os.environ, "TAUFORGE_KERNELS": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        status = tmp_path / "s.zarr" / "blocks" / "status" / "c"
        while not any(status.rglob("0")):
            assert running.poll() is None, running.communicate()
            time.sleep(0.01)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, out) == (128 + number, "")
    assert err == (
        "note: the finished blocks are in s.zarr; the same command goes on from there\n"
        "error: interrupted; no file is half written\n"
    )
    store = Store(tmp_path / "s.zarr")
    done = sum(store.is_done(index) for index in store.indices())
    assert 0 < done < store.grid.blocks
    again = shell(*LARGE, "-o", "s.zarr", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["computed"] == store.grid.blocks - done


def test_a_terminal_shows_rate_and_time_left(tmp_path):
    """On stderr, and gone when the sweep is done: stdout has the result alone."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "tauforge", *LARGE, "-o", "s.zarr"],
        cwd=tmp_path,
        env={**os.environ, "TAUFORGE_KERNELS": "0", "TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        seen += part
    os.close(ours)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert out.startswith("holding-forces: 3,000,000 points in ")
    assert re.search(rb"holding-forces.*\d+%.* points/s.*left", seen)
