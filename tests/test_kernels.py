"""Kernels equal the reference: every method, width, layout and batch size; nothing leaks from one row to another."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tauforge as tf
from strategies import conventions, random_arm, random_payload, random_state, seeds
from tauforge.kernels.host import VECTOR_BITS, host
from tauforge.kernels.kernel import Kernel
from tauforge.tracing.graph import trace
from tolerances import ROUNDING, SINGLE, error, error_beside, solve_tolerance

METHODS = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "coriolis_matrix": 2,
    "gravity_forces": 1,
    "bias_forces": 2,
    "friction_forces": 1,
    "joint_wrenches": 3,
    "inverse_dynamics_derivatives": 3,
    "forward_dynamics_derivatives": 3,
    "regressor": 3,
    "forward_kinematics": 1,
    "link_frames": 1,
    "jacobian": 1,
    "energy": 2,
}
WIDTHS = [str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits]


@pytest.fixture(autouse=True)
def kernels_on(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("TAUFORGE_KERNELS", "1")
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def reference(arm, method, *arguments, **loads):
    """The same call without kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "0")
        return several(getattr(arm.replace(), method)(*arguments, **loads))


def several(result):
    return result if isinstance(result, tuple) else (result,)


def agree(got, expected, batch, tolerance):
    for a, b in zip(several(got), expected, strict=True):
        assert a.shape == b.shape
        core = max(1, np.ndim(b) - len(batch))
        if np.size(b):
            one = np.ndim(b) == len(batch)
            assert (
                error(np.asarray(a)[..., None] if one else a, np.asarray(b)[..., None] if one else b, core) < tolerance
            )


def arm_of(kinds, seed=1, convention="modified"):
    return random_arm(np.random.default_rng(seed), kinds, convention, drives=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_method_at_every_width(monkeypatch, method, width):
    monkeypatch.setenv(VECTOR_BITS, width)
    arm = arm_of("RPRR")
    state = random_state(np.random.default_rng(2), 4, 21)[: METHODS[method]]
    solved = solve_tolerance(arm.mass_matrix(state[0])) if "forward_dynamics" in method else ROUNDING
    agree(getattr(arm, method)(*state), reference(arm, method, *state), (21,), max(ROUNDING, solved))


@pytest.mark.fault(23)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("method", ["inverse_dynamics", "mass_matrix", "energy", "friction_forces"])
def test_float32_at_every_width(monkeypatch, method, width):
    monkeypatch.setenv(VECTOR_BITS, width)
    arm = arm_of("RPRR")
    state = [x.astype(np.float32) for x in random_state(np.random.default_rng(3), 4, 37)[: METHODS[method]]]
    got = several(getattr(arm, method)(*state))
    assert all(part.dtype == np.float32 for part in got)
    agree(got, reference(arm, method, *(x.astype(float) for x in state)), (37,), SINGLE)


@settings(max_examples=8)
@given(seeds, st.text("RP", min_size=1, max_size=8), conventions)
def test_random_arms(rng, letters, convention):
    arm = random_arm(rng, letters, convention, drives=True)
    state = random_state(rng, arm.n, 9)
    loads = {"payload": random_payload(rng), "tip_wrench": rng.normal(size=6)}
    (expected,) = reference(arm, "inverse_dynamics", *state, **loads)
    size = np.abs(arm.joint_wrenches(*state, **loads)).max()
    assert error_beside(arm.inverse_dynamics(*state, **loads), expected, [size]) < ROUNDING


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 15, 16, 17, 1000])
def test_batch_sizes(count):
    arm = arm_of("RPRR")
    state = random_state(np.random.default_rng(4), 4, count)
    agree(arm.inverse_dynamics(*state), reference(arm, "inverse_dynamics", *state), (count,), ROUNDING)
    agree(arm.mass_matrix(state[0]), reference(arm, "mass_matrix", state[0]), (count,), ROUNDING)


