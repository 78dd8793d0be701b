"""Inverse kinematics of arms: what is found reaches the pose within the limits, and what is not found says so.

The oracle is forward kinematics, with the missing rotation taken by SciPy.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.spatial.transform
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.strategies import conventions, random_arm, seeds
from support.tolerances import EPSILON, error
from tauforge.formulations.serial import levenberg_marquardt
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.kernels.cpu.kernel import MAX_NODES
from tauforge.robots.serial import inverse_kinematics as ik
from tauforge.robots.serial.formulas import inverse_kinematics_steps
from tauforge.tracing.graph import trace
from tauforge.validation import to_transform

REACHED = ik.POSE_TOLERANCE + 100 * EPSILON  # where the search stops, and rounding of kinematics with whole turns added
SINGLE = 1e-6  # m and rad: a pose in float32, through kinematics of an arm of a metre
WAYS = ["reference", *(str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits)]
TURN = 2 * np.pi

UR5 = tf.SerialArm.from_dh(  # Universal Robots, DH parameters for calculations of kinematics and dynamics
    joints="RRRRRR",
    alpha=[np.pi / 2, 0, 0, np.pi / 2, -np.pi / 2, 0],
    a=[0, -0.425, -0.39225, 0, 0, 0],
    d=[0.089159, 0, 0, 0.10915, 0.09465, 0.0823],
    limits=[(-TURN, TURN)] * 6,
    name="ur5",
)
PUMA, PANDA, SCARA = tf.load("puma560"), tf.load("panda"), tf.load("scara")
PLANAR = tf.SerialArm.from_dh(joints="RRR", a=[0.5, 0.4, 0.2], alpha=[0, 0, 0], d=[0, 0, 0], name="planar")
IN_THE_PLANE = (True, True, False, False, False, True)
POSTURE = np.array([0.3, -0.5, 0.8, 0.2, 0.6, -0.4])


@pytest.fixture(params=WAYS)
def way(request, kernels_on, monkeypatch):
    if request.param == "reference":
        monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    else:
        monkeypatch.setenv(VECTOR_BITS, request.param)


def missing(arm, q, pose):
    """(..., 6) translation and rotation vector from the tool at q to the pose, world axes."""
    tool = arm.forward_kinematics(q)
    R = pose[..., :3, :3] @ np.swapaxes(tool[..., :3, :3], -1, -2)
    turn = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_rotvec().reshape(*R.shape[:-2], 3)
    return np.concatenate([pose[..., :3, 3] - tool[..., :3, 3], turn], axis=-1)


def residual(arm, q, pose, mask=(1, 1, 1, 1, 1, 1)):
    return np.linalg.norm(missing(arm, q, pose) * np.asarray(mask, float), axis=-1).max()


def within_limits(arm, q):
    return bool(((arm.limits[:, 0] <= q) & (q <= arm.limits[:, 1])).all())


def reachable(arm, count, seed=0):
    """Poses of joint coordinates drawn evenly within the limits, and these."""
    q = np.random.default_rng(seed).uniform(*arm.limits.T, (count, arm.n))
    return arm.forward_kinematics(q), q


@pytest.mark.parametrize("arm", [UR5, PANDA, PUMA], ids=lambda arm: arm.name)
def test_reachable_poses_are_found_without_a_guess(arm, as_installed):
    poses, _ = reachable(arm, 1000)
    q = arm.inverse_kinematics(poses, on_failure="nan")
    found = np.isfinite(q).all(axis=-1)
    assert found.mean() >= 0.995
    assert residual(arm, q[found], poses[found]) <= REACHED
    assert within_limits(arm, q[found])


@given(seeds, st.text("RP", min_size=1, max_size=10), conventions)
def test_random_arms_from_a_guess(rng, letters, convention):
    arm = random_arm(rng, letters, convention)
    q = rng.uniform(-np.pi, np.pi, arm.n)
    pose = arm.forward_kinematics(q)
    found = arm.inverse_kinematics(pose, q + 0.1 * rng.normal(size=arm.n))
    assert residual(arm, found, pose) <= REACHED


@given(seeds, st.text("RP", min_size=6, max_size=8).filter(lambda letters: letters.count("R") >= 4))
def test_random_arms_without_a_guess(rng, letters):
    arm = random_arm(rng, letters)
    pose = arm.forward_kinematics(rng.uniform(-np.pi, np.pi, arm.n))
    assert residual(arm, arm.inverse_kinematics(pose), pose) <= REACHED


@pytest.mark.parametrize("letters", ["R", "P", "RRPRRPRRRR"])
def test_one_joint_and_ten(letters):
    rng = np.random.default_rng(3)
    limits = [(-2.0, 2.5) if kind == "R" else (-0.4, 0.7) for kind in letters]
    arm = random_arm(rng, letters).replace(limits=limits)
    poses, _ = reachable(arm, 50)
    q = arm.inverse_kinematics(poses)
    assert residual(arm, q, poses) <= REACHED
    assert within_limits(arm, q)


def operations(arm):
    """Operations of one call, as it would be compiled."""
    sizes = {"target": 12, "q": arm.n, "asked": 6, "lower": arm.n, "upper": arm.n, "length": 1}

    def flat(*arguments):
        q, size = inverse_kinematics_steps(arm.model, *arguments)
        return [*q, size]

    return len(trace(flat, sizes).nodes)


@pytest.mark.parametrize("arm", [UR5, PUMA, PANDA], ids=lambda arm: arm.name)
def test_kernels_are_small_enough_to_be_made_at_once(arm):
    assert operations(arm) < 4_100


def test_an_arm_too_long_for_a_kernel():
    """The reference answers."""
    arm = random_arm(np.random.default_rng(4), "R" * 40)
    assert operations(arm) > MAX_NODES
    pose = arm.forward_kinematics(np.linspace(-1, 1, 40))
    assert residual(arm, arm.inverse_kinematics(pose), pose) <= REACHED


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_arms_of_all_sizes(size):
    limits = [None, None, (0.2 * size, 2 * size), None, None, None]
    shape = {"alpha": [-np.pi / 2, np.pi / 2, 0, -np.pi / 2, np.pi / 2, 0], "a": np.zeros(6)}
    arm = tf.SerialArm.from_dh(joints="RRPRRR", **shape, d=size * np.array([0.4, 0.15, 0, 0, 0, 0.2]), limits=limits)
    q = np.random.default_rng(5).uniform(-3, 3, (100, 6))
    q[:, 2] = np.random.default_rng(6).uniform(*limits[2], 100)
    poses = arm.forward_kinematics(q)
    found = arm.inverse_kinematics(poses)
    assert residual(arm, found, poses) <= REACHED * max(1.0, size)
    assert within_limits(arm, found)


def test_a_gantry_without_limits_goes_far():
    """Nothing but the pose says how far its joints travel."""
    gantry = tf.SerialArm.from_dh(
        joints="PPPR", alpha=[-np.pi / 2, -np.pi / 2, 0, 0], a=[0] * 4, d=[0] * 4, theta=[0, -np.pi / 2, 0, 0]
    )
    poses = gantry.forward_kinematics([[70.0, -40.0, 90.0, 2.0], [1e-4, 0, 2e-4, -3.0], [0, 0, 0, 0]])
    found = gantry.inverse_kinematics(poses)
    assert residual(gantry, found, poses) <= REACHED


def test_singular_postures(as_installed):
    """Where Newton's method halves the error instead of squaring it: a stretched arm, and aligned wrist axes."""
    arm = tf.load("planar-2r")
    reach = (1, 1, 0, 0, 0, 0)
    pose = arm.forward_kinematics([0.3, 0.0])
    assert residual(arm, arm.inverse_kinematics(pose, [0.5, 0.4], mask=reach), pose, reach) <= REACHED
    pose = PUMA.forward_kinematics([0.3, -0.5, 0.8, 0.2, 0.0, -0.4])
    assert residual(PUMA, PUMA.inverse_kinematics(pose), pose) <= REACHED


