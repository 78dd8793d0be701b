"""Paths that keep away from singular poses: against dense searches, a plain H of NumPy and SciPy, limits, bad input."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize_scalar

import tauforge as tf
from support.platforms import HOME, LIMITS, plain_H, plain_legs, quarter_turned, random_platform
from support.tolerances import ROUNDING
from tauforge.analysis.stewart_forces import crossings
from tauforge.motion import JointMove, PoseMotion, WellConditionedPath, pose_rates
from tauforge.motion.path_search import PathTask, roadmap
from tauforge_papers.stewart_paths import SINGULAR, SLOW

ROBOT, RIG = tf.load("dasgupta1998"), tf.load("motion-rig")
CROSSING = [  # on one side, but the straight line between them crosses to the other side and back
    ([0.5, 1.4, 1.2, 0.4, 0.3, -0.5], [0.7, 0.5, 0.4, -0.3, 0.0, 0.4]),
    ([0.4, 1.6, 0.4, 0.4, 0.4, -0.2], [0.8, 0.3, 1.1, -0.3, -0.3, 0.1]),
]
LEAVING = [  # of motion-rig: within its limits, but the straight line leaves its strokes
    ([0.14, 0.05, 1.05, 0.32, 0.3, -0.21], [0.2, 0.14, 1.0, 0.13, 0.02, 0.12]),
    ([-0.01, 0.25, 0.9, -0.1, 0.27, -0.16], [-0.01, -0.1, 1.04, -0.33, -0.01, 0.23]),
]
PLANNED = 1.002  # times the smallest largest condition number: 0.1 % for a lower integral, as much between samples
FINE = 5001  # poses, more than the planner looks at


def straight(start, end, duration=2.0):
    return PoseMotion(JointMove(start, end, duration))


def poses_of(motion, count=FINE):
    return motion.sample(np.linspace(0, motion.duration, count)).position


def crossed(platform, motion):
    return crossings(platform, lambda t: motion.sample(t).position, 0.0, motion.duration, samples=FINE)


def largest(platform, poses, length=None):
    """Condition number; infinite where det H does not keep its sign."""
    H = plain_H(platform, poses)
    if np.ptp(np.sign(np.linalg.det(H))):
        return np.inf
    H[:, 3:] /= length or 1.0
    return float(np.linalg.cond(H).max())


def mean_condition(platform, motion):
    return float(platform.condition_number(poses_of(motion, 501)).mean())


# ------------------------------------------------------------------------------------------------------- singularities


def test_path_iii_cannot_be_avoided_between_its_ends():
    """det H has two signs there, so it vanishes somewhere on every path between them."""
    signs = np.sign(np.linalg.det(plain_H(ROBOT, [SINGULAR.start, SINGULAR.end])))
    assert signs.tolist() == [-1, 1]
    words = r"dasgupta1998: every path between these poses passes a singular one, since det H is -1\.44e-05 at .* and "
    with pytest.raises(tf.SingularityError, match=words + r"4\.6e-06 at .*another orientation") as error:
        WellConditionedPath(ROBOT, SINGULAR.start, SINGULAR.end, 6.0)
    (only,) = crossed(ROBOT, straight(SINGULAR.start, SINGULAR.end))
    assert np.abs(error.value.pose - only.pose).max() < 1e-8
    with pytest.raises(tf.SingularityError, match="every path"):  # nor by passing a pose on the other side
        WellConditionedPath(ROBOT, SINGULAR.start, SINGULAR.start + 0.01, 6.0, through=[SINGULAR.end])


@pytest.mark.parametrize("ends", CROSSING)
def test_a_path_around_a_singularity(ends):
    start, end = np.array(ends)
    assert len(crossed(ROBOT, straight(start, end))) == 2
    path = WellConditionedPath(ROBOT, start, end, 2.0)
    assert crossed(ROBOT, path) == []
    at_ends = np.linalg.cond(plain_H(ROBOT, [start, end])).max()
    found = largest(ROBOT, poses_of(path))
    assert at_ends * (1 - ROUNDING) <= found < PLANNED * at_ends  # no path can have less
    assert found > path.largest_condition * (1 - 1e-6)
    assert found < PLANNED * path.largest_condition
    assert mean_condition(ROBOT, path) < 0.7 * at_ends


def test_the_same_path_each_time():
    first, second = (WellConditionedPath(ROBOT, *CROSSING[0], 2.0, via=3) for _ in range(2))
    assert np.array_equal(first.points, second.points)


def test_given_poses_that_are_singular():
    with pytest.raises(tf.SingularityError, match="motion-rig: the start pose is singular"):
        WellConditionedPath(RIG.replace(**dict.fromkeys(LIMITS)), quarter_turned(), [0, 0, 1, 0, 0, 0], 1.0)
    with pytest.raises(tf.SingularityError, match="motion-rig: the end pose is singular"):
        WellConditionedPath(RIG.replace(**dict.fromkeys(LIMITS)), [0, 0, 1, 0, 0, 0], quarter_turned(), 1.0)


# ----------------------------------------------------------------------------------------------------------- optimality


def family(start, end, coordinate, offset, count=2001):
    """The only paths that via=1 and room in one coordinate leave."""
    points = np.array([start, np.add(start, end) / 2, end])
    points[1, coordinate] += offset
    return CubicSpline([0.0, 0.5, 1.0], points, bc_type="natural")(np.linspace(0.0, 1.0, count))


def only_in(coordinate, room):
    return np.where(np.arange(6) == coordinate, room, 0.0)


@pytest.mark.parametrize("ends", CROSSING)
def test_the_largest_condition_number_is_the_smallest_of_a_family(ends):
    """A dense search over the height of the middle: its best is worse than the ends, so the middle decides."""

    def worst(offset):
        return largest(ROBOT, family(*ends, 2, offset))

    offsets = np.linspace(-1.0, 1.0, 101)
    every = [worst(offset) for offset in offsets]
    best = int(np.argmin(every))
    assert np.isfinite(every).sum() > 5
    assert 0 < best < len(offsets) - 1
    around = offsets[[best - 1, best + 1]]
    least = minimize_scalar(worst, bounds=around, method="bounded", options={"xatol": 1e-5}).fun
    assert least > 1.1 * np.linalg.cond(plain_H(ROBOT, ends)).max()
    path = WellConditionedPath(ROBOT, *ends, 2.0, via=1, room=only_in(2, 1.0))
    assert np.abs(np.delete(path.points[1] - np.add(*ends) / 2, 2)).max() < ROUNDING
    assert least * (1 - 1e-4) < path.largest_condition < PLANNED * least


def test_the_integral_is_the_smallest_of_a_family():
    """Where an end decides the largest number: here of path I, turned about x in the middle."""
    lever = np.linalg.norm(plain_H(ROBOT, [SLOW.start])[0, 3:]) / np.sqrt(6)

    def cost(offset):
        poses = family(SLOW.start, SLOW.end, 3, offset)
        lengths = np.linalg.norm(np.diff(poses, axis=0) / np.repeat([lever, 1.0], 3), axis=1)
        uneven = len(lengths) * (lengths**2).sum() / lengths.sum() ** 2
        return uneven * (np.linalg.cond(plain_H(ROBOT, (poses[:-1] + poses[1:])[::20] / 2)) @ lengths[::20])

    best = minimize_scalar(cost, bounds=(-0.3, 0.3), method="bounded", options={"xatol": 1e-6})
    path = WellConditionedPath(ROBOT, SLOW.start, SLOW.end, 2.0, via=1, room=only_in(3, 0.3))
    offset = path.points[1, 3] - (SLOW.start + SLOW.end)[3] / 2
    assert 0.02 < abs(best.x) < 0.28
    assert abs(offset - best.x) < 2e-3  # sums of 60 steps against 2000
    assert cost(offset) < (1 + 1e-5) * best.fun


def test_there_and_back_on_a_symmetric_platform():
    """Mirrored in y the rig is itself, so a path from a pose to its mirror image may be run backwards."""
    mirror = np.array([1, -1, 1, -1, 1, -1])
    rig = RIG.replace(**dict.fromkeys(LIMITS))
    start = np.array([0.1, 0.3, 1.0, 0.2, 0.1, 0.5])
    assert np.allclose(rig.condition_number(start), rig.condition_number(mirror * start), rtol=1e-12)
    there, back = (WellConditionedPath(rig, s * start, e * start, 2.0) for s, e in ((1, mirror), (mirror, 1)))
    assert np.isclose(there.largest_condition, back.largest_condition, rtol=1e-6)
    assert np.isclose(mean_condition(rig, there), mean_condition(rig, back), rtol=1e-3)
    assert mean_condition(rig, there) < mean_condition(rig, straight(start, mirror * start))


def test_a_symmetric_line_is_no_trap():
    """All slopes lie in the plane of symmetry, where every path is worse than the ends: the random poses lead out."""
    rig = RIG.replace(**dict.fromkeys(LIMITS))
    ends = [0.48, 0, 1.27, 0, -1.13, 0], [-0.91, 0, 0.5, 0, 1.37, 0]
    assert len(crossed(rig, straight(*ends))) == 2
    path = WellConditionedPath(rig, *ends, 2.0)
    assert crossed(rig, path) == []
    assert path.largest_condition < PLANNED * np.linalg.cond(plain_H(rig, ends)).max()


@pytest.mark.parametrize("seed", range(3))
def test_never_worse_than_the_straight_line(seed):
    rng = np.random.default_rng(seed)
    platform = random_platform(rng, **dict.fromkeys(LIMITS))
    start, end = HOME + rng.uniform(-0.25, 0.25, (2, 6))
    path = WellConditionedPath(platform, start, end, 1.0)
    assert largest(platform, poses_of(path, 801)) < PLANNED * largest(platform, poses_of(straight(start, end), 801))


def test_units_do_not_matter():
    """A platform a thousand times as large, with its characteristic length, has the same path in its own size."""
    large = tf.StewartPlatform(
        base_points=1e3 * np.array(ROBOT.base_points), platform_points=1e3 * np.array(ROBOT.platform_points)
    )
    size = np.repeat([1e3, 1.0], 3)
    small = WellConditionedPath(ROBOT, *CROSSING[0], 2.0, via=3, characteristic_length=0.3)
    other = WellConditionedPath(large, *(size * CROSSING[0]), 2.0, via=3, characteristic_length=300.0)
    assert np.abs(other.points / size - small.points).max() < 1e-4
    assert np.isclose(other.largest_condition, small.largest_condition, rtol=1e-6)
    assert np.isclose(largest(ROBOT, poses_of(small, 2001), 0.3), small.largest_condition, rtol=1e-5)


# --------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("ends", LEAVING)
def test_limits_hold_all_along(ends):
    """At many more poses than were planned, by lengths of NumPy's own too."""
    assert (RIG.within_limits(poses_of(straight(*ends))).stroke < 0).any()
    poses = poses_of(WellConditionedPath(RIG, *ends, 2.0))
    assert RIG.within_limits(poses).hold.all()
    lengths = np.linalg.norm(plain_legs(RIG, poses)[1], axis=-1)
    assert lengths.min() >= 0.95
    assert lengths.max() <= 1.45


