"""Arrays in, arrays out: batches, broadcasting, types, odd layouts, and numbers that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.strategies import random_arm, random_inertia, random_payload, random_state, random_transform, seeds
from support.tolerances import ROUNDING, SINGLE, error
from tauforge.evaluation import reference
from tauforge.evaluation.differentiable import of_same_rank

ARM = random_arm(np.random.default_rng(11), "RPRR", drives=True)
RNG = np.random.default_rng(12)

METHODS = {
    "inverse_dynamics": (3, (4,)),
    "forward_dynamics": (3, (4,)),
    "mass_matrix": (1, (4, 4)),
    "coriolis_matrix": (2, (4, 4)),
    "gravity_forces": (1, (4,)),
    "bias_forces": (2, (4,)),
    "friction_forces": (1, (4,)),
    "joint_wrenches": (3, (4, 6)),
    "inverse_dynamics_derivatives": (3, (4, 4)),
    "forward_dynamics_derivatives": (3, (4, 4)),
    "regressor": (3, (4, 40)),
    "forward_kinematics": (1, (4, 4)),
    "link_frames": (1, (5, 4, 4)),
    "jacobian": (1, (6, 4)),
    "energy": (2, ()),
}


def several(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("batch", [(), (1,), (0,), (5,), (2, 3), (3, 0, 2)])
def test_any_leading_shape(name, batch):
    count, core = METHODS[name]
    arguments = [RNG.normal(size=(*batch, 4)) for _ in range(count)]
    for part in several(getattr(ARM, name)(*arguments)):
        assert part.shape == batch + core
        assert part.dtype == np.float64


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_is_its_rows(name):
    """Bit for bit: a row does not know its neighbours."""
    count, _ = METHODS[name]
    arguments = [RNG.normal(size=(7, 4)) for _ in range(count)]
    batch = several(getattr(ARM, name)(*arguments))
    for k in range(7):
        row = several(getattr(ARM, name)(*(a[k] for a in arguments)))
        for whole, one in zip(batch, row, strict=True):
            assert np.array_equal(whole[k], one)


def test_arguments_broadcast():
    q, qd, qdd = RNG.normal(size=(5, 1, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=4)
    tau = ARM.inverse_dynamics(q, qd, qdd, tip_wrench=RNG.normal(size=6))
    assert tau.shape == (5, 3, 4)
    everything = np.broadcast_arrays(q, qd, qdd)
    assert np.array_equal(ARM.inverse_dynamics(q, qd, qdd), ARM.inverse_dynamics(*everything))


def test_a_payload_for_each_row():
    rows = [random_payload(np.random.default_rng(k)) for k in range(4)]
    stacked = tf.Payload(
        np.array([p.mass for p in rows]), np.array([p.com for p in rows]), np.array([p.inertia for p in rows])
    )
    q, qd, qdd = random_state(RNG, 4, 4)
    together = ARM.inverse_dynamics(q, qd, qdd, payload=stacked)
    for k, payload in enumerate(rows):
        assert error(together[k], ARM.inverse_dynamics(q[k], qd[k], qdd[k], payload=payload)) < ROUNDING
    assert ARM.mass_matrix(q[0], payload=stacked).shape == (4, 4, 4)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.bool_, np.float16])
def test_every_real_type_but_float32_becomes_float64(kind):
    raw = [RNG.integers(0, 2, (3, 4)).astype(kind) for _ in range(3)]
    got = ARM.inverse_dynamics(*raw)
    assert got.dtype == np.float64
    assert np.array_equal(got, ARM.inverse_dynamics(*(a.astype(float) for a in raw)))


@pytest.mark.parametrize("name", METHODS)
def test_float32_stays_and_is_near(name):
    count, core = METHODS[name]
    arguments = [RNG.uniform(0.5, 1.5, (20, 4)).astype(np.float32) for _ in range(count)]
    single = several(getattr(ARM, name)(*arguments))
    double = several(getattr(ARM, name)(*(a.astype(float) for a in arguments)))
    for a, b in zip(single, double, strict=True):
        assert a.dtype == np.float32
        solved = np.linalg.cond(ARM.mass_matrix(arguments[0].astype(float))).max() if "forward_dynamics" in name else 1
        assert (
            error(a[..., None] if not core else a, b[..., None] if not core else b, max(len(core), 1)) < SINGLE * solved
        )


def test_one_double_argument_makes_all_double():
    q = RNG.normal(size=4).astype(np.float32)
    assert ARM.inverse_dynamics(q, q, q.astype(float)).dtype == np.float64
    assert ARM.inverse_dynamics(q, q, q, tip_wrench=np.zeros(6)).dtype == np.float64


@given(seeds, st.sampled_from(["fortran", "negative", "strided", "big-endian", "read-only", "stride-0"]))
def test_odd_layouts_equal_the_contiguous_copy(rng, layout):
    plain = [rng.normal(size=(6, 4)) for _ in range(3)]
    if layout == "stride-0":
        plain = [np.broadcast_to(a[0], (6, 4)).copy() for a in plain]

    def odd(a):
        match layout:
            case "fortran":
                return np.asfortranarray(a)
            case "negative":
                return a[::-1, ::-1].copy()[::-1, ::-1]
            case "strided":
                wide = np.zeros((12, 8))
                wide[::2, ::2] = a
                return wide[::2, ::2]
            case "big-endian":
                return a.astype(">f8")
            case "stride-0":
                return np.broadcast_to(a[0].copy(), a.shape)
        b = a.copy()
        b.flags.writeable = False
        return b

    assert np.array_equal(ARM.inverse_dynamics(*map(odd, plain)), ARM.inverse_dynamics(*plain))


def test_payload_tensors():
    """A turned sphere is symmetric up to rounding; an impossible body warns."""
    R = random_transform(np.random.default_rng(3))[:3, :3]
    tf.Payload(1.0, inertia=R @ np.diag([0.1, 0.1, 0.1]) @ R.T)
    with pytest.warns(tf.UnphysicalInertiaWarning, match="payload: body: a principal moment of inertia is negative"):
        tf.Payload(1.0, inertia=(-1, 1, 1))


def test_overflow_is_not_a_singularity():
    arm = tf.load("puma560")
    z = np.zeros(6)
    assert np.isnan(arm.forward_dynamics(z, z + 1e160, z)).any()


def test_a_massless_link_between_coaxial_joints_is_found():
    """Its pivots are rounding errors, not zeros: the answer would be finite and wrong."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        arm = random_arm(rng, "RRR").replace(alpha=[0.3, 0.0, 0.5], a=[0.2, 0.0, 0.1], d=[0.1, 0.2, 0.3])
        tensors = [np.array(joint.inertia) for joint in arm.joints]
        arm = arm.replace(mass=[1, 0, 1], inertia=[tensors[0], np.zeros((3, 3)), tensors[2]])
        q = rng.normal(size=3)
        if np.linalg.cond(arm.mass_matrix(q)) > 1e15:
            found += 1
            with pytest.raises(tf.SingularityError):
                arm.forward_dynamics(q, q, [1.0, 2.0, 3.0])
    assert found > 10