def test_convergence_is_quadratic():
    """Each error beside the square of the one before, from a tenth of a radian, in plain floats."""
    target = PUMA.forward_kinematics(POSTURE)
    infinite = [1e100] * 6
    task = levenberg_marquardt.PoseTask(
        to_transform(target.tolist()), [1.0] * 6, [-x for x in infinite], infinite, PUMA._joint_ranges.stretched / 3
    )
    arm, q = PUMA.model.parameters, (POSTURE + 0.1 * np.array([1, -1, 1, 1, -1, 1])).tolist()
    errors = []
    for _ in range(5):
        errors.append(levenberg_marquardt.residual(arm, task, q))
        assert errors[-1] == pytest.approx(residual(PUMA, np.array(q), target), abs=REACHED)
        q = levenberg_marquardt.step(arm, task, q)
    assert errors[-1] < 1e-13
    for before, after in itertools.pairwise(errors):
        assert after < 5 * before**2 + 100 * EPSILON


def test_the_step_follows_the_exact_derivative():
    """The derivative of the pose error, also half a radian away, where the rotation vector does not turn like omega."""
    rng = np.random.default_rng(7)
    arm = random_arm(rng, "RRPRRR")
    q, goal = rng.uniform(-1.5, 1.5, (2, 6))
    target, dx = arm.forward_kinematics(goal), 1e-6
    task = levenberg_marquardt.PoseTask(to_transform(target.tolist()), [1.0] * 6, [-9.0] * 6, [9.0] * 6, 1.0)
    e, columns = levenberg_marquardt.linearised(arm.model.parameters, task, q.tolist())
    assert error(e, missing(arm, q, target)) < 1e-12
    assert np.linalg.norm(e[3:]) > 0.5
    for k, column in enumerate(columns):
        step = dx * np.eye(6)[k]
        slope = (missing(arm, q + step, target) - missing(arm, q - step, target)) / (2 * dx)
        assert error(column, -slope) < 1e-8  # of central differences