class Pillar:
    """Equally well conditioned everywhere; the limit is a pillar about z of 0.3 m between the given poses."""

    name = "pillar"

    def force_matrix(self, pose):
        return np.broadcast_to(np.eye(6), (*np.shape(pose)[:-1], 6, 6))

    def condition_number(self, pose, characteristic_length=None):
        return np.ones(np.shape(pose)[:-1])

    def within_limits(self, pose):
        apart = np.hypot(*np.moveaxis(np.asarray(pose)[..., :2], -1, 0))
        return SimpleNamespace(margins=lambda scale: (apart[..., None] - 0.3) / scale)


def test_the_first_path_keeps_the_limits():
    """The way over random poses goes around what the straight line runs into; without limits it would be straight."""
    given = np.array([[-1.0, 0, 0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0]])
    room = np.array([0.8, 0.8, 1e-3, 1e-3, 1e-3, 1e-3])
    task = PathTask(Pillar(), given, 40, None, np.ones(6), room, 0.0)
    assert task.margins(task.straight).min() < -0.25
    found = roadmap(task)
    assert task.margins(found).min() > 0
    assert np.array_equal(found[[0, -1]], given)


def test_given_poses_may_be_on_a_limit():
    start, end = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.1, 0.0, 1.05, 0.1, 0.0, 0.1]
    shortest = RIG.inverse_kinematics([start, end]).min(axis=0)
    tight = RIG.replace(stroke=np.column_stack([shortest, np.full(6, 1.45)]))
    path = WellConditionedPath(tight, start, end, 2.0)
    assert tight.within_limits(poses_of(path)).stroke.min() > -1e-12


