"""A table as data."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows of cells. name: for files, in lower case with dashes; units stand in the column names."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
