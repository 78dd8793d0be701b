"""Machine code lives as long as something refers to it, and not longer; and where no memory is left for it."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from support.kernel_checks import reference
from support.tolerances import ROUNDING, SINGLE, error_beside

LIMIT = Path("/proc/sys/vm/max_map_count")
linux = pytest.mark.skipif(not LIMIT.exists(), reason="/proc and a limit of memory maps are Linux's")
ONE_JOINT = tf.SerialArm.from_dh(
    joints="R",
    alpha=[0.1],
    a=[0.3],
    d=[0.1],
    theta=[0.2],
    mass=[1.0],
    com=[[0.1, 0.2, 0.3]],
    inertia=[[0.1, 0.2, 0.2]],
    gravity=(3.0, -8.0, 4.0),
)
Q = np.array([0.4])
Q_BATCH = np.linspace(-1, 1, 10)[:, None]

pytestmark = pytest.mark.usefixtures("kernels_on")


def in_a_child(code: str, **environment: str) -> str:
    folders = [str(folder) for folder in Path(__file__).parents[:2]]
    head = f"import sys; sys.path[:0] = {folders!r}\nfrom test_kernel_memory import *\n"
    done = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code)],
        env=os.environ | {"TAUFORGE_KERNELS": "1", "TAUFORGE_CACHE": "off"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300 * SOAK,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def right(got, expected, tolerance=ROUNDING):
    """Beside the largest of the batch: one joint's force may be nearly zero."""
    return error_beside(got, expected, expected) < tolerance


def gravity(arm):
    return reference(arm, "gravity_forces", Q_BATCH)[0]


def forget_recent():
    from tauforge.kernels.cpu.kernel import backend  # a test begins before the compiler is imported

    backend._recent.clear()


def loaded_code(robot, method, *state):
    """Weak references to the machine code of a robot whose builtin is installed, in both precisions."""
    getattr(robot, method)(*state)
    getattr(robot, method)(*(x.astype(np.float32) for x in state))
    assert type(getattr(robot, method)).__name__ == "builtin_function_or_method"
    return [weakref.ref(robot.kernel(method).loaded(bits)) for bits in (32, 64)]


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class TestWhoKeepsTheCode:
    """Nothing waits for the garbage collector."""

    @pytest.fixture(autouse=True)
    def an_arm(self, kernels_on, no_collector):
        self.arm = ONE_JOINT.replace(mass=[1.25])
        self.expected = gravity(self.arm)

    def drop_the_arm(self):
        del self.arm
        forget_recent()

    def reuse_the_memory(self):
        """What was freed too early is overwritten."""
        gc.collect()
        for k in range(20):
            ONE_JOINT.replace(mass=[3 + 0.01 * k]).gravity_forces(Q_BATCH)
        forget_recent()

    def test_a_dropped_arm_takes_it_along(self):
        codes = loaded_code(self.arm, "gravity_forces", Q)
        assert all(code() is not None for code in codes)
        self.drop_the_arm()
        assert [code() for code in codes] == [None, None]

    def test_a_dropped_platform_takes_it_along(self):
        platform = tf.load("dasgupta1998")
        code, gone = weakref.ref(platform.kernel("inverse_kinematics").loaded(64)), weakref.ref(platform)
        platform.inverse_kinematics(np.array([0, 0, 1.0, 0, 0, 0]))
        del platform
        forget_recent()
        assert gone() is None
        assert code() is None

    def test_a_kernel_of_a_family_goes_too(self):
        code = weakref.ref(self.arm.kernel("gravity_forces", varying=["mass"]).loaded(64))
        self.drop_the_arm()
        assert code() is None

    def test_an_equal_arm_keeps_it(self):
        codes = loaded_code(self.arm, "gravity_forces", Q)
        twin = self.arm.replace()
        assert twin.kernel("gravity_forces") is self.arm.kernel("gravity_forces")
        self.drop_the_arm()
        assert all(code() is not None for code in codes)
        self.reuse_the_memory()
        assert np.array_equal(twin.gravity_forces(Q_BATCH), twin.gravity_forces(Q_BATCH.tolist()))

    def test_the_last_ones_stay_for_a_while(self):
        """A loop that makes the same robot again and again finds its code."""
        from tauforge.kernels.cpu.kernel import RECENT

        first = weakref.ref(ONE_JOINT.replace(mass=[0.987]).kernel("gravity_forces").loaded(64))
        assert ONE_JOINT.replace(mass=[0.987]).kernel("gravity_forces").loaded(64) is first()
        for k in range(RECENT):
            assert first() is not None
            ONE_JOINT.replace(mass=[1 + 0.01 * k]).gravity_forces(Q)
        assert first() is None

    def test_a_kernel_alone(self):
        alone = self.arm.kernel("gravity_forces")
        self.drop_the_arm()
        self.reuse_the_memory()
        assert right(alone(Q_BATCH), self.expected)
        assert right(alone(Q_BATCH.astype(np.float32)), self.expected, SINGLE)

    def test_a_ufunc_alone(self):
        alone = self.arm.kernel("gravity_forces").ufunc
        self.drop_the_arm()
        self.reuse_the_memory()
        assert alone.__name__ == "gravity_forces"
        assert alone.signature == "(1)->(1)"
        assert right(alone(Q_BATCH), self.expected)
        assert right(alone(Q_BATCH.astype(np.float32)), self.expected, SINGLE)
        assert right(alone(Q_BATCH, out=np.empty((10, 1))), self.expected)

    @pytest.mark.parametrize("times", [1, 2])
    def test_a_builtin_alone(self, times):
        """For arrays that it takes itself, for what it hands on to its robot, which is gone, and for a pickle."""
        self.arm.gravity_forces(Q)
        alone = self.arm.gravity_forces
        assert type(alone).__name__ == "builtin_function_or_method"
        gone = weakref.ref(self.arm)
        self.drop_the_arm()
        assert gone() is None
        self.reuse_the_memory()
        for _ in range(times):
            assert right(alone(Q_BATCH), self.expected)
            assert np.array_equal(alone(Q_BATCH.tolist()), alone(Q_BATCH))
            assert np.array_equal(alone(Q_BATCH.T[..., None]), alone(Q_BATCH)[None])
            assert not np.array_equal(alone(Q, payload=tf.Payload(1.0)), alone(Q))
        with pytest.raises(tf.ShapeError, match="joint"):
            alone(np.zeros(7))
        assert "payload" in alone.__text_signature__
        assert np.array_equal(pickle.loads(pickle.dumps(alone))(Q_BATCH), alone(Q_BATCH))

    def test_a_finalizer_may_still_call_it(self):
        """The collector runs the finalizers of a circle in any order; none may find the code freed."""
        answers = []

        class Owner:
            def __init__(self, arm):
                self.arm, self.itself = arm, self

            def __del__(self):
                answers.append(self.arm.gravity_forces(Q_BATCH))

        self.arm.gravity_forces(Q)
        codes = loaded_code(self.arm, "gravity_forces", Q)
        owners = [Owner(self.arm) for _ in range(3)]
        owners[0].others = owners
        self.drop_the_arm()
        del owners
        gc.collect()
        assert len(answers) == 3
        for got in answers:
            assert right(got, self.expected)
        assert [code() for code in codes] == [None, None]


