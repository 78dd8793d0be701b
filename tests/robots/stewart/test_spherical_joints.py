"""Everything that one does with a platform, where the legs have spherical joints at both ends."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, parsed, run
from support.platforms import HOME, random_motion, random_platform, with_spherical_legs
from support.tolerances import FORMULATIONS, ROUNDING, error, solve_tolerance
from tauforge.analysis.comparison import assess
from tauforge.analysis.linearisation import linearise
from tauforge.analysis.stewart_sizing import size_actuators
from tauforge.robots.poses import pose_rates
from tauforge.robots.stewart import model as platform_model

UNIVERSAL = random_platform(np.random.default_rng(1), stroke=None, cone_angles=None)
PLATFORM = with_spherical_legs(UNIVERSAL, np.random.default_rng(2))
FREE = PLATFORM.without_friction()
VARYING = (
    "base_points",
    "platform_points",
    "lower_mass",
    "upper_mass",
    "reflected_mass",
    "platform_inertia",
    "gravity",
)
PEDRAMMEHR = ("pedrammehr2012", "pedrammehr2012-closed")
STEP, CENTRAL = 1e-5, 1e-8  # of central differences: step, and what truncation and rounding leave
MOVE = tf.motion.PoseMotion(tf.motion.JointMove(HOME, HOME + 0.03, 0.1))


# ------------------------------------------------------------------------------------------------ models and operations


def test_models():
    """Pedrammehr's equations are of a universal joint's axes."""
    assert UNIVERSAL.models == tf.STEWART_MODELS
    assert PLATFORM.models == tuple(name for name in tf.STEWART_MODELS if name not in PEDRAMMEHR)
    state = random_motion(np.random.default_rng(0))
    for model in PEDRAMMEHR:
        message = (
            f"model: {model} has the equations of universal joints at the base; random has spherical ones. Use one"
        )
        with pytest.raises(tf.UnsupportedFeatureError, match=message):
            PLATFORM.inverse_dynamics(*state, model=model)
        with pytest.raises(tf.UnsupportedFeatureError, match=message):
            PLATFORM.kernel("inverse_dynamics", model=model)
        with pytest.raises(tf.UnsupportedFeatureError, match=f"{message} of exact, das"):
            tf.operation_count(PLATFORM, model)
    for model in PLATFORM.models:
        assert np.isfinite(PLATFORM.inverse_dynamics(*state, model=model)).all()


def test_assumptions():
    """No spin and no moment about the leg cost nothing; what is left of Dasgupta's faults is eq. 16."""
    state = random_motion(np.random.default_rng(0), (20,))
    found = {verdict.simplification.name: verdict for verdict in assess(PLATFORM, *state)}
    assert not any(verdict.simplification.model in PEDRAMMEHR for verdict in found.values())
    peak = np.abs(PLATFORM.inverse_dynamics(*state)).max()
    for name in ("no leg spin", "moment along the leg"):
        assert found[name].worst < FORMULATIONS * peak
    published, twice = (
        found[name].worst
        for name in (
            "Dasgupta & Mruthyunjaya 1998 as published",
            "parallel axis counted twice, upper part along the leg",
        )
    )
    assert published == twice > 1.0


def test_operations():
    """A universal joint costs what it did before there was another kind; a spherical one a quarter less."""
    dasgupta = tf.load("dasgupta1998")
    assert [tf.operation_count(dasgupta, model).flops for model in ("exact", "exact-vectors")] == [2007, 4359]
    same = PLATFORM.replace(base_joint="universal")
    assert tf.operation_count(PLATFORM).flops < 0.75 * tf.operation_count(same).flops
    assert tf.operation_count(PLATFORM, "exact-vectors").flops < tf.operation_count(same, "exact-vectors").flops


# ----------------------------------------------------------------------------------------------------- kernels, fields


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "joint_reactions", "energy"])
@pytest.mark.usefixtures("kernels_on")
def test_varying_fields(function):
    rng = np.random.default_rng(5)
    kernel = PLATFORM.kernel(function, varying=VARYING)
    pose, twist, acceleration = random_motion(rng, (3,))
    given = (pose, twist, acceleration)[: 2 if function == "energy" else 3]
    values = {}
    for field in VARYING:
        number = np.array(getattr(PLATFORM, field))
        values[field] = number * rng.uniform(0.9, 1.1, (3, *(1,) * number.ndim))
    got = kernel(*given, *values.values())
    for row in range(3):
        changed = PLATFORM.replace(**{field: value[row] for field, value in values.items()})
        want = getattr(changed, function)(*(x[row] for x in given))
        allowed = max(solve_tolerance(changed.force_matrix(pose[row])), solve_tolerance(changed.mass_matrix(pose[row])))
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want)), strict=True):
            assert error(np.ravel(a[row]), np.ravel(b)) < max(ROUNDING, allowed)


@pytest.mark.parametrize("field", platform_model.SPINNING)
def test_fields_that_could_spin_a_leg_do_not_vary(field):
    message = rf"varying: '{field}' cannot vary .* could spin them. Use one of base_points, .*, or `replace`"
    with pytest.raises(tf.UnsupportedFeatureError, match=message):
        PLATFORM.kernel("inverse_dynamics", varying=[field])
    with pytest.raises(tf.UnsupportedFeatureError, match=message):
        tf.rollout(
            PLATFORM,
            tf.control.ComputedTorque(PLATFORM),
            MOVE,
            control_period=0.01,
            varying={field: np.zeros((2, 6, 3))},
        )
    with pytest.raises(tf.UnsupportedFeatureError, match="'colour' cannot vary"):
        PLATFORM.kernel("inverse_dynamics", varying=["colour"])


