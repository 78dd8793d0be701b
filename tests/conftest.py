"""Counts of the property tests: small by default, TAUFORGE_SOAK times as many for a soak."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))

# Most tests are about the formulas and make many arms: the reference answers, nothing is compiled. The tests of the
# kernels switch them on.
os.environ.setdefault("TAUFORGE_KERNELS", "0")
os.environ.setdefault("TAUFORGE_CACHE", "off")
os.environ.pop("COLUMNS", None)  # workers of pytest-xdist get one, and the command line would fold its lines to it

settings.register_profile(
    "tauforge",
    max_examples=30 * SOAK,
    deadline=None,
    derandomize=SOAK == 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tauforge")


@pytest.fixture
def kernels_on(monkeypatch, tmp_path_factory):
    """Methods run on kernels, which are kept for the other tests of the same worker."""
    monkeypatch.setenv("TAUFORGE_KERNELS", "1")
    monkeypatch.setenv("TAUFORGE_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    """Methods run on kernels, and the cache is a folder of this test alone, not made yet."""
    from tauforge.kernels.numpy_binding import trampoline

    trampoline()  # an entry of its own, made once in a process: not in the tests' folders
    monkeypatch.setenv("TAUFORGE_KERNELS", "1")
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
    from command_line import arm_motion  # most tests need no command line

    return arm_motion(tmp_path)


@pytest.fixture
def rig_csv(tmp_path):
    from command_line import rig_motion

    return rig_motion(tmp_path)
