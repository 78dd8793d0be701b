"""Arrays on a GPU and the CUDA kernels, on a GPU that is not there: memory is shared, streams are kept, rows judged."""

from __future__ import annotations

import ctypes
import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import tauforge as tf
from support.cuda_on_cpu import needs_compiler
from support.pretended_gpu import GpuArray, asarray, pretend
from support.tolerances import FORMULATIONS, OUTSIDE, SINGLE, error
from tauforge.evaluation import array_libraries
from tauforge.kernels.cuda import kernel as cuda_kernel

pytestmark = needs_compiler
STREAM = 77
RNG = np.random.default_rng(5)
STATE = RNG.normal(size=(3, 5, 2))
STRAIGHT = np.array([[0.3, 0.7], [0.1, 0.0], [0.2, 0.9], [np.nan, 0.0], [0.4, 0.0]])  # rows 1 and 4; row 3 has a NaN


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    return pretend(monkeypatch, tmp_path)


@pytest.fixture
def arm():
    """Each test has its own, for a robot keeps its kernels."""
    return tf.load("planar-2r")


@pytest.fixture
def light(arm):
    """The second mass alone, at the end of its link: singular where the arm is straight, and nowhere else."""
    none = np.zeros((2, 3))
    return arm.without_friction().replace(mass=[0, 1], com=none, inertia=none, motor_inertia=[0, 0])


def straight(of):
    return {"q": of(STRAIGHT), "qd": of(np.zeros((5, 2))), "tau": of(np.ones((5, 2)))}


class ByDlpack:
    """An array of a library that nobody knows, which has DLPack alone."""

    def __init__(self, array, device=2):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device, 0


class ByInterface:
    """An array of a library that nobody knows, which has `__cuda_array_interface__` alone."""

    def __init__(self, array):
        self.__cuda_array_interface__ = self.__array_interface__ = array.__array_interface__
        self.array = array


# ------------------------------------------------------------------------------------------------------------ CuPy


def test_cupy_arrays_with_a_payload(gpu, arm):
    load = tf.Payload(2.0, (0.1, 0.0, 0.0))
    got = arm.inverse_dynamics(*map(asarray, STATE), payload=load)
    assert isinstance(got, GpuArray)
    assert error(got, arm.inverse_dynamics(*STATE, payload=load)) < FORMULATIONS
    assert len(gpu.launches) == 1


def test_rows_that_the_guard_refuses(gpu, light):
    (got,) = light._answer("forward_dynamics", straight(asarray), "nan")
    (expected,) = light._answer("forward_dynamics", straight(np.asarray), "nan")
    assert np.isnan(got).all(axis=-1).tolist() == [False, True, False, True, True]
    assert error(got[[0, 2]], expected[[0, 2]]) < FORMULATIONS
    with pytest.raises(tf.SingularityError) as told:
        light.forward_dynamics(*straight(asarray).values())
    assert told.value.row == 1
    (one,) = light._answer("forward_dynamics", {name: x[1] for name, x in straight(asarray).items()}, "nan")
    assert one.shape == (2,)
    assert np.isnan(one).all()


def test_calls_with_arrays_that_lie_alike(gpu, arm):
    """What is kept of a call serves the next one with other arrays of the same layout, and none of another."""
    rng = np.random.default_rng(3)
    kernel = arm.kernel("inverse_dynamics", target="cuda", dtype="float32")

    def laid(layout, count):
        states = rng.uniform(-1, 1, (3, count, arm.n)).astype("float32")
        if layout == "columns":
            return [asarray(np.asfortranarray(x)) for x in states]
        if layout == "columns off the even":  # pairs of numbers are not aligned
            return [asarray(np.asfortranarray(np.vstack([x[:1], x])))[1:] for x in states]
        return [asarray(x[0] if k and layout == "shared" else x) for k, x in enumerate(states)]

    layouts = ("rows", "columns", "columns off the even", "shared")
    for layout in layouts * 2:
        for count in (4, 5):
            arrays = laid(layout, count)
            got = kernel(*arrays)
            expected = arm.inverse_dynamics(*(np.array(a, float) for a in arrays))
            assert error(got, expected) < SINGLE, layout
            out = asarray(np.full(got.shape, np.nan, "float32"))
            kernel(*arrays, out=out)
            assert np.array_equal(out, got)
    assert len(kernel._launches) >= 2 * 2 * len(layouts)  # two counts, with and without a result that is given
    chosen = {(layouts_[0], pairs) for layouts_, _, pairs, _ in kernel._functions}
    assert chosen == {("rows", False), ("columns", True), ("columns", False)}