def test_half_a_turn(as_installed):
    """The error of half a turn has no axial vector: it must still be seen."""
    arm = PUMA.replace(limits=[None] * 6)
    pose = arm.forward_kinematics(POSTURE)
    found = arm.inverse_kinematics(pose, guess=POSTURE + [0, 0, 0, 0, 0, np.pi])
    assert residual(arm, found, pose) <= REACHED
    assert np.abs(found - POSTURE)[:5].max() < 1e-6  # only the last joint has turned


def test_limits_are_kept_where_they_bind(as_installed):
    """The pose of a joint at its limit, and one that needs it beyond."""
    arm = PUMA.replace(limits=[(x - 0.5, x + 0.5) for x in POSTURE])
    edge = POSTURE + [0.5, -0.5, 0.5, 0, 0, 0.5]
    found = arm.inverse_kinematics(arm.forward_kinematics(edge))
    assert within_limits(arm, found)
    assert residual(arm, found, arm.forward_kinematics(edge)) <= REACHED
    with pytest.raises(tf.ConvergenceError):
        arm.inverse_kinematics(arm.forward_kinematics(edge + [0.05, 0, 0, 0, 0, 0]))


def test_the_answer_is_near_the_guess(as_installed):
    poses, q = reachable(UR5, 200)
    for guess in (np.clip(q + 0.02, *UR5.limits.T), q - TURN * np.sign(q)):  # beside the pose, and a turn away
        found = UR5.inverse_kinematics(poses, guess)
        assert residual(UR5, found, poses) <= REACHED
        assert np.quantile(np.abs(found - guess).max(axis=-1), 0.95) < 0.5  # the rest is near singular postures


def test_a_guess_a_turn_outside_the_limits(as_installed):
    """Whole turns bring the answer nearer to it only within the limits, for a clipped joint misses the pose."""
    turns = TURN * np.array([[1, 0, 0, 0, 0, 1], [-1, 0, 0, 0, 0, -1], [2, 0, 0, -2, 0, 0]])
    pose = PUMA.forward_kinematics(POSTURE)
    found = PUMA.inverse_kinematics(pose, guess=POSTURE + turns)
    assert within_limits(PUMA, found)
    assert residual(PUMA, found, np.broadcast_to(pose, (3, 4, 4))) <= REACHED


def test_joints_without_limits_stay_within_half_a_turn(as_installed):
    arm = PUMA.replace(limits=[None] * 6)
    poses = arm.forward_kinematics(np.random.default_rng(8).uniform(-20, 20, (100, 6)))
    found = arm.inverse_kinematics(poses)
    assert np.abs(found).max() <= np.pi + 10 * EPSILON
    guess = np.full(6, 30.0)
    found = arm.inverse_kinematics(poses, guess)
    assert residual(arm, found, poses) <= REACHED
    assert np.abs(found - guess).max() <= np.pi + 100 * EPSILON