def test_given_poses_outside_the_limits():
    home, high = [0, 0, 1, 0, 0, 0], [0, 0, 1.6, 0, 0, 0]
    for field, arguments in (("end", (home, high)), ("start", (high, home))):
        with pytest.raises(tf.ModelError, match=rf"{field}: motion-rig is outside its limits at .*within_limits"):
            WellConditionedPath(RIG, *arguments, 1.0)
    with pytest.raises(tf.ModelError, match=r"through\[0\]: motion-rig is outside"):
        WellConditionedPath(RIG, home, [0, 0, 1.05, 0, 0, 0], 1.0, through=[high])


def test_no_room_no_path():
    with pytest.raises(
        tf.ConvergenceError, match=r"no path was found that keeps away from singular poses \(residual .*\)\. Give more"
    ):
        WellConditionedPath(ROBOT, *CROSSING[0], 2.0, room=np.zeros(6))
    with pytest.raises(tf.ConvergenceError, match=r"no path was found that stays within the limits") as error:
        WellConditionedPath(RIG, *LEAVING[0], 2.0, room=np.zeros(6))
    assert error.value.residual > 0


def test_without_room_the_line_is_straight():
    path = WellConditionedPath(ROBOT, SLOW.start, SLOW.end, 2.0, room=np.zeros(6))
    line = straight(SLOW.start, SLOW.end)
    for mine, its in zip(path.sample([0.3, 1.1]), line.sample([0.3, 1.1]), strict=True):
        assert np.abs(mine - its).max() < 1e-12


