"""Where a platform has no answer: singular poses, legs without length or along their joint's axis, nothing to move."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.cpu_time import quickest
from support.platforms import HOME, parts, quarter_turned, random_motion, random_platform, similar_platform
from support.tolerances import EPSILON, error, solve_tolerance
from tauforge.analysis.stewart_forces import best_characteristic_length, crossings, worst_leg_forces

REST = np.zeros(6)
UP = np.eye(6)[2]  # 1 m above the base, no turn
LIMIT = 1e12  # condition number of H above which there is no answer
RIG = tf.load("motion-rig")
BOX = tf.load("box")
GROWTH = 0.02  # of forces times distance, from one distance to the next


# ---------------------------------------------------------------------------------------------------- singular poses


@pytest.mark.parametrize("model", tf.STEWART_MODELS)
def test_singular_pose_raises_or_gives_nan(model):
    pose = np.stack([UP, quarter_turned(), UP, quarter_turned()])
    with pytest.raises(tf.SingularityError) as caught:
        RIG.inverse_dynamics(pose, REST, REST, model=model)
    assert "motion-rig: the legs cannot hold the platform (row 1, condition number" in str(caught.value)
    assert caught.value.pose == quarter_turned().tolist()
    assert caught.value.condition_number > LIMIT
    assert isinstance(caught.value, ArithmeticError)
    got = RIG.inverse_dynamics(pose, REST, REST, model=model, on_singular="nan")
    alone = RIG.inverse_dynamics(UP, REST, REST, model=model)
    assert np.isnan(got[[1, 3]]).all()
    assert np.array_equal(got[[0, 2]], [alone, alone])


def test_the_first_singular_row_is_named():
    pose = np.tile(UP, (2, 3, 1))
    pose[1, 1:] = quarter_turned()
    with pytest.raises(tf.SingularityError, match=r"\(row 1, 1, c"):
        RIG.inverse_dynamics(pose, REST, REST)
    with pytest.raises(tf.SingularityError, match=r"platform \(condition number"):  # a single state has no row
        RIG.inverse_dynamics(quarter_turned(), REST, REST)
    with pytest.raises(tf.SingularityError, match=r"\(row 0, "):  # a pose that serves a batch of twists
        RIG.inverse_dynamics(quarter_turned(), np.zeros((3, 6)), REST)


def test_a_platform_like_its_base_is_singular_everywhere():
    platform = similar_platform()
    rng = np.random.default_rng(1)
    for pose in (UP, *random_motion(rng, (5,))[0]):
        assert platform.condition_number(pose) > LIMIT
        with pytest.raises(tf.SingularityError):
            platform.inverse_dynamics(pose, REST, REST)
    batch = random_motion(rng, (40,))[0]
    assert np.isnan(platform.inverse_dynamics(batch, REST, REST, on_singular="nan")).all()
    single = batch.astype(np.float32), *np.zeros((2, 6), np.float32)
    assert np.isnan(platform.inverse_dynamics(*single, on_singular="nan")).all()  # the limit lies beyond float32


def test_large_forces_near_a_singular_pose_are_returned():
    """They grow as the distance falls, with no jump where a closer look begins, up to the limit and not beyond."""
    twisting = np.eye(6)[5]  # N m about z, which nothing holds there
    asides = 10.0 ** -np.arange(2, 11)
    sizes, conditions = [], []
    for aside in asides:
        pose = quarter_turned(aside)
        forces = RIG.inverse_dynamics(pose, REST, REST, external_wrench=twisting)
        conditions.append(float(RIG.condition_number(pose)))
        sizes.append(np.abs(forces).max() * aside)
        imbalance = RIG.force_matrix(pose) @ forces + twisting - RIG.bias_wrench(pose, REST)
        assert np.abs(imbalance).max() < 30 * 6 * EPSILON * np.abs(forces).max()
    assert conditions[-1] > 1e10
    np.testing.assert_allclose(sizes, sizes[-1], rtol=GROWTH)
    beyond = quarter_turned(asides[-1] / 100)
    assert RIG.condition_number(beyond) > LIMIT
    with pytest.raises(tf.SingularityError):
        RIG.inverse_dynamics(beyond, REST, REST, external_wrench=twisting)


def test_the_limit_is_the_condition_number():
    """Random ways to a singular pose: what is refused has a condition number above the limit, and all of that."""
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(60):
        pose = quarter_turned(10 ** rng.uniform(-14, -9)) + np.array([*rng.uniform(-0.1, 0.1, 3), 0, 0, 0])
        pose[:2] = 0  # the axis stays
        condition = np.linalg.cond(RIG.force_matrix(pose))
        got = RIG.inverse_dynamics(pose, REST, REST, on_singular="nan")
        if abs(np.log10(condition / LIMIT)) > 0.1:  # nearer the limit the rounding of the condition number decides
            assert np.isnan(got).all() == (condition > LIMIT)
        refused += np.isnan(got).all()
    assert 10 < refused < 50


def test_a_bad_row_is_not_taken_for_a_singular_one():
    pose = np.stack([UP, UP * np.nan, UP])
    got = RIG.inverse_dynamics(pose, REST, REST)
    assert np.isnan(got[1]).all()
    assert np.isfinite(got[[0, 2]]).all()
    with pytest.raises(tf.SingularityError, match=r"\(row 2, "):
        RIG.inverse_dynamics(np.stack([UP * np.nan, UP, quarter_turned()]), REST, REST)


def test_forward_dynamics_needs_no_regular_pose():
    """Accelerations follow from forces where forces do not follow from accelerations."""
    forces = 400 * np.ones(6)
    acceleration = RIG.forward_dynamics(quarter_turned(), REST, forces)
    balance = RIG.mass_matrix(quarter_turned()) @ acceleration + RIG.bias_wrench(quarter_turned(), REST)
    assert error(balance, RIG.force_matrix(quarter_turned()) @ forces) < 1e-12


# ------------------------------------------------------------------------------- legs without length, along their axis

LENGTHLESS = BOX.replace(base_points=[BOX.platform_points[0], *BOX.base_points[1:]])  # at the pose 0, leg 1
ALONG = BOX.replace(universal_axes=[(0, 0, 1), *BOX.universal_axes[1:]])  # at the pose 0, leg 1 stands along it
ASIDE = np.array([0.1, -0.05, 0.2, 0.1, 0.15, -0.1])
stuck = pytest.mark.parametrize("platform", [LENGTHLESS, ALONG], ids=["no length", "along its axis"])


@stuck
@pytest.mark.parametrize("model", [model for model in tf.STEWART_MODELS if model != "massless-legs"])
def test_a_leg_without_answer_spoils_its_own_row_only(platform, model):
    pose = np.stack([ASIDE, REST, ASIDE])
    got = platform.inverse_dynamics(pose, REST, REST, model=model, on_singular="nan")
    assert np.isnan(got[1]).all()
    assert np.array_equal(got[::2], platform.inverse_dynamics(pose[::2], REST, REST, model=model))
    assert np.isfinite(got[::2]).all()


@stuck
@pytest.mark.parametrize("method", ["mass_matrix", "bias_wrench", "energy", "joint_reactions", "leg_motion"])
def test_what_such_a_leg_has_no_answer_for_is_nan(platform, method):
    count = {"mass_matrix": 1, "bias_wrench": 2, "energy": 2}.get(method, 3)
    pose = np.stack([ASIDE, REST])
    asked = {"on_singular": "nan"} if method == "joint_reactions" else {}
    got = parts(getattr(platform, method)(*(pose, REST, REST)[:count], **asked))
    assert any(np.isnan(part[1]).any() for part in got)
    assert all(np.isfinite(part[0]).all() for part in got)


@stuck
def test_such_a_leg_is_said_to_be_singular(platform):
    """Who asks to be told gets no silent NaN from finite numbers."""
    with pytest.raises(tf.SingularityError, match=r"\(row 1, "):
        platform.inverse_dynamics(np.stack([ASIDE, REST]), REST, REST, on_singular="raise")


@stuck
def test_forward_dynamics_of_such_a_leg(platform):
    """It is said which row has no answer. The other row alone has one, which balances the forces."""
    forces = np.ones(6)
    with pytest.raises(tf.SingularityError, match=r"box: the mass matrix has no inverse \(row 1, "):
        platform.forward_dynamics(np.stack([ASIDE, REST]), REST, forces)
    M, acceleration = platform.mass_matrix(ASIDE), platform.forward_dynamics(ASIDE, REST, forces)
    balance = M @ acceleration + platform.bias_wrench(ASIDE, REST)
    assert error(balance, platform.force_matrix(ASIDE) @ forces) < solve_tolerance(M)


def test_geometry_of_a_leg_without_length():
    lengths = LENGTHLESS.inverse_kinematics(REST)
    assert lengths.tolist() == [0, 1, 1, 1, 1, 1]
    H = LENGTHLESS.force_matrix(REST)
    assert np.isnan(H[:3, 0]).all()
    assert np.array_equal(H[:, 1:], BOX.force_matrix(REST)[:, 1:])
    assert np.isnan(LENGTHLESS.condition_number(REST))
    limits = LENGTHLESS.replace(stroke=(0.5, 1.5)).within_limits(REST)
    assert limits.stroke.tolist() == [-0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert not limits.hold


def test_an_axis_along_the_leg_leaves_the_geometry():
    assert ALONG.inverse_kinematics(REST).tolist() == [1] * 6
    assert np.array_equal(ALONG.force_matrix(REST), BOX.force_matrix(REST))
    light = ALONG.inverse_dynamics(REST, REST, REST, model="massless-legs")
    assert np.array_equal(light, BOX.inverse_dynamics(REST, REST, REST, model="massless-legs"))


# ----------------------------------------------------------------------------------------------------- mass matrices

NO_LEGS = {"lower_mass": 0, "upper_mass": 0, "reflected_mass": 0}
NO_LEGS |= {"lower_inertia": np.zeros((3, 3)), "upper_inertia": np.zeros((3, 3))}


@pytest.mark.parametrize("mass", [0.0, 3.0])
@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.1, -0.2, 0.3)], ids=["at the origin", "off it"])
@pytest.mark.parametrize("force", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("start", [random_platform(np.random.default_rng(3)), RIG], ids=["random", "motion-rig"])
def test_a_mass_matrix_without_inverse(start, com, mass, force):
    """No mass at all, or a point mass on massless legs, which may turn as it likes: any answer would be made up."""
    platform = start.replace(**NO_LEGS, platform_mass=mass, platform_com=com, platform_inertia=np.zeros((3, 3)))
    for pose, twist in ((UP, REST), random_motion(np.random.default_rng(4))[:2]):
        with pytest.raises(tf.SingularityError, match=f"{start.name}: the mass matrix has no inverse") as caught:
            platform.forward_dynamics(pose, twist, force * np.ones(6))
        assert caught.value.pose == pose.tolist()
        assert caught.value.condition_number > 1e14


def test_a_small_body_is_no_singular_one():
    """Moments of a billionth of the rest make accelerations large, and nothing is refused."""
    body = {"platform_mass": 1.0, "platform_com": (0, 0, 0), "platform_inertia": 1e-9 * np.eye(3), "gravity": (0, 0, 0)}
    platform = random_platform(np.random.default_rng(5), **NO_LEGS, **body)
    got = platform.forward_dynamics(HOME, REST, REST, external_wrench=np.eye(6)[3])
    assert error(got, [0, 0, 0, 1e9, 0, 0]) < solve_tolerance(platform.mass_matrix(HOME))


# -------------------------------------------------------------------------------------- everything else that needs H


def test_neighbours_of_inverse_dynamics_refuse_too():
    pose = quarter_turned()
    with pytest.raises(tf.SingularityError, match="cannot hold"):
        RIG.joint_reactions(pose, REST, REST)
    assert np.isnan(RIG.joint_reactions(np.stack([UP, pose]), REST, REST, on_singular="nan").universal[1]).all()
    with pytest.raises(tf.SingularityError, match=r"\(row 1, "):
        RIG.forward_rates(np.stack([UP, pose]), np.ones(6))
    worst = worst_leg_forces(RIG, np.stack([UP, pose]))
    assert np.isfinite(worst.per_force[0]).all()
    assert np.isinf(worst.per_moment[1]).all()
    with pytest.raises(tf.SingularityError, match="the pose is singular with every characteristic length"):
        best_characteristic_length(RIG, pose)
    with pytest.raises(tf.SingularityError, match=r"singular at .* samples, not at isolated times"):
        crossings(similar_platform(), lambda t: np.tile(UP, (len(t), 1)) + np.multiply.outer(t, np.eye(6)[0]), 0.0, 0.1)


def test_an_axis_nearly_along_the_leg():
    """Named by its leg below an angle of 1e-8; above it both exact forms agree, digits lost evenly."""
    s = RIG.leg_motion(UP).directions[2]
    aside = np.array([s[1], -s[0], 0.0])
    twist, acceleration = np.random.default_rng(0).normal(size=(2, 6))
    for angle in (0.0, 1e-12):
        axes = np.array(RIG.universal_axes)
        axes[2] = s + angle * aside
        platform = RIG.replace(universal_axes=axes)
        with pytest.raises(tf.SingularityError, match="leg 3 lies along the fixed axis of its universal joint"):
            platform.inverse_dynamics(UP, REST, REST)
        assert np.isnan(platform.inverse_dynamics(UP, REST, REST, on_singular="nan")).all()
    for angle in (1e-3, 1e-5):
        axes[2] = s + angle * aside
        platform = RIG.replace(universal_axes=axes)
        exact, vectors = (
            platform.inverse_dynamics(UP, twist, acceleration, model=m) for m in ("exact", "exact-vectors")
        )
        assert error(vectors, exact) < 100 * EPSILON / angle**2


def test_one_bad_row_costs_that_row():
    rng = np.random.default_rng(7)
    pose, twist, acceleration = (x.copy() for x in random_motion(rng, (50_000,), UP))
    RIG.inverse_dynamics(pose[:2], twist[:2], acceleration[:2])
    pose[7] = np.nan
    seconds, got = quickest(lambda: RIG.inverse_dynamics(pose, twist, acceleration), 2.0)
    assert seconds < 2.0
    assert np.isnan(got[7]).all()
    assert np.isfinite(np.delete(got, 7, axis=0)).all()


def test_double_roots_are_one_mode():
    modes = RIG.assembly_modes(RIG.inverse_kinematics(quarter_turned()), starts=np.int64(300))
    apart = np.abs(modes.poses[:, None] - modes.poses[None]).max(axis=-1) + np.eye(len(modes.poses))
    assert apart.min() > 1e-3
