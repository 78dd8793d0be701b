"""Pictures of stores: lines over one axis, maps over two, panels of maps over three."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.charts.figure import Figure, Line, Panel
from tauforge.charts.maps import Map, Maps, drawn_maps
from tauforge.charts.with_matplotlib import drawn
from tauforge.robots.static_quantities import HOLDS
from tauforge.sweeps.picture_values import Place, Shown, dataset_of, shown
from tauforge.workspace.limit_colours import FREE

if TYPE_CHECKING:
    from xarray import Dataset

MOST = (600, 600, 6)  # values along the axes of a map, and panels; a picture has about as many dots
NOTHING = "not computed"


def plot(
    store: str | os.PathLike[str] | Dataset,
    result: str | None = None,
    *,
    at: Mapping[str, Place] | None = None,
    partial: bool = False,
) -> Any:
    """A picture of one result of a sweep, as a matplotlib Figure.

    store:   path of a store, or a Dataset of `open_dataset`, such as a part of it
    result:  its name; default the first one
    at:      axes that are held: {"z": 1.0} takes the nearest value. A dimension that is no axis takes the name of an
             actuator or coordinate, or its number from 0
    partial: whether blocks may be missing, as in `open_dataset`

    One axis gives a line, or a line for every actuator. Two axes give filled colours, the first axis to the right; the
    codes of an integer have a legend. Three axes give up to six panels, evenly spaced along the third. A longer axis is
    drawn at 600 evenly spaced values, and no more is kept in memory. If there are more axes, `at` must hold some.
    """
    found = shown(dataset_of(store, partial), result, at or {}, MOST)
    lines = len(found.dimensions) == 1 or (len(found.dimensions) == 2 and not found.dimensions[1].axis)
    return drawn(_lines(found)) if lines else drawn_maps(_maps(found))


def _lines(found: Shown) -> Figure:
    x = found.dimensions[0]
    if found.codes:
        lines = _lines_of_codes(found)
    elif len(found.dimensions) == 1:
        lines = [Line("", x.values, found.values)]
    else:
        lines = [Line(word, x.values, found.values[:, k]) for k, word in enumerate(found.dimensions[1].words)]
    return Figure("sweep", found.title, "", (Panel("", x.label, found.label, tuple(lines)),))


def _lines_of_codes(found: Shown) -> list[Line]:
    """Points for every code that occurs, at the height of its number."""
    values, x = found.values.reshape(len(found.values), -1), found.dimensions[0].values
    places = np.broadcast_to(x[:, None], values.shape)
    occurring = [int(code) for code in np.unique(values[np.isfinite(values)])]
    return [
        Line(found.codes.get(code, f"code {code}"), places[values == code], values[values == code], "points")
        for code in occurring
    ]


def _maps(found: Shown) -> Maps:
    x, y, *panels = found.dimensions
    if panels:
        maps = tuple(Map(word, x.values, y.values, found.values[..., k]) for k, word in enumerate(panels[0].words))
    else:
        maps = (Map("", x.values, y.values, found.values),)
    own = {code: FREE for code, words in found.codes.items() if words == HOLDS}  # as in pictures of workspaces
    return Maps(found.title, x.label, y.label, found.label, maps, found.codes, NOTHING, own)