def test_rows_do_not_depend_on_their_batch():
    """Bit for bit: alone, in a block, in a tail, in any order, on threads."""
    arm = arm_of("RRPRRR")
    q, qd, qdd = random_state(np.random.default_rng(5), 6, 50_000)
    whole = arm.inverse_dynamics(q, qd, qdd)
    for k in (0, 3, 8, 49_999):
        assert np.array_equal(arm.inverse_dynamics(q[k], qd[k], qdd[k]), whole[k])
        assert np.array_equal(arm.inverse_dynamics(q[k : k + 5], qd[k : k + 5], qdd[k : k + 5]), whole[k : k + 5])
    order = np.random.default_rng(6).permutation(len(q))
    assert np.array_equal(arm.inverse_dynamics(q[order], qd[order], qdd[order]), whole[order])
    for threads in (1, 2, 3):
        tf.set_threads(threads)
        assert np.array_equal(arm.inverse_dynamics(q, qd, qdd), whole)
    tf.set_threads(None)


def layouts(a):
    wide = np.zeros((2 * a.shape[0], 3 * a.shape[1]))
    wide[::2, ::3] = a
    frozen = a.copy()
    frozen.flags.writeable = False
    return {
        "C": a,
        "Fortran": np.asfortranarray(a),
        "reversed": a[::-1, ::-1].copy()[::-1, ::-1],
        "strided": wide[::2, ::3],
        "big-endian": a.astype(">f8"),
        "read-only": frozen,
    }


@pytest.mark.fault(8)
@pytest.mark.parametrize("layout", ["C", "Fortran", "reversed", "strided", "big-endian", "read-only"])
@pytest.mark.parametrize("count", [5, 16, 33])
def test_layouts(layout, count):
    arm = arm_of("RPRR")
    q, qd, qdd = random_state(np.random.default_rng(7), 4, count)
    plain = arm.inverse_dynamics(q, qd, qdd)
    assert np.array_equal(arm.inverse_dynamics(*(layouts(x)[layout] for x in (q, qd, qdd))), plain)
    assert np.array_equal(arm.inverse_dynamics(layouts(q)[layout], qd, qdd), plain)


def test_broadcast_operands():
    arm = arm_of("RPRR")
    rng = np.random.default_rng(8)
    q, qd, qdd = rng.normal(size=(3, 1, 4)), rng.normal(size=(20, 4)), rng.normal(size=4)
    full = np.broadcast_arrays(q, qd, qdd)
    assert np.array_equal(arm.inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(*(x.copy() for x in full)))


@pytest.mark.fault(8)
def test_out_in_every_layout_and_overlapping():
    arm = arm_of("RRR")
    kernel = arm.kernel("inverse_dynamics")
    q, qd, qdd = random_state(np.random.default_rng(9), 3, 40)
    expected = kernel(q, qd, qdd)
    for out in (np.empty((40, 3)), np.empty((40, 3), order="F"), np.empty((80, 6))[::2, ::2], np.empty((40, 3))[::-1]):
        assert kernel(q, qd, qdd, out=out) is out
        assert np.array_equal(out, expected)
    shared = q.copy()
    kernel(shared, qd, qdd, out=shared)
    assert np.array_equal(shared, expected)
    buffer = np.zeros((41, 3))
    buffer[:40] = q
    kernel(buffer[:40], qd, qdd, out=buffer[1:])
    assert np.array_equal(buffer[1:], expected)
    square = arm.kernel("mass_matrix")
    transposed = np.empty((40, 3, 3)).transpose(0, 2, 1)
    square(q, out=transposed)
    assert np.array_equal(transposed, square(q))
    with pytest.raises(ValueError, match=r"mismatch|core dim"):
        kernel(q[:, :2], qd, qdd)


@pytest.mark.parametrize("size", [1e1, 1e3, 1e6])
def test_large_angles(size):
    arm = arm_of("RRR")
    rng = np.random.default_rng(10)
    q, qd, qdd = rng.uniform(-size, size, (200, 3)), rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    agree(arm.inverse_dynamics(q, qd, qdd), reference(arm, "inverse_dynamics", q, qd, qdd), (200,), ROUNDING)
    # in float32 adding the joint's offset to a large angle rounds it: the reference that does the same is the measure
    single = [x.astype(np.float32) for x in (q, qd, qdd)]
    agree(arm.inverse_dynamics(*single), reference(arm, "inverse_dynamics", *single), (200,), SINGLE)


