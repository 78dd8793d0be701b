"""Joint coordinates that bring the tool to a pose, by the damped least squares of Levenberg and Marquardt.

The damping is a multiple of the squared error, as Chan and Lawrence proposed in 1988. Far from the pose it bounds the
steps; near the pose it vanishes, and the steps of Gauss and Newton that are left converge quadratically. No step is
taken back, so a step costs one evaluation of the arm. Lengths are measured in units of the arm's size, so the damping
means the same for arms of all sizes.
"""

from __future__ import annotations

from typing import NamedTuple

from tauforge.algebra.linear import factored, solved, sparse_dot
from tauforge.algebra.rotations import RotationVector, rotation_vector
from tauforge.algebra.scalars import Scalar, Scalars, select, sqrt
from tauforge.algebra.vectors import Transform, Vector
from tauforge.formulations.serial import kinematics
from tauforge.formulations.serial.parameters import ArmParameters

DAMPING = 0.1  # of the squared error: no step is longer than 1 / (2 sqrt(DAMPING)) = 1.6 rad
LEAST_DAMPING = 1e-14  # of the sum of the Jacobian's squares: above rounding, so that the matrix is positive definite

Columns = list[list[Scalar]]


class PoseTask(NamedTuple):
    """The pose that the tool should have, the directions that count, and the limits of the joints.

    target:       world <- tool
    asked:        1 for each of the six directions that count (translation, then rotation, world axes), 0 for the others
    lower, upper: n each, finite
    length:       the arm's size, m
    """

    target: Transform
    asked: Scalars
    lower: Scalars
    upper: Scalars
    length: Scalar


def missing(arm: ArmParameters, task: PoseTask, q: Scalars) -> tuple[Vector, RotationVector]:
    """From the tool to the target: translation, and rotation R_target R', world axes."""
    tool = kinematics.tool_frame(arm, q)
    return task.target.translation - tool.translation, rotation_vector(task.target.rotation.times(tool.rotation.T))


def residual(arm: ArmParameters, task: PoseTask, q: Scalars) -> Scalar:
    """The norm of what is missing in the directions that are asked for, m and rad together."""
    translation, rotation = missing(arm, task, q)
    asked_for = [x * asked for x, asked in zip((*translation, *rotation.vector), task.asked, strict=True)]
    return sqrt(sparse_dot(asked_for, asked_for))


def step(arm: ArmParameters, task: PoseTask, q: Scalars) -> list[Scalar]:
    """q + J' (J J' + lambda 1)^-1 e, or (J' J + lambda 1)^-1 J' e, whichever is the smaller system; within the limits.

    A joint at a limit that the error would push beyond it stays there and leaves the step to the others.
    """
    error, J = linearised(arm, task, q)
    downhill = [sparse_dot(column, error) for column in J]
    free = [
        select(lower, x, 1.0, select(0.0, slope, 1.0, 0.0)) * select(x, upper, 1.0, select(slope, 0.0, 1.0, 0.0))
        for x, slope, lower, upper in zip(q, downhill, task.lower, task.upper, strict=True)
    ]
    J = [[x * f for x in column] for column, f in zip(J, free, strict=True)]
    if arm.n < len(error):
        step = _damped_solution(J, [slope * f for slope, f in zip(downhill, free, strict=True)], error)
    else:
        rows = [list(row) for row in zip(*J, strict=True)]
        multipliers = _damped_solution(rows, error, error)
        step = [sparse_dot(column, multipliers) for column in J]
    moved = []
    for joint, x, change, lower, upper in zip(arm.joints, q, step, task.lower, task.upper, strict=True):
        new = x + (change if joint.revolute else change * task.length)
        moved.append(select(new, lower, lower, select(upper, new, upper, new)))
    return moved


def linearised(arm: ArmParameters, task: PoseTask, q: Scalars) -> tuple[list[Scalar], Columns]:
    """The error and minus its derivative, column by column, in units of the arm's size.

    The derivative of the rotation vector is exact also far from the target: where a rotation is not asked for, its part
    of the vector does not vanish.
    """
    translation, rotation = missing(arm, task, q)
    scale, B = 1.0 / task.length, rotation.slope()
    error = [*(translation * scale), *rotation.vector]
    columns = []
    for joint, (linear, angular) in zip(arm.joints, kinematics.jacobian(arm, q), strict=True):
        columns.append([*(linear * scale), *(B @ angular)] if joint.revolute else [*linear, *angular])
    weighted = [[x * asked for x, asked in zip(column, task.asked, strict=True)] for column in (error, *columns)]
    return weighted[0], weighted[1:]


def _damped_solution(factors: Columns, right: Scalars, error: Scalars) -> list[Scalar]:
    """x with (F F' + lambda 1) x = right, F given by its rows."""
    n = len(factors)
    A = [[sparse_dot(factors[i], factors[j]) if j <= i else 0.0 for j in range(n)] for i in range(n)]
    trace: Scalar = sum(A[i][i] for i in range(n))
    damping = DAMPING * sparse_dot(error, error) + LEAST_DAMPING * trace
    for i in range(n):
        A[i][i] = A[i][i] + damping
    return solved(factored(A), right)  # needs the lower triangle only
