"""Sweeps on Dask: the same bytes as on threads, lost workers and schedulers, and who can reach a local cluster."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

import tauforge as tf
from conftest import SOAK
from support.sweep_studies import Deadly, axes_of, data_bytes, encoded, logged
from tauforge import sweeps
from tauforge.sweeps import cluster
from tauforge.sweeps.fingerprint import environment
from tauforge.sweeps.store import Store

TESTS = Path(__file__).parents[1]
LOOPBACK = ("127.0.0.1", "::1")
ANSWERS_WITHIN = 60.0  # s on a busy machine, of which 5 are the time that a scheduler is given


@pytest.fixture(scope="module")
def client():
    """Two worker processes, which find the tests' studies."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(TESTS))
        with sweeps.local_workers(2) as found:
            yield found


@pytest.fixture
def whole(tmp_path):
    sweeps.run(encoded(), tmp_path / "whole.zarr")
    return data_bytes(tmp_path / "whole.zarr")


def done_blocks(path):
    store = Store(path)
    return sum(store.is_done(index) for index in store.indices())


def when_some_are_done(path, then):
    """Calls `then` once a few blocks are done, in a thread."""

    def watch():
        while not (path / "zarr.json").exists() or done_blocks(path) < 3:
            time.sleep(0.02)
        then()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    return watching


def test_the_same_bytes_as_on_threads(client, tmp_path, whole):
    outcome = sweeps.run(encoded(), tmp_path / "s.zarr", client=client)
    assert outcome.computed == outcome.blocks
    assert data_bytes(tmp_path / "s.zarr") == whole
    assert sweeps.run(encoded(), tmp_path / "s.zarr", client=client).computed == 0


def test_the_same_bytes_of_a_robot(client, tmp_path):
    robot = tf.load("motion-rig")
    axes = [sweeps.Axis("x", np.linspace(-0.1, 0.1, 30)), sweeps.Axis("theta_x", np.linspace(-0.1, 0.1, 20))]
    study = sweeps.ready_study("holding-forces", robot, axes)
    for name, options in (("threads", {}), ("workers", {"client": client})):
        sweeps.run(study, tmp_path / name, **options)
    assert data_bytes(tmp_path / "threads") == data_bytes(tmp_path / "workers")


def test_functions_without_a_module(client, tmp_path):
    """Dask's own pickles know them by their code."""

    def compute(block):
        return {"y": block["a"] ** 2}

    study = sweeps.Study("squares", axes_of({"a": 5}), (sweeps.Result("y"),), compute)
    sweeps.run(study, tmp_path / "s.zarr", client=client)
    np.testing.assert_array_equal(sweeps.open_dataset(tmp_path / "s.zarr").y, np.arange(5) ** 2)


def test_few_blocks_are_known_to_dask_at_a_time(client, tmp_path, monkeypatch):
    most, submit, running = 0, client.submit, set()

    def counted(*arguments, **options):
        nonlocal most
        future = submit(*arguments, **options)
        running.add(future.key)
        future.add_done_callback(lambda done: running.discard(done.key))
        most = max(most, len(running))
        return future

    monkeypatch.setattr(client, "submit", counted)
    outcome = sweeps.run(encoded({"a": 60}, 1), tmp_path / "s.zarr", client=client)
    assert outcome.blocks == 60
    assert most <= 4 * cluster.WINDOW  # of two threads; Dask tells of ends a little later


@pytest.mark.fault(14)
def test_a_lost_worker(client, tmp_path, whole):
    """Its blocks are done again elsewhere."""
    log, store = tmp_path / "log", tmp_path / "s.zarr"
    victim = next(iter(client.run(os.getpid).values()))
    watching = when_some_are_done(store, lambda: os.kill(victim, signal.SIGKILL))
    outcome = sweeps.run(logged(log, 0.05), store, client=client)
    watching.join(timeout=60)
    assert outcome.computed == outcome.blocks
    assert victim not in client.run(os.getpid).values()
    assert data_bytes(store) == whole
    assert outcome.blocks <= len(log.read_text().splitlines()) <= outcome.blocks + 1  # the block in flight, again


def test_an_error_in_a_worker(client, tmp_path):
    def compute(block):
        raise tf.ModelError("no such mass", field="mass")

    study = sweeps.Study("broken", axes_of({"a": 5}), (sweeps.Result("y"),), compute)
    with pytest.raises(tf.ModelError, match=r"^mass: no such mass$"):
        sweeps.run(study, tmp_path / "s.zarr", client=client)


def test_a_full_disk_at_a_worker(client, tmp_path):
    def compute(block):
        raise OSError(28, "No space left on device")

    study = sweeps.Study("full", axes_of({"a": 5}), (sweeps.Result("y"),), compute)
    with pytest.raises(tf.SweepError, match=r"the disk is full. Make room"):
        sweeps.run(study, tmp_path / "s.zarr", client=client)


def test_a_block_that_kills_workers(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "LOSSES", 1)
    client.run_on_scheduler(set_allowed_failures, 0)
    study = sweeps.Study("deadly", axes_of({"a": 5}), (sweeps.Result("y"),), Deadly())
    with pytest.raises(tf.SweepError, match=r"workers die of block \(0,\). "):
        sweeps.run(study, tmp_path / "s.zarr", client=client)
    client.wait_for_workers(2, timeout=60)


def set_allowed_failures(count, dask_scheduler):
    dask_scheduler.allowed_failures = count


def test_workers_that_differ_are_refused_before_any_work(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "environment", lambda: {**environment(), "numpy": "0.9"})
    with pytest.raises(tf.SweepError, match=r"worker tcp://127.0.0.1:\d+ differs from this process: numpy was \"0.9\""):
        sweeps.run(logged(tmp_path / "log"), tmp_path / "s.zarr", client=client)
    assert not (tmp_path / "log").exists()