@pytest.mark.parametrize("part", ["lower", "upper"])
@pytest.mark.usefixtures("kernels_on")
def test_a_mass_that_would_be_off_the_axis_does_not_vary(part):
    """Without a mass it does not matter where the mass centre is; a kernel would put one there unseen."""
    massless = PLATFORM.replace(**{f"{part}_mass": 0.0, f"{part}_com": (0.1, 0.05, 0.0)})
    massless.kernel("inverse_dynamics", varying=["platform_mass"])
    with pytest.raises(
        tf.UnsupportedFeatureError, match=f"'{part}_mass' cannot vary .* Give {part}_com with y = z = 0"
    ):
        massless.kernel("inverse_dynamics", varying=[f"{part}_mass"])
    massless.replace(**{f"{part}_com": (0.1, 0.0, 0.0)}).kernel("inverse_dynamics", varying=[f"{part}_mass"])


def test_copies():
    for one in (copy.deepcopy(PLATFORM), pickle.loads(pickle.dumps(PLATFORM)), PLATFORM.replace()):
        assert one == PLATFORM
        state = random_motion(np.random.default_rng(0))
        assert np.array_equal(one.inverse_dynamics(*state), PLATFORM.inverse_dynamics(*state))
    assert PLATFORM != UNIVERSAL


# ------------------------------------------------------------------------------------------- motion and its derivatives


def test_linearisation():
    rng = np.random.default_rng(4)
    pose, twist, acceleration = random_motion(rng)
    force = PLATFORM.inverse_dynamics(pose, twist, acceleration)
    A, B = linearise(PLATFORM, pose, twist, force)

    def rates(x):
        return np.r_[pose_rates(x[:6], x[6:12])[0], PLATFORM.forward_dynamics(x[:6], x[6:12], x[12:])]

    at = np.r_[pose, twist, force]
    steps = STEP * np.maximum(1.0, np.abs(at))
    expected = np.stack(
        [(rates(at + h * e) - rates(at - h * e)) / (2 * h) for h, e in zip(steps, np.eye(18), strict=True)], axis=-1
    )
    assert np.abs(np.hstack([A, B]) - expected).max() < CENTRAL * np.abs(expected).max()


def test_a_fall_keeps_its_energy():
    """Without actuators and friction, for a tenth of a second at half a metre a second."""
    twist = 0.5 * np.random.default_rng(6).normal(size=6)
    fall = tf.simulate(FREE, initial=(HOME, twist), duration=0.1, step=1e-3)
    energy = np.sum(FREE.energy(fall.position, fall.velocity), axis=0)
    kinetic = FREE.energy(fall.position, fall.velocity)[0]
    assert np.ptp(kinetic) > 1.0
    assert np.ptp(energy) < 1e-9 * kinetic.max()


@pytest.mark.usefixtures("kernels_on")
def test_control_and_rollouts():
    """Computed torque follows exactly, in leg space too; every row of a rollout is a simulation."""
    for law in (tf.control.ComputedTorque(PLATFORM), tf.control.LegSpaceComputedTorque(PLATFORM)):
        followed = tf.simulate(PLATFORM, law, MOVE, step=1e-3)
        assert np.abs(followed.position - followed.target_position).max() < 1e-6
    law = tf.control.ComputedTorque(PLATFORM)
    masses = PLATFORM.platform_mass * np.array([0.8, 1.2])
    options = {"step": 5e-3, "control_period": 0.01}
    many = tf.rollout(PLATFORM, law, MOVE, varying={"platform_mass": masses}, **options)
    for k, mass in enumerate(masses):
        one = tf.simulate(PLATFORM, law, MOVE, plant=PLATFORM.replace(platform_mass=mass), **options)
        assert np.abs(many.position[k] - one.position[::2]).max() < 1e-9


def test_sizing():
    time = np.linspace(0, 0.1, 51)
    found = size_actuators(FREE, time, *MOVE.sample(time))
    assert not found.reactions["universal moment"].value.any()
    assert (found.reactions["universal force"].value > 0).all()


# ------------------------------------------------------------------------------------------------------------- commands


def test_commands(tmp_path):
    path = tmp_path / "sps.toml"
    PLATFORM.save(path)
    assert 'base_joint = "spherical"' in path.read_text()
    assert "universal_axes" not in path.read_text()
    shown = parsed("show", path)
    assert (shown["base_joint"], shown["universal_axes"]) == ("spherical", None)
    text = run("show", path).stdout
    assert "base joints" in text
    assert "spherical" in text
    assert "Stewart platform" in run("check", path).stdout
    compared = parsed("compare", path, "--states", "5")
    assert {model["model"] for model in compared["models"]} == {"massless-legs", "dasgupta1998"}
    counted = parsed("complexity", path)
    assert list(counted["operations"]) == list(PLATFORM.models)


def test_check_tells_everything_that_spins_a_leg(tmp_path):
    path = tmp_path / "sps.toml"
    PLATFORM.save(path)
    text = path.read_text()
    friction = next(line for line in text.splitlines() if line.startswith("friction"))
    com = next(line for line in text.splitlines() if line.startswith("lower_com"))
    path.write_text(text.replace(friction, "friction = [0, 0, 0.5]").replace(com, "lower_com = [0.1, 0.2, 0.0]"))
    problems = " ".join(run("check", path, code=1).stdout.split())
    assert "friction: between two spherical joints the friction of the platform joint, 0.5 N m s" in problems
    assert "lower_com: the mass centre of the lower part of leg 1" in problems
    assert "friction: between two spherical joints" in " ".join(error_of("show", path).split())
