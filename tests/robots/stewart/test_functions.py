"""Platform kernels equal the reference: every model and method; nothing leaks from one row to another."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.platforms import HOME, calls, parts, quarter_turned, random_motion, random_platform, with_spherical_legs
from support.tolerances import ROUNDING, SINGLE, error, solve_tolerance
from tauforge.robots.stewart import formulas as stewart_formulas

RANDOM = random_platform(np.random.default_rng(1))
SOLVED_WITH_H = ("inverse_dynamics", "joint_reactions", "forward_rates", "forward_kinematics")
REFERENCE = random_platform(np.random.default_rng(1))  # the same, to be asked without kernels
COUNTS = {name: len(arguments) for name, arguments in calls(REFERENCE, np.random.default_rng(0)).items()}
PLATFORMS = {
    "random": (RANDOM, HOME),
    "box": (tf.load("box").replace(stroke=(0.5, 1.5)), np.zeros(6)),
    "spherical": (with_spherical_legs(RANDOM, np.random.default_rng(2)), HOME),
}
MIDDLE = 2  # the row that is spoiled


pytestmark = pytest.mark.usefixtures("kernels_on")


def reference(platform, method, *arguments, **options):
    """The same call without kernels, of a platform that has none at hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "0")
        return parts(getattr(platform.replace(), method)(*arguments, **options))


def tolerance(platform, method, pose):
    if method == "forward_dynamics":
        return solve_tolerance(platform.mass_matrix(pose))
    return max(ROUNDING, solve_tolerance(platform.force_matrix(pose)) if method in SOLVED_WITH_H else 0.0)


