"""Instants at which a motion comes near to singular positions, found between frames where loops may not close."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.random_mechanisms import four_bar
from tauforge.pictures.animation_frames import AnimationFrames
from tauforge.viewer.colours import NEARLY_SINGULAR, WARNING_CONDITION
from tauforge.viewer.playback import singular_times

TIMES = np.linspace(0.0, 1.0, 11)
PEAK = 0.52  # s
LOOK = 0.2 / 128  # s between the instants that are looked at


class Slider:
    """One coordinate, which is the time. Its condition number is 10 / |x - PEAK|; some rows do not close."""

    loops = None

    def __init__(self, closes_from: float) -> None:
        self.closes_from, self.positions, self.moved_body = closes_from, self, self

    def singularity(self, position: Any) -> None:
        return None

    def condition(self, position: Any, characteristic_length: Any = None) -> Any:
        assert np.isfinite(position).all()
        return 10.0 / np.maximum(np.abs(position[..., 0] - PEAK), 1e-9)

    def at(self, coordinates: Any, near: Any = None, *, on_failure: str = "raise") -> Any:
        assert on_failure == "nan"
        return np.where(coordinates >= self.closes_from, coordinates, np.nan)


def frames(position: Any = TIMES[:, None]) -> AnimationFrames:
    nothing = np.zeros_like(TIMES[:, None])
    return AnimationFrames(TIMES, position, nothing, None, False, nothing, nothing)


@pytest.mark.parametrize("closes_from", [0.0, 0.47])
def test_rows_that_do_not_close_before_a_peak_do_not_move_it(closes_from: float) -> None:
    robot: Any = Slider(closes_from)
    assert robot.moved_body.condition(frames().position).max() > WARNING_CONDITION
    found = singular_times(robot, frames())
    assert found.words == NEARLY_SINGULAR
    np.testing.assert_allclose(found.times, [PEAK], atol=LOOK)


def test_a_peak_beside_which_no_row_closes_is_not_told() -> None:
    robot: Any = Slider(2.0)
    assert singular_times(robot, frames()).times.shape == (0,)


def test_a_mechanism_is_marked_where_its_loops_are_nearly_singular() -> None:
    """A parallelogram comes within 1e-4 rad of its flat position. Its tool has one freedom, so its condition is 1."""
    m = four_bar(lengths=(0.2, 0.45, 0.2, 0.45))
    (home,) = m.positions.coordinates(m.home)
    flat = -np.pi / 3  # of the crank, which is at 60 degrees at home
    angles = np.concatenate([np.linspace(home, flat + 1e-4, 6), np.linspace(flat + 1e-4, home, 6)[1:]])
    position = m.configuration(angles[:, None])
    assert m.condition_number(position).max() == pytest.approx(1.0)
    found = singular_times(m, frames(position))
    assert found.words == NEARLY_SINGULAR
    np.testing.assert_allclose(found.times, [TIMES[5]], atol=LOOK)
