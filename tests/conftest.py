"""What every test can count on: an environment of its own, and counts of the property tests.

Only what `tools/matrix.py` varies reaches the tests from the caller's environment: vector width, threads, kernels on or
off, locale and time zone. Settings of Python, Matplotlib and terminals do not, nor the folder of the user's cache.
Counts are small by default, TAUFORGE_SOAK times as many for a soak. Where cases take turns, the
day decides; TAUFORGE_TURN repeats what another day has tried.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import time
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, settings

from tauforge.settings import OFF

SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))
TURNS = 3  # days in which every case has its turn
TURN = int(os.environ.setdefault("TAUFORGE_TURN", str(int(time.time() // 86400))))  # workers inherit it
SECONDS = Path(__file__).with_name("seconds.json")  # of CPU by file, written by `make times`
UNKNOWN_SECONDS = 5.0
WORKER_BYTES = 3 << 30
INSTALLED = "TAUFORGE_TESTED_KERNELS"  # the caller's TAUFORGE_KERNELS: workers inherit what this file sets
KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|SYSTEMROOT|(DY)?LD_\w+|\w+_NUM_THREADS"
    r"|LANG|LANGUAGE|LC_\w+|TZ"
    r"|PYTHON(PATH|HOME|HASHSEED|DONTWRITEBYTECODE|PYCACHEPREFIX)|PYTEST_\w+|PLAYWRIGHT_\w+"
    r"|TAUFORGE_(VECTOR_BITS|THREADS|SOAK|TURN|BROWSER|TESTED_KERNELS)"
)


class Shared(FileFinder):
    """Finds what tests share and nothing else of this folder: tests/control must not stand in for python-control."""

    def find_spec(self, fullname: str, target: Any = None) -> ModuleSpec | None:
        return super().find_spec(fullname, target) if fullname in ("conftest", "support") else None


TESTS = str(Path(__file__).parent)
sys.path_importer_cache[TESTS] = Shared(TESTS, (SourceFileLoader, SOURCE_SUFFIXES))

settings.register_profile(
    "tauforge",
    max_examples=30 * SOAK,
    deadline=None,
    derandomize=SOAK == 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tauforge")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--on-kernels", action="store_true", help="only tests that run kernels")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: all processors that this process may use, as far as there is memory for their workers."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, psutil.virtual_memory().available // WORKER_BYTES))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if SOAK == 1:
        terminalreporter.write_line(f"cases that take turns: TAUFORGE_TURN={TURN} repeats these, TAUFORGE_SOAK has all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """The longest files first: otherwise the last one runs alone.

    A test runs kernels if it asks for the fixtures below: nothing is listed by hand.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        seconds = json.loads(SECONDS.read_text(encoding="utf-8"))
        items.sort(key=lambda item: -seconds.get(item.nodeid.partition("::")[0], UNKNOWN_SECONDS))
    if config.getoption("--on-kernels"):
        kept = [item for item in items if "switch" in item.fixturenames]
        config.hook.pytest_deselected(items=[item for item in items if "switch" not in item.fixturenames])
        items[:] = kept


def pytest_collection_finish() -> None:
    """What collection has made lives as long as the process: it is no garbage to be searched for."""
    gc.collect()
    gc.freeze()


def pytest_configure() -> None:
    """Not when this file is imported: children of the tests do that too, with an environment made for them."""
    os.environ.setdefault(INSTALLED, os.environ.get("TAUFORGE_KERNELS", "1"))
    for name in list(os.environ):
        if not KEPT.fullmatch(name):
            del os.environ[name]
    # Workers inherit it: threads of OpenBLAS that wait for a busy core make small decompositions fifty times slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Most tests are about the formulas and make many arms: the reference answers, nothing is compiled.
    os.environ["TAUFORGE_KERNELS"] = "0"
    os.environ["TAUFORGE_CACHE"] = "off"


@pytest.fixture(scope="session")
def switch() -> str:
    """TAUFORGE_KERNELS for what a user would run: 1, or 0 in a run of the suite without kernels."""
    return "0" if os.environ[INSTALLED].strip().lower() in OFF else "1"


@pytest.fixture(scope="session")
def user_environment(tmp_path_factory, switch):
    """The environment as a user has it; kernels are kept for the other tests, of all workers."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    return {"TAUFORGE_KERNELS": switch, "TAUFORGE_CACHE": str(folder / "kernels")}


@pytest.fixture
def as_installed(monkeypatch, user_environment):
    """Methods run as a user has them."""
    for name, value in user_environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def kernels_on(switch, request):
    """For tests about kernels: methods run on them."""
    if switch == "0":
        pytest.skip("about kernels, which TAUFORGE_KERNELS=0 switches off")
    request.getfixturevalue("as_installed")


@pytest.fixture
def own_cache(kernels_on, monkeypatch, tmp_path):
    """Methods run on kernels, and the cache is a folder of this test alone, not made yet."""
    from tauforge.kernels.cpu.numpy_binding import trampoline

    trampoline()  # an entry of its own, made once in a process: not in the tests' folders
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Writes a text as robot.urdf and gives its path."""

    def write(text: str | bytes, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def arm_csv(tmp_path):
    from support.command_line import arm_motion  # most tests need no command line

    return arm_motion(tmp_path)


@pytest.fixture
def rig_csv(tmp_path):
    from support.command_line import rig_motion

    return rig_motion(tmp_path)