def agree(got, expected, batch, allowed):
    for a, b in zip(parts(got), expected, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        core = b.ndim - batch
        columns = [x if core else x[..., None] for x in (a, b)]
        assert error(*columns, core=max(1, core)) < allowed


def state(name, seed, shape):
    platform, around = PLATFORMS[name]
    pose, twist, acceleration = random_motion(np.random.default_rng(seed), shape, around)
    pose[:1] = around  # exactly: the box has zeros in H there
    return platform, (pose, twist, acceleration)


@pytest.mark.parametrize("method", [name for name in COUNTS if name != "forward_kinematics"])
@pytest.mark.parametrize("name", PLATFORMS)
def test_every_method(name, method):
    platform, (pose, twist, acceleration) = state(name, 2, (21,))
    arguments = (pose, twist, acceleration)[: COUNTS[method]]
    for _ in range(2):  # the second call goes a shorter way
        got = getattr(platform, method)(*arguments)
        agree(got, reference(platform, method, *arguments), 1, tolerance(platform, method, pose))
    alone = parts(getattr(platform, method)(*(x[3] for x in arguments)))
    for a, b in zip(alone, parts(got), strict=True):
        assert error(np.ravel(a), np.ravel(b[3])) < tolerance(platform, method, pose)


@pytest.mark.parametrize("name", PLATFORMS)
def test_forward_kinematics(name):
    platform, (pose, *_) = state(name, 2, (21,))
    lengths = platform.inverse_kinematics(pose)
    (expected,) = reference(platform, "forward_kinematics", lengths, pose + 0.01)
    got = platform.forward_kinematics(lengths, pose + 0.01)
    assert np.abs(got - expected).max() < tolerance(platform, "forward_kinematics", pose)  # poses may be zero


@pytest.mark.parametrize("model", tf.STEWART_MODELS)
@pytest.mark.parametrize("name", PLATFORMS)
def test_every_model(name, model):
    platform, (pose, twist, acceleration) = state(name, 3, (21,))
    wrench = 30 * np.random.default_rng(3).normal(size=6)
    allowed = tolerance(platform, "inverse_dynamics", pose)
    options = {"model": model} | ({} if name == "box" else {"external_wrench": wrench, "wrench_frame": "platform"})
    if model not in platform.models:
        with pytest.raises(tf.UnsupportedFeatureError, match=f"model: {model} has the equations of universal joints"):
            platform.inverse_dynamics(pose, twist, acceleration, **options)
        return
    got = platform.inverse_dynamics(pose, twist, acceleration, **options)
    agree(got, reference(platform, "inverse_dynamics", pose, twist, acceleration, **options), 1, allowed)


@pytest.mark.parametrize("model", [model for model in tf.STEWART_MODELS if "1" in model])
def test_every_correction(model):
    from tauforge.formulations.stewart import MODELS

    platform, arguments = state("random", 4, (5,))
    options = {"model": model, "corrections": MODELS[model].corrections}
    expected = reference(platform, "inverse_dynamics", *arguments, **options)
    got = platform.inverse_dynamics(*arguments, **options)
    agree(got, expected, 1, tolerance(platform, "inverse_dynamics", arguments[0]))


@pytest.mark.fault(23)
@pytest.mark.parametrize("method", ["inverse_dynamics", "mass_matrix", "joint_reactions", "energy", "force_matrix"])
def test_float32(method):
    arguments = [x.astype(np.float32) for x in calls(RANDOM, np.random.default_rng(5), (37,))[method]]
    got = parts(getattr(RANDOM, method)(*arguments))
    assert all(part.dtype == np.float32 for part in got)
    for a, b in zip(got, reference(RANDOM, method, *(x.astype(float) for x in arguments)), strict=True):
        columns = [x if b.ndim > 1 else x[..., None] for x in (a, b)]
        assert error(*columns, core=max(1, b.ndim - 1)) < 10 * SINGLE  # a solve with H costs its condition number


@pytest.mark.parametrize("name", ["dasgupta1998", "pedrammehr2012", "motion-rig"])
@pytest.mark.parametrize("forces", ["small", "carrying"])
def test_forward_dynamics_in_float32(name, forces):
    """The forces that the accelerations need, beside the largest share of them: accelerations alone may cancel."""
    platform, rng = tf.load(name), np.random.default_rng(8)
    pose = platform.positions.default + 0.05 * rng.uniform(-1, 1, (200, 6))
    twist, given = rng.uniform(-1, 1, (2, 200, 6))
    if forces == "carrying":
        given = platform.inverse_dynamics(pose, twist, 5 * given)
    pose, twist, given = (x.astype(np.float32).astype(float) for x in (pose, twist, given))
    found = platform.forward_dynamics(*(x.astype(np.float32) for x in (pose, twist, given))).astype(float)
    needed, resting = (platform.inverse_dynamics(pose, twist, x) for x in (found, np.zeros_like(found)))
    scale = np.maximum(np.abs(resting), np.abs(needed - resting)).max(axis=1)
    assert (np.abs(needed - given).max(axis=1) / scale).max() < SINGLE


def test_rows_do_not_depend_on_their_batch():
    pose, twist, forces = calls(RANDOM, np.random.default_rng(6), (40,))["forward_dynamics"]
    for method in ("forward_dynamics", "inverse_dynamics"):
        whole = getattr(RANDOM, method)(pose, twist, forces)
        for k in (0, 7, 8, 39):
            assert np.array_equal(getattr(RANDOM, method)(pose[k], twist[k], forces[k]), whole[k])
        order = np.random.default_rng(7).permutation(40)
        assert np.array_equal(getattr(RANDOM, method)(pose[order], twist[order], forces[order]), whole[order])


@pytest.mark.fault(5)
@pytest.mark.parametrize("kernels", ["0", "1"])
@pytest.mark.parametrize("method", COUNTS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_spoils_its_own_row_only(monkeypatch, method, kernels, bad):
    """Each argument, a length and an angle of it; no floating-point flags, alone or among others."""
    monkeypatch.setenv("TAUFORGE_KERNELS", kernels)
    platform = RANDOM if kernels == "1" else REFERENCE
    clean = calls(platform, np.random.default_rng(8), (5,))[method]
    expected = parts(getattr(platform, method)(*clean))
    others = np.arange(5) != MIDDLE
    for argument, component in itertools.product(range(len(clean)), range(6) if kernels == "1" else (1, 4)):
        arguments = [x.copy() for x in clean]
        arguments[argument][MIDDLE, component] = bad
        with np.errstate(all="raise"):
            got = parts(getattr(platform, method)(*arguments))
            getattr(platform, method)(*(x[MIDDLE] for x in arguments))
        assert all(np.array_equal(a[others], b[others]) for a, b in zip(got, expected, strict=True))
        spoiled = [np.isnan(a[MIDDLE]).any() for a in got if a.dtype.kind == "f"]
        assert all(spoiled) if argument == 0 else any(spoiled)  # lengths depend on no twist, a pose matters everywhere
        assert not any(np.isinf(a[MIDDLE]).any() for a in got)


def test_kernel_objects():
    kernel = RANDOM.kernel("inverse_dynamics")
    assert kernel.ufunc.signature == "(6),(6),(6)->(6)"
    arguments = calls(RANDOM, np.random.default_rng(9), (4,))["inverse_dynamics"]
    out = np.empty((4, 6))
    kernel(*arguments, out=out)
    assert error(out, RANDOM.inverse_dynamics(*arguments)) < ROUNDING
    assert RANDOM.kernel("mass_matrix", dtype="float32")(arguments[0].astype(np.float32)).dtype == np.float32
    published = RANDOM.kernel("inverse_dynamics", model="dasgupta1998")
    assert error(published(*arguments), RANDOM.inverse_dynamics(*arguments, model="dasgupta1998")) < ROUNDING
    with pytest.raises(tf.UnsupportedFeatureError, match=r"no function 'torque'.*inverse_dynamics"):
        RANDOM.kernel("torque")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"target 'tpu'.*cpu"):
        RANDOM.kernel("inverse_dynamics", target="tpu")
    with pytest.raises(tf.UnsupportedFeatureError, match=r"dtype 'float16'.*float64"):
        RANDOM.kernel("inverse_dynamics", dtype="float16")
    with pytest.raises(tf.UnsupportedFeatureError, match="mass_matrix has no option 'model'"):
        RANDOM.kernel("mass_matrix", model="exact")
    with pytest.raises(tf.ModelError, match="no masses"):
        tf.load("dietmaier").kernel("mass_matrix")


@pytest.mark.parametrize("option", [{"model": "bogus"}, {"model": "dasgupta1998", "corrections": "bogus"}], ids=str)
def test_kernel_of_an_unknown_model_is_refused_by_name(option):
    with pytest.raises(tf.UnsupportedFeatureError, match="bogus"):
        RANDOM.kernel("inverse_dynamics", **option)


def test_a_singular_pose_is_noticed_every_time():
    """The shorter way of later calls must not pass the check by."""
    platform, home, rest = tf.load("motion-rig"), np.eye(6)[2], np.zeros(6)
    platform.inverse_dynamics(home, rest, rest)
    assert type(platform.inverse_dynamics).__name__ == "builtin_function_or_method"
    batch = np.vstack([np.tile(home, (17, 1)), quarter_turned()])
    for _ in range(3):
        with pytest.raises(tf.SingularityError):
            platform.inverse_dynamics(quarter_turned(), rest, rest)
        with pytest.raises(tf.SingularityError, match="row 17, "):
            platform.inverse_dynamics(batch, np.zeros((18, 6)), np.zeros((18, 6)))


def test_a_used_platform_pickles():
    arguments = calls(RANDOM, np.random.default_rng(10))["inverse_dynamics"]
    expected = RANDOM.inverse_dynamics(*arguments)
    again = pickle.loads(pickle.dumps(RANDOM))
    assert np.array_equal(again.inverse_dynamics(*arguments), expected)


MIXTURES = [
    (name, chosen)
    for name, model in stewart_formulas.MODELS.items()
    if name not in ("exact", "massless-legs")
    for chosen in {(), model.corrections, *((one,) for one in model.corrections)}
]


@pytest.mark.parametrize(("model", "chosen"), in_turn(sorted(MIXTURES)))
def test_every_mixture_of_corrections_compiles(kernels_on, model, chosen):
    """Also the second look that a bad row brings, in graphs of several parts."""
    platform = tf.load("dasgupta1998")
    pose = np.array([[0.2, 0, 0.5, 0.1, 0, 0.2], [np.nan] * 6])
    twist, acceleration = np.random.default_rng(0).normal(size=(2, 6))
    got = platform.inverse_dynamics(pose, twist, acceleration, model=model, corrections=chosen)
    assert np.isnan(got[1]).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORGE_KERNELS", "0")
        plain = platform.replace().inverse_dynamics(pose[0], twist, acceleration, model=model, corrections=chosen)
    assert np.abs(got[0] - plain).max() < 1e-10 * np.abs(plain).max()