def elementary(f, bits=64):
    """f of one number as a kernel."""
    return Kernel("f", "", lambda: trace(lambda x: [f(x[0])], {"x": 1}), [("x", (1,))], [(1,)], f"{f.__name__}{bits}")


@pytest.mark.parametrize("width", WIDTHS)
def test_sine_and_cosine_to_the_last_bits(monkeypatch, width):
    import mpmath

    from tauforge.algebra.scalars import cos, sin

    monkeypatch.setenv(VECTOR_BITS, width)
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-s, s, 300) for s in (1e-3, 3, 1e3, 1e6, 1e9)])
    x = np.concatenate([x, np.arange(-40, 40) * np.pi / 4])
    for f, exact in ((sin, mpmath.sin), (cos, mpmath.cos)):
        got = elementary(f)(x[:, None])[:, 0]
        with mpmath.workprec(200):
            truth = [exact(mpmath.mpf(float(value))) for value in x]
            ulps = [
                abs(float((mpmath.mpf(float(g)) - t) / np.spacing(abs(float(t)))))
                for g, t in zip(got, truth, strict=True)
            ]
        assert max(ulps) < 2


@pytest.mark.parametrize("width", WIDTHS)
def test_tanh_sign_and_root(monkeypatch, width):
    from tauforge.algebra.scalars import sign, sqrt, tanh

    monkeypatch.setenv(VECTOR_BITS, width)
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=500) * s for s in (1e-12, 1e-3, 1, 30, 1e3)] + [[0.0, -0.0, np.inf, -np.inf]])
    got = elementary(tanh)(x[:, None])[:, 0]
    assert np.abs(got - np.tanh(x)).max() <= 4 * np.finfo(float).eps
    relative = np.abs(got - np.tanh(x))[x != 0] / np.abs(np.tanh(x))[x != 0]
    assert relative.max() < 8 * np.finfo(float).eps
    assert np.array_equal(elementary(sign)(x[:, None])[:, 0], np.sign(x))
    finite = np.abs(x[np.isfinite(x)])
    assert np.array_equal(elementary(sqrt)(finite[:, None])[:, 0], np.sqrt(finite))
    assert np.isnan(elementary(sqrt)(np.array([[np.inf]]))[0, 0])  # results that are not finite are not numbers
    for f in (tanh, sign, sqrt):
        assert np.isnan(elementary(f)(np.array([[np.nan]]))[0, 0])


@pytest.mark.fault(5)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_rows_stay_alone_and_raise_no_flags(bad):
    arm = arm_of("RPRR")
    state = [x.copy() for x in random_state(np.random.default_rng(11), 4, 19)]
    clean = arm.inverse_dynamics(*state)
    state[0][5, 2] = bad
    with np.errstate(all="raise"):
        got = arm.inverse_dynamics(*state)
        arm.inverse_dynamics(*(x[5] for x in state))
        arm.forward_dynamics(*state)
    others = np.arange(19) != 5
    assert np.array_equal(got[others], clean[others])
    assert not np.isfinite(got[5]).all()


