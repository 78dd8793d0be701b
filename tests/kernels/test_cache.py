"""The cache of compiled objects: strangers, folders, its size, and what an entry is bound to."""

from __future__ import annotations

import compileall
import hashlib
import os
import shutil
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from support.kernel_checks import forget_kernels
from tauforge.kernels import cache
from tauforge.kernels import specification as specifications

Q = np.array([0.3, 0.4])
needs_owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")


pytestmark = pytest.mark.usefixtures("own_cache")


def answer(mass=1.0):
    """From the disk or compiled, not from this process."""
    forget_kernels()
    return tf.load("planar-2r").replace(mass=[mass, 2.0]).gravity_forces(Q)


def name_of(k):
    return hashlib.sha256(str(k).encode()).hexdigest()


def a_pipe(entry, _monkeypatch):
    entry.unlink()
    os.mkfifo(entry)


def a_link(entry, _monkeypatch):
    entry.rename(entry.parent.parent / "elsewhere")
    entry.symlink_to(entry.parent.parent / "elsewhere")


def another_owner(_entry, monkeypatch):
    """The folder was looked at before: from here on we are somebody else."""
    somebody_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody_else)


FAULTS = {
    "can be written by others": [lambda entry, _: entry.chmod(0o666), lambda entry, _: entry.chmod(0o620)],
    "belongs to another user": [another_owner],
    "is a link": [a_link],
    "is not a file": [a_pipe],
}


@pytest.mark.fault(12)
@needs_owners
@pytest.mark.parametrize(("text", "plant"), [(text, plant) for text, plants in FAULTS.items() for plant in plants])
def test_an_entry_that_others_could_have_written_is_made_again(own_cache, monkeypatch, text, plant):
    """Its digest is right: that shows only that it is whole, not who made it."""
    expected = answer()
    (entry,) = own_cache.iterdir()
    plant(entry, monkeypatch)
    with pytest.warns(cache.KernelCacheWarning, match=f"the kernel cache entry .* {text} and is compiled again"):
        assert np.array_equal(answer(), expected)
    status = entry.lstat()
    assert stat.S_ISREG(status.st_mode)
    assert stat.S_IMODE(status.st_mode) == 0o600


@needs_owners
def test_entries_are_private_whatever_the_umask(own_cache):
    before = os.umask(0)
    try:
        answer()
    finally:
        os.umask(before)
    (entry,) = own_cache.iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700


@needs_owners
def test_folders_above_the_cache_are_private_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path / "new" / "kernels"))
    before = os.umask(0)
    try:
        assert cache.folder() == tmp_path / "new" / "kernels"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TAUFORGE_CACHE", "~/mine")
    cache._checked.cache_clear()
    assert cache.folder() == tmp_path / "mine"
    monkeypatch.setenv("TAUFORGE_CACHE", "~nobody-of-this-name/mine")
    with pytest.warns(cache.KernelCacheWarning, match="cannot be used: Could not determine home directory"):
        assert cache.folder() is None


def test_what_cannot_be_removed_does_not_stop_the_trimming(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "MAX_CACHE_BYTES", 1000)
    monkeypatch.setattr(cache, "_trim_is_due", lambda *_: True)
    (cache.folder() / name_of("oldest")).mkdir()
    os.utime(own_cache / name_of("oldest"), (0, 0))
    for k in range(4):
        cache.save(name_of(k), bytes(700))
    assert len([path for path in own_cache.iterdir() if path.is_file()]) == 1


