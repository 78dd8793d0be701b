"""Model files that the tests write, as they are and changed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.cpu_time import quickest
from tauforge.errors import ModelError
from tauforge.formats.loading import load

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


def refused_at_once(path: Path, fragment: str) -> None:
    """Within a tenth of a second, with a message that says why and is not as long as the file."""

    def refusal() -> str:
        with pytest.raises(ModelError) as caught:
            load(path)
        return str(caught.value)

    seconds, message = quickest(refusal, 0.1)
    assert fragment in message
    assert len(message) < len(str(path)) + 700
    assert seconds < 0.1


PIECES = [
    b"nan",
    b"inf",
    b"-",
    b"1e300",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"'''",
    b"\\",
    b"#",
    b"\n",
    b".",
    b"=",
    b",",
    b"true",
    b"\xff",
]


def mutant(generator: random.Random, data: bytes) -> bytes:
    """A few bytes replaced, taken out, repeated, or a digit changed, which the reader more often accepts."""
    result = bytearray(data)
    for _ in range(generator.choice([1, 1, 1, 2, 4])):
        start = generator.randrange(len(result))
        end = start + generator.choice([0, 1, 1, 1, 5, 40])
        choices = [bytes([generator.randrange(256)]), b"", generator.choice(PIECES), bytes(result[start:end]) * 2]
        if chr(result[start]).isdigit():
            end, choices = start + 1, [str(generator.randrange(10)).encode(), generator.choice(PIECES)]
        result[start:end] = generator.choice(choices)
    return bytes(result)