def test_arrays_too_large_for_32_bits(gpu, arm, monkeypatch):
    """The choice alone: such arrays would take gigabytes."""
    kernel = arm.kernel("inverse_dynamics", target="cuda")
    expected = kernel(*map(asarray, STATE))
    monkeypatch.setattr(cuda_kernel, "NARROW", 8)
    kernel._launches.clear()
    assert np.array_equal(kernel(*map(asarray, STATE)), expected)
    assert [wide for _, wide, _, _ in kernel._functions] == [False, True]


def test_results_need_a_place_for_every_number(gpu, arm):
    kernel = arm.kernel("inverse_dynamics", target="cuda")
    one = asarray(np.zeros(2))
    with pytest.raises(tf.ShapeError, match="out: expected a place for every number"):
        kernel(*map(asarray, STATE), out=np.broadcast_to(one, (5, 2), subok=True))


def test_results_of_which_some_are_given(gpu, arm):
    kernel = arm.kernel("energy", target="cuda")
    given = asarray(np.zeros(5))
    kinetic, potential = kernel(*map(asarray, STATE[:2]), out=(None, given))
    assert potential.data.ptr == given.data.ptr
    for got, expected in zip((kinetic, given), arm.energy(*STATE[:2]), strict=True):
        assert error(got, expected, core=0) < FORMULATIONS
    with pytest.raises(tf.ShapeError, match=r"out: expected \(5,\), \(5,\), got \(5,\)"):
        kernel(*map(asarray, STATE[:2]), out=given)
    with pytest.raises(tf.ShapeError, match=r"out: expected \(5,\), \(5,\), got None, \(4,\)"):
        kernel(*map(asarray, STATE[:2]), out=(None, given[:4]))


# -------------------------------------------------------------------------------------------- arrays of any library


@pytest.mark.parametrize("kind", [ByDlpack, ByInterface])
def test_any_array_on_a_gpu_gives_those_of_cupy(kind, gpu, arm):
    given = [kind(x) for x in STATE]
    got = arm.inverse_dynamics(*given)
    assert isinstance(got, GpuArray)
    assert error(got, arm.inverse_dynamics(*STATE)) < FORMULATIONS
    mixed = arm.inverse_dynamics(asarray(STATE[0]), *given[1:], payload=tf.Payload(kind(np.ones(5))))
    assert error(mixed, arm.inverse_dynamics(*STATE, payload=tf.Payload(np.ones(5)))) < FORMULATIONS


def test_arrays_elsewhere_are_numpys_affair(arm):
    class Plain(np.ndarray):
        """A class of a user's own."""

    class Elsewhere:
        def __array__(self, dtype=None, copy=None):
            return STATE[0]

        def __dlpack_device__(self):
            return 1, 0  # the processor

    assert array_libraries.library_of([STATE, STATE.tolist(), None, STATE.view(Plain), Elsewhere()]) is None
    assert type(arm.gravity_forces(Elsewhere())) is np.ndarray


def test_what_a_gpu_refuses(gpu, arm):
    q, qd, qdd = map(asarray, STATE)
    with pytest.raises(tf.ShapeError, match=r"qd: expected an array on the GPU, got numpy\.ndarray"):
        arm.inverse_dynamics(q, STATE[1], qdd)
    with pytest.raises(tf.ShapeError, match="qdd: expected float64 numbers, got float32"):
        arm.inverse_dynamics(q, qd, asarray(STATE[2], np.float32))
    with pytest.raises(tf.ShapeError, match="q: expected float64 or float32 numbers, got int64"):
        arm.gravity_forces(asarray(np.ones((5, 2), int)))
    with pytest.raises(tf.ShapeError, match=r"q: expected \(\.\.\., 2\)"):
        arm.gravity_forces(asarray(np.ones((5, 3))))
    with pytest.raises(tf.ShapeError, match="broadcast together"):
        arm.inverse_dynamics(q, qd[:3], qdd)
    with pytest.raises(tf.UnsupportedFeatureError, match="inverse_kinematics searches on the processor"):
        tf.load("puma560").inverse_kinematics(ByDlpack(np.eye(4)))


