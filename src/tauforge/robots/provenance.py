"""Where the parameters of a robot come from, and which of them are known to be unphysical."""

from __future__ import annotations

from typing import NamedTuple


class KnownException(NamedTuple):
    """A body whose unphysical inertia is as published: it loads without a warning."""

    body: str
    reason: str


class Source(NamedTuple):
    """Where the values of some fields come from."""

    fields: tuple[str, ...]
    source: str
    note: str = ""