class TestBuiltin:
    """The fast path for one state, and everything that must not take it."""

    arm = None

    @pytest.fixture(autouse=True)
    def one_arm(self):
        self.arm = arm_of("RPR")
        self.state = [x.copy() for x in random_state(np.random.default_rng(12), 3)]
        self.expected = self.arm.inverse_dynamics(*self.state)

    def test_it_is_a_builtin_with_the_same_answer(self):
        assert type(self.arm.inverse_dynamics).__name__ == "builtin_function_or_method"
        got = self.arm.inverse_dynamics(*self.state)
        assert type(got) is np.ndarray
        assert got.dtype == np.float64
        assert got.flags.owndata
        assert np.array_equal(got, self.expected)
        assert np.array_equal(self.arm.mass_matrix(self.state[0]), self.arm.mass_matrix(self.state[0]))
        assert self.arm.mass_matrix(self.state[0]).shape == (3, 3)

    @pytest.mark.parametrize(
        "change",
        [
            lambda x: x.tolist(),
            lambda x: x.astype(">f8"),
            lambda x: np.repeat(x, 2)[::2],
            lambda x: np.ma.masked_array(x),
            lambda x: x.view(type("Sub", (np.ndarray,), {})),
            lambda x: x[None],
        ],
        ids=["list", "big-endian", "strided", "masked", "subclass", "batch"],
    )
    def test_everything_else_goes_to_the_method(self, change):
        got = self.arm.inverse_dynamics(*map(change, self.state))
        assert np.array_equal(np.asarray(got).reshape(3), self.expected)

    def test_keywords_and_loads(self):
        q, qd, qdd = self.state
        assert np.array_equal(self.arm.inverse_dynamics(q, qd, qdd=qdd), self.expected)
        assert np.array_equal(self.arm.inverse_dynamics(q, qd, qdd, formulation="joint-frames"), self.expected)
        loaded = self.arm.inverse_dynamics(q, qd, qdd, payload=tf.Payload(1.0))
        assert not np.array_equal(loaded, self.expected)

    def test_errors_are_those_of_the_method(self):
        q, qd, qdd = self.state
        with pytest.raises(tf.ShapeError, match=r"q: expected \(\.\.\., 3\)"):
            self.arm.inverse_dynamics(np.zeros(2), qd, qdd)
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            self.arm.inverse_dynamics(q, qd)

    def test_float32_is_not_mistaken(self):
        assert self.arm.inverse_dynamics(*(x.astype(np.float32) for x in self.state)).dtype == np.float32

    def test_short_batches_and_tuples(self):
        """All with one more dimension go straight too; results are the rows', and several come as a tuple."""
        for rows in (0, 1, 7, 8, 9, 4096, 4097):
            state = random_state(np.random.default_rng(rows), 3, rows)
            got = self.arm.inverse_dynamics(*state)
            assert got.shape == (rows, 3)
            assert np.array_equal(got, self.arm.kernel("inverse_dynamics").ufunc(*state))
        state = random_state(np.random.default_rng(5), 3, 6)
        first = self.arm.inverse_dynamics_derivatives(*state)
        again = self.arm.inverse_dynamics_derivatives(*state)
        assert type(self.arm.inverse_dynamics_derivatives).__name__ == "builtin_function_or_method"
        assert type(again) is tuple
        for a, b in zip(first, again, strict=True):
            assert b.flags.owndata
            assert np.array_equal(a, b)
        one = self.arm.inverse_dynamics_derivatives(*(x[2] for x in state))
        assert all(np.array_equal(a, b[2]) for a, b in zip(one, first, strict=True))

    def test_rows_that_do_not_match_go_to_the_method(self):
        q, qd, qdd = random_state(np.random.default_rng(6), 3, 6)
        assert self.arm.inverse_dynamics(q, qd[0], qdd).shape == (6, 3)
        assert self.arm.inverse_dynamics(q[:1], qd, qdd).shape == (6, 3)
        with pytest.raises(tf.ShapeError, match="broadcast together"):
            self.arm.inverse_dynamics(q, qd[:4], qdd)
        with pytest.raises(tf.ShapeError):
            self.arm.inverse_dynamics(q[:, :2], qd[:, :2], qdd[:, :2])

    def test_no_references_leak(self):
        counts = [sys.getrefcount(x) for x in self.state]
        type_count = sys.getrefcount(np.dtype(float))
        for _ in range(1000):
            self.arm.inverse_dynamics(*self.state)
            self.arm.inverse_dynamics_derivatives(*self.state)
        gc.collect()
        assert [sys.getrefcount(x) for x in self.state] == counts
        assert abs(sys.getrefcount(np.dtype(float)) - type_count) < 100

    def test_an_arm_and_its_builtin_are_collected(self):
        import weakref

        arm = arm_of("R", seed=99)
        arm.gravity_forces(np.zeros(1))
        gone = weakref.ref(arm)
        del arm
        gc.collect()
        assert gone() is None


