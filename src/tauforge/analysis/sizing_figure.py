"""The figure of a sizing report: what the legs do along the motion, and their peaks beside the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.figure import Figure, Line, Panel

if TYPE_CHECKING:
    from tauforge.analysis.sizing import Sizing

LIMIT = "limit"
TIME = "time (s)"


def sizing_figure(found: Sizing) -> Figure:
    """Forces along the motion and their peaks beside the limits; lengths within the strokes; speeds."""
    legs = [f"leg {i}" for i in range(1, found.forces.shape[1] + 1)]
    limits = found.force_limits
    # Bars share colours with legs, so that there is a colour left for the limits in all panels.
    peaks = [
        Line("peak", legs, np.abs(found.peak_force.value), "bars", like=legs[0]),
        Line("RMS", legs, found.rms_force, "bars", like=legs[1]),
    ]
    if np.isfinite(limits).any():
        peaks.append(Line(LIMIT, legs, np.where(np.isfinite(limits), limits, np.nan), "points"))
    ends = found.time[[0, -1]]
    bounds = [] if found.stroke is None else np.unique(found.stroke).tolist()
    strokes = [Line(LIMIT, ends, np.full(2, bound), "dashed") for bound in bounds]
    panels = (
        Panel("Forces", TIME, "force (N)", _curves(found.time, legs, found.forces)),
        Panel("Largest forces", "", "size of the force (N)", tuple(peaks)),
        Panel("Lengths", TIME, "length (m)", (*_curves(found.time, legs, found.lengths), *strokes)),
        Panel("Speeds", TIME, "speed (m/s)", _curves(found.time, legs, found.speeds)),
    )
    caption = "Forces, lengths and speeds of the legs along the motion, and their largest forces beside the limits."
    return Figure("sizing", "Demands on the legs", caption, panels, columns=2)


def _curves(time: Array, legs: list[str], values: Array) -> tuple[Line, ...]:
    return tuple(Line(leg, time, column) for leg, column in zip(legs, values.T, strict=True))
