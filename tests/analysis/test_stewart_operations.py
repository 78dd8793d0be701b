"""Operations of a platform's inverse dynamics, part by part, on platforms that are not the paper's."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import random_platform
from tauforge.analysis import operation_parts

CORRECTIONS = ("leg_spin", "moment_along_c", "parallel_axis_once")


@pytest.mark.parametrize("corrections", [(), CORRECTIONS], ids=["published", "corrected"])
@pytest.mark.parametrize("friction", [True, False])
def test_parts_add_up_to_the_whole(corrections, friction):
    platform = random_platform(np.random.default_rng(5))
    platform = platform if friction else platform.without_friction()
    found = operation_parts(platform, corrections=corrections)
    whole = tf.operation_count(platform, "dasgupta1998", corrections=corrections)
    parts = (*found.legs, found.platform, found.solution)
    assert sum(part.as_written.flops for part in parts) == whole.as_written.flops
    assert whole.flops <= found.flops < 1.02 * whole.flops  # what legs have in common is counted for each
    dearest = max(part.flops for part in parts[:-1])
    assert found.parallel == dearest + found.solution.flops
    assert found.parallel >= whole.critical_path.steps


def test_legs_on_a_circle_whose_axes_lie_in_a_plane_cost_less():
    """Zeros of the robot cost nothing."""
    general = operation_parts(random_platform(np.random.default_rng(5)))
    box = operation_parts(tf.load("box"))
    assert max(leg.flops for leg in box.legs) < min(leg.flops for leg in general.legs)


def test_unknown_corrections_and_platforms_without_masses_are_refused():
    with pytest.raises(tf.TauforgeError, match="unknown correction 'spin'"):
        operation_parts(tf.load("box"), corrections=["spin"])
    with pytest.raises(tf.ModelError, match="has a geometry but no masses"):
        operation_parts(tf.load("dietmaier"))
