"""Rollouts and their gradients on a GPU that is not there: kernels run thread by thread, against the processor's."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

import tauforge as tf
from support import pretended_gpu
from support.cuda_on_cpu import needs_compiler
from support.mechanisms import five_bar
from support.platforms import HOME, random_platform, without_legs
from support.pretended_gpu import asarray
from support.strategies import random_arm
from support.tolerances import SINGLE, error
from tauforge.control import PD, ComputedTorque
from tauforge.motion import PoseMotion
from tauforge.simulation import gpu_rollouts

pytestmark = [needs_compiler, pytest.mark.usefixtures("kernels_on")]

SAME = 1e-11  # the same sums in another order, through some dozens of steps
ARM = random_arm(np.random.default_rng(5), "RPR", drives=True).replace(coulomb_speed=0.5)
MOVE = tf.motion.JointMove([0, 0, 0], [0.5, 0.2, -0.4], 0.06)
LAW = ComputedTorque(ARM, [60, 50, 40], 12.0)
NAMES = ("position", "velocity", "force")


@pytest.fixture(autouse=True)
def _gpu(monkeypatch, tmp_path):
    pretended_gpu.pretend(monkeypatch, tmp_path)
    monkeypatch.setattr(gpu_rollouts, "_recent", OrderedDict())


@pytest.mark.parametrize(
    ("dtype", "substeps", "memory"),
    [("float64", 1, "ample"), ("float64", 2, "short"), ("float32", 1, "short"), ("float32", 2, "ample")],
)
def test_on_a_gpu(dtype, substeps, memory, monkeypatch):
    """The kernels of the GPU, run thread by thread, give the processor's rollout and its gradients."""
    monkeypatch.setattr(pretended_gpu.Device, "free", 2**40 if memory == "ample" else 1)
    rng = np.random.default_rng(11)
    law, rows, periods, n = LAW, 66, 5, ARM.n
    period = MOVE.duration / periods
    schedule = {"control_period": period, "step": period / substeps, "record_every": 3}
    given = {
        "initial": tuple((0.1 * rng.normal(size=(2, rows, n))).astype(dtype)),
        "forces": rng.normal(size=(rows, periods, n)).astype(dtype),
        "payload": tf.Payload(rng.uniform(1, 2, rows).astype(dtype)),
        "varying": {"gravity": rng.normal(size=3).astype(dtype)},
        "gains": {"kp": law.kp, "kv": (law.kv + rng.normal(size=(rows, n, n))).astype(dtype)},
    }
    there = given | {
        "initial": tuple(map(asarray, given["initial"])),
        "forces": asarray(np.asfortranarray(given["forces"])),
        "gains": {name: asarray(x, dtype) for name, x in given["gains"].items()},
    }
    expected, expected_back = tf.differentiable_rollout(ARM, law, MOVE, **given, **schedule)
    got, got_back = tf.differentiable_rollout(ARM, law, MOVE, **there, **schedule)
    plain = tf.rollout(ARM, law, MOVE, **there, **schedule)
    tolerance = SAME if dtype == "float64" else SINGLE * periods
    for name in NAMES:
        assert error(getattr(got, name), getattr(expected, name)) < tolerance, name
        assert np.array_equal(getattr(got, name), getattr(plain, name))
        assert isinstance(getattr(got, name), pretended_gpu.GpuArray)
    assert error(got.error, expected.error) < tolerance * periods  # small differences of larger numbers
    assert got.finite.all()
    assert isinstance(got.error, pretended_gpu.GpuArray)
    bars = {name: rng.normal(size=getattr(got, name).shape) / np.abs(getattr(expected, name)).max() for name in NAMES}
    right = expected_back(**bars)
    mine = got_back(**{name: asarray(bar, dtype) for name, bar in bars.items()})
    for a, b in zip(flat(mine), flat(right), strict=True):
        assert a.shape == b.shape
        assert error(a, b) < tolerance


def test_gains_when_the_way_back_has_parts(monkeypatch):
    """The gradients by the forces are kept for some periods at a time; what they give for the gains adds up."""
    monkeypatch.setattr(gpu_rollouts, "PART", 2)
    rng = np.random.default_rng(12)
    given = {
        "initial": tuple(0.1 * rng.normal(size=(2, 3, ARM.n))),
        "gains": {"kp": LAW.kp + rng.normal(size=(3, ARM.n, ARM.n)), "kv": LAW.kv},
        "forces": rng.normal(size=(3, 5, ARM.n)),
    }
    period = MOVE.duration / 5
    compared(given, LAW, MOVE, {"control_period": period, "step": period, "record_every": 2})


