"""Joint frames turned about their axes and slid along them, so that the recursions cost least.

A joint frame may be turned about its joint's axis and moved along it without changing the dynamics. These choices need
angles and comparisons and so take only plain numbers. They are made before the bodies are put into the frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tauforge.algebra.scalars import is_zero
from tauforge.algebra.vectors import Matrix, Transform, Vector, rotation_about_x, rotation_about_z
from tauforge.formulations.trees.frames import GROUND, JointFrame

SMALLEST_SINE = 1e-15  # of a twist between axes that are not parallel
COORDINATE_ERROR = (
    4e-15  # rounding of a component that should be 0, relative to the coordinates that it is a difference of
)


def split_z_x_z(R: Matrix, p: Vector) -> tuple[float, float, float]:
    """beta, alpha, gamma with R = Rot(z, beta) Rot(x, alpha) Rot(z, gamma).

    Between parallel axes beta is free: it points x along the displacement p.
    """
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine <= SMALLEST_SINE:
        alpha = 0.0 if R[2, 2] > 0 else math.pi
        beta = 0.0 if is_zero(p.y) else math.atan2(p.y, p.x)
    else:
        alpha, beta = math.atan2(sine, R[2, 2]), math.atan2(R[0, 2], -R[1, 2])
        if abs(beta) > math.pi / 2:  # the other branch of the same rotation: a DH arm keeps its own twists
            alpha, beta = -alpha, beta - math.copysign(math.pi, beta)
    rest = rotation_about_x(-alpha).times(rotation_about_z(-beta)).times(R)
    return beta, alpha, math.atan2(rest[1, 0], rest[0, 0])


def aligned(frames: Sequence[JointFrame], ends: dict[int, Vector], size: float) -> list[JointFrame]:
    """Constant rotations become Rot(x, alpha) for the first child of a hinge, Rot(z, beta) Rot(x, alpha) for others.

    A hinge's frame turns about its own z by an angle that goes into the joint's offset, that of a slider by one that
    goes into its children.
    ends: of frames without children a point, such as a cut or a centre of mass, that the x axis shall point to
    size: of the coordinates that displacements are differences of
    """
    result = list(frames)
    turned = [0.0] * len(result)  # new frame k = old frame k, turned by this angle about z
    first: dict[int, int] = {}
    for k, frame in enumerate(frames):
        first.setdefault(frame.parent, k)
    for k, frame in enumerate(frames):
        before, p = frame.before
        parent_turn = 0.0 if frame.parent == GROUND else turned[frame.parent]
        p = tidy(rotation_about_z(-parent_turn) @ p, size)
        if frame.turns_and_slides:
            result[k] = frame._replace(before=Transform(rotation_about_z(-parent_turn).times(before), p))
            continue
        beta, alpha, gamma = split_z_x_z(*frame.before)
        beta = 0.0 if parent_turn == beta else beta - parent_turn
        R = rotation_about_z(beta).times(rotation_about_x(alpha))
        offset = frame.offset
        if frame.revolute:
            if k in first and not frames[first[k]].turns_and_slides:
                turned[k] = split_z_x_z(*frames[first[k]].before)[0]
            elif k not in first and k in ends and not is_zero(ends[k].y):
                turned[k] = math.atan2(ends[k].y, ends[k].x)
            offset = offset + gamma + turned[k]
        else:
            turned[k] = -gamma
        result[k] = frame._replace(before=Transform(R, p), offset=offset)
    return result


def tidy(v: Vector, size: float) -> Vector:
    """v with 0 for components that rounding left of coordinates of this size."""
    return Vector(*(0.0 if abs(x) <= COORDINATE_ERROR * size else x for x in v))


def slid(
    frames: Sequence[JointFrame], ends: dict[int, Vector], centres: dict[int, Vector], size: float
) -> list[JointFrame]:
    """Origins of hinges slide along their axes until the displacement of the first child has no z component.

    Those of sliders without children slide to their bodies' centres of mass, which only changes the joint's offset.
    ends, centres: of frames without children a point of interest, such as a cut, and the centre of mass, in the frame
    size:          as for `aligned`
    """
    result = list(frames)
    for k in reversed(range(len(result))):
        frame = result[k]
        children = [j for j, other in enumerate(result) if other.parent == k]
        if frame.kind == "P" and not children and k in centres:
            result[k] = frame._replace(offset=frame.offset + centres[k].z)
        if not frame.revolute or not (children or k in ends):
            continue
        t = result[children[0]].before.translation.z if children else ends[k].z
        R, p = frame.before
        if is_zero(t) or all(is_zero(x) for x in p):
            continue
        slide = Vector(0.0, 0.0, t)
        result[k] = frame._replace(before=Transform(R, tidy(p + R @ slide, size)))
        for j in children:
            inner, q = result[j].before
            result[j] = result[j]._replace(before=Transform(inner, tidy(q - slide, size)))
    return result
