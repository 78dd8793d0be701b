"""The page on architecture: every function it names exists, and its picture is what the imports say."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import layer_picture

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(tauforge\.[\w.]+)`", PAGE)))
FILES = sorted(set(re.findall(r"`((?:tests|tools)/[\w/]+\.py)`", PAGE)))


def found(name):
    """The object of a dotted name: a module, then attributes of it."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            place = getattr(place, attribute)
        return place
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_it_names_exists(name):
    assert found(name) is not None


def test_it_names_many():
    assert len(NAMES) > 30
    assert FILES


@pytest.mark.parametrize("name", FILES)
def test_files_it_names_exist(name):
    assert (ROOT / name).is_file()


def test_the_picture_is_current():
    assert layer_picture.PICTURE.read_text(encoding="utf-8") == layer_picture.picture()


def test_nothing_in_the_picture_points_upwards():
    packages = layer_picture.layers()
    for name, others in layer_picture.imports(packages).items():
        assert all(packages.index(other) > packages.index(name) for other in others), name