@linux
def test_a_builtin_in_a_circle_is_freed_before_its_definition():
    """glibc fills what is freed with the given byte: a definition read after that has a flag that leads astray."""
    in_a_child(
        """
        class Owner:
            pass

        def circle(mass):
            arm = ONE_JOINT.replace(mass=[mass])
            arm.gravity_forces(Q)
            owner = Owner()
            owner.itself, owner.gravity_forces = owner, arm.gravity_forces

        gc.disable()
        for k in range(3):
            circle(2.0 + k)
            gc.collect()
        """,
        PYTHONMALLOC="malloc",
        MALLOC_PERTURB_="34",
    )


def test_loading_a_robot_again_leaves_nothing():
    def load_and_call(times):
        for _ in range(times):
            arm = tf.load("planar-2r")
            arm.gravity_forces(np.zeros(2))
            arm.gravity_forces(np.zeros(2))

    tracemalloc.start()
    try:
        load_and_call(10)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        load_and_call(300)  # so many that what Python itself keeps now and then, some kB, does not count
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 300 * 100  # the text of one builtin alone is longer


@pytest.mark.fault(27)
@linux
def test_robots_made_called_and_dropped():
    """Memory maps and resident memory stay as they are. The code is compiled quickly, and only one robot in eight."""
    count, first = 2000 * SOAK, 1000
    out = in_a_child(
        f"""
        from tauforge.kernels.cpu import engine
        import llvmlite.binding as llvm

        def quick_machine(host):
            target = llvm.Target.from_triple(host.triple)
            return target.create_target_machine(
                cpu=host.cpu, features=host.features, opt=0, jit=True, codemodel="small", reloc="pic"
            )

        compile_text, codes = engine.compile_text, []

        def compile_one_in_eight(text, host):
            if k % 8 == 0 or k == 1:
                codes[:] = [compile_text(text, host)]
            return codes[0]

        engine.target_machine, engine.compile_text = quick_machine, compile_one_in_eight

        def used():
            pages = int(open("/proc/self/statm").read().split()[1])
            return sum(1 for _ in open("/proc/self/maps", "rb")), pages

        seen = []
        for k in range({count} + 1):
            arm = ONE_JOINT.replace(mass=[1 + 1e-6 * k])
            arm.gravity_forces(Q)
            assert type(arm.gravity_forces).__name__ == "builtin_function_or_method"
            one, many = arm.gravity_forces(Q), arm.gravity_forces(Q_BATCH)
            if k % 8 == 0:
                assert right(many, gravity(arm))
                assert np.array_equal(one, arm.gravity_forces(Q[None])[0])
            if k >= {first} and k % 100 == 0:
                seen.append(used())
        (maps, pages), (most_maps, most_pages) = seen[0], np.max(seen, axis=0)
        print(most_maps / maps, most_pages / pages)
        """
    )
    maps, resident = map(float, out.split())
    assert maps < 1.1
    assert resident < 1.1


