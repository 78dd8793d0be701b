"""CUDA without a GPU: the sources of all functions, and kernels that run on the CPU thread by thread."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.cuda_on_cpu import argument, compiled, needs_compiler
from support.robot_functions import tried
from support.tolerances import FORMULATIONS, ROUNDING, SINGLE, error
from tauforge.kernels.cuda.dialect import BLOCK_THREADS
from tauforge.kernels.cuda.loop_source import loop_source
from tauforge.kernels.cuda.source import SHARED_BYTES, block_size, fitting, operands
from tauforge.simulation.gpu_rollouts import gpu_formulas, loop_of
from tauforge.simulation.integrators import FAR
from tauforge.simulation.rollout_task import rollout_task

ROWS = 70  # two blocks, of which the second is not full
HOME = np.array([0.1, 0.0, 1.0, 0.1, 0.2, 0.1])
no_cupy = pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")


def states(kernel, rows, dtype, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for name, core in kernel.arguments:
        values = rng.uniform(-1.0, 1.0, (rows, *core))
        found.append((HOME + 0.05 * values if name == "pose" else values).astype(dtype))
    return found


def moved_by_one(array):
    """The same numbers, beginning one number beyond a multiple of 16 bytes."""
    room = np.empty(array.nbytes + 32, np.uint8)
    start = -room.ctypes.data % 16 + array.itemsize
    view = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def run(kernel, arrays, layout, folder, *, wide=False, pairs=False, out=np.array):
    """What the kernel writes over NaN, for arguments and results in this layout. out: where results go, from NaN"""
    layouts = (layout,) * (len(kernel.arguments) + len(kernel.results))
    source, block = kernel._written(layouts, wide=wide, pairs=pairs)
    library = compiled(source, "kernel", folder)
    count, integer = len(arrays[0]), np.int64 if wide else np.int32
    outs = [out(np.full((count, int(np.prod(core))), np.nan, kernel.dtype)) for core in kernel.results]
    kept, numbers = [], [integer(count)]
    for array in [*(a.reshape(count, -1) for a in arrays), *outs]:
        laid = np.asfortranarray(array) if layout == "columns" else np.ascontiguousarray(array)
        kept.append(laid)
        row, step = (stride // laid.itemsize for stride in laid.strides)
        numbers += [laid, integer(row), integer(step)]
    threads = count // 2 if pairs else count
    library.launch(-(-threads // block), block, *map(argument, numbers))
    return kept[len(arrays) :]


@needs_compiler
@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("puma560", "inverse_dynamics"),
        ("stanford", "forward_dynamics"),
        ("dasgupta1998", "inverse_dynamics"),
        ("flyball-governor", "forward_dynamics"),  # without actuators
    ],
)
def test_kernels_thread_by_thread(name, function, dtype, layout, tmp_path):
    robot = tf.load(name)
    kernel = robot.kernel(function, target="cuda", dtype=dtype)
    arrays = states(kernel, ROWS, dtype)
    (got,) = run(kernel, arrays, layout, tmp_path)
    expected = getattr(robot, function)(*(a.astype(float) for a in arrays))
    assert error(got, expected) < (FORMULATIONS if dtype == "float64" else SINGLE)


@needs_compiler
@pytest.mark.parametrize(
    ("layout", "dtype", "way"),
    [
        ("columns", "float32", {"pairs": True}),
        ("rows", "float64", {"wide": True}),
        ("strided", "float32", {"wide": True}),
    ],
)
def test_pairs_of_states_and_large_arrays(layout, dtype, way, tmp_path):
    """Two states a thread, of which the last threads have none; places of 64 bits."""
    arm = tf.load("puma560")
    kernel = arm.kernel("inverse_dynamics", target="cuda", dtype=dtype)
    arrays = states(kernel, ROWS, dtype)
    arrays[1][69, 2] = np.nan
    (got,) = run(kernel, arrays, layout, tmp_path, **way)
    expected = arm.inverse_dynamics(*(a.astype(float) for a in arrays))
    assert np.isnan(got[69]).all()
    assert error(got[:69], expected[:69]) < (FORMULATIONS if dtype == "float64" else SINGLE)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "function", "dtype", "layout", "way"),
    [
        ("puma560", "inverse_dynamics", "float64", "rows", {}),
        ("puma560", "inverse_dynamics", "float64", "columns", {}),
        ("puma560", "inverse_dynamics", "float32", "columns", {"pairs": True}),
        ("puma560", "forward_dynamics", "float32", "columns", {"pairs": True}),
        ("dasgupta1998", "inverse_dynamics", "float64", "rows", {}),
        ("dasgupta1998", "inverse_dynamics", "float64", "columns", {}),
        ("dasgupta1998", "forward_dynamics", "float32", "columns", {}),
    ],
)
def test_an_input_that_is_not_finite_spoils_its_row(name, function, dtype, layout, way, tmp_path):
    """Whether a sum over the inputs tells it or a result, and although nothing depends on q0."""
    kernel = tf.load(name).kernel(function, target="cuda", dtype=dtype)
    arrays = states(kernel, ROWS, dtype)
    bad = np.zeros(ROWS, bool)
    for k, spoiled in enumerate([np.nan, np.inf, -np.inf] * 6):  # each of the 18 inputs once
        arrays[k // 6][3 * k + 2, k % 6] = spoiled
        bad[3 * k + 2] = True
    (got,) = run(kernel, arrays, layout, tmp_path, **way)
    assert np.isnan(got[bad]).all()
    assert np.isfinite(got[~bad]).all()


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_that_begin_anywhere(dtype, tmp_path):
    """Rows are copied 16 bytes at a time only where they begin at a multiple of 16 bytes: not the second of three."""
    arm = tf.load("stanford")
    kernel = arm.kernel("inverse_dynamics", target="cuda", dtype=dtype)
    arrays = states(kernel, 2 * 64 + 1, dtype)
    (expected,) = run(kernel, arrays, "rows", tmp_path)
    (got,) = run(kernel, [moved_by_one(array) for array in arrays], "rows", tmp_path)
    assert np.array_equal(got, expected)
    (got,) = run(kernel, arrays, "rows", tmp_path, out=moved_by_one)
    assert got.ctypes.data % 16 == got.itemsize
    assert np.array_equal(got, expected)


@needs_compiler
def test_varying_fields_and_the_doubt(tmp_path):
    arm = tf.load("planar-2r")
    kernel = arm.kernel("forward_dynamics", target="cuda", varying=["mass"]).with_doubt
    arrays = states(kernel, ROWS, "float64")
    arrays[-1] = 1 + arrays[-1] ** 2
    got, doubts = run(kernel, arrays, "columns", tmp_path)
    k = 17
    expected = arm.replace(mass=arrays[-1][k]).forward_dynamics(*(a[k] for a in arrays[:-1]))
    assert error(got[k], expected) < FORMULATIONS
    assert error(doubts[k], np.abs(expected).sum()[None]) < FORMULATIONS


@needs_compiler
@pytest.mark.parametrize(("name", "fields"), [("stanford", ()), ("planar-2r", ("mass",))])
def test_rollouts_thread_by_thread(name, fields, tmp_path):
    """The kernel's records equal those of the CPU, also where the law is asked every third step, and with forces."""
    arm = tf.load(name).without_friction()
    n = arm.n
    law = tf.control.ComputedTorque(arm)
    h, substeps, periods, every, rows = 1e-3, 3, 7, 2, 66
    move = tf.motion.JointMove(np.zeros(n), np.full(n, 0.1), h * substeps * periods)
    rng = np.random.default_rng(1)
    q, qd = 0.05 * rng.normal(size=(2, rows, n))
    q[5] = 2 * FAR  # it has run away from the start
    mass = np.array([joint.mass for joint in arm.joints]) * rng.uniform(0.8, 1.2, (rows, n))
    given = {"initial": (q, qd), "step": h, "control_period": h * substeps, "record_every": every}
    given |= {"varying": {"mass": mass}, "forces": rng.normal(size=(rows, periods, n))} if fields else {}
    options = {name: given.get(name) for name in ("duration", "plant", "payload", "gains", "varying", "forces")}
    loop = loop_of(gpu_formulas(rollout_task(arm, law, move, **options | given)))
    library = compiled(loop_source(loop, 64, FAR), "loop", tmp_path)
    prescribed = np.concatenate(move.sample(h * substeps * np.arange(periods + 1)), axis=1)
    kept = [*range(0, periods, every), periods]
    records = np.zeros((len(kept), 3 * n, rows))
    fixed = np.ascontiguousarray(mass.T) if fields else np.empty(1)
    numbers = [np.int64(rows), np.int32(periods), np.int32(every), np.int32(substeps), prescribed, fixed, records]
    if fields:
        numbers += [given["forces"], *map(np.int64, (periods * n, n, 1))]
    for array in (q, qd):
        numbers += [array, np.int64(n), np.int64(1)]
    library.launch(-(-rows // BLOCK_THREADS), BLOCK_THREADS, *map(argument, numbers))
    expected = tf.rollout(arm, law, move, **given)
    got = records.transpose(2, 0, 1)
    assert np.isnan(got[5]).all()
    for part, right in ((got[..., :n], expected.position), (got[..., n : 2 * n], expected.velocity)):
        assert np.array_equal(np.isnan(part), np.isnan(right))
        assert np.nanmax(np.abs(part - right)) < ROUNDING * np.nanmax(np.abs(right))


@pytest.mark.parametrize("name", in_turn(tried()))
def test_every_function_has_a_source(name):
    """Their graphs are those of the CPU's kernels; what is too large for a GPU says so."""
    robot = tf.load(name)
    for function, entry in robot.functions.items():
        if not entry.public or (function.endswith("derivatives") and robot.positions.pose):
            continue  # the largest graphs: minutes of writing would show nothing more
        try:
            kernel = robot.kernel(function, target="cuda", dtype="float32")
        except tf.ModelError:  # a robot without masses
            continue
        for layout in ("rows", "columns"):
            source = kernel.source(layout)
            assert source.count("{") == source.count("}")
            assert source.count(" + taint;") == sum(int(np.prod(core)) for core in kernel.results)
            assert "double" not in source[source.index('extern "C"') :]


def test_rows_that_do_not_fit_are_written_directly():
    found = operands((("q", (6,)),), ((6, 6), (60, 60)), ("rows",) * 3)
    block = block_size(found, 64, crowded=False)
    kept = fitting(found, 64, block)
    assert [operand.layout for operand in kept] == ["rows", "rows", "strided"]
    assert sum(o.pitch for o in kept if o.staged) * block * 8 <= SHARED_BYTES


def test_bad_requests():
    arm = tf.load("puma560")
    with pytest.raises(tf.UnsupportedFeatureError, match="dtype 'float16'"):
        arm.kernel("inverse_dynamics", target="cuda", dtype="float16")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown target 'gpu'\. Use one of cpu, cuda"):
        arm.kernel("inverse_dynamics", target="gpu")
    kernel = arm.kernel("inverse_dynamics", target="cuda")
    with pytest.raises(TypeError, match="inverse_dynamics takes 3 arguments"):
        kernel(np.zeros(6))
    with pytest.raises(tf.ShapeError, match=r"q: expected an array on the GPU, got numpy\.ndarray\. Copy it there"):
        kernel(*np.zeros((3, 6)))

    class Mine(tf.control.ComputedTorque):
        traceable = False

    law = Mine(arm.without_friction())
    with pytest.raises(tf.UnsupportedFeatureError, match="on a GPU need compiled steps: Mine does not say traceable"):
        gpu_formulas(_task_of(law))


def _task_of(law):
    arm = law.robot
    options = dict.fromkeys(("duration", "plant", "payload", "gains", "varying", "forces", "initial"))
    move = tf.motion.JointMove(np.zeros(arm.n), np.ones(arm.n), 0.1)
    return rollout_task(arm, law, move, step=1e-3, control_period=1e-3, record_every=1, **options)


@no_cupy
def test_without_cupy():
    class OnGpu:
        __cuda_array_interface__ = {"shape": (6,), "typestr": "<f8", "data": (0, False), "version": 3}  # noqa: RUF012

    kernel = tf.load("puma560").kernel("inverse_dynamics", target="cuda")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"cuda: CuPy is not installed\. pip install cupy-cuda13x"):
        kernel(OnGpu(), OnGpu(), OnGpu())
