"""The camera sees all of a motion."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tauforge.viewer.surroundings import frame, half_angle


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
def test_all_corners_are_in_sight_from_the_same_side(aspect: float) -> None:
    camera = SimpleNamespace(
        position=np.array([3.0, -4.0, 2.0]), look_at=np.array([0.0, 0.0, 1.0]), fov=0.75, aspect=aspect
    )
    side = camera.position - camera.look_at
    low, high = np.array([-5.0, 0.0, 0.0]), np.array([40.0, 3.0, 2.0])
    frame(camera, low, high)
    np.testing.assert_allclose(camera.look_at, (low + high) / 2)
    way = camera.look_at - camera.position
    np.testing.assert_allclose(np.cross(way, side), 0, atol=1e-9 * np.linalg.norm(way) * np.linalg.norm(side))
    ahead = way / np.linalg.norm(way)
    right = np.cross(ahead, [0, 0, 1])
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    edge = math.tan(camera.fov / 2)
    for corner in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T:
        seen = corner - camera.position
        assert seen @ ahead > 0
        assert abs(seen @ up) < edge * (seen @ ahead)
        assert abs(seen @ right) < aspect * edge * (seen @ ahead)
    assert np.linalg.norm(way) < 3 * np.linalg.norm(high - low) / min(aspect, 1.0)


def test_the_narrower_angle_counts() -> None:
    assert half_angle(1.0, 2.0) == 0.5
    assert half_angle(1.0, 0.5) == pytest.approx(math.atan(0.5 * math.tan(0.5)))
