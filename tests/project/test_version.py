"""One place for the version; what repeats it follows, and a source tree without metadata knows it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import tauforge as tf

ROOT = Path(__file__).parents[2]


def test_the_project_reads_the_version_from_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "tauforge.__version__"}


def test_citation_and_changelog_are_about_this_version() -> None:
    citation, changes = ((ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "CHANGELOG.md"))
    cited = re.findall(r"^(?:version|date-released): (\S+)$", citation, flags=re.MULTILINE)
    headings = re.findall(r"^## \[(.+)\](?: - (\d{4}-\d\d-\d\d))?$", changes, flags=re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert [tf.__version__, headings[1][1]] == cited == list(headings[1])
    assert len(headings) == changes.count("\n## ")


def test_changes_stand_under_the_headings_of_keep_a_changelog() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = set(re.findall(r"^### (.+)$", changes, flags=re.MULTILINE))
    assert found <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_a_source_tree_without_metadata_knows_its_version() -> None:
    """And the import stays quick: neither NumPy nor the compiler nor the reader of metadata is imported for it."""
    slow = (
        "numpy",
        "scipy",
        "llvmlite",
        "importlib.metadata",
        "tauforge.robots",
        "tauforge.analysis",
        "tauforge.workspace",
    )
    source = ROOT / "src"
    code = (
        f"import sys; sys.path[:] = [{str(source)!r}, *(p for p in sys.path if p)]; import tauforge; "
        f"print(tauforge.__version__, [name for name in {slow!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{tf.__version__} []\n"