def test_unreachable_poses(as_installed):
    poses, _ = reachable(PUMA, 6)
    poses = poses.reshape(2, 3, 4, 4)
    poses[1, 1, :3, 3] = 10.0
    with pytest.raises(
        tf.ConvergenceError,
        match=r"puma560: no joint coordinates within the limits reach the pose in row 1, 1 \(residual 1[0-9]",
    ) as caught:
        PUMA.inverse_kinematics(poses)
    assert caught.value.row == (1, 1)
    reach = np.linalg.norm(poses[1, 1, :3, 3]) - PUMA._joint_ranges.stretched
    assert reach < caught.value.residual < np.linalg.norm(poses[1, 1, :3, 3])
    with pytest.raises(tf.ConvergenceError, match=r"reach the pose \(residual 1[0-9]"):
        PUMA.inverse_kinematics(poses[1, 1])
    found = PUMA.inverse_kinematics(poses, on_failure="nan")
    assert np.isnan(found).all(axis=-1).tolist() == [[False] * 3, [False, True, False]]
    assert np.isnan(PUMA.inverse_kinematics(poses[1, 1], on_failure="nan")).all()
    good = np.delete(poses.reshape(6, 4, 4), 4, axis=0)
    assert np.array_equal(np.delete(found.reshape(6, 6), 4, axis=0), PUMA.inverse_kinematics(good))


def test_a_mask_for_a_planar_arm(as_installed):
    poses = PLANAR.forward_kinematics(np.random.default_rng(9).uniform(-3, 3, (50, 3)))
    asked = poses.copy()
    asked[:, 2, 3] = 7.0  # its tool cannot rise
    found = PLANAR.inverse_kinematics(asked, mask=IN_THE_PLANE)
    assert residual(PLANAR, found, poses) <= REACHED
    assert np.isnan(PLANAR.inverse_kinematics(asked, on_failure="nan")).all()
    ones = PLANAR.inverse_kinematics(asked, mask=[1, 1, 0, 0, 0, 1.0])
    assert np.array_equal(found, ones)


@pytest.mark.parametrize("free", range(6))
def test_a_mask_for_five_joints(free, as_installed):
    """A direction that is left out may be moved at will, a rotation up to half a turn."""
    rng = np.random.default_rng(10 + free)
    arm = random_arm(np.random.default_rng(10), "RRRRR", "general")
    q = rng.uniform(-np.pi, np.pi, (40, 5))
    poses = arm.forward_kinematics(q)
    change = rng.uniform(-3, 3, 40)
    if free < 3:
        poses[:, free, 3] += change
    else:
        poses[:, :3, :3] = Rotation.from_rotvec(change[:, None] * np.eye(3)[free - 3]).as_matrix() @ poses[:, :3, :3]
    mask = np.arange(6) != free
    found = arm.inverse_kinematics(poses, mask=mask)
    assert residual(arm, found, poses, mask) <= REACHED
    assert np.isnan(arm.inverse_kinematics(poses, on_failure="nan")).any()


def test_a_place_without_an_orientation(as_installed):
    poses, _ = reachable(PANDA, 50)
    place = (True, True, True, False, False, False)
    found = PANDA.inverse_kinematics(poses, mask=place)
    assert residual(PANDA, found, poses, place) <= REACHED
    assert within_limits(PANDA, found)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-13])
def test_the_tolerance_is_what_is_asked_for(tolerance, as_installed):
    poses, _ = reachable(UR5, 100)
    found = UR5.inverse_kinematics(poses, tolerance=tolerance)
    assert residual(UR5, found, poses) <= tolerance + 100 * EPSILON
    if tolerance == 1e-3:  # and the search ends there
        assert residual(UR5, found, poses) > REACHED


@pytest.mark.parametrize(
    ("batch", "guess", "shape"),
    [
        ((), None, ()),
        ((2, 3), None, (2, 3)),
        ((0,), None, (0,)),
        ((2, 0), (), (2, 0)),
        ((2, 3), (), (2, 3)),
        ((2, 3), (3,), (2, 3)),
        ((2, 3), (2, 1), (2, 3)),
        ((), (5,), (5,)),
    ],
)
def test_shapes(batch, guess, shape):
    q = np.tile(POSTURE, (*batch, 1))
    poses = PUMA.forward_kinematics(q)
    start = None if guess is None else np.tile(POSTURE + 0.01, (*guess, 1))
    found = PUMA.inverse_kinematics(poses, start)
    assert found.shape == (*shape, 6)
    assert found.dtype == np.float64
    if found.size:
        assert residual(PUMA, found, np.broadcast_to(poses, (*shape, 4, 4))) <= REACHED


