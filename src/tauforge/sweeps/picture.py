"""Pictures of stores: lines over one axis, maps over two, panels of maps over three.

A picture shows one result, with some dimensions held and large ones thinned, read when needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.charts.maps import MapPanel, Maps, drawn_maps
from tauforge.charts.with_matplotlib import drawn
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.robots.static_quantities import HOLDS
from tauforge.sweeps.store import MARK, open_dataset
from tauforge.units import number
from tauforge.workspace.pictures import HOLDS_COLOUR

if TYPE_CHECKING:
    from xarray import DataArray, Dataset


DRAWN_VALUES = (600, 600, 6)  # values along the axes of a map, and panels; a picture has about as many dots
NOT_COMPUTED = "not computed"
ZERO_SHARE = 1e-12  # of the largest value of an axis: what rounding leaves of 0 in the middle of evenly spaced values
Place = float | int | str  # along a dimension: a value of the axis, or the name of an actuator


def plot(
    store: str | os.PathLike[str] | Dataset,
    result: str | None = None,
    *,
    at: Mapping[str, Place] | None = None,
    partial: bool = False,
) -> Any:
    """Draws one result of a sweep, as a matplotlib Figure.

    store:   path of a store, or a Dataset of `open_dataset`, such as a part of it
    result:  its name; default the first one
    at:      axes that are held: {"z": 1.0} takes the nearest value. A dimension that is no axis takes the name of an
             actuator or coordinate, or its number from 0
    partial: whether blocks may be missing, as in `open_dataset`

    One axis gives a line, or a line for every actuator. Two axes give filled colours, the first axis to the right; the
    codes of an integer have a legend. Three axes give up to six panels, evenly spaced along the third. A longer axis is
    drawn at 600 evenly spaced values, and no more is kept in memory. If there are more axes, `at` must hold some.
    """
    found = shown(dataset_of(store, partial), result, at or {}, DRAWN_VALUES)
    lines = len(found.dimensions) == 1 or (len(found.dimensions) == 2 and not found.dimensions[1].axis)
    return drawn(_lines(found)) if lines else drawn_maps(_maps(found))


def _lines(found: DrawnResult) -> Figure:
    x = found.dimensions[0]
    if found.codes:
        lines = _lines_of_codes(found)
    elif len(found.dimensions) == 1:
        lines = [Line("", x.values, found.values)]
    else:
        lines = [Line(word, x.values, found.values[:, k]) for k, word in enumerate(found.dimensions[1].words)]
    return Figure("sweep", found.title, "", (ChartPanel("", x.label, found.label, tuple(lines)),))


def _lines_of_codes(found: DrawnResult) -> list[Line]:
    """Points for every code that occurs, at the height of its number."""
    values, x = found.values.reshape(len(found.values), -1), found.dimensions[0].values
    places = np.broadcast_to(x[:, None], values.shape)
    return [
        Line(found.codes.get(code, f"code {code}"), places[values == code], values[values == code], "points")
        for code in np.unique(values[np.isfinite(values)]).astype(int).tolist()
    ]


def _maps(found: DrawnResult) -> Maps:
    x, y, *panels = found.dimensions
    words, values = (panels[0].words, found.values) if panels else (("",), found.values[..., None])
    maps = tuple(MapPanel(word, x.values, y.values, values[..., k]) for k, word in enumerate(words))
    own = {code: HOLDS_COLOUR for code, words in found.codes.items() if words == HOLDS}  # as in pictures of workspaces
    return Maps(found.title, x.label, y.label, found.label, maps, found.codes, NOT_COMPUTED, own)


@with_field_docs
class Dimension(NamedTuple):
    """One dimension that is drawn.

    name:   in the store
    label:  with its unit
    values: (k,) of the axis, increasing; 0, 1, ... where it is no axis
    words:  (k,) what titles and legends call each of them
    axis:   whether it is an axis of the grid
    """

    name: str
    label: str
    values: Array
    words: tuple[str, ...]
    axis: bool


@with_field_docs
class DrawnResult(NamedTuple):
    """A result as it is drawn.

    label:      what it is, with its unit
    title:      of the store, with what is held
    dimensions: that are left, in the order of the store
    values:     one axis for each of them; NaN where nothing was computed
    codes:      what whole numbers mean; empty for others
    """

    label: str
    title: str
    dimensions: tuple[Dimension, ...]
    values: Array
    codes: Mapping[int, str]


def dataset_of(store: str | os.PathLike[str] | Dataset, partial: bool) -> Dataset:
    """The Dataset itself, or that of a store at a path."""
    if isinstance(store, str | os.PathLike):
        return open_dataset(store, partial=partial)
    if not (hasattr(store, "data_vars") and hasattr(store, "attrs")):
        raise ModelError(f"expected the path of a store or a Dataset, got {store!r}", field="store")
    return store


def shown(data: Dataset, result: str | None, at: Mapping[str, Place], most: tuple[int, ...]) -> DrawnResult:
    """Reads a result for a picture.

    result: its name; default the first
    at:     where dimensions are held, at the nearest value
    most:   values that are drawn along the first dimensions; evenly spaced ones of longer axes
    """
    found = _result(data, result)
    held = []
    for name, place in at.items():
        if name not in found.dims:
            known = ", ".join(map(str, found.dims))
            raise ModelError(f"{found.name} has no dimension {name!r}", field="at", remedy=f"They are {known}")
        k = _index(data, found, name, place)
        held.append(_words(data, found, name, k))
        found = found.isel({name: k})
    for name in [str(name) for name in found.dims if found.sizes[name] == 1]:
        held.append(_words(data, found, name, 0))
        found = found.isel({name: 0})
    sizes = [found.sizes[name] for name in found.dims]
    if not 1 <= len(sizes) <= len(most):
        dims = ", ".join(map(str, found.dims))
        problem = f"{found.name} has the dimensions {dims}, more than {len(most)}" if sizes else "there is one number"
        raise ModelError(problem, field="at", remedy="Choose values for some of them" if sizes else None)
    picked = [_picked(data, str(name), limit) for name, limit in zip(found.dims, most, strict=False)]
    thin = found.isel(dict(zip(found.dims, picked, strict=True)))
    dimensions = tuple(_dimension(data, found, str(name), rows) for name, rows in zip(found.dims, picked, strict=True))
    title = ", ".join([data.attrs.get("title", str(found.name)), *held])
    return DrawnResult(_label(found), title, dimensions, _numbers(thin), _codes(found))


def _result(data: Dataset, name: str | None) -> DataArray:
    asked = data.attrs.get(MARK, {}).get("results", {})  # in the order of the study; xarray sorts by name
    names = [name for name in asked if name in data] or [str(x) for x in data.data_vars]
    if not names:
        raise ModelError("the store has no results", field="result")
    if name is not None and name not in names:
        raise ModelError(f"there is no result {name!r}", field="result", remedy=f"The results are {', '.join(names)}")
    return data[name or names[0]]


def _index(data: Dataset, found: DataArray, name: str, place: Place) -> int:
    """Place at which a dimension is held: the nearest value of an axis, or the number or name of an actuator."""
    names = _names(data, name)
    if isinstance(place, str):
        if place not in names:
            remedy = f"They are {', '.join(names)}" if names else "Give a number"
            raise ModelError(f"{name} has no {place!r}", field="at", remedy=remedy)
        return names.index(place)
    if name not in data.coords:
        if place != int(place) or not 0 <= place < found.sizes[name]:
            most = found.sizes[name] - 1
            raise ModelError(f"expected a whole number from 0 to {most}, got {place:g}", field=f"at {name}")
        return int(place)
    values = data[name].values
    if not values.min() <= place <= values.max():
        ends = f"{number(values.min())} to {number(values.max())}"
        raise ModelError(f"expected a value from {ends}, got {place:g}", field=f"at {name}")
    return int(np.abs(values - place).argmin())


def _names(data: Dataset, dimension: str) -> list[str]:
    """The names along a dimension that is no axis, such as those of the actuators; empty where there are none."""
    found = data.attrs.get(dimension, ())
    return [str(x) for x in found] if dimension not in data.coords and isinstance(found, list | tuple) else []


def _words(data: Dataset, found: DataArray, name: str, k: int) -> str:
    if name not in data.coords:
        names = _names(data, name)
        return names[k] if names else f"{name} {k}"
    unit, values = data[name].attrs.get("units", ""), data[name].values
    value = 0.0 if abs(values[k]) < ZERO_SHARE * np.abs(values).max() else float(values[k])
    return f"{name} = {number(value)}{' ' * bool(unit)}{unit}"


def _picked(data: Dataset, name: str, most: int) -> Array:
    """Places along a dimension by increasing value, at most so many, evenly spaced and with both ends."""
    order = np.argsort(data[name].values) if name in data.coords else np.arange(data.sizes[name])
    evenly = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)
    return np.asarray(order[evenly])


def _dimension(data: Dataset, found: DataArray, name: str, rows: Array) -> Dimension:
    axis = name in data.coords
    values = np.asarray(data[name].values[rows], float) if axis else rows.astype(float)
    unit = data[name].attrs.get("units", "") if axis else ""
    words = tuple(_words(data, found, name, int(k)) for k in rows)
    return Dimension(name, f"{name} ({unit})" if unit else name, values, words, axis)


def _label(found: DataArray) -> str:
    words, unit = found.attrs.get("long_name", str(found.name)), found.attrs.get("units", "")
    return f"{words} ({unit})" if unit else str(words)


def _numbers(thin: DataArray) -> Array:
    values = np.asarray(thin.values, float)
    fill = thin.attrs.get("not_computed")
    return values if fill is None else np.where(values == fill, np.nan, values)


def _codes(found: DataArray) -> dict[int, str]:
    meanings = str(found.attrs.get("flag_meanings", "")).split()
    numbers = np.atleast_1d(found.attrs.get("flag_values", ())).tolist()
    return {int(code): text.replace("_", " ") for code, text in zip(numbers, meanings, strict=True)}
