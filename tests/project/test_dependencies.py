"""The declared ranges of the dependencies, and the two sets of versions that are tested: held and lowest."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
TESTED = ("plots", "symbolic", "jax")  # the extras that the lowest set has
LIBRARIES = [text for text in EXTRAS["test"] if text.startswith(("control", "xarray"))]  # that results are handed to


def requirements(*groups):
    return [Requirement(text) for group in groups for text in group if not text.startswith("tauforge[")]


def pins(name):
    lines = (line.partition("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    pairs = (line.split("==") for line in lines if line)
    return {canonicalize_name(package): Version(version) for package, version in pairs}


def lower_bound(requirement):
    (bound,) = [s.version for s in requirement.specifier if s.operator == ">="]
    return Version(bound)


@pytest.mark.parametrize(
    "requirement",
    requirements(PROJECT["dependencies"], *(EXTRAS[name] for name in TESTED), LIBRARIES),
    ids=lambda requirement: requirement.name,
)
def test_the_lowest_set_is_the_declared_lower_bounds(requirement):
    held = pins("constraints-lowest.txt")[canonicalize_name(requirement.name)]
    assert held == lower_bound(requirement), f"{requirement.name}: run make test-lowest with the bound that is declared"


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-lowest.txt"])
def test_the_sets_are_within_the_declared_ranges(name):
    held = pins(name)
    declared = requirements(PROJECT["dependencies"], *(EXTRAS[extra] for extra in (*TESTED, "docs", "test")))
    outside = [str(r) for r in declared if held[canonicalize_name(r.name)] not in r.specifier]
    assert outside == []