def test_alone_or_in_a_batch_the_same(way, monkeypatch):
    """To the last bit, with a guess and without, in any order and in blocks of any size."""
    monkeypatch.setattr(ik, "STARTS", (8, 16))  # fewer, for the sake of the reference
    poses, q = reachable(PUMA, 24, seed=2)
    poses[[5, 9], :3, 3] += 5.0  # are given up
    guess = q + 0.3
    order = np.random.default_rng(0).permutation(len(q))
    for start in (None, guess):
        whole = PUMA.inverse_kinematics(poses, start, on_failure="nan")
        for k in (0, 5, 6):
            alone = PUMA.inverse_kinematics(poses[k], None if start is None else start[k], on_failure="nan")
            assert alone.tobytes() == whole[k].tobytes()
        mixed = PUMA.inverse_kinematics(poses[order], None if start is None else start[order], on_failure="nan")
        assert mixed.tobytes() == whole[order].tobytes()
        with monkeypatch.context() as patch:
            patch.setattr(ik, "MAX_ROWS", 300)
            assert PUMA.inverse_kinematics(poses, start, on_failure="nan").tobytes() == whole.tobytes()


def test_every_way_finds_the_poses(way):
    for arm in (UR5, PANDA, random_arm(np.random.default_rng(1), "RPRRRR")):
        q = np.random.default_rng(3).uniform(-1, 1, (40, arm.n))
        q = np.clip(q, *arm.limits.T)
        poses = arm.forward_kinematics(q)
        found = arm.inverse_kinematics(poses)
        assert residual(arm, found, poses) <= REACHED
        assert within_limits(arm, found)


def test_kernel_and_reference_take_the_same_steps(kernels_on, monkeypatch):
    poses, q = reachable(PANDA, 50)
    targets = poses.reshape(-1, 16)[:, :12]
    task = ik.task_of(targets, np.ones(6), PANDA._joint_ranges)
    compiled = ik.advanced(PANDA, task, np.clip(q + 0.05, *PANDA.limits.T))
    monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    fresh = tf.load("panda")
    reference = ik.advanced(fresh, task, np.clip(q + 0.05, *PANDA.limits.T))
    for a, b in zip(compiled, reference, strict=True):
        assert np.abs(a - b).max() < ik.POSE_TOLERANCE


def test_single_precision_in_and_double_out(as_installed):
    poses, _ = reachable(UR5, 50)
    found = UR5.inverse_kinematics(poses.astype(np.float32), np.zeros(6, np.float32))
    assert found.dtype == np.float64
    assert residual(UR5, found, poses) < SINGLE
    assert within_limits(UR5, found)


@pytest.mark.fault(5)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_spoils_itself_only(way, bad):
    poses, q = reachable(PUMA, 9)
    clean = PUMA.inverse_kinematics(poses, q)
    for spoilt in ("pose", "guess"):
        p, g = poses.copy(), q.copy()
        if spoilt == "pose":
            p[3, 1, 2] = bad
        else:
            g[3, 4] = bad
        got = PUMA.inverse_kinematics(p, g)
        assert np.isnan(got[3]).all()
        others = np.arange(9) != 3
        assert got[others].tobytes() == clean[others].tobytes()
    assert np.isnan(PUMA.inverse_kinematics(np.full((4, 4), bad))).all()


@pytest.mark.fault(8)
def test_odd_arrays():
    poses, q = reachable(PUMA, 8)
    plain = PUMA.inverse_kinematics(poses, q)
    frozen = poses.copy()
    frozen.flags.writeable = False
    for odd in (poses[::-1][::-1], np.asfortranarray(poses), poses.astype(">f8"), frozen, poses.tolist()):
        assert np.array_equal(PUMA.inverse_kinematics(odd, q), plain)


def test_the_arguments_are_left_alone():
    poses, q = reachable(PUMA, 3)
    rounded = np.round(poses, 8)
    kept, guess = rounded.copy(), q.copy()
    PUMA.inverse_kinematics(rounded, guess)
    assert np.array_equal(rounded, kept)
    assert np.array_equal(guess, q)


POSES = np.tile(np.eye(4), (3, 1, 1))
SHEARED = POSES.copy()
SHEARED[2, 0, 1] = 0.1
ENDS = POSES.copy()
ENDS[1, 3, 3] = 2.0
MIRRORED = np.diag([1.0, 1, -1, 1])


