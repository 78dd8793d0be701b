"""The libraries of the extra `sweeps`, which are imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tauforge.errors import ModelError
from tauforge.extras import how_to_install


@contextmanager
def sweeps_extra() -> Iterator[None]:
    """Imports under it raise ModelError with what to install where a library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name.startswith("tauforge"):
            raise
        raise ModelError(f"sweeps need {name}", remedy=how_to_install("sweeps")) from None
