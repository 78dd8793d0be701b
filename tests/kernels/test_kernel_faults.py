"""Kernels under faults: threads, forks, pickles, damaged caches, no executable memory."""

from __future__ import annotations

import copy
import os
import pickle
import stat
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.kernel_checks import forget_kernels
from support.strategies import random_arm, random_state
from tauforge.kernels import cache
from tauforge.kernels.cpu import engine, kernel
from tauforge.kernels.cpu.engine import VECTOR_BITS, host

STATE = random_state(np.random.default_rng(0), 3, 40)


pytestmark = pytest.mark.usefixtures("own_cache")


def arm_of(seed=1):
    """An arm that finds no kernel of an equal one in this process."""
    forget_kernels()
    return random_arm(np.random.default_rng(seed), "RPR", drives=True)


@pytest.fixture
def expected():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_CACHE", "off")
        return arm_of().inverse_dynamics(*STATE)


THIS_FILE = (
    f"import sys; sys.path[:0] = {[str(p) for p in Path(__file__).parents[:2]]!r}\nfrom test_kernel_faults import *"
)


def in_a_child(code: str, head: str = THIS_FILE, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"{head}\n{textwrap.dedent(code)}"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300 * SOAK,
    )


@pytest.mark.fault(9)
def test_threads_calling_the_same_and_different_kernels(expected):
    arm = arm_of()
    q, qd, qdd = STATE
    M = arm.replace().mass_matrix(q)

    def work(k):
        if k % 2:
            return np.array_equal(arm.inverse_dynamics(q, qd, qdd), expected)
        return np.array_equal(arm.mass_matrix(q), M)

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(work, range(6400 * SOAK)))


def test_a_fork_while_another_thread_compiles():
    """The child inherits the lock as its own, not as that thread's."""
    done = in_a_child(
        """
        import os, threading, time
        from tauforge.kernels.cpu import engine
        held, go = threading.Event(), threading.Event()

        def compiling():
            with engine.LOCK:
                held.set()
                go.wait(1.0)

        thread = threading.Thread(target=compiling)
        thread.start()
        held.wait()
        threading.Timer(0.2, go.set).start()
        child = os.fork()
        if child == 0:
            arm_of(7).inverse_dynamics(*STATE)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        """
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.fault(10)
@pytest.mark.parametrize("first", ["imported", "not imported"])
def test_forks_while_another_thread_compiles_all_the_time(first):
    """Whatever that thread holds when the child is made, the child must not wait for it."""
    done = in_a_child(
        f"""
        import itertools, os, signal, threading, time
        base = tf.load("planar-2r")

        def call(k):
            return base.replace(mass=[1 + 1e-6 * k, 2.0]).gravity_forces(np.zeros(2))

        if {first == "imported"}:
            call(0)
        over = threading.Event()

        def compiling():
            for k in itertools.count(1):
                if over.is_set():
                    return
                call(k)

        thread = threading.Thread(target=compiling)
        thread.start()
        hung = 0
        for k in range({20 * SOAK if first == "imported" else 1}):
            time.sleep(0.001 * (k % 7))
            child = os.fork()
            if child == 0:
                call(-1 - k)
                os._exit(0)
            patience = time.monotonic() + 60
            while os.waitpid(child, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
                if time.monotonic() > patience:
                    hung += 1
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    break
            if hung == 2:
                break
        over.set()
        thread.join()
        print("hung:", hung)
        """,
        TAUFORGE_CACHE="off",
    )
    assert done.stdout == "hung: 0\n", done.stderr


@pytest.mark.fault(10)
def test_a_fork_while_another_thread_imports():
    """A child that needs the same module must not wait for that thread, which it does not have."""
    done = in_a_child(
        """
        import importlib.abc, os, signal, sys, threading
        assert "llvmlite" not in sys.modules
        arm, importing = tf.load("planar-2r"), threading.Event()

        class Slow(importlib.abc.MetaPathFinder):
            def find_spec(self, name, *_):
                if name.partition(".")[0] == "llvmlite":
                    importing.set()
                    threading.Event().wait(0.3)

        sys.meta_path.insert(0, Slow())
        thread = threading.Thread(target=tf.load("puma560").gravity_forces, args=[np.zeros(6)])
        thread.start()
        assert importing.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            arm.gravity_forces(np.zeros(2))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        """,
        head="import numpy as np, tauforge as tf",
    )
    assert done.returncode == 0, done.stderr


def test_the_cache_leaves_other_files_alone(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "MAX_CACHE_BYTES", 1000)
    own_cache.mkdir(mode=0o700)
    (own_cache / "thesis.tar").write_bytes(bytes(5000))
    arm_of().inverse_dynamics(*STATE)
    arm_of(2).inverse_dynamics(*STATE)
    assert (own_cache / "thesis.tar").stat().st_size == 5000


def test_a_damaged_entry_that_cannot_be_removed(own_cache, monkeypatch, expected):
    arm_of().inverse_dynamics(*STATE)
    (entry,) = own_cache.iterdir()
    entry.write_bytes(b"damaged")

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.warns(cache.KernelCacheWarning, match="damaged"):
        assert np.array_equal(arm_of().inverse_dynamics(*STATE), expected)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OverflowError])
