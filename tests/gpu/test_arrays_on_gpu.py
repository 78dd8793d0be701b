"""Arrays on a real GPU, by the library that owns them: results, derivatives, streams, memory, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import FORMULATIONS, OUTSIDE, SINGLE, error

cupy = pytest.importorskip("cupy")
if not cupy.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

ARM, RIG = tf.load("puma560").without_friction(), tf.load("motion-rig")
STATE = np.random.default_rng(3).normal(size=(3, 100, 6))
QUARTER_TURN = [0.0, 0.0, 1.0, 0.0, 0.0, np.pi / 2]  # where the legs cannot hold the platform
SINGULAR = [np.stack([np.eye(6)[2], QUARTER_TURN]), np.zeros((2, 6)), np.zeros((2, 6))]
DYNAMICS = ("inverse_dynamics", "forward_dynamics")


def error_of(got, expected, **more):
    return error(np.asarray(got), expected, **more)


@pytest.fixture
def torch():
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("torch sees no GPU")
    return found


@pytest.fixture
def jax():
    found = pytest.importorskip("jax")
    if found.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    from support.in_doubles import in_doubles

    with in_doubles():
        yield found


# ------------------------------------------------------------------------------------------- CuPy and unknown arrays


@pytest.mark.parametrize("name", DYNAMICS)
def test_cupy(name):
    got = getattr(ARM, name)(*map(cupy.asarray, STATE), payload=tf.Payload(2.0))
    assert error_of(got.get(), getattr(ARM, name)(*STATE, payload=tf.Payload(2.0))) < FORMULATIONS


def test_singular_rows_of_cupy():
    given = list(map(cupy.asarray, SINGULAR))
    with pytest.raises(tf.SingularityError) as told:
        RIG.inverse_dynamics(*given)
    assert told.value.row == 1
    got = RIG.inverse_dynamics(*given, on_singular="nan").get()
    assert np.isnan(got).all(axis=-1).tolist() == [False, True]


@pytest.mark.parametrize("way", ["interface", "dlpack"])
def test_arrays_of_unknown_libraries(way):
    class Unknown:
        def __init__(self, array):
            self.array = array
            if way == "interface":
                self.__cuda_array_interface__ = array.__cuda_array_interface__

        if way == "dlpack":

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

    got = ARM.inverse_dynamics(*(Unknown(cupy.asarray(x)) for x in STATE))
    assert isinstance(got, cupy.ndarray)
    assert error_of(got.get(), ARM.inverse_dynamics(*STATE)) < FORMULATIONS


def test_condition_numbers_and_leg_motion():
    pose = RIG.random_states(20)[0]
    assert error_of(RIG.condition_number(cupy.asarray(pose)).get(), RIG.condition_number(pose), core=0) < OUTSIDE
    for got, expected in zip(RIG.leg_motion(cupy.asarray(pose)), RIG.leg_motion(pose), strict=True):
        if expected is not None:
            assert np.allclose(got.get(), expected, atol=1e-12)


# ----------------------------------------------------------------------------------------------------------- torch


def tensors(torch, arrays, **more):
    return [torch.tensor(x, device="cuda", **more) for x in arrays]


@pytest.mark.parametrize("name", DYNAMICS)
def test_tensors_and_their_derivatives(torch, name):
    state = tensors(torch, STATE, requires_grad=True)
    got = getattr(ARM, name)(*state)
    assert got.is_cuda
    assert error_of(got.detach().cpu(), getattr(ARM, name)(*STATE)) < FORMULATIONS
    got.sum().backward()
    for tensor, slope in zip(state, getattr(ARM, f"{name}_derivatives")(*STATE), strict=True):
        assert error_of(tensor.grad.cpu(), slope.sum(axis=-2)) < OUTSIDE


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated:DeprecationWarning")
def test_second_derivatives_and_transformations_of_torch(torch):
    arm = tf.load("planar-2r")
    q, qd, qdd = tensors(torch, STATE[:, :3, :2], requires_grad=True)
    assert torch.autograd.gradcheck(arm.inverse_dynamics, (q, qd, qdd), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(arm.energy, (q, qd))
    by_q = torch.func.vmap(torch.func.jacrev(arm.inverse_dynamics))(q.detach(), qd.detach(), qdd.detach())
    expected = arm.inverse_dynamics_derivatives(*STATE[:, :3, :2])[0]
    assert error_of(by_q.cpu(), expected, core=2) < OUTSIDE


def test_torch_allocates_and_its_stream_is_kept(torch):
    q, qd, qdd = tensors(torch, STATE)
    ARM.inverse_dynamics(q, qd, qdd)  # compiled
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(1_000_000_000)  # work that is still running when the kernel is launched
        later = qdd * 2
        used = torch.cuda.memory_allocated()
        got = ARM.inverse_dynamics(q, qd, later)
        assert torch.cuda.memory_allocated() > used
        assert not side.query()  # the call did not wait
    side.synchronize()
    assert error_of(got.cpu(), ARM.inverse_dynamics(*STATE[:2], 2 * STATE[2])) < FORMULATIONS


def test_a_cuda_graph_of_torch(torch):
    q, qd, qdd = tensors(torch, STATE)
    ARM.inverse_dynamics(q, qd, qdd)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = ARM.inverse_dynamics(q, qd, qdd)
    q.copy_(torch.tensor(STATE[1]))
    graph.replay()
    assert error_of(got.cpu(), ARM.inverse_dynamics(STATE[1], STATE[1], STATE[2])) < FORMULATIONS


def test_views_and_single_precision_of_torch(torch):
    q, qd, qdd = (x.T.contiguous().T[::2] for x in tensors(torch, STATE, dtype=torch.float32))
    got = ARM.inverse_dynamics(q, qd[0], qdd)
    assert got.dtype == torch.float32
    assert error_of(got.cpu(), ARM.inverse_dynamics(STATE[0, ::2], STATE[1, 0], STATE[2, ::2])) < SINGLE
    assert ARM.inverse_dynamics(*torch.zeros(3, 0, 6, device="cuda")).shape == (0, 6)


def test_singular_rows_of_torch(torch):
    given = tensors(torch, SINGULAR)
    with pytest.raises(tf.SingularityError) as told:
        RIG.inverse_dynamics(*given)
    assert told.value.row == 1
    assert torch.isnan(RIG.inverse_dynamics(*given, on_singular="nan")).all(-1).tolist() == [False, True]


def test_what_torch_refuses_on_a_gpu(torch):
    q, qd, qdd = tensors(torch, STATE)
    with pytest.raises(tf.ShapeError, match=r"qd: expected a tensor on cuda:0, got numpy\.ndarray"):
        ARM.inverse_dynamics(q, STATE[1], qdd)
    with pytest.raises(tf.ShapeError, match="one device, got cpu and cuda:0"):
        ARM.inverse_dynamics(q, qd.cpu(), qdd)
    with pytest.raises(tf.UnsupportedFeatureError, match="inverse_kinematics is computed on the processor"):
        ARM.inverse_kinematics(torch.eye(4, device="cuda"))
    with pytest.raises(tf.ShapeError, match=r"qd: expected a tensor on cuda:0, got cupy\.ndarray"):
        ARM.inverse_dynamics(q, cupy.asarray(STATE[1]), qdd)
    load = tf.Payload(2.0)
    got = ARM.inverse_dynamics(q, qd, qdd, payload=load)
    assert error_of(got.cpu(), ARM.inverse_dynamics(*STATE, payload=load)) < FORMULATIONS


# ------------------------------------------------------------------------------------------------------------- JAX


@pytest.mark.parametrize("name", DYNAMICS)
def test_jax_arrays_and_programs(jax, name):
    given, method = [jax.numpy.asarray(x) for x in STATE], getattr(ARM, name)
    for call in (method, jax.jit(method), jax.vmap(method)):
        got = call(*given)
        assert {device.platform for device in got.devices()} == {"gpu"}
        assert error_of(got, method(*STATE)) < FORMULATIONS
    slopes = jax.jit(jax.vmap(jax.jacrev(method, argnums=(0, 1, 2))))(*given)
    for got, expected in zip(slopes, getattr(ARM, f"{name}_derivatives")(*STATE), strict=True):
        assert error_of(got, expected, core=2) < OUTSIDE


def test_programs_call_the_kernels(jax):
    lowered = jax.jit(ARM.inverse_dynamics).lower(*(jax.numpy.asarray(x) for x in STATE))
    assert "tauforge_evaluation" in lowered.as_text()


def test_a_loop_of_jax(jax):
    @jax.jit
    def last(q, qd, tau):
        def step(state, _):
            q, qd = state
            qd = qd + 1e-3 * ARM.forward_dynamics(q, qd, tau)
            return (q + 1e-3 * qd, qd), None

        return jax.lax.scan(step, (q, qd), None, length=20)[0][0]

    q, qd, tau = STATE[:, :10]
    got = last(q, qd, tau)
    for _ in range(20):
        qd = qd + 1e-3 * ARM.forward_dynamics(q, qd, tau)
        q = q + 1e-3 * qd
    assert error_of(got, q) < OUTSIDE


def test_singular_rows_of_jax(jax):
    given = [jax.numpy.asarray(x) for x in SINGULAR]
    with pytest.raises(tf.SingularityError) as told:
        RIG.inverse_dynamics(*given)
    assert told.value.row == 1
    for got in (RIG.inverse_dynamics(*given, on_singular="nan"), jax.jit(RIG.inverse_dynamics)(*given)):
        assert np.isnan(got).all(axis=-1).tolist() == [False, True]


def test_arrays_of_the_processor_stay_there(jax):
    home = jax.devices("cpu")[0]
    given = [jax.device_put(x, home) for x in STATE]
    for call in (ARM.inverse_dynamics, jax.jit(ARM.inverse_dynamics)):
        got = call(*given)
        assert got.devices() == {home}
        assert error_of(got, ARM.inverse_dynamics(*STATE)) < FORMULATIONS
