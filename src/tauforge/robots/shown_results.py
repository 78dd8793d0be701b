"""How results show themselves at a prompt, by `print` and in a notebook: as a summary, instead of dumped arrays."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import numpy as np

from tauforge.number_text import number
from tauforge.robots.summary import Rows, Summary, SummaryTable

T = TypeVar("T", bound=type)

MOST_ROWS = 12  # of a table with a row for each of many
FEW = 6  # numbers that are written out


def summarised(cls: T) -> T:
    """A class whose results are printed by their `summary()`; without one, by their fields.

    For tuples with names and for dataclasses. A dataclass needs repr=False if it inherits this.
    """
    shown: Any = cls
    shown.__repr__ = _text
    if not hasattr(cls, "_repr_html_"):
        shown._repr_html_ = _html
    return cls


def _text(result: Any) -> str:
    return repr(_summary(result))


def _html(result: Any) -> str:
    """For notebooks."""
    return _summary(result)._repr_html_()


def _summary(result: Any) -> Summary:
    summary: Summary = result.summary() if hasattr(result, "summary") else fields_summary(result)
    return summary


def fields_summary(result: Any) -> Summary:
    """Shape and values, or their range, of each field; of each entry where a field is a dict."""
    names = [field.name for field in dataclasses.fields(result)] if dataclasses.is_dataclass(result) else result._fields
    found: dict[str, Any] = {}
    for name in names:
        value = getattr(result, name)
        found |= {f"{name}[{key!r}]": x for key, x in value.items()} if isinstance(value, dict) else {name: value}
    rows: Rows = tuple((name, *array_cell(value)) for name, value in found.items())
    return Summary(type(result).__name__, (SummaryTable("", ("field", "shape", "values"), rows, texts=3),))


def array_cell(value: Any) -> tuple[str, str]:
    """The shape of an array, and its numbers if they are few, else from the smallest to the largest.

    Arrays of other libraries have their type in the place of the numbers: they may be on a GPU, or have none yet.
    """
    if value is None:
        return "-", "-"
    if not isinstance(value, np.ndarray | np.generic | float | int):
        return str(tuple(getattr(value, "shape", ()))), type(value).__name__
    array = np.asarray(value)
    return str(array.shape), _values(array)


def _values(array: np.ndarray[Any, Any]) -> str:
    if array.dtype == bool and array.size > 1:
        return f"{array.sum()} true, {(~array).sum()} false"
    if array.size <= FEW:
        return ", ".join(str(x) if isinstance(x, bool) else number(x) for x in array.ravel().tolist()) or "-"
    finite = array[np.isfinite(array)]
    lost = f"{array.size - finite.size} not finite" if finite.size < array.size else ""
    span = f"{number(float(finite.min()))} to {number(float(finite.max()))}" if finite.size else ""
    return "; ".join(filter(None, (span, lost)))


def some_of(count: int, most: int = MOST_ROWS) -> list[int]:
    """Row numbers for a table: all, or the first, the last and some between."""
    return list(range(count)) if count <= most else [round(k * (count - 1) / (most - 1)) for k in range(most)]
