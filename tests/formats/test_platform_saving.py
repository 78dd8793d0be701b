"""Saved platforms load equal, to the last bit; what no file can hold is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tauforge as tf
from support.platforms import LIMITS, random_platform, with_spherical_legs
from support.strategies import seeds
from tauforge.robots.records import KnownException, Source

AXES = ("universal_axes", "base_joint_axes", "platform_joint_axes")
texts = st.text(max_size=12) | st.sampled_from(['"', "\\", "a\nb", "\x00\x7f\u2028", "Hexapod ä 関節 🦾", '"""', "# x"])


def again(platform, folder):
    platform.save(folder / "rig.toml")
    return tf.load(folder / "rig.toml")


@given(rng=seeds, masses=st.booleans(), limits=st.booleans(), text=st.lists(texts, min_size=4, max_size=4))
def test_saved_platforms_load_equal(tmp_path_factory, rng, masses, limits, text):
    changes = {} if limits else dict.fromkeys(LIMITS)
    if masses:
        changes |= {"known_exceptions": (KnownException("platform", text[0]),)}
    platform = random_platform(
        rng, masses=masses, name=text[1], sources=(Source(("stroke", text[1]), *text[2:]),), **changes
    )
    for one in (platform, with_spherical_legs(platform, rng)) if masses else (platform,):
        loaded = again(one, tmp_path_factory.getbasetemp())
        assert loaded == one
        assert loaded.sources == one.sources
        assert repr(loaded.data()) == repr(one.data())


@given(rng=seeds)
def test_a_copy_is_equal(rng):
    """Unit vectors that are made unit vectors again stay the same."""
    platform = random_platform(rng)
    assert platform.replace() == platform


@pytest.mark.filterwarnings("ignore:.*few links are that long")
@given(rng=seeds)
def test_odd_numbers_survive(tmp_path_factory, rng):
    """Signs of zeros, numbers near the largest and smallest that are accepted."""
    odd = rng.choice([-0.0, 0.0, 5e-324, 1e-300, 1 / 3, 1e99], (6, 3))
    axes = np.eye(3)[rng.integers(0, 3, 6)] * rng.choice([-1.0, 1.0], (6, 1))  # unit vectors with both kinds of zeros
    changes = {"lower_com": odd, "upper_com": -odd, "gravity": odd[0], "friction": odd[1], "reflected_mass": odd[:, 0]}
    platform = random_platform(rng, **changes, **dict.fromkeys(AXES, axes))
    loaded = again(platform, tmp_path_factory.getbasetemp())
    assert loaded == platform
    assert repr(loaded.data()) == repr(platform.data())  # == does not see the sign of a zero


def test_save_refuses_what_it_cannot_write(tmp_path):
    platform = tf.load("box")
    platform.save(tmp_path / "rig.toml")
    for path, message in {
        tmp_path / "missing" / "rig.toml": "folder does not exist",
        tmp_path / "rig.json": r"ends in \.toml",
        tmp_path / ("a" * 300 + ".toml"): "cannot be written",
    }.items():
        with pytest.raises(tf.ModelError, match=message) as caught:
            platform.save(path)
        assert str(path) in str(caught.value)
    for name, message in {"\ud800": "surrogate", "a" * 300_000: "256 KiB"}.items():
        with pytest.raises(tf.ModelError, match=message):
            platform.replace(name=name).save(tmp_path / "rig.toml")
    assert tf.load(tmp_path / "rig.toml") == platform
    assert [entry.name for entry in tmp_path.iterdir()] == ["rig.toml"]