def test_an_interrupted_compilation_is_an_error_not_a_crash(monkeypatch, interruption):
    """In single precision too, whose loop is compiled when it is first needed."""
    arm = arm_of()
    single = [x.astype(np.float32) for x in STATE]
    arm.inverse_dynamics(*STATE)

    def interrupted(*_, **__):
        raise interruption

    with monkeypatch.context() as patch:
        patch.setattr(kernel, "emit_module", interrupted)
        with pytest.raises(interruption):
            arm.inverse_dynamics(*single)
    assert arm.inverse_dynamics(*single).dtype == np.float32


def test_numbers_beyond_single_precision():
    heavy = tf.load("planar-2r").replace(mass=[1e39, 1e39])
    q = np.zeros((3, 2))
    assert np.isfinite(heavy.gravity_forces(q)).all()
    assert not np.isfinite(heavy.gravity_forces(q.astype(np.float32))).any()


def test_equal_arms_share_their_code():
    arm = arm_of()
    assert arm.kernel("inverse_dynamics") is arm.replace().kernel("inverse_dynamics")
    assert arm.kernel("inverse_dynamics") is not arm.replace(gravity=(1, 2, 3)).kernel("inverse_dynamics")


def test_a_robot_is_copied_while_another_thread_finds_shortcuts():
    """A copy reads the robot's attributes while calls in another thread put their shortcuts among them.

    The descriptor acts at the moment at which the other thread would: when a copy asks the class about an attribute.
    """

    class Busy:
        def __get__(self, instance, owner):
            vars(robot)[f"quick {len(vars(robot))}"] = None
            return 0

    class Arm(type(tf.load("planar-2r"))):
        pass

    robot = Arm(**tf.load("planar-2r").__getstate__())
    Arm.name = Busy()
    before = len(vars(robot))
    copied = copy.copy(robot)
    assert len(vars(robot)) > before
    assert not any(name.startswith("quick") for name in vars(copied))
    assert copied.joints == robot.joints


def test_threads_compiling_at_once():
    arms = [arm_of(k) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda arm: arm.inverse_dynamics(*STATE), arms))
    for arm, result in zip(arms, results, strict=True):
        assert np.array_equal(arm.replace().inverse_dynamics(*STATE), result)


def test_code_is_in_place_before_another_thread_may_call_it(monkeypatch):
    """A ufunc whose loop is missing does nothing, and its results would be whatever was in the memory."""
    arm = arm_of()
    made = arm.kernel("gravity_forces")
    q = STATE[0].astype(np.float32)
    at_work, go = threading.Event(), threading.Event()
    address = engine.Loaded.address

    def slowly(loaded, name):
        if threading.current_thread().name == "first" and sys._getframe(1).f_code.co_name == "put":
            at_work.set()
            assert go.wait(60)
        return address(loaded, name)

    monkeypatch.setattr(engine.Loaded, "address", slowly)
    results = []
    threads = [threading.Thread(target=lambda: results.append(made(q)), name=name) for name in ("first", "second")]
    threads[0].start()
    assert at_work.wait(60)
    threads[1].start()
    threads[1].join(0.5)  # it ought to wait for the first
    go.set()
    for thread in threads:
        thread.join()
    assert np.array_equal(*results)


