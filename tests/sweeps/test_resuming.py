"""No finished block is ever lost: kills, damage, a full disk, and what may not be continued."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zarr

import tauforge as tf
from conftest import SOAK
from support.sweep_studies import RESULTS, data_bytes, encoded, logged
from tauforge import sweeps
from tauforge.sweeps.grid import Axis
from tauforge.sweeps.opening import lock_file, locked
from tauforge.sweeps.store import Store

TESTS = Path(__file__).parents[1]
THREADS = 2
SECONDS = 0.02  # that a block takes


@pytest.fixture
def whole(tmp_path):
    """The bytes of the sweep that nothing interrupted."""
    sweeps.run(encoded(), tmp_path / "whole.zarr")
    return data_bytes(tmp_path / "whole.zarr")


def process(store, log, seconds=SECONDS):
    """One that sweeps, and is ready to begin."""
    code = "import sys; from support.sweep_studies import main; main(*sys.argv[1:])"
    command = [sys.executable, "-c", code, *map(str, (store, log, seconds, THREADS))]
    found = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(TESTS)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert found.stdout.readline() == "ready\n", found.stderr.read()
    return found


def done_blocks(store):
    """Indices of the blocks that are done."""
    if not store.exists():
        return set()
    found = Store(store)
    return {index for index in found.indices() if found.is_done(index)}


def begun(log, grid):
    """Indices of the blocks that were begun since the log was made, each as often as it was."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [tuple(int(k) // step for k, step in zip(line.split(), grid.block, strict=True)) for line in lines]


@pytest.mark.fault(13)
def test_killed_at_any_time_and_resumed(tmp_path, whole):
    """The store is bit-identical in the end, and only blocks in flight were computed twice."""
    rng, kills = random.Random(13), 0
    grid = Store(tmp_path / "whole.zarr").grid
    unharmed = process(tmp_path / "unharmed.zarr", tmp_path / "log")
    began = time.monotonic()
    unharmed.communicate()
    longest = time.monotonic() - began
    while kills < 4 * SOAK:
        store = tmp_path / "s.zarr"
        shutil.rmtree(store, ignore_errors=True)
        while True:
            before, log = done_blocks(store), tmp_path / f"{kills}.log"
            running = process(store, log)
            time.sleep(rng.uniform(0.0, longest))  # while it makes the store, computes, or after it has ended
            running.kill()
            running.communicate()
            kills += 1
            now, tried = done_blocks(store), begun(log, grid)
            assert before <= now
            assert not before & set(tried)
            assert len(tried) == len(set(tried))
            assert now - before <= set(tried)
            assert len(set(tried) - now) <= THREADS
            if len(now) > grid.blocks // 2 or kills % 4 == 0:
                break
        outcome = sweeps.run(encoded(), store, threads=THREADS)
        assert outcome.computed == grid.blocks - len(now)
        assert data_bytes(store) == whole
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_a_kill_leaves_is_removed(tmp_path, whole):
    store = tmp_path / "whole.zarr"
    (tmp_path / ".whole.zarr.0123456789ab.tmp").mkdir()
    (store / "code" / "c" / f"0.{0:032x}.partial").write_bytes(b"half")
    other = tmp_path / ".other.zarr.0123456789ab.tmp"
    other.mkdir()
    assert sweeps.run(encoded(), store).computed == 0
    assert data_bytes(store) == whole
    assert not (tmp_path / ".whole.zarr.0123456789ab.tmp").exists()
    assert other.exists()  # somebody else's