EATS_MAPS = """
import ctypes, mmap, warnings

library = ctypes.PyDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
pages = int(LIMIT.read_text()) + 100


def eat_maps():
    start = library.mmap(None, pages * mmap.PAGESIZE, 1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    for k in range(0, pages, 2):
        if library.mprotect(start + k * mmap.PAGESIZE, mmap.PAGESIZE, 3) != 0:
            return start
    raise SystemExit("there is no limit")


def give_back(start):
    library.munmap(start, pages * mmap.PAGESIZE)
"""


@pytest.mark.fault(27)
@linux
@pytest.mark.skipif(LIMIT.exists() and int(LIMIT.read_text()) > 300_000, reason="too many memory maps to use up")
@pytest.mark.parametrize("before", ["nothing", "other robots"])
def test_where_no_memory_maps_are_left(before):
    """LLVM would abort, or give code that is not executable. The reference answers, until there is room again."""
    out = in_a_child(
        EATS_MAPS
        + f"""
earlier, single = ONE_JOINT.replace(mass=[5.0]), ONE_JOINT.replace(mass=[6.0])
if {before == "other robots"}:
    earlier.gravity_forces(Q)
    single.gravity_forces(Q)
arms = [ONE_JOINT.replace(mass=[1.0 + k]) for k in range(3)]
expected = [gravity(arm) for arm in (*arms, earlier, single)]
assert ("llvmlite" in sys.modules) is {before == "other robots"}
taken = eat_maps()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    got = [arm.gravity_forces(Q_BATCH) for arm in (*arms, earlier)]
    low = single.gravity_forces(Q_BATCH.astype(np.float32))
    try:
        arms[0].kernel("gravity_forces")
    except tf.UnsupportedFeatureError as error:
        assert "no executable memory left" in str(error)
    else:
        raise AssertionError("a kernel without memory")
give_back(taken)
assert all(right(a, b) for a, b in zip(got, expected))
assert low.dtype == np.float32 and right(low, expected[-1], SINGLE)
assert [w.category.__name__ for w in caught] == ["NoExecutableMemoryWarning"], caught
assert "no memory maps left (vm.max_map_count)" in str(caught[0].message)
arms[0].gravity_forces(Q)
print(type(arms[0].gravity_forces).__name__)
"""
    )
    assert out == "builtin_function_or_method\n"


@pytest.mark.fault(27)
@linux
@pytest.mark.parametrize(
    ("before", "spare"), [("nothing", 0), ("nothing", 60), ("nothing", 170), ("other robots", 0), ("other robots", 30)]
)
def test_where_few_addresses_are_left(before, spare):
    """As by `ulimit -v`, MiB. LLVM would end the process by std::bad_alloc, or could not even be imported."""
    out = in_a_child(
        f"""
import resource, warnings

single = ONE_JOINT.replace(mass=[6.0])
if {before == "other robots"}:
    ONE_JOINT.gravity_forces(Q)
arm = tf.load("panda")
states = arm.random_states(3, seed=1)
pages = int(Path("/proc/self/statm").read_text().split()[0])
now = pages * resource.getpagesize() + {spare} * 2**20
resource.setrlimit(resource.RLIMIT_AS, (now, resource.RLIM_INFINITY))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert right(single.gravity_forces(Q_BATCH), gravity(single))
    assert right(arm.inverse_dynamics(*states), reference(arm, "inverse_dynamics", *states)[0])
    try:
        single.kernel("gravity_forces")
    except tf.UnsupportedFeatureError as error:
        assert "no executable memory left" in str(error)
    else:
        raise AssertionError("a kernel without memory")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
assert [w.category.__name__ for w in caught] == ["NoExecutableMemoryWarning"], caught
assert "ulimit -v" in str(caught[0].message)
single.gravity_forces(Q)
print(type(single.gravity_forces).__name__)
"""
    )
    assert out == "builtin_function_or_method\n"


