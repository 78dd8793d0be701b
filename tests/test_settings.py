"""The environment variables of the package: what they take, and how a value that cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tauforge as tf
from support.command_line import error_of, run
from tauforge import settings
from tauforge.kernels import cache

READERS = {
    "TAUFORGE_KERNELS": settings.kernels,
    "TAUFORGE_CACHE": settings.cache_folder,
    "TAUFORGE_THREADS": settings.threads,
    "TAUFORGE_VECTOR_BITS": settings.vector_bits,
}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(("TAUFORGE_KERNELS", value, True) for value in ("", "1", "on", "Yes", " true ")),
        *(("TAUFORGE_KERNELS", value, False) for value in ("0", "off", "OFF", "no", "false")),
        *(("TAUFORGE_CACHE", value, True) for value in ("1", "on", "yes", "true")),
        *(("TAUFORGE_CACHE", value, False) for value in ("", "0", "off", "no", "False", "none")),
        ("TAUFORGE_CACHE", "/some/Folder", "/some/Folder"),
        ("TAUFORGE_THREADS", "", None),
        ("TAUFORGE_THREADS", " 3 ", 3),
        ("TAUFORGE_VECTOR_BITS", "", None),
        ("TAUFORGE_VECTOR_BITS", "128", 128),
    ],
)
def test_values_that_are_taken(monkeypatch, name, value, expected):
    monkeypatch.setenv(name, value)
    assert READERS[name]() == expected


BAD = [
    ("TAUFORGE_KERNELS", "maybe", "1, on, yes or true, or 0, off, no or false"),
    ("TAUFORGE_KERNELS", "2", "1, on, yes or true, or 0, off, no or false"),
    ("TAUFORGE_THREADS", "many", "a whole number >= 1"),
    ("TAUFORGE_THREADS", "0", "a whole number >= 1"),
    ("TAUFORGE_THREADS", "-2", "a whole number >= 1"),
    ("TAUFORGE_THREADS", "\N{SUPERSCRIPT TWO}", "a whole number >= 1"),
    ("TAUFORGE_THREADS", "9" * 5000, "a whole number >= 1"),  # more digits than Python converts
    ("TAUFORGE_VECTOR_BITS", "1024", "128, 256 or 512"),
    ("TAUFORGE_VECTOR_BITS", "wide", "128, 256 or 512"),
]


@pytest.mark.parametrize(("name", "value", "expected"), BAD)
def test_values_that_are_refused(monkeypatch, name, value, expected):
    """In Python, and on the command line as bad use, even by a command that would not have read the variable."""
    monkeypatch.setenv(name, value)
    with pytest.raises(tf.SettingError) as caught:
        READERS[name]()
    assert str(caught.value) == f"{name}={value!r}: expected {expected}. Change the environment variable, or unset it"
    assert (caught.value.name, caught.value.expected, caught.value.got) == (name, expected, value)
    said = error_of("complexity", "planar-2r")
    assert said.startswith(f"error: {name}={value!r}: expected {expected}")
    assert "fault of tauforge" not in said
    assert "Usage" in run("--help").stdout


def test_what_is_unset_is_the_default(monkeypatch):
    for name in READERS:
        monkeypatch.delenv(name, raising=False)
    assert [read() for read in READERS.values()] == [True, True, None, None]


@pytest.mark.parametrize("value", ["off", "No", "false"])
def test_kernels_are_switched_off_by_a_word(monkeypatch, tmp_path, value):
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path))
    monkeypatch.setenv("TAUFORGE_KERNELS", value)
    arm = tf.load("planar-2r")
    arm.inverse_dynamics(*np.ones((3, 2)))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(tf.UnsupportedFeatureError, match=f"TAUFORGE_KERNELS={value} switches kernels off"):
        arm.kernel("inverse_dynamics")


def test_a_cache_that_is_on_is_the_default_one(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TAUFORGE_CACHE", "on")
    assert cache.folder() == tmp_path / "tauforge" / "kernels"


def test_a_bad_value_is_no_fault_of_ours_in_python(monkeypatch):
    monkeypatch.setenv("TAUFORGE_KERNELS", "maybe")
    with pytest.raises(tf.SettingError, match="TAUFORGE_KERNELS='maybe': expected 1, on"):
        tf.load("planar-2r").inverse_dynamics(*np.ones((3, 2)))
