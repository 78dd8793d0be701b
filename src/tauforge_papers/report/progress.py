"""How long computations say what they are doing."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]  # told what is being computed now


def nothing(_: str) -> None:
    """The progress of those who do not ask."""