@pytest.mark.fault(27)
def test_code_that_did_not_become_executable_is_not_called(monkeypatch):
    """The maps may be used up by another thread between the look and the load."""
    from tauforge.kernels.cpu import engine

    monkeypatch.setattr(engine, "executable", lambda address: False)
    arm = ONE_JOINT.replace(mass=[7.5])
    assert right(arm.gravity_forces(Q_BATCH), gravity(arm))
    with pytest.raises(tf.UnsupportedFeatureError, match="no executable memory left"):
        arm.kernel("gravity_forces")


@pytest.mark.fault(27)
@linux
@pytest.mark.skipif(LIMIT.exists() and int(LIMIT.read_text()) > 300_000, reason="too many memory maps to use up")
def test_condition_numbers_where_no_memory_maps_are_left():
    in_a_child(
        EATS_MAPS
        + """
from tauforge.evaluation.condition import condition_numbers
matrices = np.random.default_rng(0).normal(size=(40, 6, 6))
expected = np.linalg.cond(matrices)
taken = eat_maps()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    got = condition_numbers(matrices)
give_back(taken)
assert error_beside(got, expected, expected) < ROUNDING * expected.max()
"""
    )


@pytest.mark.fault(27)
@linux
def test_where_the_free_memory_lies_in_pieces_far_apart():
    """LLVM's own memory manager puts constants where there is room, beyond the reach of the code, and aborts."""
    out = in_a_child(
        """
        import ctypes, mmap
        NO_RESERVE, NO_REPLACE = 0x4000, 0x100000
        library = ctypes.PyDLL(None)
        library.mmap.restype = ctypes.c_void_p
        library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
        arm = tf.load("puma560")
        arm.gravity_forces(np.zeros(6))
        far, count = 4 << 30, 50
        start = library.mmap(None, count * far, 0, kind, -1, 0)
        lines = Path("/proc/self/maps").read_text().splitlines()
        taken = [tuple(int(x, 16) for x in line.split()[0].split("-")) for line in lines]
        for (_, end), (begin, _) in zip(taken, taken[1:]):  # no gaps are left above
            if start < end < begin < 1 << 47:
                library.mmap(end, begin - end, 0, kind | NO_REPLACE, -1, 0)
        for k in range(1, count):  # but single pages
            library.munmap(start + k * far, mmap.PAGESIZE)
        print(np.isfinite(arm.inverse_dynamics(*np.zeros((3, 6)))).all())
        """
    )
    assert out == "True\n"


@linux
@pytest.mark.parametrize("bits", [128, 256, 512])  # or the widest that the processor has
def test_nothing_beyond_a_batch_is_touched(bits):
    """Arguments and results end where a page without access begins: one number too many ends the process.

    Rows of one number, and those that are no multiple of the pieces of 128 bits that rows are read in.
    """
    out = in_a_child(
        """
        import ctypes, mmap
        from support.strategies import random_arm
        library = ctypes.PyDLL(None)
        library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

        def at_the_end(values):
            pages = -(-values.nbytes // mmap.PAGESIZE)
            memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
            end = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages * mmap.PAGESIZE
            assert library.mprotect(end, mmap.PAGESIZE, 0) == 0
            first = pages * mmap.PAGESIZE - values.nbytes
            placed = np.frombuffer(memory, values.dtype, values.size, first).reshape(values.shape)
            placed[...] = values
            return placed

        rng = np.random.default_rng(0)
        for n in (1, 3, 5, 6):
            kernel = random_arm(rng, "R" * n).kernel("inverse_dynamics")
            for kind in (np.float64, np.float32):
                for rows in (1, 5, 16, 33):
                    state = rng.normal(size=(3, rows, n)).astype(kind)
                    given = [at_the_end(x) for x in state]
                    kernel(*given, out=(got := at_the_end(np.empty((rows, n), kind))))
                    assert np.array_equal(got, kernel(*state)), (n, kind, rows)
        print("untouched")
        """,
        TAUFORGE_VECTOR_BITS=str(bits),
    )
    assert out == "untouched\n"