def flat(gradient):
    """All arrays of a gradient."""
    position, velocity, gains, varying, payload, forces = gradient
    return [x for x in (position, velocity, *gains.values(), *varying.values(), payload, forces) if x is not None]


def compared(given, law, motion, schedule, tolerance=SAME):
    """The gradient of half the squared states, here and there; arrays of one row each alone, none of them shared."""
    runs, back = tf.differentiable_rollout(ARM, law, motion, **given, **schedule)
    there = {name: on_gpu(value) for name, value in given.items()}
    gpu_runs, gpu_back = tf.differentiable_rollout(ARM, law, motion, **there, **schedule)
    got = gpu_back(position=gpu_runs.position, velocity=gpu_runs.velocity)
    expected = back(position=runs.position, velocity=runs.velocity)
    for a, b in zip(flat(got), flat(expected), strict=True):
        assert error(a, b) < tolerance


def on_gpu(value):
    if isinstance(value, dict):
        return {name: on_gpu(x) for name, x in value.items()}
    return tuple(map(asarray, value)) if isinstance(value, tuple) else asarray(value)


@pytest.mark.parametrize("by", ["gains", "varying", "forces"])
def test_arguments_of_each_row_alone(by):
    rng, rows, n = np.random.default_rng(1), 5, ARM.n
    given = {
        "gains": {"kp": LAW.kp + rng.normal(size=(rows, n, n))},
        "varying": {"mass": np.array([j.mass for j in ARM.joints]) * rng.uniform(0.8, 1.2, (rows, n))},
        "forces": rng.normal(size=(rows, 6, n)),
    }[by]
    start = tuple(0.1 * rng.normal(size=(2, rows, n)))
    compared({"initial": start, by: given}, LAW, MOVE, {"control_period": 0.01, "record_every": 2**40})


def test_a_row_that_runs_away_has_no_gradient():
    """Also where the dynamics is linear, so that states that are NaN never enter the sums."""
    slides = [tf.Joint(kind="P", mass=2.0, inertia=np.eye(3), before=before) for before in (np.eye(4), turned())]
    gantry = tf.SerialArm(joints=slides, name="gantry")
    start = (np.zeros((3, 2)), np.array([[0.0, 0], [5e9, 0], [0, 0]]))
    law, stay = PD(gantry, 100.0, 10.0), tf.motion.JointMove([0, 0], [0.1, 0.1], 0.04)
    options = {"control_period": 0.01, "step": 0.01}
    given = {"forces": np.ones((3, 4, 2)), "gains": {"kp": np.broadcast_to(law.kp, (3, 2, 2)).copy()}}
    runs, pull_back = tf.differentiable_rollout(gantry, law, stay, initial=on_gpu(start), **on_gpu(given), **options)
    assert runs.finite.tolist() == [True, False, True]
    got = pull_back(position=asarray(np.ones(runs.position.shape)))
    for array in flat(got):
        assert np.isnan(array[1]).all()
        assert np.isfinite(array[[0, 2]]).all()


def turned():
    """A quarter turn about x, so that the second slide is across the first."""
    return np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def test_arrays_of_the_user_may_change(monkeypatch):
    rng, rows, n = np.random.default_rng(2), 4, ARM.n
    monkeypatch.setattr(pretended_gpu.Device, "free", 1)  # parts of the way run again
    start, forces = tuple(0.1 * rng.normal(size=(2, rows, n))), asarray(rng.normal(size=(rows, 6, n)))
    given = {"initial": on_gpu(start), "forces": forces}
    runs, pull_back = tf.differentiable_rollout(ARM, LAW, MOVE, **given, control_period=0.01, step=0.01, record_every=3)
    bar = asarray(rng.normal(size=runs.position.shape))
    expected = pull_back(position=bar)
    for array in (runs.position, runs.velocity, runs.force, forces, *given["initial"]):
        array -= 1.0
    got = pull_back(position=bar)
    for a, b in zip(flat(got), flat(expected), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"forces": np.zeros((2, 6, 3))}, "forces: expected an array on the GPU"),
        ({"forces": asarray(np.zeros((2, 6, 3), "float32"))}, "forces: expected float64 numbers, as the initial state"),
        ({"gains": {"kp": asarray(np.eye(3, dtype="float32"))}}, "kp: expected float64 numbers"),
        ({"varying": {"mass": asarray(np.ones((2, 4)))}}, r"mass: expected \(N, 3\)"),
    ],
)
def test_what_is_elsewhere_or_of_another_type(more, match):
    with pytest.raises(tf.ShapeError, match=match):
        tf.rollout(ARM, LAW, MOVE, initial=on_gpu(tuple(np.zeros((2, 2, 3)))), control_period=0.01, **more)


