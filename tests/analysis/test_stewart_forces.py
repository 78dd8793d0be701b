"""What a singular pose leaves free, on random platforms."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.platforms import random_motion, random_platform
from support.tolerances import ROUNDING
from tauforge.analysis import crossings, singular_freedoms

TURN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, np.pi])
VANISHING = 1e-9  # a singular value at a crossing, beside the largest; its time is found to 1e-12
CARRIED = 1e-6  # what legs leave of a load that they carry, beside it: the pose is singular within VANISHING


def singular_poses(count):
    """Random platforms at poses where det H changes its sign on a turn about z."""
    found, seed = [], 0
    while len(found) < count:
        platform = random_platform(np.random.default_rng(seed))
        start = random_motion(np.random.default_rng(seed), ())[0]
        poses = crossings(platform, lambda t, start=start: start + t[:, None] * TURN, 0.0, 1.0, samples=200)
        found += [(platform, pose) for _, pose in poses]
        seed += 1
    return found[:count]


@pytest.mark.parametrize("characteristic_length", [None, 0.3])
def test_a_singular_pose_frees_a_twist_and_leaves_a_part_of_the_load(characteristic_length):
    for platform, pose in singular_poses(4):
        H = platform.force_matrix(pose)
        found = singular_freedoms(platform, pose, characteristic_length=characteristic_length)
        assert found.freedoms == 1
        assert np.abs(H.T @ found.twists[0]).max() < VANISHING * np.abs(H).max()
        rates = platform.leg_motion(pose, found.twists[0]).rates
        assert np.abs(rates).max() < VANISHING * np.abs(H).max()
        weight = -platform.bias_wrench(pose, np.zeros(6))
        scale = np.r_[np.ones(3), np.full(3, characteristic_length or 1.0)]
        carried = weight - found.uncarried
        rest = carried - H @ np.linalg.lstsq(H / scale[:, None], carried / scale, rcond=VANISHING)[0]
        assert np.abs(rest / scale).max() < CARRIED * np.abs(weight).max()
        assert found.twists[0] @ weight == pytest.approx(found.twists[0] @ found.uncarried)


def test_regular_poses_free_nothing_and_rows_do_not_touch_each_other():
    platform = random_platform(np.random.default_rng(3))
    pose = random_motion(np.random.default_rng(3), (3,))[0]
    found = singular_freedoms(platform, pose)
    assert found.freedoms.tolist() == [0, 0, 0]
    assert not found.uncarried.any()
    assert np.allclose(found.values[..., ::-1], np.linalg.svd(platform.force_matrix(pose))[1], rtol=ROUNDING)
    spoilt = pose.copy()
    spoilt[1, 2] = np.nan
    for load in (None, np.ones(6)):
        assert np.isnan(singular_freedoms(platform, spoilt, load).uncarried[1]).all()
    lost = singular_freedoms(platform, spoilt)
    assert np.isnan(lost.values[1]).all()
    assert np.isnan(lost.twists[1]).all()
    assert np.isnan(lost.uncarried[1]).all()
    assert np.array_equal(lost.twists[[0, 2]], found.twists[[0, 2]])


def test_wrong_loads_and_lengths_are_refused():
    platform = random_platform(np.random.default_rng(3))
    pose = random_motion(np.random.default_rng(3), ())[0]
    with pytest.raises(tf.ShapeError, match=r"load: expected .*six numbers.*, got \(3,\)"):
        singular_freedoms(platform, pose, np.ones(3))
    with pytest.raises(tf.TauforgeError, match="characteristic_length"):
        singular_freedoms(platform, pose, characteristic_length=0.0)
    geometry = tf.load("mathworks-hexapod")
    with pytest.raises(tf.ModelError, match="has a geometry but no masses"):
        singular_freedoms(geometry, pose)
    assert singular_freedoms(geometry, pose, np.ones(6)).values.shape == (6,)