@pytest.mark.fault(10)
def test_fork_after_compile_and_after_threads():
    done = in_a_child(
        f"""
        import os
        arm = arm_of()
        q, qd, qdd = random_state(np.random.default_rng(1), 3, 100_000)
        before = arm.inverse_dynamics(q, qd, qdd)
        for _ in range({20 * SOAK}):
            child = os.fork()
            if child == 0:
                same = np.array_equal(arm.inverse_dynamics(q, qd, qdd), before)
                arm.mass_matrix(q[:3])
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert done.returncode == 0, done.stderr


def test_pickling_leaves_the_code_behind(expected):
    arm = arm_of()
    arm.inverse_dynamics(*STATE)
    arm.inverse_dynamics(*(x[0] for x in STATE))
    again = pickle.loads(pickle.dumps(arm))
    assert "inverse_dynamics" not in vars(again)
    assert again == arm
    assert np.array_equal(again.inverse_dynamics(*STATE), expected)


def test_the_cache_is_private_and_used(own_cache, expected):
    first = arm_of()
    assert np.array_equal(first.inverse_dynamics(*STATE), expected)
    built = dict(first.kernel("inverse_dynamics").seconds)
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    entries = list(own_cache.iterdir())
    assert len(entries) == 1
    again = arm_of()
    assert np.array_equal(again.inverse_dynamics(*STATE), expected)
    kernel = again.kernel("inverse_dynamics")
    assert set(kernel.seconds) == {"load64"}
    assert kernel.seconds["load64"] < built["compile64"]


def test_another_vector_width_is_another_entry(own_cache, monkeypatch):
    monkeypatch.delenv(VECTOR_BITS, raising=False)
    if host().vector_bits == 128:
        pytest.skip("this processor has no vectors wider than 128 bits")
    arm_of().inverse_dynamics(*STATE)
    monkeypatch.setenv(VECTOR_BITS, "128")
    arm_of().inverse_dynamics(*STATE)
    assert len(list(own_cache.iterdir())) == 2


@pytest.mark.fault(11)
@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "append", "foreign"])
def test_damaged_entries_are_made_again(own_cache, expected, damage):
    arm_of().inverse_dynamics(*STATE)
    (entry,) = own_cache.iterdir()
    good = entry.read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(10 * SOAK if damage == "flip" else 1):
        bad = bytearray(good)
        match damage:
            case "flip":
                bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
            case "truncate":
                del bad[len(bad) // 2 :]
            case "empty":
                bad.clear()
            case "append":
                bad += b"\0"
            case "foreign":
                bad = bytearray(cache.MAGIC + cache._digest("other", b"code") + b"code")
        entry.write_bytes(bad)
        with pytest.warns(cache.KernelCacheWarning, match="is damaged and is compiled again"):
            assert np.array_equal(arm_of().inverse_dynamics(*STATE), expected)
        assert entry.read_bytes() == good


@pytest.mark.fault(12)
def test_a_cache_that_others_can_write_is_refused(tmp_path, monkeypatch, expected):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv("TAUFORGE_CACHE", str(open_to_all))
    with pytest.warns(cache.KernelCacheWarning, match="can be written by others and is not used"):
        assert np.array_equal(arm_of().inverse_dynamics(*STATE), expected)
    assert not list(open_to_all.iterdir())


def test_a_cache_that_is_a_file_is_refused(tmp_path, monkeypatch, expected):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path / "file"))
    with pytest.warns(cache.KernelCacheWarning, match="cannot be used"):
        assert np.array_equal(arm_of().inverse_dynamics(*STATE), expected)


def test_a_disk_that_takes_nothing_costs_only_the_saving(own_cache, monkeypatch, expected):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_private", full)
    assert np.array_equal(arm_of().inverse_dynamics(*STATE), expected)
    assert not list(own_cache.iterdir())


@pytest.mark.parametrize("value", ["", "0", "off"])
def test_the_cache_can_be_switched_off(own_cache, monkeypatch, expected, value):
    monkeypatch.setenv("TAUFORGE_CACHE", value)
    assert np.array_equal(arm_of().inverse_dynamics(*STATE), expected)
    assert not own_cache.exists()


def test_the_cache_is_bounded(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "MAX_CACHE_BYTES", 20_000)
    for seed in range(4):
        arm_of(seed).inverse_dynamics(*STATE)
    assert sum(path.stat().st_size for path in own_cache.iterdir()) <= 20_000


@pytest.mark.fault(11)
def test_every_flipped_bit_is_seen(own_cache):
    """A loaded entry is the saved one or none at all."""
    arm_of().inverse_dynamics(*STATE)
    (entry,) = own_cache.iterdir()
    good, rng = entry.read_bytes(), np.random.default_rng(4)
    for _ in range(200 * SOAK):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        entry.write_bytes(bad)
        with pytest.warns(cache.KernelCacheWarning, match="damaged"):
            assert cache.load(entry.name) is None


@pytest.mark.fault(11)
def test_two_processes_may_race(own_cache):
    code = "print(arm_of().inverse_dynamics(*STATE).tobytes().hex()[:64])"
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: in_a_child(code), range(4)))
    assert all(process.returncode == 0 for process in done), done[0].stderr
    assert len({process.stdout for process in done}) == 1
    assert len(list(own_cache.iterdir())) == 2  # the kernel, and the jump to its loop


@pytest.mark.fault(27)
@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_MDWE is a Linux feature")
def test_without_executable_memory_the_reference_answers():
    done = in_a_child(
        """
        import ctypes, warnings
        PR_SET_MDWE, REFUSE_GAIN = 65, 1
        if ctypes.CDLL(None).prctl(PR_SET_MDWE, REFUSE_GAIN, 0, 0, 0) != 0:
            print("unsupported")
            raise SystemExit
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            first = arm_of().inverse_dynamics(*STATE)
            second = arm_of(2).mass_matrix(STATE[0])
        print(len(caught), caught[0].category.__name__, np.isfinite(first).all() and np.isfinite(second).all())
        """
    )
    assert done.returncode == 0, done.stderr
    if done.stdout.strip() == "unsupported":
        pytest.skip("this kernel has no PR_SET_MDWE")
    assert done.stdout.split() == ["1", "NoExecutableMemoryWarning", "True"]


def test_wrong_settings_say_so(monkeypatch):
    with pytest.raises(ValueError, match="expected a whole number >= 1"):
        tf.set_threads(0)
    monkeypatch.setenv("TAUFORGE_VECTOR_BITS", "1024")
    with pytest.raises(ValueError, match="TAUFORGE_VECTOR_BITS='1024': expected 128, 256 or 512"):
        arm_of().inverse_dynamics(*STATE)
