"""What a store says about itself: what was asked, in how many blocks, with what it was made, and a digest of it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tauforge.sweeps.axes import Axis
from tauforge.sweeps.fingerprint import digest
from tauforge.sweeps.grid import Grid
from tauforge.sweeps.made_with import made_with
from tauforge.sweeps.study import Result, Study

DIGEST = "metadata_digest"  # the attribute of the group that holds a digest of all metadata but itself
MARK = "tauforge_sweep"  # the attribute of the group that holds the description
FORMAT = 1  # of the store


def description(study: Study, grid: Grid) -> dict[str, Any]:
    """As JSON. Two runs with equal descriptions write the same bytes."""
    return {
        "format": FORMAT,
        "study": study.name,
        "asked": study.fingerprint,
        "axes": {axis.name: _axis(axis) for axis in study.axes},
        "results": {result.name: _result(result) for result in study.results},
        "blocks": {"shape": list(grid.block), "chunk": list(grid.chunk)},
        "made_with": made_with(),
    }


def axis_attributes(axis: Axis) -> dict[str, Any]:
    return {"units": axis.unit} if axis.unit else {}


def result_attributes(result: Result) -> dict[str, Any]:
    """As the CF conventions name them, so that xarray labels its plots."""
    found: dict[str, Any] = {"units": result.unit} if result.unit else {}
    if result.meaning:
        found["long_name"] = result.meaning
    if result.codes:
        found["flag_values"] = list(result.codes)
        found["flag_meanings"] = " ".join(text.replace(" ", "_") for text in result.codes.values())
    if result.integer:
        found["not_computed"] = result.fill
    return found


def metadata_digest(root: Mapping[str, Any]) -> str:
    """Digest of a group's metadata with that of all its members, but for the attribute that keeps it."""
    attributes = {name: value for name, value in root.get("attributes", {}).items() if name != DIGEST}
    return digest([attributes, consolidated(root)])


def consolidated(root: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of the group's members, as its own metadata repeats it."""
    found = (root.get("consolidated_metadata") or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def _axis(axis: Axis) -> dict[str, Any]:
    first, last = axis.values[0].item(), axis.values[-1].item()
    return {"points": len(axis), "first": first, "last": last, "unit": axis.unit, "values": digest(axis.values)}


def _result(result: Result) -> dict[str, Any]:
    fill = result.fill if result.integer else str(result.fill)
    return {"dtype": result.dtype, "unit": result.unit, "fill": fill, "core": dict(result.core)}
