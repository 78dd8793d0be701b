"""The demands of a motion on a Stewart platform: force, speed and stroke of its actuators, and loads of its joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.charts.along_time import TIME_LABEL
from tauforge.charts.figure import ChartPanel, Figure, Line
from tauforge.charts.notebook import InNotebook
from tauforge.charts.with_matplotlib import drawn
from tauforge.class_tools import with_field_docs
from tauforge.errors import ShapeError
from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.summary import Rows, Summary, SummaryTable, summarised
from tauforge.validation import real_array

if TYPE_CHECKING:
    from tauforge.robots.stewart.limits import Limits
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

LEG_COLUMNS = ("leg", "force [N]", "RMS [N]", "speed [m/s]", "power [W]", "mean [W]", "shortest [m]", "longest [m]")
MARGIN_COLUMNS = ("limit", "", "margin", "unit", "leg", "at [s]")
SAME = 1e-6  # relative: values that differ by less are equal; near singular poses rounding grows to that
LIMIT = "limit"


@with_field_docs
class Peak(NamedTuple):
    """The largest magnitude of a quantity over a motion.

    value: (n,) for each leg or joint, with its sign
    time:  (n,) s, when each is reached
    """

    value: Array
    time: Array

    @property
    def leg(self) -> int:
        """The leg, from 1, with the largest of all; the first of equal ones."""
        return int(_first_largest(np.abs(self.value))) + 1

    @property
    def worst(self) -> tuple[float, int, float]:
        """The largest of all with its sign, its leg from 1, and when (s)."""
        i = self.leg - 1
        return float(self.value[i]), self.leg, float(self.time[i])


@with_field_docs
class Margin(NamedTuple):
    """The smallest margin to a limit over a motion.

    limit: which limit
    unit:  of the value
    value: the smallest margin of all, negative where the limit is exceeded
    leg:   from 1, or None for limits that no single leg has
    time:  s, when the margin is smallest
    """

    limit: str
    unit: str
    value: float
    leg: int | None
    time: float


@summarised
@dataclass(frozen=True, repr=False)
class Sizing(InNotebook):
    """Demands on every leg. Forces in N, positive where they extend the leg; speeds m/s; powers W; lengths m.

    rms_force, mean_power: over time, by the trapezoidal rule, so that uneven samples count by their duration
    mean_power:            of the power that the actuator gives; power that it takes back when it brakes counts as 0
    reactions:             peak magnitudes of "universal force" and "universal moment" (at the base joint, whatever
                           its kind), "prismatic side force" (across the leg), "prismatic moment" (about the base joint)
                           and "spherical force" (at the platform joint), N and N m
    condition:             largest condition number of H, and when (s)
    crosses_singularity:   whether det H changes its sign between two samples
    force_limits:          largest force of each actuator, infinite where there is no limit
    stroke:                shortest and longest length of each leg; None where there is no limit
    """

    time: Array  # (k,) s
    forces: Array  # (k, 6)
    speeds: Array  # (k, 6)
    lengths: Array  # (k, 6)
    peak_force: Peak
    rms_force: Array  # (6,)
    peak_speed: Peak
    peak_power: Peak
    mean_power: Array  # (6,)
    shortest: Array  # (6,)
    longest: Array  # (6,)
    reactions: dict[str, Peak]
    margins: tuple[Margin, ...]
    condition: tuple[float, float]
    crosses_singularity: bool
    force_limits: Array  # (6,)
    stroke: Array | None  # (6, 2)

    @property
    def stroke_used(self) -> Array:
        """(6,) m."""
        return np.asarray(self.longest - self.shortest)

    @property
    def within_limits(self) -> bool:
        """True if every limit of the platform holds during the whole motion, and no singular pose is crossed."""
        return not self.crosses_singularity and all(margin.value >= 0 for margin in self.margins)

    def summary(self) -> Summary:
        """The report as tables: legs, and limits where their margin is smallest."""
        peaks = (self.peak_speed.value, self.peak_power.value)
        columns = (self.peak_force.value, self.rms_force, *peaks, self.mean_power, self.shortest, self.longest)
        rows: Rows = tuple((f"{i + 1}", *(float(column[i]) for column in columns)) for i in range(LEGS))
        legs = SummaryTable("Peaks, RMS force, mean power and lengths of the legs", LEG_COLUMNS, rows)
        margins: Rows = tuple(
            (m.limit, "holds" if m.value >= 0 else "BROKEN", m.value, m.unit, m.leg, m.time) for m in self.margins
        )
        limits = SummaryTable("Limits, where the margin is smallest", MARGIN_COLUMNS, margins, texts=2)
        value, time = self.condition
        condition = ("Condition number of the force matrix: at most ", value, ", at ", time, " s.")
        verdict = "All limits hold" if self.within_limits else "Not all limits hold"
        return Summary(f"Sizing: {verdict}", (legs, *((limits,) if margins else ()), condition))

    def plot(self) -> Any:
        """A matplotlib figure: forces, speeds and lengths of the legs along the motion, and peaks beside the limits."""
        return drawn(sizing_figure(self))


def size_actuators(
    platform: StewartPlatform,
    time: ArrayLike,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    *,
    external_wrench: ArrayLike | None = None,
) -> Sizing:
    """The demands of a motion on the actuators and joints of a platform, by the exact model.

    time: (k,) s, at least two, strictly increasing; pose, twist, acceleration: (k, 6)
    external_wrench: (6,) or (k, 6) N, N m on the platform at its origin, base axes
    """
    given = {"time": time, "pose": pose, "twist": twist, "acceleration": acceleration}
    t, *state = (real_array(name, x).astype(float, copy=False) for name, x in given.items())
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        got = str(t.shape) if t.ndim != 1 or len(t) < 2 else f"{np.diff(t).min():g} s as the smallest step"
        raise ShapeError("time", expected="(k,) at least two times, strictly increasing", got=got)
    for name, x in zip(("pose", "twist", "acceleration"), state, strict=True):
        if x.shape != (len(t), LEGS):
            raise ShapeError(name, expected=f"({len(t)}, 6), one row for each time", got=str(x.shape))
    forces = platform.inverse_dynamics(*state, external_wrench=external_wrench)
    legs = platform.leg_motion(*state)
    power = forces * legs.rates
    conditions = platform.condition_number(state[0])
    worst = int(_first_largest(conditions))
    determinants = np.linalg.det(platform.force_matrix(state[0]))
    return Sizing(
        time=t,
        forces=forces,
        speeds=legs.rates,
        lengths=legs.lengths,
        peak_force=peak_of(t, forces),
        rms_force=rms_of(t, forces),
        peak_speed=peak_of(t, legs.rates),
        peak_power=peak_of(t, power),
        mean_power=_mean(t, np.maximum(power, 0.0)),
        shortest=legs.lengths.min(axis=0),
        longest=legs.lengths.max(axis=0),
        reactions=_reactions(platform, t, state, legs.directions, external_wrench),
        margins=_margins(t, platform.within_limits(state[0], forces), legs.lengths, forces),
        condition=(float(conditions[worst]), float(t[worst])),
        crosses_singularity=bool((determinants[1:] * determinants[:-1] < 0).any()),
        force_limits=np.asarray(platform.max_forces, float),
        stroke=None if platform.stroke is None else np.array(platform.stroke, float),
    )


def _reactions(
    platform: StewartPlatform, t: Array, state: list[Array], directions: Array, wrench: ArrayLike | None
) -> dict[str, Peak]:
    found = platform.joint_reactions(*state, external_wrench=wrench)
    universal, prismatic, spherical = ((x[..., :3], x[..., 3:]) for x in found)
    along = (prismatic[0] * directions).sum(-1, keepdims=True) * directions
    vectors = {
        "universal force": universal[0],
        "universal moment": universal[1],
        "prismatic side force": prismatic[0] - along,
        "prismatic moment": prismatic[1],
        "spherical force": spherical[0],
    }
    return {name: peak_of(t, np.linalg.norm(vector, axis=-1)) for name, vector in vectors.items()}


def _margins(t: Array, limits: Limits, lengths: Array, forces: Array) -> tuple[Margin, ...]:
    """The margins to all limits. The rounding of a margin, which may be near 0, is relative to the compared values."""
    length, force = float(lengths.max()), float(np.abs(forces).max())
    of_legs = (
        ("stroke", "m", limits.stroke, length),
        ("base joint cone", "rad", limits.base_cone, 1.0),
        ("platform joint cone", "rad", limits.platform_cone, 1.0),
        ("force", "N", limits.force, force),
    )
    margins = []
    for name, unit, values, size_compared in of_legs:
        if values is not None:
            rows = _first_largest(-values, size_compared)
            least = values[rows, np.arange(LEGS)]
            leg = int(_first_largest(-least, size_compared))
            margins.append(Margin(name, unit, float(least[leg]), leg + 1, float(t[rows[leg]])))
    if limits.clearance is not None:
        worst = int(_first_largest(-limits.clearance, length))
        legs = limits.nearest_legs
        pair = "" if legs is None else f" of legs {legs[worst, 0]} and {legs[worst, 1]}"
        margins.append(Margin(f"clearance{pair}", "m", float(limits.clearance[worst]), None, float(t[worst])))
    return tuple(margins)


def peak_of(time: Array, values: Array) -> Peak:
    """time: (k,) s; values: (k, n)."""
    rows = _first_largest(np.abs(values))
    return Peak(values[rows, np.arange(values.shape[1])], time[rows])


def rms_of(time: Array, values: Array) -> Array:
    """Root mean squares (n,) over time, by the trapezoidal rule."""
    return np.asarray(np.sqrt(_mean(time, values**2)))


def _first_largest(values: Array, scale: float | None = None) -> Array:
    """The row of the largest value of each column; the first of those that differ only by rounding, on all machines.

    scale: magnitude of the terms of which the values are differences; default the largest value itself
    """
    largest = values.max(axis=0)
    return np.asarray((values >= largest - SAME * (np.abs(largest) if scale is None else scale)).argmax(axis=0))


def _mean(t: Array, values: Array) -> Array:
    return np.asarray(np.trapezoid(values, t, axis=0) / (t[-1] - t[0]))


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
        ChartPanel("Forces", TIME_LABEL, "force (N)", _curves(found.time, legs, found.forces)),
        ChartPanel("Largest forces", "", "size of the force (N)", tuple(peaks)),
        ChartPanel("Lengths", TIME_LABEL, "length (m)", (*_curves(found.time, legs, found.lengths), *strokes)),
        ChartPanel("Speeds", TIME_LABEL, "speed (m/s)", _curves(found.time, legs, found.speeds)),
    )
    caption = "Forces, lengths and speeds of the legs along the motion, and their largest forces beside the limits."
    return Figure("sizing", "Demands on the legs", caption, panels, columns=2)


def _curves(time: Array, legs: list[str], values: Array) -> tuple[Line, ...]:
    return tuple(Line(leg, time, column) for leg, column in zip(legs, values.T, strict=True))
