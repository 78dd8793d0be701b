"""The page on architecture: every name exists, its tables are replayed, and its picture is what the imports say."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import house
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


def test_the_packages_are_listed_in_their_order():
    listed = PAGE.split("From the bottom to the top: ")[1].split(". ")[0]
    assert re.findall(r"`(\w+)`", listed) == layer_picture.layers()[::-1]


def test_nothing_in_the_picture_points_upwards():
    packages = layer_picture.layers()
    for name, others in layer_picture.imports(packages).items():
        assert all(packages.index(other) > packages.index(name) for other in others), name


def rows_of(section):
    """The names in the table of a section: modules as files of the package, and the functions in them."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return [in_file(name) for name in re.findall(r"^\| \d+ \| `tauforge\.([\w.]+)` \|", text, re.M)]


def in_file(name):
    parts = name.split(".")
    count = next(
        k
        for k in range(len(parts), 0, -1)
        if (ROOT / "src/tauforge" / "/".join(parts[:k])).with_suffix(".py").is_file()
    )
    return "/".join(parts[:count]) + ".py", ".".join(parts[count:])


def replays(rows, frames):
    """Every row is a frame, in this order, and every frame a row; a function stands for what is defined in it."""
    assert [file for file, _ in rows] == [file for file, _ in frames]
    for (_, wanted), (_, got) in zip(rows, frames, strict=True):
        assert got == wanted or got.startswith(f"{wanted}.<locals>.")


@pytest.fixture(scope="module")
def arm():
    return house.run_time(ROOT, "puma560", "inverse_dynamics")


@pytest.fixture(scope="module")
def mechanism():
    return house.run_time(ROOT, "five-bar", "forward_dynamics")


def test_the_first_call(arm):
    replays(rows_of("The first call"), arm.spine)
    assert len(arm.spine) <= 12
    assert len({file for file, _ in arm.spine}) <= 7
    assert arm.reentries <= 1
    assert arm.first <= 1200


def test_the_first_call_of_a_mechanism(mechanism):
    replays(rows_of("A mechanism"), mechanism.spine)
    assert len(mechanism.spine) <= 12
    assert mechanism.reentries <= 1
    assert mechanism.analysed == 1


def test_later_calls_and_batches(arm, mechanism):
    for counts in (arm, mechanism):
        assert counts.second == 0
        replays(rows_of("A batch"), counts.batch)
        assert len(counts.batch) <= 3
