"""The numbers of a study as CSV: named columns with units, and every number such that reading it gives it back."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from tauforge.charts.figure import ChartPanel, Line
from tauforge_papers.report.study import Study
from tauforge_papers.report.table import Cell, Table

CLAIM_COLUMNS = (
    "study",
    "name",
    "where",
    "claim",
    "printed",
    "measured",
    "exact model",
    "verdict",
    "reason",
    "rule",
    "at half and twice the threshold",
    "timed here",
)
SKETCH_COLUMNS = ("part", "piece", "drawn as")
UNIT = re.compile(r" \(((?:[^()]|\([^()]*\))*)\)$")


def bracketed(name: str) -> str:
    """Units at the end in brackets, "time [s]", as in all CSV files that the package writes and reads."""
    return UNIT.sub(r" [\1]", name)


def write_panel(panel: ChartPanel, path: Path) -> None:
    """A column for x, one for each line; lines over another x bring their own, and short columns end in blanks.

    A sketch has a row for each point and each word instead.
    """
    if panel.sketch:
        _write(path, [bracketed(name) for name in (*SKETCH_COLUMNS, panel.x_label, panel.y_label)], _points(panel))
        return
    columns: list[tuple[str, list[Cell]]] = []
    shared = all(_same_x(line, panel.lines[0]) for line in panel.lines)
    for line in panel.lines:
        if not (shared and columns):
            columns.append((panel.x_label if shared else f"{line.label}: {panel.x_label}", _values(line.x)))
        columns.append((f"{line.label}: {panel.y_label}" if line.label else panel.y_label, _values(line.y)))
    _write(path, [bracketed(name) for name, _ in columns], zip_longest(*(values for _, values in columns)))


def write_table(table: Table, path: Path) -> None:
    _write(path, [bracketed(name) for name in table.columns], table.rows)


def write_claims(studies: Sequence[Study], path: Path) -> None:
    rows = [
        (
            study.name,
            one.name,
            one.where,
            one.claim,
            one.printed,
            one.measured,
            one.exact_words,
            one.verdict,
            one.reason,
            one.rule.words,
            one.threshold_words,
            one.timed,
        )
        for study in studies
        for one in study.claims
    ]
    _write(path, CLAIM_COLUMNS, rows)


def _points(panel: ChartPanel) -> list[tuple[Cell, ...]]:
    """The rows of a sketch: part, number of the piece, style, x, y."""
    rows: list[tuple[Cell, ...]] = []
    for k, line in enumerate(panel.lines, 1):
        rows += [(line.label, k, line.style, x, y) for x, y in zip(_values(line.x), _values(line.y), strict=True)]
    return rows + [(note.text, None, "words", float(note.x), float(note.y)) for note in panel.notes]


def _same_x(a: Line, b: Line) -> bool:
    return isinstance(a.x, list) == isinstance(b.x, list) and np.array_equal(a.x, b.x)


def _values(values: np.ndarray | list[str]) -> list[Cell]:
    return list(values) if isinstance(values, list) else values.tolist()


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(["" if cell is None else cell if isinstance(cell, str) else repr(cell) for cell in row])
