"""Figures of matplotlib as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tauforge.charts.with_matplotlib import DOTS_PER_INCH
from tauforge.errors import ModelError
from tauforge.files import written_whole

ENDINGS = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """ModelError for a name whose ending is no format of pictures, before anything is drawn."""
    if path.suffix.lower() not in ENDINGS:
        raise ModelError(f"expected a file name that ends in {', '.join(ENDINGS)}, got {path.name!r}", field="picture")


def save_figure(figure: Any, path: Path) -> None:
    """Writes a matplotlib Figure in the format that the name ends in, whole or not at all."""
    check_ending(path)
    with written_whole(path) as file:
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=DOTS_PER_INCH)