def test_threads_and_workers_at_once(client, tmp_path):
    with pytest.raises(tf.ModelError, match=r"threads: the workers of the client compute, not threads"):
        sweeps.run(encoded(), tmp_path / "s.zarr", client=client, threads=2)


@pytest.mark.fault(18)
def test_nothing_of_a_local_cluster_listens_to_other_machines(client):
    workers = list(client.run(os.getpid).values())
    listening = [
        connection.laddr.ip
        for process in (os.getpid(), *workers)
        for connection in psutil.Process(process).net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 3  # the scheduler and two workers
    assert set(listening) <= set(LOOPBACK)


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_bad_numbers_of_workers(count):
    with pytest.raises(tf.ModelError, match=r"workers: expected a whole number >= 1, got"), sweeps.local_workers(count):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x:1", "tcp://127.0.0.1:x", ""])
def test_a_scheduler_that_does_not_answer(address):
    began = time.monotonic()
    with pytest.raises(tf.ModelError) as caught, sweeps.connected(address):
        pass
    assert "no scheduler answers: " in str(caught.value)
    assert caught.value.remedy == "Start one (dask scheduler), or correct the address"
    assert time.monotonic() - began < ANSWERS_WITHIN


@contextmanager
def server(says):
    """The address of one that says these bytes to everybody and ends; None for one that accepts and is silent."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:  # closed
                    return
                kept.append(connection)
                if says is not None:
                    connection.sendall(says)
                    connection.shutdown(socket.SHUT_WR)  # a reset in place of this end may meet Dask while it connects

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    for connection in kept:
        connection.close()


@pytest.mark.parametrize(
    ("says", "message"),
    [
        (None, "nothing is heard within 5 s"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "what is there does not speak Dask's language"),  # Dask's own dashboard
        (struct.pack("<Q", 5) + b"hello", "what is there does not speak Dask's language"),
        (b"", "(Connection|Stream|in <TCP).*"),  # in the words of the system
    ],
    ids=["silent", "web page", "other bytes", "closed"],
)
def test_something_else_answers(says, message):
    began = time.monotonic()
    with server(says) as address, pytest.raises(tf.ModelError) as caught, sweeps.connected(address):
        pass
    assert re.search(f"no scheduler answers: {message}", str(caught.value))
    assert time.monotonic() - began < ANSWERS_WITHIN


def test_the_address_of_a_worker(client):
    address = next(iter(client.run(os.getpid)))
    with pytest.raises(tf.ModelError, match="no scheduler answers: a Worker is there"), sweeps.connected(address):
        pass


def child(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


SCHEDULER = """
import asyncio
from distributed import Scheduler
async def serve():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(serve())
"""
WORKER = """
import asyncio, sys
from distributed import Worker
async def work():
    async with Worker(sys.argv[1], nthreads=1, host="127.0.0.1", dashboard=False) as worker:
        await worker.finished()
asyncio.run(work())
"""


@pytest.mark.fault(14)
def test_a_lost_scheduler(tmp_path, whole):
    """The sweep ends with an error that says so; the store goes on, here on threads."""
    store, children = tmp_path / "s.zarr", []
    try:
        children.append(scheduler := child(SCHEDULER))
        address = scheduler.stdout.readline().strip()
        with sweeps.connected(address) as client:
            with pytest.raises(tf.SweepError, match=r"the cluster has no workers. Start some: dask worker ADDRESS"):
                sweeps.run(encoded(), store, client=client)
            children.append(child(WORKER, address))
            client.wait_for_workers(1, timeout=60)
            watching = when_some_are_done(store, scheduler.kill)
            with pytest.raises(tf.SweepError, match=r"the scheduler of the cluster is gone. Run the same sweep again"):
                sweeps.run(logged(tmp_path / "log", 0.05), store, client=client)
            watching.join(timeout=60)
    finally:
        for process in children:
            process.kill()
            process.communicate()
    made = done_blocks(store)
    outcome = sweeps.run(encoded(), store)
    assert made >= 3
    assert outcome.computed == outcome.blocks - made
    assert data_bytes(store) == whole


OWN_WORKERS = """
import sys
from conftest import SOAK
from support.sweep_studies import logged
from tauforge import sweeps
if __name__ == "__main__":
    with sweeps.local_workers(2) as client:
        sweeps.run(logged(sys.argv[2], 0.05), sys.argv[1], client=client)
"""


def has_ended(process):
    """Also where nobody has asked for its exit status: an orphan's parent is whatever the machine has for that."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.fault(13)
@pytest.mark.parametrize("killed", ["everything", "the process that was started"])
def test_killed_with_its_workers(client, tmp_path, whole, killed):
    """Workers do not go on by themselves; a second start computes what is missing, and no more."""
    store, log = tmp_path / "s.zarr", tmp_path / "log"
    for _ in range(max(1, SOAK // 10)):  # each starts a cluster, which takes seconds
        shutil.rmtree(store, ignore_errors=True)
        log.unlink(missing_ok=True)
        running = child(OWN_WORKERS, store, log)
        own = psutil.Process(running.pid)
        try:
            when_some_are_done(store, lambda: None).join(timeout=60)
            family = [own, *own.children(recursive=True)]
            assert len(family) >= 3
            for process in family if killed == "everything" else [own]:
                process.kill()
            deadline = time.monotonic() + ANSWERS_WITHIN
            while not all(map(has_ended, family)):
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            running.kill()
            running.communicate()
        made, begun = done_blocks(store), len(log.read_text().splitlines())
        assert 3 <= made <= begun <= made + 2  # one in flight at each worker
        outcome = sweeps.run(encoded(), store, client=client)
        assert outcome.computed == outcome.blocks - made
        assert data_bytes(store) == whole
