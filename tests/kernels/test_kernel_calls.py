"""How kernels are called: the builtin for small arrays, batches, threads, what falls back to the reference."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tauforge as tf
from support.cpu_time import quickest
from support.kernel_checks import agree, arm_of, reference
from support.strategies import random_arm, random_payload, random_state
from support.tolerances import ROUNDING, SINGLE, error, solve_tolerance
from tauforge.evaluation import evaluator
from tauforge.kernels.cpu import kernel

pytestmark = pytest.mark.usefixtures("kernels_on")


class TestBuiltin:
    """The fast path for one state, and everything that must not take it."""

    arm = None

    @pytest.fixture(autouse=True)
    def one_arm(self, kernels_on):
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
        gc.collect()  # what earlier tests left
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
    seconds, got = quickest(lambda: arm.forward_dynamics(q, qd, tau), 1.0)
    assert seconds < 1  # row by row it took several
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
    with pytest.raises(tf.UnsupportedFeatureError, match=r"dtype 'float16' is not supported\. Use float64"):
        arm.kernel("inverse_dynamics", dtype="float16")
    assert arm.kernel("inverse_dynamics", dtype=np.float32) is kernel
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation 'bogus'"):
        arm.kernel("inverse_dynamics", formulation="bogus")
    with pytest.raises(tf.UnsupportedFeatureError, match="mass_matrix has no option 'formulation'"):
        arm.kernel("mass_matrix", formulation="joint-frames")


def test_too_many_operations_fall_back_to_the_reference():
    arm = arm_of("R" * 10)
    state = random_state(np.random.default_rng(13), 10, 3)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"has \d+ operations; at most 16000 are compiled"):
        arm.kernel("inverse_dynamics", formulation="lagrange-euler")
    got = arm.inverse_dynamics(*state, formulation="lagrange-euler")
    assert error(got, arm.inverse_dynamics(*state)) < 10 * ROUNDING


def test_derivatives_of_nine_general_joints_are_not_one_kernel():
    """As the README says."""
    with pytest.raises(tf.UnsupportedFeatureError, match=r"has \d+ operations; at most 16000 are compiled"):
        arm_of("R" * 9).kernel("forward_dynamics_derivatives")


@pytest.mark.parametrize("limit", [1200, 2150])  # inverse dynamics' own derivatives are beyond it, and within it
@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("batch", [(), (21,), (2, 3)])
def test_derivatives_beyond_the_limit_come_from_smaller_kernels(monkeypatch, limit, loaded, batch):
    """As accurate as the whole, friction, rotors and payload included."""
    arm = arm_of("RPRR", seed=limit + loaded)
    state = [x.reshape(*batch, 4) for x in random_state(np.random.default_rng(20), 4, int(np.prod(batch)))]
    loads = {"payload": random_payload(np.random.default_rng(21))} if loaded else {}
    solving = solve_tolerance(arm.mass_matrix(state[0], **loads))
    monkeypatch.setattr(kernel, "MAX_NODES", limit)
    with pytest.raises(tf.UnsupportedFeatureError, match="operations"):
        arm.kernel("forward_dynamics_derivatives")
    for method, tolerance in (("inverse_dynamics_derivatives", ROUNDING), ("forward_dynamics_derivatives", solving)):
        expected = reference(arm, method, *state, **loads)
        with monkeypatch.context() as patch:
            patch.setattr(evaluator, "reference", None)  # not the reference
            got = getattr(arm, method)(*state, **loads)
        agree(got, expected, batch, max(ROUNDING, tolerance))
    assert np.array_equal(got[2], np.swapaxes(got[2], -1, -2))


def test_wrong_shapes_beyond_the_limit(monkeypatch):
    arm = arm_of("RPR", seed=78)
    monkeypatch.setattr(kernel, "MAX_NODES", 700)
    for method in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        with pytest.raises(tf.ShapeError, match=r"leading shapes that broadcast together, got q \(2, 3\), qd \(4, 3\)"):
            getattr(arm, method)(np.zeros((2, 3)), np.zeros((4, 3)), np.zeros(3))


def test_single_precision_beyond_the_limit(monkeypatch):
    arm = arm_of("RPR", seed=77)
    state = [x.astype(np.float32) for x in random_state(np.random.default_rng(22), 3, 9)]
    monkeypatch.setattr(kernel, "MAX_NODES", 700)
    got = arm.inverse_dynamics_derivatives(*state)
    assert {x.dtype for x in got} == {np.dtype(np.float32)}
    agree(got, reference(arm, "inverse_dynamics_derivatives", *(x.astype(float) for x in state)), (9,), SINGLE)


def test_arguments_of_both_precisions_beyond_the_limit(monkeypatch):
    """They are computed in double, the mass matrix too, which depends on one of them alone."""
    arm = arm_of("RPR", seed=79)
    q, qd, last = random_state(np.random.default_rng(24), 3, 9)
    monkeypatch.setattr(kernel, "MAX_NODES", 700)
    q = q.astype(np.float32)
    solving = solve_tolerance(arm.mass_matrix(q.astype(float)))
    for method, tolerance in (("inverse_dynamics_derivatives", ROUNDING), ("forward_dynamics_derivatives", solving)):
        expected = reference(arm, method, q.astype(float), qd, last)
        agree(getattr(arm, method)(q, qd, last), expected, (9,), max(ROUNDING, tolerance))


def test_nine_general_joints_are_differentiated_by_kernels(monkeypatch):
    arm = arm_of("R" * 9)
    state = random_state(np.random.default_rng(23), 9, 3)
    expected = reference(arm, "forward_dynamics_derivatives", *state)
    monkeypatch.setattr(evaluator, "reference", None)  # not the reference
    got = arm.forward_dynamics_derivatives(*state)
    agree(got, expected, (3,), solve_tolerance(arm.mass_matrix(state[0])))


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


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("kernels", ["1", "0"])
def test_what_is_masked_is_not_a_number(monkeypatch, kind, kernels):
    """A gap in measured data must not be answered with whatever lies under the mask."""
    monkeypatch.setenv("TAUFORGE_KERNELS", kernels)
    arm = tf.load("planar-2r").replace()
    plain = np.array([[1, 2], [3, 4], [5, 6]], kind)
    gap = np.ma.masked_array(plain, mask=[[0, 0], [0, 1], [0, 0]])
    got, expected = arm.inverse_dynamics(plain, gap, plain), arm.inverse_dynamics(plain, plain, plain)
    assert got.dtype == expected.dtype
    assert np.isnan(got[1]).any()
    assert np.array_equal(got[[0, 2]], expected[[0, 2]])
    assert np.isnan(arm.inverse_dynamics(plain[1], gap[1], plain[1])).any()  # one state: the builtin hands it on


def test_the_first_call_imports_nothing_slow():
    """From the cache it takes some 7 ms; any of these would double that."""
    code = """
    import sys, numpy as np, tauforge as tf
    arm = tf.load("planar-2r")
    arm.inverse_dynamics(*np.zeros((3, 2)))
    arm.forward_dynamics(*np.zeros((3, 10, 2)))
    print(sorted({"numpy.ma", "scipy", "scipy.spatial", "matplotlib", "plotly", "asyncio"} & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


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


# ------------------------------------------------------------------------------------------------- loads by keyword


def test_the_short_way_checks_loads_as_the_first_call_does():
    arm, platform = tf.load("puma560"), tf.load("box")
    z, pose = np.zeros(6), np.array([0, 0, 1.0, 0, 0, 0])
    bad = np.zeros(10)
    bad[0] = -5

    class Duck:
        def numbers(self):
            return np.zeros(6)

    for robot, state, wrench in ((arm, (z, z, z), "tip_wrench"), (platform, (pose, z, z), "external_wrench")):
        for _ in range(3):
            robot.inverse_dynamics(*state, payload=tf.Payload(1.0))
            robot.inverse_dynamics(*state, **{wrench: z})
            with pytest.raises(tf.ShapeError, match=r"payload: expected a tauforge\.Payload"):
                robot.inverse_dynamics(*state, payload=bad)
            with pytest.raises(tf.ShapeError, match=rf"^{wrench}: expected"):
                robot.inverse_dynamics(*state, **{wrench: Duck()})


def test_the_order_of_loads_and_none_make_no_difference(monkeypatch):
    arm = tf.load("puma560")
    state = np.random.default_rng(3).normal(size=(3, 6))
    loads = {"tip_wrench": np.arange(6.0), "payload": tf.Payload(2.0, com=(0, 0.1, 0))}
    both = arm.inverse_dynamics(*state, **loads)
    with_payload = arm.inverse_dynamics(*state, payload=loads["payload"])
    assert error(with_payload, both) > 1e-3
    monkeypatch.setattr(evaluator.Evaluator, "__call__", None)  # the long way is closed
    assert np.array_equal(arm.inverse_dynamics(*state, **dict(reversed(loads.items()))), both)
    assert np.array_equal(arm.inverse_dynamics(*state, **{**loads, "tip_wrench": None}), with_payload)


def test_a_method_that_was_called_with_loads_pickles():
    arm = tf.load("puma560")
    q, payload = np.full(6, 0.3), tf.Payload(1.5)
    expected = arm.gravity_forces(q, payload=payload)
    for _ in range(2):  # without and with machine code in front
        again = pickle.loads(pickle.dumps(arm.gravity_forces))
        assert np.array_equal(again(q, payload=payload), expected)
        arm.gravity_forces(q)


def test_a_payload_does_not_change():
    payload = tf.Payload(1.0)
    with pytest.raises(AttributeError, match="a payload does not change: mass cannot be assigned"):
        payload.mass = 5.0
    with pytest.raises(ValueError, match="read-only"):
        payload.com[0] = 1.0
    assert np.array_equal(pickle.loads(pickle.dumps(payload)).numbers(), payload.numbers())
    assert np.array_equal(copy.copy(payload).numbers(), payload.numbers())


def test_methods_put_on_one_robot_are_used_by_its_functions():
    arm = tf.load("planar-2r")
    heavy = arm.replace(mass=[5.0, 6.0])
    q = np.array([0.3, 0.4])
    object.__setattr__(arm, "varied_model", heavy.varied_model)
    for _ in range(2):
        assert error(arm.gravity_forces(q), heavy.gravity_forces(q)) < ROUNDING
    assert error(tf.load("planar-2r").gravity_forces(q), heavy.gravity_forces(q)) > 1e-3
