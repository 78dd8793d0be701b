"""A path that keeps away from singular poses, as Dasgupta & Mruthyunjaya 1998 ask for in their conclusions (sec. 6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ConvergenceError, ModelError, ShapeError, SingularityError
from tauforge.motion.motion import Motion, coordinates, one_pose, positive
from tauforge.motion.path_search import Conditioned, PathTask, found_points, spline
from tauforge.motion.waypoints import unit_profile
from tauforge.robots.poses import twists

NEEDED_METHODS = ("force_matrix", "condition_number", "within_limits")
SINGULAR_MATRIX = 1e12  # condition number beyond which the sign of det H is rounding
CHECKED_POSES = 2001  # poses at which the path found is checked again
SAFETY = 1e-4  # of margins, relative to the robot's lever arm, so that limits hold between the samples too
SAFETY_FACTOR = 4.0  # the safety is multiplied by this where the path exceeds a limit between them
MAX_ATTEMPTS = 3
MARGIN_ROUNDING = 1e-12  # of margins: given poses may be on a limit
MAX_VIA = 20
MAX_FREE_POSES = 120  # most free poses in all: SLSQP then takes about a minute, and its time grows with the cube
LARGEST_ROOM = np.pi / 2  # rad, the largest default room of an angle


class WellConditionedPath(Motion):
    """From one pose to another by the path whose largest condition number of H is smallest, within the robot's limits.

    robot:     with `force_matrix`, `condition_number` and `within_limits` of poses, as a Stewart platform has them
    start:     (6,) x, y, z, theta_x, theta_y, theta_z in m and rad, base frame
    end:       (6,) likewise
    duration:  s
    through:   (k, 6) poses to pass in this order, without a stop
    via:       how many poses are chosen between each two that are given, 1 to 20; at most 120 in all
    room:      (6,) m and rad: how far each coordinate of a chosen pose may be from the straight line between the given
               ones. None: as far as the longest of these lines is long, where a turn by 1 rad counts as much as the
               root mean square of the actuators' lever arms at the start; of angles at most a quarter turn
    characteristic_length: m, divides the moments in the condition number; None leaves them as the paper does

    No path can be better than the worst of the poses it must pass. So among all paths whose largest condition number is
    smallest (within 0.1 %), the one with the smallest integral of the condition number over its length is chosen. The
    search uses random poses, the same ones each time, and then SLSQP. A better path may exist that it does not find.
    Limits of strokes, joint cones and the clearance of legs are kept where the robot has them; limits of forces are not
    considered.

    The six coordinates of the pose are a cubic spline of a fraction that goes from 0 to 1 as a quintic of time. So the
    acceleration is continuous, and zero at both ends. Angles are interpolated and do not take the short way round.

    It raises SingularityError if det H has different signs at two given poses, because then every path between them
    passes a singular pose, or if a given pose is singular; ModelError if one is outside the limits; ConvergenceError if
    no path was found.

    Attributes: `knots` (j,) fractions and `points` (j, 6) poses of the spline; `largest_condition` on the path.
    """

    of_poses = True

    def __init__(
        self,
        robot: Conditioned,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        *,
        through: ArrayLike | None = None,
        via: int = 5,
        room: ArrayLike | None = None,
        characteristic_length: float | None = None,
    ) -> None:
        if missing := [name for name in NEEDED_METHODS if not callable(getattr(robot, name, None))]:
            problem = f"{getattr(robot, 'name', repr(robot))} has no {', '.join(missing)} for poses"
            remedy = "Plan for a Stewart platform, or choose the poses yourself: motion.Waypoints"
            raise ModelError(problem, field="robot", remedy=remedy)
        self.duration = positive("duration", duration)
        given = _given(start, end, through)
        if isinstance(via, bool) or not isinstance(via, int | np.integer) or not 1 <= via <= MAX_VIA:
            raise ShapeError("via", expected=f"a whole number from 1 to {MAX_VIA}", got=repr(via))
        if (free := int(via) * (len(given) - 1)) > MAX_FREE_POSES:
            raise ShapeError(
                "through",
                expected=f"at most {MAX_FREE_POSES} free poses",
                got=f"{len(given)} given poses with {via} between each two, {free} free poses",
                hint="Pass fewer poses, take a smaller via, or plan one path after another",
            )
        if characteristic_length is not None:
            positive("characteristic_length", characteristic_length)
        self.start, self.end = given[0], given[-1]
        task = _task(robot, given, int(via), room, characteristic_length)
        _check_given(task)
        self.knots, self.points, self.largest_condition = _planned(task)
        self._curve, self._fraction = spline(self.knots, self.points), unit_profile("quintic")

    def _within(self, t: Array) -> tuple[Array, Array, Array]:
        share = t / self.duration
        s, v, a = (self._fraction(share, k)[..., None] / self.duration**k for k in range(3))
        pose, first, second = (self._curve(s[..., 0], k) for k in range(3))
        return (pose, *twists(pose, first * v, second * v**2 + first * a))

    def __repr__(self) -> str:
        return (
            f"WellConditionedPath({self.start.tolist()}, {self.end.tolist()}, duration={self.duration}, "
            f"largest_condition={self.largest_condition:.4g})"
        )


def _given(start: ArrayLike, end: ArrayLike, through: ArrayLike | None) -> Array:
    """(g, 6) the poses to pass, without consecutive duplicates."""
    between = np.zeros((0, 6)) if through is None else coordinates("through", through, 2)
    if between.shape[1] != 6:
        raise ShapeError("through", expected="(k, 6) poses", got=str(between.shape))
    every = np.stack([one_pose("start", start), *between, one_pose("end", end)])
    moved = np.append(True, (np.diff(every, axis=0) != 0).any(axis=1))
    return np.asarray(every[moved])


def _task(robot: Conditioned, given: Array, points: int, room: ArrayLike | None, length: float | None) -> PathTask:
    H = robot.force_matrix(given[0])
    arm = float(np.linalg.norm(H[3:]) / np.linalg.norm(H[:3])) or 1.0  # m, root mean square of the actuators
    scale = np.repeat([arm, 1.0], 3)
    if room is None:
        way = float(np.linalg.norm(np.diff(given, axis=0) / scale, axis=1).max(initial=0.0))
        wide = np.repeat([way * arm, min(way, LARGEST_ROOM)], 3)
    else:
        wide = one_pose("room", room)
        if (wide < 0).any():
            raise ShapeError("room", expected="numbers >= 0", got=repr(room))
    return PathTask(robot, given, points, length, scale, wide, SAFETY)


def _check_given(task: PathTask) -> None:
    from scipy.optimize import brentq

    name = task.robot.name
    inverse, margins = task.at_given, task.margins(task.given)
    for k, pose in enumerate(task.given):
        which = "start" if k == 0 else "end" if k == len(task.given) - 1 else f"through[{k - 1}]"
        if not abs(inverse[k]) * SINGULAR_MATRIX > 1:
            condition = float(task.robot.condition_number(pose, task.length))
            problem = f"{name}: the {which} pose is singular"
            raise SingularityError(problem, pose=pose.tolist(), condition_number=condition)
        if margins[k].min(initial=0.0) < -MARGIN_ROUNDING:
            remedy = "Choose another pose; within_limits says which limit is exceeded and by how much"
            raise ModelError(f"{name} is outside its limits at {pose.tolist()}", field=which, remedy=remedy)
    apart = np.flatnonzero(np.sign(inverse[1:]) != np.sign(inverse[:-1]))
    if len(apart):
        first, second = ends = task.given[apart[0] : apart[0] + 2]
        before, after = np.linalg.det(task.robot.force_matrix(ends))
        # a singular pose on the straight line; its further digits are rounding
        share = brentq(lambda s: float(task.signed_inverse(first + s * (second - first))), 0.0, 1.0)
        raise SingularityError(
            f"{name}: every path between these poses passes a singular one, since det H is {before:.3g} at "
            f"{first.tolist()} and {after:.3g} at {second.tolist()}; on the straight line it is singular",
            pose=(first + share * (second - first)).round(9).tolist(),
            condition_number=np.inf,
            remedy="Choose poses at which det H has the same sign, for example with another orientation",
        )


def _planned(task: PathTask) -> tuple[Array, Array, float]:
    """Knots (j,), points (j, 6) and the largest condition number, all checked at many more poses than were planned."""
    if len(task.given) == 1:
        return np.array([0.0, 1.0]), np.repeat(task.given, 2, axis=0), float(1 / np.abs(task.at_given[0]))
    fractions, rounds = np.linspace(0.0, 1.0, CHECKED_POSES), 0
    for _ in range(MAX_ATTEMPTS):
        points, made = found_points(task)
        rounds += made
        poses = spline(task.knots, points)(fractions)
        quality, exceeded = task.quality(poses).min(), -task.margins(poses).min(initial=0.0)
        if quality > 0 and exceeded <= MARGIN_ROUNDING:
            return task.knots, points, float(task.robot.condition_number(poses, task.length).max())
        if quality <= 0:
            break
        task = replace(task, safety=SAFETY_FACTOR * task.safety)
    why = "stays within the limits" if quality > 0 else "keeps away from singular poses"
    raise ConvergenceError(
        f"{task.robot.name}: no path was found that {why}",
        residual=float(exceeded if quality > 0 else -quality),
        iterations=rounds,
        remedy="Give more room, more poses (via) or poses to pass (through)",
    )
