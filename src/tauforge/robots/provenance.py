"""Where the parameters of a robot come from, and which of its unphysical bodies are as published."""

from __future__ import annotations

from typing import NamedTuple


class KnownException(NamedTuple):
    """A body whose unphysical inertia is as published: it loads without a warning."""

    body: str
    reason: str


class Source(NamedTuple):
    """Where parameters of a catalogue entry come from."""

    fields: tuple[str, ...]
    source: str
    note: str = ""