def test_one_state_is_checked_for_singularity_every_time():
    """Pivots that are rounding errors answer 0 at rest; the next call must not slip past the check by a shorter way."""
    slipped = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        arm = random_arm(rng, "RRR").replace(alpha=[0.3, 0.0, 0.5], a=[0.2, 0.0, 0.1], gravity=(0, 0, 0))
        tensors = [np.array(joint.inertia) for joint in arm.joints]
        arm = arm.replace(mass=[1, 0, 1], inertia=[tensors[0], np.zeros((3, 3)), tensors[2]])
        q, zero = rng.normal(size=3), np.zeros(3)
        try:
            at_rest = arm.forward_dynamics(q, zero, zero)
        except tf.SingularityError:  # a pivot that is exactly 0
            continue
        slipped += 1
        assert not at_rest.any()
        assert np.linalg.cond(arm.mass_matrix(q)) > 1e15
        for _ in range(2):
            with pytest.raises(tf.SingularityError):
                arm.forward_dynamics(q, zero, np.array([1.0, 2.0, 3.0]))
    assert slipped  # at least one such arm among these, or the test shows nothing


def test_one_bad_row_does_not_make_the_check_slow():
    arm = arm_of("RPRR")
    q, qd, tau = random_state(np.random.default_rng(15), 4, 200_000)
    arm.forward_dynamics(q[:1], qd[:1], tau[:1])
    q[7, 1] = np.nan
    start = time.process_time()
    got = arm.forward_dynamics(q, qd, tau)
    assert time.process_time() - start < 1  # row by row it took several
    assert np.isnan(got[7]).any()
    assert np.isfinite(np.delete(got, 7, axis=0)).all()


def test_kernel_objects():
    arm = arm_of("RRR")
    kernel = arm.kernel("inverse_dynamics")
    assert isinstance(kernel.ufunc, np.ufunc)
    assert kernel.ufunc.signature == "(3),(3),(3)->(3)"
    assert arm.kernel("inverse_dynamics") is kernel
    assert arm.kernel("mass_matrix", dtype="float32")(np.zeros((2, 3), np.float32)).dtype == np.float32
    with pytest.raises(tf.UnsupportedFeatureError, match=r"no function 'torque'.*inverse_dynamics"):
        arm.kernel("torque")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"target 'tpu'.*cpu"):
        arm.kernel("inverse_dynamics", target="tpu")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"dtype 'float16'.*float64"):
        arm.kernel("inverse_dynamics", dtype="float16")
    assert arm.kernel("inverse_dynamics", dtype=np.float32) is kernel
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation 'bogus'"):
        arm.kernel("inverse_dynamics", formulation="bogus")
    with pytest.raises(tf.UnsupportedFeatureError, match="mass_matrix has no option 'formulation'"):
        arm.kernel("mass_matrix", formulation="joint-frames")


def test_too_many_operations_fall_back_to_the_reference():
    arm = arm_of("R" * 10)
    state = random_state(np.random.default_rng(13), 10, 3)
    with pytest.raises(tf.UnsupportedFeatureError, match="more than 10000 operations"):
        arm.kernel("inverse_dynamics", formulation="lagrange-euler")
    got = arm.inverse_dynamics(*state, formulation="lagrange-euler")
    assert error(got, arm.inverse_dynamics(*state)) < 10 * ROUNDING


def test_derivatives_of_eight_general_joints_are_not_compiled():
    """As the README says."""
    with pytest.raises(tf.UnsupportedFeatureError, match="more than 10000 operations"):
        arm_of("R" * 8).kernel("forward_dynamics_derivatives")


def test_long_arms_are_cut_into_parts():
    arm = arm_of("RRRP" * 6)
    state = random_state(np.random.default_rng(14), 24, 70)
    agree(arm.inverse_dynamics(*state), reference(arm, "inverse_dynamics", *state), (70,), ROUNDING)
    alone = arm.inverse_dynamics(*(x[0] for x in state))
    assert np.array_equal(alone, arm.inverse_dynamics(*state)[0])


