"""A platform as a picture shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.robots.drawing import Action, Drawing, Frame, Point, Segment
from tauforge.robots.evaluate import as_argument
from tauforge.robots.poses import transforms

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


def drawn(platform: StewartPlatform, position: ArrayLike) -> Drawing:
    """Joints on the base and on the platform, legs between them, the outlines of both, the frames.

    position: (..., 6) pose
    """
    T = transforms(as_argument("position", position, 6, "a pose").astype(float))
    lower = np.broadcast_to(np.array(platform.base_points), (*T.shape[:-2], 6, 3))
    upper = np.array(platform.platform_points) @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]
    points = [Point(f"base joint {i + 1}", lower[..., i, :]) for i in range(6)]
    points += [Point(f"platform joint {i + 1}", upper[..., i, :]) for i in range(6)]
    if platform.platform_com is not None:
        centre = (T @ np.array([*platform.platform_com, 1.0]))[..., :3]
        points.append(Point("platform", centre, "centre of mass"))
    segments = [Segment(f"leg {i + 1}", lower[..., i, :], upper[..., i, :], "leg") for i in range(6)]
    for part, corners in (("base", lower), ("platform", upper)):
        order = _around(corners)
        segments += [
            Segment(part, corners[..., a, :], corners[..., b, :], part)
            for a, b in zip(order, [*order[1:], order[0]], strict=True)
        ]
    base = np.broadcast_to(np.eye(4), T.shape)
    legs = upper - lower
    along = legs / np.linalg.norm(legs, axis=-1, keepdims=True)  # a positive force lengthens the leg
    actions = tuple(
        Action(actuator.name, upper[..., i, :], along[..., i, :], turns=False)
        for i, actuator in enumerate(platform.actuators)
    )
    return Drawing(tuple(points), tuple(segments), (Frame("base", base), Frame("platform", T)), actions)


def _around(corners: np.ndarray) -> list[int]:
    """The order of six points (..., 6, 3) around their middle, by those of the first row."""
    flat = corners.reshape(-1, 6, 3)[0]
    from_middle = flat - flat.mean(axis=0)
    _, _, axes = np.linalg.svd(from_middle)
    return [int(k) for k in np.argsort(np.arctan2(from_middle @ axes[1], from_middle @ axes[0]))]