def test_blocks_equal_the_whole(monkeypatch):
    q, qd, qdd = random_state(RNG, 4, 50)
    whole = ARM.inverse_dynamics(q, qd, qdd)
    nested = ARM.inverse_dynamics(q.reshape(2, 25, 4), qd.reshape(2, 25, 4), qdd.reshape(2, 25, 4))
    for block in (1, 7, 24, 49):
        monkeypatch.setattr(reference, "ROWS_AT_A_TIME", block)
        assert np.array_equal(ARM.inverse_dynamics(q, qd, qdd), whole)
        parts = ARM.inverse_dynamics(q.reshape(2, 25, 4), qd.reshape(2, 25, 4), qdd.reshape(2, 25, 4))
        assert np.array_equal(parts, nested)
    assert np.array_equal(nested.reshape(50, 4), whole)


def test_memory_of_a_large_batch_is_bounded():
    """A million rows from stride-0 inputs: the output and one block of temporaries."""
    import tracemalloc

    q = np.broadcast_to(np.float32(0.3), (1_000_000, 4))
    tracemalloc.start()
    out = ARM.gravity_forces(q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert out.dtype == np.float32
    assert peak < out.nbytes + 1000 * reference.ROWS_AT_A_TIME * 4


def test_inputs_are_not_changed():
    arguments = [RNG.normal(size=(3, 4)) for _ in range(3)]
    copies = [a.copy() for a in arguments]
    ARM.inverse_dynamics(*arguments)
    ARM.forward_dynamics(*arguments)
    for a, b in zip(arguments, copies, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), np.zeros(4), np.zeros(4)), r"q: expected \(\.\.\., 4\): random RPRR has 4 joints, got \(3,\)"),
        ((np.zeros(4), np.zeros((4, 1)), np.zeros(4)), r"qd: expected \(\.\.\., 4\).*got \(4, 1\)"),
        ((np.zeros(4), np.zeros(4), 1.0), r"qdd: expected \(\.\.\., 4\).*got \(\)"),
        (
            (np.zeros((2, 4)), np.zeros((3, 4)), np.zeros(4)),
            r"leading shapes that broadcast together, got q \(2, 4\), qd",
        ),
        ((["a"] * 4, np.zeros(4), np.zeros(4)), r"q: expected real numbers"),
        ((np.zeros(4, complex), np.zeros(4), np.zeros(4)), r"q: expected real numbers \(\.\.\., 4\), got complex128"),
        (([[1, 2], [3]], np.zeros(4), np.zeros(4)), r"q: expected real numbers \(\.\.\., 4\), got a ragged sequence"),
        ((None, np.zeros(4), np.zeros(4)), r"q: expected real numbers"),
    ],
)
def test_wrong_shapes_say_so(arguments, message):
    with pytest.raises(tf.ShapeError, match=message):
        ARM.inverse_dynamics(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z: ARM.inverse_dynamics(z, z, z, tip_wrench=np.zeros(3)), r"tip_wrench: expected \(\.\.\., 6\): force"),
        (lambda z: ARM.inverse_dynamics(z, z, z, payload=2.0), "payload: expected a tauforge.Payload, got float"),
        (lambda z: ARM.inverse_dynamics(z, z, z, base_motion=(1, 2, 3)), "base_motion: expected a tauforge.BaseMotion"),
        (lambda z: ARM.inverse_dynamics(z, z, z, wrench_frame="base"), "wrench_frame: expected 'world' or 'tool'"),
        (lambda z: tf.Payload(-1.0), "payload mass: expected numbers >= 0"),
        (lambda z: tf.Payload(1.0, com=(0, 0)), r"payload com: expected \(\.\.\., 3\)"),
        (lambda z: tf.Payload(1.0, inertia=np.zeros((2, 2))), r"payload inertia: expected \(3,\) or"),
        (lambda z: tf.Payload(1.0, inertia=np.triu(np.ones((3, 3)))), "payload inertia: expected a symmetric tensor"),
        (
            lambda z: tf.Payload([1, 2], np.zeros((3, 3))),
            r"payload: expected leading shapes that broadcast.*mass \(2,\)",
        ),
        (
            lambda z: ARM.inverse_dynamics(z, z, z, base_motion=tf.BaseMotion(np.zeros((2, 3)), np.zeros((3, 3)))),
            r"base_motion: expected leading shapes that broadcast.*angular_velocity \(2,\)",
        ),
        (lambda z: tf.Payload("2 kg"), "payload mass: expected numbers"),
        (
            lambda z: ARM.inverse_dynamics(z, z, z, base_motion=tf.BaseMotion((0, 0))),
            r"base_motion.angular_velocity: expected \(\.\.\., 3\)",
        ),
    ],
)
def test_wrong_loads_say_so(call, message):
    with pytest.raises(tf.ShapeError, match=message):
        call(np.zeros(4))


def test_a_singular_mass_matrix_is_named():
    arm = random_arm(np.random.default_rng(0), "RRR").replace(
        mass=[1, 1, 0],
        inertia=[random_inertia(np.random.default_rng(1)), random_inertia(np.random.default_rng(2)), np.zeros((3, 3))],
    )
    z = np.zeros(3)
    with pytest.raises(tf.SingularityError, match="the mass matrix has no inverse"):
        arm.forward_dynamics(z, z, z)
    with pytest.raises(tf.SingularityError, match="condition number"):
        arm.forward_dynamics_derivatives(z, z, z)


def test_arrays_of_same_rank_have_their_new_dimensions_in_front():
    """As NumPy broadcasts: a library may then add one dimension more in front of all of them."""
    arrays = [np.arange(3.0), np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(2, 2, 3)]
    found = of_same_rank(arrays)
    assert [array.shape for array in found] == [(1, 1, 3), (1, 2, 3), (2, 2, 3)]
    assert all((a == b).all() for a, b in zip(np.broadcast_arrays(*arrays), np.broadcast_arrays(*found), strict=True))