@pytest.mark.fault(12)
def test_a_relative_folder_stays_where_it_was_first_asked_for(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    name = f"kernels-{tmp_path.name}"
    monkeypatch.setenv("TAUFORGE_CACHE", name)
    monkeypatch.chdir(here)
    answer()
    (there / name).mkdir(mode=0o777)
    monkeypatch.chdir(there)
    answer(1.5)
    assert len(list((here / name).iterdir())) == 2
    assert not list((there / name).iterdir())


@pytest.mark.parametrize("relative", ["", "caches", "./caches"])
def test_a_relative_xdg_folder_is_ignored(tmp_path, monkeypatch, relative):
    """As the XDG specification says."""
    monkeypatch.delenv("TAUFORGE_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", relative)
    assert cache.folder() == tmp_path / ".cache" / "tauforge" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache.folder() == tmp_path / "caches" / "tauforge" / "kernels"


def test_where_files_have_no_owners_modes_say_nothing(own_cache, monkeypatch):
    """On Windows every folder looks as if all could write to it."""
    monkeypatch.delattr(os, "geteuid", raising=False)
    own_cache.mkdir()
    own_cache.chmod(0o777)
    expected = answer()
    (entry,) = own_cache.iterdir()
    entry.chmod(0o666)
    assert np.array_equal(answer(), expected)
    assert set(tf.load("planar-2r").replace(mass=[1.0, 2.0]).kernel("gravity_forces").seconds) == {"load64"}


def test_saving_does_not_look_at_every_entry_every_time(own_cache, monkeypatch):
    looked = []
    trim = cache._trim
    monkeypatch.setattr(cache, "_trim", lambda place: (looked.append(place), trim(place)))
    for k in range(200):
        cache.save(name_of(k), bytes(25_000))
    assert len(looked) <= 2  # one in 670 on average
    assert len(list(own_cache.iterdir())) == 200


def test_the_folder_stays_bounded_all_the_same(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "MAX_CACHE_BYTES", 100_000)
    largest = 0
    for k in range(600):
        cache.save(name_of(k), bytes(1000))
        largest = max(largest, sum(path.stat().st_size for path in own_cache.iterdir()))
    assert largest < 150_000


@pytest.mark.parametrize("name", ["puma560", "dasgupta1998", "delta"])
def test_the_digest_covers_every_folder_that_graphs_are_made_in(name):
    """An edit of a module elsewhere would be answered by code from before it."""
    package, called = Path(tf.__file__).parent, set()

    def watch(frame, event, argument):
        if event == "call":
            called.add(frame.f_code.co_filename)

    robot = tf.load(name)
    for function in ("inverse_dynamics", "forward_dynamics_derivatives"):
        specification = robot.specification(function)
        sys.setprofile(watch)
        try:
            assert specification.graph.nodes
        finally:
            sys.setprofile(None)
    paths = [path for path in map(Path, called) if path.is_relative_to(package)]
    folders = {path.relative_to(package).parts[0] for path in paths}
    assert {"formulations", "evaluation", "robots"} <= folders  # it watches
    assert {folder for folder in folders if (package / folder).is_dir()} <= set(specifications.TRACED_FOLDERS)


class TestVersion:
    """What entries are bound to besides the robot: our own sources."""

    @pytest.fixture(autouse=True)
    def package(self, tmp_path, monkeypatch):
        """A copy of the package that `sources_digest` takes for its own."""
        self.root = tmp_path / "tauforge"
        shutil.copytree(Path(tf.__file__).parent, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(specifications, "__file__", str(self.root / "kernels" / "specification.py"))

    def version(self):
        return specifications.sources_digest.__wrapped__()

    @pytest.mark.parametrize(
        "module",
        ["control/computed_torque.py", "simulation/integrators.py", "kernels/cpu/engine.py", "kernels/cpu/offsets.ll"],
    )
    @pytest.mark.parametrize("installed", ["with sources", "without sources"])
    def test_it_changes_with_every_module_that_gets_compiled(self, module, installed):
        if installed == "without sources":
            self.leave_bytecode_only()
        before = self.version()
        assert self.version() == before
        path = self.root / module
        if installed == "without sources" and path.suffix == ".py":
            path = path.with_suffix(".pyc")
        path.write_bytes(path.read_bytes() + b"\n")
        assert self.version() != before

    def leave_bytecode_only(self):
        assert compileall.compile_dir(self.root, quiet=1, legacy=True)
        for path in self.root.rglob("*.py"):
            path.unlink()

    def test_without_any_file_nothing_is_shared_between_processes(self):
        shutil.rmtree(self.root)
        assert self.version() != self.version()