def test_a_function_that_is_too_large_for_a_gpu(gpu, monkeypatch, arm):
    monkeypatch.setattr("tauforge.kernels.cuda.kernel.MAX_NODES", 10)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"at most 10 are compiled\. Copy the arrays to the host"):
        arm.inverse_dynamics(*map(asarray, STATE))


# ----------------------------------------------------------------------------------------------------------- torch


@pytest.fixture
def torch(gpu, monkeypatch):
    """Tensors of the processor pass for those of the GPU."""
    found = pytest.importorskip("torch")
    from tauforge.evaluation import torch_arrays

    monkeypatch.setattr(torch_arrays, "GPU", "cpu")
    monkeypatch.setattr(found.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=STREAM))
    return found


def tensors(torch, arrays, **more):
    return [torch.tensor(x, **more) for x in arrays]


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated:DeprecationWarning")
def test_tensors_and_their_derivatives(torch, gpu, arm):
    q, qd, qdd = tensors(torch, STATE, requires_grad=True)
    got = arm.inverse_dynamics(q, qd, qdd)
    assert gpu.launches == [STREAM]
    assert error(got.detach(), arm.inverse_dynamics(*STATE)) < FORMULATIONS
    got.sum().backward()
    assert gpu.launches == [STREAM] * 2
    for tensor, slope in zip((q, qd, qdd), arm.inverse_dynamics_derivatives(*STATE), strict=True):
        assert error(tensor.grad, slope.sum(axis=-2)) < OUTSIDE
    assert torch.autograd.gradcheck(arm.mass_matrix, q, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(arm.energy, (q, qd))
    assert set(gpu.launches) == {STREAM}


def test_views_and_single_precision_of_torch(torch, gpu, arm):
    q, qd, qdd = tensors(torch, STATE.astype(np.float32))
    odd = torch.stack([q, q], dim=-1)[..., 0]
    got = torch.func.vmap(arm.inverse_dynamics, in_dims=(0, None, 0))(odd, qd[0], qdd)
    assert got.dtype == torch.float32
    assert error(got, arm.inverse_dynamics(STATE[0], STATE[1, 0], STATE[2])) < SINGLE
    assert arm.inverse_dynamics(*torch.zeros(3, 0, 2)).shape == (0, 2)


def test_singular_rows_of_torch(torch, gpu, light):
    (got,) = light._answer("forward_dynamics", straight(torch.tensor), "nan")
    assert torch.isnan(got).all(dim=-1).tolist() == [False, True, False, True, True]
    with pytest.raises(tf.SingularityError) as told:
        light.forward_dynamics(*straight(torch.tensor).values())
    assert told.value.row == 1


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_tensors_without_cupy(monkeypatch, arm):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("tauforge.evaluation.torch_arrays.GPU", "cpu")
    with pytest.raises(tf.UnsupportedFeatureError, match="CuPy is not installed"):
        arm.inverse_dynamics(*tensors(torch, STATE))


def test_derivatives_that_are_too_large_go_through_the_graph(torch, gpu, monkeypatch, arm):
    q = torch.tensor(STATE[0], requires_grad=True)
    total = sum(arm.mass_matrix(q).flatten())
    monkeypatch.setattr("tauforge.kernels.cuda.kernel.MAX_NODES", 0)
    total.backward()
    assert len(gpu.launches) == 1
    assert torch.isfinite(q.grad).all()


# ------------------------------------------------------------------------------------------------------------- JAX


@pytest.fixture
def jax(gpu, monkeypatch):
    """Buffers of the processor pass for those of the GPU."""
    found = pytest.importorskip("jax")
    from support.in_doubles import in_doubles
    from tauforge.evaluation import jax_arrays, xla_calls

    name = f"tauforge_pretended_{id(gpu)}"
    pointer = xla_calls.HANDLER(xla_calls._handler(xla_calls._on_gpu))
    xla_calls._handlers.append(pointer)
    capsule = found.ffi.pycapsule(ctypes.cast(pointer, ctypes.c_void_p).value)
    found.ffi.register_ffi_target(name, capsule, platform="cpu")
    monkeypatch.setattr(jax_arrays, "target", lambda: name)
    monkeypatch.setattr(jax_arrays, "serving", lambda: "gpu")
    monkeypatch.setattr(jax_arrays, "on_processor", lambda array: False)
    monkeypatch.setattr(xla_calls, "_stream", lambda frame: STREAM)
    with in_doubles():
        yield found
    found.clear_caches()  # programs that call the handler of this test


def test_jax_arrays_with_values(jax, gpu, light, arm):
    given = [jax.numpy.asarray(x) for x in STATE]
    got = arm.inverse_dynamics(*given)
    assert isinstance(got, jax.Array)
    assert error(got, arm.inverse_dynamics(*STATE)) < FORMULATIONS
    assert gpu.launches == [STREAM]
    assert arm.inverse_dynamics(*jax.numpy.zeros((3, 0, 2))).shape == (0, 2)
    (got,) = light._answer("forward_dynamics", straight(jax.numpy.asarray), "nan")
    assert np.isnan(got).all(axis=-1).tolist() == [False, True, False, True, True]
    with pytest.raises(tf.SingularityError) as told:
        light.forward_dynamics(*straight(jax.numpy.asarray).values())
    assert told.value.row == 1


def test_programs_of_jax(jax, gpu, light, arm):
    given = [jax.numpy.asarray(x) for x in STATE]
    slopes = jax.jit(jax.vmap(jax.jacrev(arm.inverse_dynamics, argnums=(0, 1, 2))))(*given)
    for got, expected in zip(slopes, arm.inverse_dynamics_derivatives(*STATE), strict=True):
        assert error(got, expected, core=2) < OUTSIDE
    assert set(gpu.launches) == {STREAM}
    got = jax.jit(light.forward_dynamics)(*straight(jax.numpy.asarray).values())
    assert np.isnan(got).all(axis=-1).tolist() == [False, True, False, True, True]


def test_programs_with_functions_that_are_too_large_go_through_the_graph(jax, gpu, monkeypatch, arm):
    monkeypatch.setattr("tauforge.kernels.cuda.kernel.MAX_NODES", 10)
    given = [jax.numpy.asarray(x) for x in STATE]
    assert error(jax.jit(arm.inverse_dynamics)(*given), arm.inverse_dynamics(*STATE)) < FORMULATIONS
    assert gpu.launches == []


def test_an_error_of_jaxs_own_stays():
    from tauforge.evaluation import xla_calls

    own = RuntimeError("out of memory [tauforge 123456789]")
    assert xla_calls.error_behind(own) is own


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_forces_without_numbers(dtype):
    """A mechanism without actuators: nothing is read of them, and their batch counts."""
    governor = tf.load("flyball-governor")
    x, qd, _ = (part.astype(dtype) for part in governor.random_states(6, seed=1))
    expected = governor.forward_dynamics_derivatives(x, qd, np.zeros((6, 0), dtype))
    for state in ((x, qd, np.zeros((6, 0), dtype)), (x[:1], qd[:1], np.zeros((6, 0), dtype))):
        got = governor.forward_dynamics_derivatives(*map(asarray, state))
        assert [part.shape for part in got] == [(6, 4, 4), (6, 4, 4), (6, 4, 0)]
        rows = slice(None) if len(state[0]) == 6 else [0] * 6
        for a, b in zip(got[:2], expected[:2], strict=True):
            assert error(a.get(), b[rows], core=2) < (FORMULATIONS if dtype == np.float64 else SINGLE)
    out = tuple(asarray(np.full((6, *core), np.nan, dtype)) for core in ((4, 4), (4, 4), (4, 0)))
    kernel = governor.kernel("forward_dynamics_derivatives", target="cuda", dtype=np.dtype(dtype).name)
    kernel(*map(asarray, (x, qd, np.zeros((6, 0), dtype))), out=out)
    assert np.isfinite(out[0].get()).all()
