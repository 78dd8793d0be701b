"""The matrix of surroundings: how a run is read, and that a copy of the checkout is used and not the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from matrix import CONFIGURATIONS, ROOT, UNUSUAL, combined, copied, counts


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("....\n2470 passed, 3 skipped in 360.12s (0:06:00)\n", ("2470", "0", "3")),
        ("28 failed, 850 passed, 5 errors in 429.28s (0:07:09)", ("850", "33", "0")),
        ("FAILED tests/test_x.py::test_3 passed\n1 failed, 1 error in 1.00s", ("0", "2", "0")),
        ("", ("0", "0", "0")),
    ],
)
def test_counts_of_a_run(output, expected):
    assert counts(output) == expected


def test_every_configuration_is_documented():
    page = (ROOT / "docs" / "tests.md").read_text(encoding="utf-8")
    assert not [name for name in CONFIGURATIONS if f"`{name}`" not in page]


def test_configurations_joined_are_all_there():
    both = combined("width-128+shuffled+nobody")
    assert both.variables == CONFIGURATIONS["width-128"].variables
    assert both.options == CONFIGURATIONS["shuffled"].options
    assert both.as_nobody
    assert (both.kept, both.folder) == (("PATH",), "readable")
    with pytest.raises(KeyError, match="windy"):
        combined("width-128+windy")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy of the checkout is made from git's list of files")
def test_a_copy_runs_its_own_source(tmp_path):
    folder = tmp_path / UNUSUAL
    python = copied(folder, Path(sys.executable).resolve())
    code = "import tauforge, numpy; print(tauforge.__file__)"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(folder / "src" / "tauforge" / "__init__.py"), done.stderr
    told = subprocess.run(
        [folder / ".venv" / "bin" / "tauforge", "--version"], capture_output=True, text=True, check=False
    )
    assert told.stdout.startswith("tauforge "), told.stderr


def test_the_environment_of_tests_is_their_own():
    """Whatever the caller has set: see conftest.py."""
    unwanted = ("COLUMNS", "FORCE_COLOR", "MPLBACKEND", "PYTHONWARNINGS", "PYTHONUNBUFFERED", "XDG_CACHE_HOME")
    assert not [name for name in unwanted if name in os.environ]
    assert os.environ["TAUFORGE_CACHE"] == "off"