def test_a_block_is_marked_after_its_data(tmp_path, monkeypatch):
    """At the moment a status is written, the files of its block are whole and on the disk."""
    seen, put = [], zarr.storage.LocalStore.set
    synced: set[int] = set()

    async def checked(self, key, value):
        if key.startswith("blocks/status/c/"):
            index = key.split("/")[3:]
            shards = (self.root.joinpath(r.name, "c", *index, *["0"] * len(r.core)) for r in RESULTS)
            assert all(shard.stat().st_ino in synced for shard in shards)
            seen.append(index)
        await put(self, key, value)

    def recorded(handle):
        synced.add(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", recorded)
    monkeypatch.setattr(zarr.storage.LocalStore, "set", checked)
    done = sweeps.run(encoded(), tmp_path / "s.zarr", threads=1)
    assert len(seen) == done.blocks


def test_writing_again_changes_nothing(tmp_path, whole):
    """Dask may do a block twice."""
    study, store = encoded(), Store(tmp_path / "whole.zarr")
    for index in store.indices():
        store.write(index, study.computed(store.grid.coordinates(study.axes, index)))
    assert data_bytes(store.path) == whole


@pytest.mark.parametrize("harm", ["deleted", "emptied", "unmarked", "marked wrongly"])
def test_lost_files_are_computed_again(tmp_path, whole, harm):
    store = Store(tmp_path / "whole.zarr")
    index = list(store.indices())[-1]  # a smaller one, at the end of the grid
    shard, status = store.shard_files(index)[1], store.status_file(index)
    {
        "deleted": shard.unlink,
        "emptied": lambda: shard.write_bytes(b""),
        "unmarked": status.unlink,
        "marked wrongly": lambda: status.write_bytes(b"\x01\x00\x00\x00\x00"),
    }[harm]()
    assert sweeps.run(encoded(), store.path).computed == 1
    assert data_bytes(store.path) == whole


@pytest.mark.parametrize("place", [0, 0.3, 0.6, 0.999])
def test_verify_finds_damage_and_repairs_it(tmp_path, whole, place):
    store = Store(tmp_path / "whole.zarr")
    indices = list(store.indices())
    hurt = (indices[2], indices[-1])
    for index in hurt:
        file = store.shard_files(index)[0]
        data = bytearray(file.read_bytes())
        data[int(place * len(data))] ^= 4
        file.write_bytes(data)
    assert sweeps.verify(store.path) == ((), (), hurt)
    assert sweeps.run(encoded(), store.path).computed == 0  # nothing is read without --verify
    outcome = sweeps.run(encoded(), store.path, verify=True)
    assert (outcome.computed, outcome.damaged) == (2, 2)
    assert data_bytes(store.path) == whole
    assert sweeps.verify(store.path) == ((), (), ())


def test_damaged_axes_are_written_again(tmp_path, whole):
    store = tmp_path / "whole.zarr"
    file = store / "b" / "c" / "0"
    file.write_bytes(b"\x07" + file.read_bytes()[1:])
    assert sweeps.verify(store) == ((), ("b",), ())
    sweeps.run(encoded(), store)
    assert data_bytes(store) == whole


def test_damaged_metadata_is_refused(tmp_path, whole):
    store = tmp_path / "whole.zarr"
    file = store / "half" / "zarr.json"
    file.write_text(file.read_text().replace('"units": "m"', '"units": "k"'))
    assert sweeps.verify(store) == (("half",), (), ())
    for use in (lambda: sweeps.run(encoded(), store), lambda: sweeps.open_dataset(store)):
        with pytest.raises(tf.ModelError, match=r"the metadata is damaged: half"):
            use()
    root = store / "zarr.json"
    root.write_text(root.read_text().replace('"title": "encoded"', '"title": "encodes"'))
    assert sweeps.verify(store).metadata == ("", "half")


def changed_study(**changes):
    study = encoded()
    parts = {"name": study.name, "axes": study.axes, "results": study.results, "compute": study.compute}
    return sweeps.Study(**{**parts, "block_points": study.block_points, **changes})


@pytest.mark.parametrize(
    ("study", "difference"),
    [
        (lambda: encoded(scale=2), "asked.scale was 1 and is 2"),
        (lambda: encoded({"a": 7, "b": 5, "c": 12}), "axes.c.points was 11 and is 12; axes.c.last was 10 and is 11"),
        (lambda: changed_study(axes=(Axis("a", [0, 1, 2, 3, 5, 4, 6], "m"), *encoded().axes[1:])), "axes.a.values is"),
        (lambda: changed_study(axes=(Axis("a", range(7), "rad"), *encoded().axes[1:])), 'was "m" and is "rad"'),
        (lambda: changed_study(name="other"), 'study was "encoded" and is "other"'),
        (lambda: changed_study(results=RESULTS[:3]), "results.pair is missing now"),
        (lambda: changed_study(block_points=50), "blocks.shape"),
    ],
    ids=["option", "points", "values", "unit", "study", "results", "blocks"],
)
def test_another_sweep_is_refused(tmp_path, whole, study, difference):
    with pytest.raises(tf.ModelError) as caught:
        sweeps.run(study(), tmp_path / "whole.zarr")
    assert "the store is of another sweep: " in str(caught.value)
    assert difference in str(caught.value)
    assert caught.value.remedy.startswith("Name another store, or start this one again with --restart")
    assert data_bytes(tmp_path / "whole.zarr") == whole


def test_a_changed_robot_is_refused(tmp_path):
    robot, axes = tf.load("box"), [Axis("x", [0.0, 0.1])]
    sweeps.run(sweeps.ready_study("holding-forces", robot, axes), tmp_path / "s.zarr")
    heavier = robot.replace(platform_mass=robot.platform_mass + 1)
    with pytest.raises(tf.ModelError, match=r"another sweep: asked.robot.platform_mass was \d.* and is \d"):
        sweeps.run(sweeps.ready_study("holding-forces", heavier, axes), tmp_path / "s.zarr")
    again = sweeps.ready_study("holding-forces", tf.load("box"), axes)
    assert sweeps.run(again, tmp_path / "s.zarr").computed == 0


def test_restart_begins_again(tmp_path, whole):
    outcome = sweeps.run(encoded(scale=2), tmp_path / "whole.zarr", restart=True)
    assert outcome.computed == outcome.blocks
    assert data_bytes(tmp_path / "whole.zarr") != whole
    sweeps.run(encoded(), tmp_path / "whole.zarr", restart=True)
    assert data_bytes(tmp_path / "whole.zarr") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["whole.zarr"]


@pytest.mark.fault(24)
def test_other_vector_widths_and_no_kernels_are_refused(tmp_path, monkeypatch, kernels_on):
    monkeypatch.setenv("TAUFORGE_VECTOR_BITS", "128")
    sweeps.run(encoded(), tmp_path / "s.zarr")
    assert sweeps.run(encoded(), tmp_path / "s.zarr").computed == 0
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    with pytest.raises(tf.ModelError, match=r"made_with.kernels was true and is false") as caught:
        sweeps.run(encoded(), tmp_path / "s.zarr")
    assert "TAUFORGE_KERNELS" in caught.value.remedy
    from tauforge.kernels.cpu.engine import host

    monkeypatch.setenv("TAUFORGE_KERNELS", "1")
    monkeypatch.delenv("TAUFORGE_VECTOR_BITS")
    if host().vector_bits > 128:
        with pytest.raises(tf.ModelError, match=r"made_with.vector_bits was 128 and is "):
            sweeps.run(encoded(), tmp_path / "s.zarr")


def test_paths_that_are_something_else(tmp_path):
    file, folder, group = tmp_path / "file", tmp_path / "folder", tmp_path / "group.zarr"
    file.write_text("mine")
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    zarr.open_group(group, mode="w").create_array("x", shape=(3,), dtype="f8")
    array = tmp_path / "array.zarr"
    zarr.create_array(array, shape=(3,), dtype="f8")
    before = data_bytes(tmp_path)
    for path, message in (
        (file, "the path is not a folder. A sweep is a folder: name a new one"),
        (folder, "the folder holds notes.txt and is no sweep. Name a new folder"),
        (group, "the folder is a Zarr group, and no sweep wrote it. Name a new folder"),
        (array, "the folder is a Zarr group, and no sweep wrote it. Name a new folder"),
        (tmp_path / "none" / "s.zarr", f"its folder does not exist. Make {tmp_path / 'none'} first"),
    ):
        for restart in (False, True):
            with pytest.raises(tf.ModelError) as caught:
                sweeps.run(logged(tmp_path / "log"), path, restart=restart)
            assert str(caught.value) == f"{path}: {message}"
    assert data_bytes(tmp_path) == before  # and the log says that no block was begun
    for use in (sweeps.verify, sweeps.open_dataset):
        with pytest.raises(tf.ModelError, match=r"there is no sweep"):
            use(tmp_path / "s.zarr")


def test_an_empty_folder_will_do(tmp_path):
    (tmp_path / "s.zarr").mkdir()
    assert sweeps.run(encoded(), tmp_path / "s.zarr").computed


def test_one_process_at_a_time(tmp_path, whole):
    store = tmp_path / "s.zarr"
    running = process(store, tmp_path / "log")
    try:
        while not lock_file(store).exists() or not done_blocks(store):
            assert running.poll() is None
            time.sleep(0.01)
        for restart in (False, True):
            with pytest.raises(tf.ModelError, match=r"another process is at work on this sweep. Wait for it"):
                sweeps.run(encoded(), store, restart=restart)
        assert running.wait(timeout=60) == 0
    finally:
        running.kill()
        running.communicate()
    assert sweeps.run(encoded(), store).computed == 0
    assert data_bytes(store) == whole


def test_a_lock_ends_with_its_block(tmp_path):
    file = tmp_path / "lock"
    with locked(file, tmp_path), pytest.raises(tf.ModelError, match=r"another process"), locked(file, tmp_path):
        pass
    with locked(tmp_path / "lock", tmp_path):
        pass


def without_room(monkeypatch, after, late=0.0):
    """Writes fail as on a full disk after this many; each of the others takes so long, s."""
    put, count = zarr.storage.LocalStore.set, [0]

    async def full(self, key, value):
        count[0] += 1
        if count[0] > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await asyncio.sleep(late)
        await put(self, key, value)

    monkeypatch.setattr(zarr.storage.LocalStore, "set", full)


@pytest.mark.fault(15)
def test_a_disk_that_fills_up(tmp_path, whole):
    blocks, store = Store(tmp_path / "whole.zarr").grid.blocks, tmp_path / "s.zarr"
    made = None
    for after in (30, 31, 32, 33, 34, 45, 60):
        shutil.rmtree(store, ignore_errors=True)
        with pytest.MonkeyPatch.context() as patched:
            without_room(patched, after)
            with pytest.raises(tf.SweepError) as caught:
                sweeps.run(encoded(), store)
        assert str(caught.value) == (
            f"{store}: the disk is full. Make room. Run the same sweep again: it goes on where it stopped"
        )
        made = done_blocks(store)
        assert sweeps.verify(store) == ((), (), ())  # nothing is marked without data
        assert sweeps.run(encoded(), store).computed == blocks - len(made)
        assert data_bytes(store) == whole
    assert made


@pytest.mark.parametrize(("after", "late"), [(0, 0.0), (3, 0.0), (3, 0.1)])  # late, s: others may go on after a failure
def test_no_room_for_the_store_itself(tmp_path, monkeypatch, after, late):
    without_room(monkeypatch, after, late)
    with pytest.raises(tf.SweepError, match=r"the disk is full"):
        sweeps.run(encoded(), tmp_path / "s.zarr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fault(15)
def test_a_small_disk(tmp_path):
    """A file system of its own that is too small, then larger."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        store, study = disk / "s.zarr", encoded({"a": 40, "b": 40, "c": 30}, 1000)
        with pytest.raises(tf.SweepError, match=r"the disk is full. Make room"):
            sweeps.run(study, store)
        made = done_blocks(store)
        assert made
        assert sweeps.verify(store) == ((), (), ())
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        outcome = sweeps.run(study, store)
        assert outcome.computed == outcome.blocks - len(made)
        sweeps.run(study, tmp_path / "whole.zarr")
        assert data_bytes(store) == data_bytes(tmp_path / "whole.zarr")
    finally:
        subprocess.run(["umount", disk], check=True)


def test_errors_of_a_study_stop_it_and_leave_the_rest(tmp_path, whole):
    def compute(block):
        if block["a"][0] >= 4:
            raise tf.ModelError("no such mass")
        return encoded().compute(block)

    study = encoded()
    broken = sweeps.Study(study.name, study.axes, RESULTS, compute, study.fingerprint, block_points=study.block_points)
    with pytest.raises(tf.ModelError, match=r"no such mass"):
        sweeps.run(broken, tmp_path / "s.zarr", threads=2)
    assert done_blocks(tmp_path / "s.zarr")
    sweeps.run(study, tmp_path / "s.zarr")
    assert data_bytes(tmp_path / "s.zarr") == whole


def test_an_interrupt_finishes_the_blocks_in_hand(tmp_path, whole):
    store, log = tmp_path / "s.zarr", tmp_path / "log"
    running = process(store, log, seconds=0.1)  # so that a busy machine is not late with the signal
    while not log.exists():
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    grid = Store(store).grid
    assert 0 < len(done_blocks(store)) < grid.blocks
    assert set(begun(log, grid)) == done_blocks(store)
    sweeps.run(encoded(), store)
    assert data_bytes(store) == whole


@pytest.mark.fault(16)
def test_no_flipped_bit_is_read_silently(tmp_path):
    """Every region of every file: an error, or the values as they were."""
    store, rng = tmp_path / "s.zarr", np.random.default_rng(16)
    sweeps.run(encoded({"a": 6, "b": 40}, 60), store)
    files = sorted(path for path in store.rglob("*") if path.is_file() and path.stat().st_size)
    sizes = np.array([path.stat().st_size for path in files])
    good, refused, unharmed = sweeps.open_dataset(store).load(), 0, 0
    # bytes of short files are as likely as those of long ones
    for _ in range(200 * SOAK):
        kind = rng.integers(len(files)) if rng.random() < 0.5 else rng.choice(len(files), p=sizes / sizes.sum())
        file = files[kind]
        kept = file.read_bytes()
        data = bytearray(kept)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        file.write_bytes(data)
        try:
            found = sweeps.open_dataset(store).load()
        except Exception:
            refused += 1
        else:
            assert found.identical(good), file
            unharmed += 1
        file.write_bytes(kept)
    assert refused > 50 * SOAK
    assert sweeps.open_dataset(store).load().identical(good)
