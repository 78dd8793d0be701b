"""Kernels equal the reference: every method, width, layout and batch size; nothing leaks from one row to another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tauforge as tf
from support.kernel_checks import agree, arm_of, reference, several, traced_kernel
from support.strategies import conventions, random_arm, random_payload, random_state, seeds
from support.tolerances import ROUNDING, SINGLE, error_beside, solve_tolerance
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.kernels.cpu.llvm_rows import store_pieces
from tauforge.tracing.graph import trace

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


pytestmark = pytest.mark.usefixtures("kernels_on")


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
    return traced_kernel("f", trace(lambda x: [f(x[0])], {"x": 1}), [("x", (1,))], [(1,)], f"{f.__name__}{bits}")


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
def test_tanh_sign_root_and_rounding(monkeypatch, width):
    from tauforge.algebra.scalars import nearest, sign, sqrt, tanh

    monkeypatch.setenv(VECTOR_BITS, width)
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=500) * s for s in (1e-12, 1e-3, 1, 30, 1e3)] + [[0.0, -0.0, 1e300, -1e300]])
    got = elementary(tanh)(x[:, None])[:, 0]
    assert np.abs(got - np.tanh(x)).max() <= 4 * np.finfo(float).eps
    relative = np.abs(got - np.tanh(x))[x != 0] / np.abs(np.tanh(x))[x != 0]
    assert relative.max() < 8 * np.finfo(float).eps
    x_and_tiny = np.concatenate([x, [5e-324, -5e-324, 1e-310]])
    assert np.array_equal(elementary(sign)(x_and_tiny[:, None])[:, 0], np.sign(x_and_tiny))
    assert np.array_equal(elementary(sqrt)(np.abs(x)[:, None])[:, 0], np.sqrt(np.abs(x)))
    halves = np.concatenate([x, np.arange(-9, 9) / 2, [2.0**52 + 1, 2.0**51 + 0.5, -0.49999999999999994]])
    assert np.array_equal(elementary(nearest)(halves[:, None])[:, 0], np.rint(halves))
    for f in (tanh, sign, sqrt, nearest):  # also where the function of an infinity is finite
        assert np.isnan(elementary(f)(np.array([[np.nan], [np.inf], [-np.inf]]))).all()


@pytest.mark.parametrize(("bits", "lanes", "widest"), [(64, 8, 4), (64, 4, 4), (32, 16, 8)])
def test_rows_are_stored_in_few_pieces_that_end_with_the_row(bits, lanes, widest):
    """Many narrow stores stall a processor; a piece beyond the row would overwrite the next one."""
    for columns in range(1, 40):
        pieces = store_pieces(columns, bits, lanes)
        assert {k for start, width in pieces for k in range(start, start + width)} == set(range(columns))
        assert [width for _, width in pieces].count(widest) == columns // widest
        assert sorted((width for _, width in pieces), reverse=True) == [width for _, width in pieces]