@pytest.mark.parametrize(
    "more", [{"forces": asarray(np.zeros((2, 6, 3)))}, {"gains": {"kp": asarray(np.eye(3))}}], ids=["forces", "gains"]
)
def test_arrays_on_a_gpu_beside_states_that_are_not(more):
    with pytest.raises(tf.ShapeError, match="expected an array of NumPy, as the initial state, got one on a GPU"):
        tf.rollout(ARM, LAW, MOVE, initial=tuple(np.zeros((2, 2, 3))), control_period=0.01, **more)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_platform_on_a_gpu(dtype):
    """Its state is no plain one. The kernel's steps are the processor's, in both precisions."""
    robot, rng = without_legs(random_platform(np.random.default_rng(1))), np.random.default_rng(3)
    law, move = ComputedTorque(robot, 400.0, 40.0), PoseMotion(tf.motion.JointMove(HOME, HOME + 0.05, 0.05))
    states = (HOME + 0.01 * rng.normal(size=(5, 6)), 0.1 * rng.normal(size=(5, 6)))
    given = {"initial": tuple(x.astype(dtype).astype(float) for x in states)}
    more = {"gains": {"kp": law.kp * rng.uniform(0.9, 1.1, (5, 1, 1))}, "payload": tf.Payload(np.linspace(1, 3, 5))}
    options = {"control_period": 5e-3, "step": 2.5e-3, "record_every": 4}
    expected = tf.rollout(robot, law, move, **given, **more, **options)
    more["gains"] = {name: asarray(x, dtype) for name, x in more["gains"].items()}
    there = tuple(asarray(x, dtype) for x in given["initial"])
    got = tf.rollout(robot, law, move, initial=there, **more, **options)
    for name in NAMES:
        assert str(getattr(got, name).dtype) == dtype
        assert error(getattr(got, name), getattr(expected, name)) < (SAME if dtype == "float64" else 20 * SINGLE), name


def test_a_mechanism_on_a_gpu(monkeypatch):
    """The kernel's steps are the processor's. A row that it refuses is NaN from there on: nothing else can step it."""
    robot, rng = five_bar(), np.random.default_rng(3)
    start = np.array([0.1, -0.2])
    law, move = ComputedTorque(robot, 900.0, 60.0), tf.motion.JointMove(start, start + 0.1, 0.05)
    given = {"initial": (start + 0.02 * rng.normal(size=(5, 2)), np.zeros((5, 2)))}
    more = {"gains": {"kp": law.kp * rng.uniform(0.9, 1.1, (5, 1, 1))}, "payload": tf.Payload(np.linspace(0.1, 0.3, 5))}
    options = {"control_period": 5e-3, "step": 1e-3, "record_every": 4}
    expected = tf.rollout(robot, law, move, **given, **more, **options)
    more["gains"] = on_gpu(more["gains"])
    got = tf.rollout(robot, law, move, initial=on_gpu(given["initial"]), **more, **options)
    for name in NAMES:
        assert getattr(got, name).shape == getattr(expected, name).shape
        assert error(getattr(got, name), getattr(expected, name)) < SAME, name
        assert isinstance(getattr(got, name), pretended_gpu.GpuArray)
    assert got.reasons is None
    fall = {"initial": (start, np.zeros(2)), "forces": np.zeros((1, 250, 2))}
    there = tf.rollout(robot, **{name: on_gpu(x) for name, x in fall.items()}, control_period=1e-3)
    here = tf.rollout(robot, **fall, control_period=1e-3)
    lost = np.isnan(there.position[0]).any(axis=-1)
    assert 100 < lost.argmax() < 250
    assert lost[lost.argmax() :].all()
    assert error(there.position[0, ~lost], here.position[0, ~lost]) < SAME
    with pytest.raises(tf.UnsupportedFeatureError, match=f"gradients through rollouts of {robot.name} run on the proc"):
        tf.differentiable_rollout(
            robot, initial=on_gpu(fall["initial"]), forces=on_gpu(fall["forces"]), control_period=1e-3
        )
    single = tuple(asarray(x, "float32") for x in fall["initial"])
    with pytest.raises(tf.UnsupportedFeatureError, match=f"{robot.name} needs float64: its loops stay closed") as one:
        tf.rollout(robot, initial=single, duration=0.01, control_period=1e-3)
    assert one.value.remedy == "Give the initial states in float64"
    monkeypatch.setattr(gpu_rollouts, "ONE_KERNEL_OPERATIONS", 100)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"operations; at most 100 are one kernel of a GPU\. Give the"):
        tf.rollout(robot, initial=on_gpu(fall["initial"]), duration=0.01, control_period=1e-3)


