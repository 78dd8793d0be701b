"""The declared ranges of the dependencies, and the two sets of versions that are tested: held and lowest."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.machinery import PathFinder
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
TESTED = ("plots", "symbolic", "jax", "viewer", "sweeps", "design")  # the extras that the lowest set has
ELSEWHERE = ("cuda", "cuda12")  # they need a GPU
SKIPPED = ("torch",)  # too large for every run: its tests skip without it
DEVELOPING = ("docs", "test")  # extras that are not for users
LIBRARIES = [text for text in EXTRAS["test"] if text.startswith("control")]  # that results are handed to


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


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-lowest.txt"])
def test_the_sets_install_on_the_lowest_python(name):
    """Judged by what is installed, which is one of the two sets and most of the other: nothing is downloaded."""
    (lowest,) = [Version(spec.version) for spec in SpecifierSet(PROJECT["requires-python"])]
    held = pins(name)
    named = [d for d in distributions() if d.name]  # an unpacked source distribution is one without a name
    judged = [d for d in named if held.get(canonicalize_name(d.name)) == Version(d.version)]
    needs = {d.name: d.metadata.get("Requires-Python") for d in judged}
    assert len(needs) > len(held) / 2, f"most of {name} should be installed: pip install -c {name} -e '.[test]'"
    assert {package: python for package, python in needs.items() if lowest not in SpecifierSet(python or "")} == {}


def test_extras_are_for_what_exists():
    """Every library of an extra is named in the code of the package or in a page for its users."""
    users = {name: EXTRAS[name] for name in EXTRAS if name not in (*DEVELOPING, "all")}
    assert set(users) == {*TESTED, *SKIPPED, *ELSEWHERE}
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    pages = "".join(
        path.read_text(encoding="utf-8").lower() for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    )
    unknown = [r.name for r in requirements(*users.values()) if f"import {r.name}" not in code and r.name not in pages]
    assert unknown == []
    assert Requirement(*EXTRAS["all"]).extras == set(users) - set(ELSEWHERE)


def test_whatever_the_package_imports_is_declared():
    """Every import is a dependency of the package or of an extra."""
    declared = {r.name.replace("-", "_") for r in requirements(PROJECT["dependencies"], *EXTRAS.values())}
    imported = set()
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(str(node.module).partition(".")[0])
    if any(name.startswith("cupy_cuda") for name in declared):
        declared |= {"cupy", "cupy_backends"}  # what those wheels contain
    if "matplotlib" in declared:
        declared |= {"PIL", "mpl_toolkits"}  # it cannot do without the first, and brings the second
    assert sorted(imported - declared - set(sys.stdlib_module_names) - {"tauforge", "tauforge_papers"}) == []


def test_no_folder_of_the_tests_stands_in_for_a_library():
    """The tests' folder is on the path: without python-control, `import control` must not find tests/control."""
    folders = [path.name for path in (ROOT / "tests").iterdir() if path.is_dir()]
    assert "control" in folders
    assert [name for name in folders if PathFinder.find_spec(name, [str(ROOT / "tests")])] == ["support"]


def test_the_classifiers_name_the_versions_and_systems():
    classifiers = PROJECT["classifiers"]
    lowest = min(spec.version for spec in SpecifierSet(PROJECT["requires-python"]))
    versions = [text.rpartition(" ")[2] for text in classifiers if re.fullmatch(r"Programming .* 3\.\d+", text)]
    assert versions[0] == lowest
    assert versions == [f"3.{minor}" for minor in range(int(lowest[2:]), int(lowest[2:]) + len(versions))]
    assert "Operating System :: POSIX :: Linux" in classifiers
