"""Model files that the tests write, as they are and changed."""

from __future__ import annotations

from pathlib import Path

import pytest

IGNORE_UNPHYSICAL = pytest.mark.filterwarnings("ignore::tauforge.errors.UnphysicalInertiaWarning")

VALID = """format = "tauforge-arm-1"
name = "arm"
convention = "standard"
coulomb_speed = 0.01

[tool]
translation = [0.0, 0.0, 0.1]

[[joint]]
name = "turn"
kind = "R"
alpha = "pi/2"
a = 0.1
d = 0.2
theta = 0.3
mass = 1.5
com = [0.0, 0.0, 0.1]
inertia = [0.01, 0.01, 0.015]
coulomb = [0.4, 0.5]
gear_ratio = -60.0
limits = ["-pi/2", 1.5]

[[joint]]
name = "slide"
kind = "P"
alpha = 0.0
a = 0.0
d = 0.0
theta = 0.0
mass = 2
com = [0, 0, 0.2]
inertia = [[0.01, 0.001, 0.0], [0.001, 0.01, 0.0], [0.0, 0.0, 0.01]]
limits = [0.0, 0.4]
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "arm.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# ------------------------------------------------------------------------------------------------- what is read