# --------------------------------------------------------------------------------------------------------------- motion


@pytest.fixture(scope="module")
def path():
    return WellConditionedPath(ROBOT, *CROSSING[1], 2.0)


def test_velocities_and_accelerations_are_derivatives(path):
    h = 1e-4
    for t in (0.13, 0.45, 0.93, 1.31, 1.77):
        (before, *_), (position, velocity, acceleration), (after, *_) = (path.sample(t + k * h) for k in (-1, 0, 1))
        rates, second = pose_rates(position, velocity, acceleration)
        assert np.abs((after - before) / (2 * h) - rates).max() < 1e-5 * (1 + np.abs(rates).max())
        assert np.abs((after - 2 * position + before) / h**2 - second).max() < 1e-3 * (1 + np.abs(second).max())


def test_the_acceleration_is_continuous_and_zero_at_the_ends(path):
    ends = path.sample([0.0, 2.0])
    assert np.abs(ends.position - CROSSING[1]).max() < 1e-12
    assert np.abs(ends.velocity).max() < 1e-12
    assert np.abs(ends.acceleration).max() < 1e-11
    scale = np.abs(path.sample(np.linspace(0, 2, 201)).acceleration).max()
    for knot in path.knots[1:-1]:
        time = 2.0 * brentq(lambda s, k=knot: 6 * s**5 - 15 * s**4 + 10 * s**3 - k, 0.0, 1.0, xtol=1e-14)
        left, right = path.sample([time - 1e-9, time + 1e-9]).acceleration
        assert np.abs(right - left).max() < 1e-5 * scale


def test_bad_times_and_shapes(path):
    sample = path.sample([np.nan, -1.0, 5.0, 1.0])
    assert np.isnan(sample.position[0]).all()
    assert np.allclose(sample.position[1:3], CROSSING[1], atol=1e-12)
    assert not sample.velocity[1:3].any()
    assert np.isfinite(sample.position[3]).all()
    assert path.sample(np.zeros((2, 3))).velocity.shape == (2, 3, 6)
    assert path.sample(0.5).acceleration.shape == (6,)
    assert path.of_poses
    assert "largest_condition=243.3" in repr(path)