def test_results_and_methods_keep_their_nature():
    """What was true of a method before its first call is true after it."""
    import inspect
    import pickle

    arm = arm_of("RPR")
    state = random_state(np.random.default_rng(17), 3)
    signature, text = inspect.signature(arm.inverse_dynamics), inspect.getdoc(arm.inverse_dynamics)
    first = arm.energy(*state[:2])
    assert [type(x) for x in arm.energy(*state[:2])] == [type(x) for x in first] == [np.float64] * 2
    expected = arm.inverse_dynamics(*state)
    assert type(arm.inverse_dynamics).__name__ == "builtin_function_or_method"
    assert list(inspect.signature(arm.inverse_dynamics).parameters) == list(signature.parameters)
    assert inspect.getdoc(arm.inverse_dynamics) == text
    again = pickle.loads(pickle.dumps(arm.inverse_dynamics))
    assert np.array_equal(again(*state), expected)


def test_somebodys_own_version_is_not_passed_by():
    class Own(tf.SerialArm):
        def gravity_forces(self, q, **more):
            return super().gravity_forces(q, **more) + 1000

    plain = arm_of("RPR")
    own = Own(joints=plain.joints, gravity=plain.gravity)
    q = np.zeros(3)
    for _ in range(3):
        assert np.allclose(own.gravity_forces(q) - 1000, plain.replace(base=None, tool=None).gravity_forces(q))


def test_kernels_take_what_ufuncs_take():
    kernel = arm_of("RPR").kernel("inverse_dynamics")
    lists = [[0.1, 0.2, 0.3]] * 3
    assert np.array_equal(kernel(*lists), kernel(*map(np.array, lists)))
    with pytest.raises(TypeError, match=r"takes 3 arguments \(q, qd, qdd\), got 1"):
        kernel([0.0] * 3)


@pytest.mark.parametrize("rows", [10, 40_000])
def test_large_batches_obey_the_rules_of_small_ones(rows):
    """Threads or not: types, given results, subclasses and overlaps."""
    kernel = arm_of("RPR").kernel("inverse_dynamics")
    state = random_state(np.random.default_rng(18), 3, rows)
    expected = kernel.ufunc(*state)
    tf.set_threads(2)
    try:
        for kind in (np.int64, np.float16, bool):
            got = kernel(*(x.astype(kind) for x in state))
            assert got.dtype == np.float64
            assert np.array_equal(got, kernel.ufunc(*(x.astype(kind).astype(float) for x in state)))
        assert np.array_equal(kernel(*state, out=(None,)), expected)
        with pytest.raises(ValueError, match=r"mismatch|broadcast"):
            kernel(*state, out=np.empty((rows + 10, 3)))
        stacked = kernel(*state, out=np.empty((2, rows, 3)))
        assert np.array_equal(stacked[1], expected)
        sub = state[0].view(type("Sub", (np.ndarray,), {}))
        assert type(kernel(sub, *state[1:])).__name__ == "Sub"
        for _ in range(5):  # one thread writes what the other is about to read
            shared = state[0].copy()
            assert np.array_equal(kernel(shared, *state[1:], out=shared[::-1]), expected)
    finally:
        tf.set_threads(None)


def test_a_batch_at_the_end_of_the_interpreter():
    code = """
    import atexit, numpy as np, tauforge as tf
    arm = tf.load("planar-2r")
    state = np.zeros((3, 100_000, 2))
    tf.set_threads(2)
    arm.inverse_dynamics(*state)
    atexit.register(lambda: print(arm.inverse_dynamics(*state).shape))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(100000, 2)", done.stderr


def test_angles_beyond_the_sine():
    """Where a number has no digits left for the angle there is no answer, rather than a wrong one."""
    arm = tf.load("planar-2r")
    assert np.isfinite(arm.forward_kinematics(np.array([9e8, 0.0]))).all()
    assert np.isnan(arm.forward_kinematics(np.array([2e9, 0.0]))[0, 0])
    single = np.array([2e6, 0.0], np.float32)
    assert np.isnan(arm.forward_kinematics(single)[0, 0])


def test_memory_does_not_grow_with_calls():
    """Results of the builtin are freed: arrays, and the tuples they come in."""
    import tracemalloc

    arm = arm_of("RPR")
    state = random_state(np.random.default_rng(16), 3, 500)
    arm.inverse_dynamics_derivatives(*state)
    tracemalloc.start()
    for _ in range(200):
        arm.inverse_dynamics_derivatives(*state)
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        arm.inverse_dynamics_derivatives(*state)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000  # 200 results are 22 MB
