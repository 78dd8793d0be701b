"""The source distribution holds what its tests read, and they run in it; nothing is fetched to build it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import tauforge as tf

pytest.importorskip("setuptools", minversion="77", reason="the build backend is too old: pip install -e '.[test]'")

ROOT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(
    ".*", "__pycache__", "*.egg-info", "build", "dist", "reports", "cache", "gallery", "sg_execution_times.rst"
)
FOLDERS = ("benchmarks", "docs", "examples", "src", "tests", "tools")
FILES = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md")
SETTINGS = ("constraints.txt", "constraints-lowest.txt", "pyproject.toml")
# Files of the checkout in several folders are read by these; the whole suite would take minutes
RUN = ("tests/project/test_dependencies.py", "tests/project/test_version.py", "tests/formats/test_catalogue.py")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: the backend writes beside the sources, and its own earlier list of files would mislead it."""
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "checkout", ignore=NOT_COPIED)
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder / "checkout", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    assert archive.name == f"tauforge-{tf.__version__}.tar.gz"
    with tarfile.open(archive) as files:
        # of our own making; later releases ask for a filter, which Python has had since 3.11.4
        files.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / archive.name.removesuffix(".tar.gz")


def files_in(folder: Path) -> set[str]:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not re.search(r"__pycache__|\.egg-info", name)}


def test_everything_of_the_checkout_that_tests_and_make_need_is_in_it(unpacked: Path) -> None:
    wanted = {name for name in files_in(unpacked.parent / "checkout") if name.startswith(FOLDERS)}
    assert {"tests/conftest.py", "tests/data/serial_6R.json", "docs/model-file.md", "tools/matrix.py"} <= wanted
    assert sorted((wanted | {*FILES, *SETTINGS}) - files_in(unpacked)) == []


def test_nothing_that_was_made_here_is_in_it(unpacked: Path) -> None:
    assert not [path for path in unpacked.rglob("*") if path.suffix in (".pyc", ".so") or path.name == "__pycache__"]


def test_its_tests_run_there(unpacked: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(unpacked / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *RUN]
    done = subprocess.run(command, cwd=unpacked, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    where = subprocess.run(
        [sys.executable, "-c", "import tauforge; print(tauforge.__file__)"],
        cwd=unpacked,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(unpacked)