def test_poses_to_pass():
    through = [[0.25, 0.05, 0.5, 0.1, 0.0, 0.1], [0.2, -0.05, 0.45, 0.0, 0.1, 0.0]]
    path = WellConditionedPath(ROBOT, SLOW.start, SLOW.end, 2.0, through=through, via=2)
    assert np.array_equal(path.points[::3], [SLOW.start, *through, SLOW.end])
    poses = poses_of(path, 20001)
    assert max(np.linalg.norm(poses - pose, axis=1).min() for pose in through) < 1e-3
    assert len(path.knots) == 10
    assert (np.diff(path.knots) > 0).all()


def test_whole_numbers_of_numpy_count():
    room = [0.0] * 6  # nothing to be found: the line
    path = WellConditionedPath(ROBOT, SLOW.start, SLOW.end, 2.0, via=np.int64(3), room=room)
    assert len(path.points) == 5


def test_nowhere_to_go():
    for through in (None, [SLOW.start]):
        path = WellConditionedPath(ROBOT, SLOW.start, SLOW.start, 2.0, through=through)
        sample = path.sample(np.linspace(0, 2, 11))
        assert np.array_equal(sample.position, np.tile(SLOW.start, (11, 1)))
        assert not sample.velocity.any()
        assert not sample.acceleration.any()
        assert np.isclose(path.largest_condition, np.linalg.cond(plain_H(ROBOT, [SLOW.start]))[0])


def test_a_platform_follows_it():
    path = WellConditionedPath(RIG, [0, 0, 1, 0, 0, 0], [0.1, 0.1, 1.05, 0.1, 0, 0.2], 0.3, via=2)
    recording = tf.simulate(RIG, tf.control.ComputedTorque(RIG), path, step=0.01)
    assert np.abs(recording.position[-1] - path.end).max() < 1e-3


# ------------------------------------------------------------------------------------------------------------ the robot


class Other:
    """Not a platform, but with all that is asked of one."""

    name = "other"
    force_matrix = staticmethod(ROBOT.force_matrix)
    condition_number = staticmethod(ROBOT.condition_number)
    within_limits = staticmethod(ROBOT.within_limits)


def test_any_robot_with_a_force_matrix():
    path, its = (WellConditionedPath(robot, SLOW.start, SLOW.end, 2.0, via=2) for robot in (ROBOT, Other()))
    assert np.array_equal(path.points, its.points)


def test_a_robot_without_one():
    words = "robot: puma560 has no force_matrix, within_limits for poses. .*motion.Waypoints"
    with pytest.raises(tf.ModelError, match=words):
        WellConditionedPath(tf.load("puma560"), SLOW.start, SLOW.end, 2.0)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"start": [0, 0, 1]}, "start: expected 6 numbers"),
        ({"end": [0, 0, np.nan, 0, 0, 0]}, "end: expected finite numbers"),
        ({"duration": 0.0}, "duration: expected a number > 0"),
        ({"duration": np.inf}, "duration: expected a number > 0"),
        ({"via": 0}, "via: expected a whole number from 1 to 20, got 0"),
        ({"via": 21}, "via: expected a whole number"),
        ({"via": True}, "via: expected a whole number"),
        ({"via": 2.0}, "via: expected a whole number"),
        ({"room": [1, 1]}, "room: expected 6 numbers"),
        ({"room": [1, 1, 1, 1, 1, -1]}, "room: expected numbers >= 0"),
        ({"through": [0, 0, 1, 0, 0, 0]}, "through: expected finite numbers in 2 dimensions"),
        ({"through": [[0, 0, 1]]}, r"through: expected \(k, 6\) poses, got \(1, 3\)"),
        (
            {"through": np.linspace(SLOW.start, SLOW.end, 27)[1:-1]},
            "through: expected at most 120 free poses, got 27 given poses with 5 between each two, 130 free",
        ),
        ({"characteristic_length": 0.0}, "characteristic_length: expected a number > 0"),
        ({"characteristic_length": "m"}, "characteristic_length: expected a number > 0"),
    ],
)
def test_requests_that_make_no_sense(changes, match):
    whole = {"start": SLOW.start, "end": SLOW.end, "duration": 2.0} | changes
    with pytest.raises(tf.ShapeError, match=match):
        WellConditionedPath(ROBOT, **whole)