class Remembering(ComputedTorque):
    """With a filter of the velocity, an integral of the forces and a push in time."""

    memory = ("smooth", "sum")

    def __init__(self, robot):
        super().__init__(robot, 60.0, 12.0)
        self.smooth, self.sum, self.push = np.zeros(robot.n), 0.5, 2.0

    def force(self, t, position, velocity, target):
        wave = self.push * np.sin(40 * t) - 0.1 * self.sum[..., None]
        return super().force(t, position, self.smooth, target) + wave

    def update(self, t, position, velocity, target, force):
        return {"smooth": 0.4 * self.smooth + 0.6 * velocity, "sum": self.sum + np.sum(force, axis=-1)}


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_anybodys_law_on_a_gpu(dtype, substeps):
    rng, law, period = np.random.default_rng(14), Remembering(ARM), MOVE.duration / 6
    given = {
        "initial": tuple((0.1 * rng.normal(size=(2, 5, ARM.n))).astype(dtype)),
        "gains": {"push": rng.normal(size=5).astype(dtype)},
        "forces": rng.normal(size=(5, 6, ARM.n)).astype(dtype),
    }
    schedule = {"control_period": period, "step": period / substeps, "record_every": 2}
    most = np.linspace(2.0, 40.0, 15).reshape(5, 3)
    schedule["delay"] = period
    expected = tf.rollout(ARM, law, MOVE, **given, force_limits=most, **schedule)
    assert expected.stepped_by == "machine code"
    there = {name: on_gpu(x) for name, x in given.items()}
    got = tf.rollout(ARM, law, MOVE, **there, force_limits=most, **schedule)
    assert np.array_equal(np.asarray(got.clipped), expected.clipped)
    assert 0 < expected.clipped.sum() < expected.clipped.size
    with pytest.raises(
        tf.UnsupportedFeatureError, match="force_limits: gradients through force limits are computed on"
    ):
        tf.differentiable_rollout(ARM, LAW, MOVE, initial=there["initial"], force_limits=most, control_period=0.01)
    with pytest.raises(
        tf.UnsupportedFeatureError, match="delay: gradients through delays are computed on the processor"
    ):
        tf.differentiable_rollout(ARM, LAW, MOVE, initial=there["initial"], delay=0.01, control_period=0.01)
    with pytest.raises(
        tf.UnsupportedFeatureError, match="controller: gradients through the memory of a law are computed"
    ):
        tf.differentiable_rollout(ARM, law, MOVE, initial=there["initial"], control_period=0.01)
    with pytest.raises(tf.UnsupportedFeatureError, match="sensors: it is computed on the processor only"):
        tf.rollout(ARM, LAW, MOVE, initial=there["initial"], sensors=tf.Sensors(bits=12), control_period=0.01)
    for name in NAMES:
        assert error(getattr(got, name), getattr(expected, name)) < (SAME if dtype == "float64" else SINGLE * 6), name


def test_a_law_that_cannot_be_traced_is_refused_on_a_gpu():
    class Branching(ComputedTorque):
        def force(self, t, position, velocity, target):
            return position if t > 0.01 else -position

    initial = tuple(map(asarray, np.zeros((2, 1, ARM.n))))
    match = (
        r"rollouts on a GPU need compiled steps: test_gpu_rollouts.py:\d+ `return position if t > 0.01 .*a branch on"
    )
    with pytest.raises(tf.UnsupportedFeatureError, match=match) as caught:
        tf.rollout(ARM, Branching(ARM), MOVE, initial=initial, control_period=0.01)
    assert caught.value.remedy == "Give the initial states as arrays of NumPy"