@pytest.mark.parametrize(
    ("pose", "options", "message"),
    [
        (np.zeros((4, 4)), {}, "pose: the last row of a transform must be 0 0 0 1"),
        (np.diag([2.0, 1, 1, 1]), {}, "pose: R is not a rotation matrix"),
        (MIRRORED, {}, "pose: R is not a rotation matrix"),
        (SHEARED, {}, "pose, row 2: R is not a rotation matrix"),
        (ENDS, {}, "pose, row 1: the last row of a transform must be 0 0 0 1"),
        (np.eye(3), {}, r"pose: expected real numbers \(\.\.\., 4, 4\), world <- tool, got \(3, 3\)"),
        (np.zeros(4), {}, r"pose: expected real numbers \(\.\.\., 4, 4\), world <- tool, got \(4,\)"),
        (None, {}, r"pose: expected real numbers \(\.\.\., 4, 4\), world <- tool, got None"),
        (np.eye(4) * 1e200, {}, r"pose: expected finite numbers of at most 1e\+100, got 1e\+200$"),
        (np.eye(4), {"guess": np.zeros(5)}, r"guess: expected \(\.\.\., 6\): puma560 has 6 joints, got \(5,\)"),
        (POSES, {"guess": np.zeros((2, 6))}, r"guess: expected a leading shape that broadcasts with that of pose"),
        (np.eye(4), {"mask": [1, 1, 1]}, r"mask: expected six of True and False, .* got \[1, 1, 1\]"),
        (np.eye(4), {"mask": [1, 1, 1, 0, 0, 2]}, "mask: expected six of True and False"),
        (np.eye(4), {"mask": [False] * 6}, "mask: expected six of True and False, at least one True"),
        (np.eye(4), {"mask": "xyz"}, "mask: expected six of True and False"),
        (np.eye(4), {"tolerance": 0.0}, r"tolerance: expected a finite number > 0, got 0\.0"),
        (np.eye(4), {"tolerance": np.nan}, "tolerance: expected a finite number > 0"),
        (np.eye(4), {"tolerance": "small"}, "tolerance: expected a finite number > 0, got 'small'"),
        (np.eye(4), {"on_failure": "ignore"}, "on_failure: expected 'raise' or 'nan', got 'ignore'"),
    ],
)
def test_bad_arguments(pose, options, message):
    with pytest.raises((tf.ModelError, tf.ShapeError), match=message):
        PUMA.inverse_kinematics(pose, **options)


@pytest.mark.parametrize("pose", [np.diag([2.0, 2, 2, 1]), MIRRORED])
def test_the_advice_for_a_bad_pose_works(pose):
    """What the remedy says to do, done: the pose it makes is one that the method takes."""
    with pytest.raises(tf.ModelError, match="not a rotation matrix") as caught:
        PUMA.inverse_kinematics(pose)
    advice = caught.value.remedy
    assert advice.startswith("Give more digits, or make R from angles by scipy.")
    reached = PUMA.forward_kinematics(POSTURE)
    yaw, pitch, roll = Rotation.from_matrix(reached[:3, :3]).as_euler("ZYX")
    angles = {"yaw": yaw, "pitch": pitch, "roll": roll}
    made = reached.copy()
    made[:3, :3] = eval(advice.partition(" by ")[2], {"scipy": scipy, **angles})
    assert residual(PUMA, PUMA.inverse_kinematics(made), reached) <= REACHED


def test_the_row_of_a_bad_pose():
    for poses, row in ((SHEARED[2], None), (SHEARED, 2), (SHEARED.reshape(3, 1, 4, 4), (2, 0))):
        with pytest.raises(tf.ModelError, match="not a rotation matrix") as caught:
            PUMA.inverse_kinematics(poses)
        assert (caught.value.field, caught.value.row) == ("pose", row)


def test_a_tolerance_below_rounding():
    poses, q = reachable(PUMA, 3)
    with pytest.raises(tf.ConvergenceError, match="puma560: rounding alone exceeds the tolerance of 1e-30") as caught:
        PUMA.inverse_kinematics(poses, q + 0.01, tolerance=1e-30)
    assert caught.value.remedy == "Give a larger tolerance; the default is 1e-10"
    poses[0, 0, 3] = 10.0  # out of reach: no tolerance helps
    with pytest.raises(tf.ConvergenceError, match="no joint coordinates within the limits reach the pose") as caught:
        PUMA.inverse_kinematics(poses, tolerance=1e-30)
    assert "guess" in caught.value.remedy
