"""Results of simulations: named arrays over time, events, and files of them."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.charts.notebook import InNotebook
from tauforge.errors import ModelError, ShapeError, TauforgeWarning
from tauforge.extras import extra_for
from tauforge.files import written_whole
from tauforge.robots.plausibility import levels_to_the_caller
from tauforge.robots.robot import Robot
from tauforge.robots.summary import Cell, Rows, Summary, SummaryTable, Words
from tauforge.simulation.events import Event
from tauforge.simulation.recording_files import ANGLE_NAMES, ARRAYS, read_recording, write_npz, write_table
from tauforge.tables.robot_columns import PLATFORM_COLUMNS, state_columns
from tauforge.validation import counted

RATE_UNITS = {"velocity": "/s", "target_velocity": "/s", "acceleration": "/s^2"}  # after the unit of the coordinate
MAX_RECORDING_BYTES = 2**30
POSE_NAMES = tuple(column.name for column in PLATFORM_COLUMNS.position)
MACHINE_CODE, METHODS = "machine code", "methods"  # what steps are made by
TOOL_NAMES, TOOL_UNITS = ("x", "y", "z", "turn about x", "turn about y", "turn about z"), ("m",) * 3 + ("rad",) * 3
EVENTS_LISTED = 10  # in a summary


@dataclass(frozen=True)
class Recording(InNotebook):
    """Rows are times: time (k,) s; the rest (k, n): joint coordinates, or poses and twists; force N m or N.

    Positions of a mechanism with loops have all of its joints, (k, N), and all else its independent coordinates.

    names, force_names: of the positions' entries and of the actuators; units, force_units: theirs, velocities and
    accelerations being per s and per s^2
    columns: what a .csv file calls positions, velocities, accelerations and forces, one after another; by default the
             names of `tauforge.tables.robot_columns`
    wrapped: names of coordinates that a full turn leaves unchanged, such as a platform's angles
    coordinates: (n,) names of the coordinates that velocities and targets are of, among the names; default all
    tool_error: (k, 6) of a law that moves the tool: from there to its target, translation (m) and rotation vector (rad)
                in world axes; None of other laws, and in .csv files
    stepped_by: "machine code", or the methods of law and robot, and why; files do not keep it
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    force: Array
    target_position: Array
    target_velocity: Array
    names: tuple[str, ...] = ()
    force_names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    force_units: tuple[str, ...] = ()
    robot: str = ""
    events: tuple[Event, ...] = field(default=())
    columns: tuple[str, ...] = ()
    wrapped: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    tool_error: Array | None = None
    stepped_by: str = field(default="", compare=False)

    def __repr__(self) -> str:
        name = f"{self.robot!r}, " if self.robot else ""
        span = float(self.time[-1] - self.time[0]) if len(self.time) else 0.0
        return f"Recording({name}{counted(len(self.time), 'row')}, {span:.6g} s, {counted(len(self.events), 'event')})"

    @property
    def places(self) -> list[int]:
        """(n,) of the coordinates among the entries of a position."""
        if not self.coordinates:
            return list(range(self.position.shape[1]))
        return [self.names.index(name) for name in self.coordinates]

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.coordinates or self.names

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        return tuple(self.units[k] for k in self.places) if self.units else ()

    @property
    def error(self) -> Array:
        """target_position - position, (k, n), the short way round for `wrapped` coordinates; or else `tool_error`."""
        if self.tool_error is not None:
            return self.tool_error
        error = np.asarray(self.target_position - self.position[:, self.places])
        names = ANGLE_NAMES if self.names == POSE_NAMES else self.wrapped
        for place in (k for k, name in enumerate(self.coordinate_names) if name in names):
            error[:, place] = np.remainder(error[:, place] + np.pi, 2 * np.pi) - np.pi
        return error

    def with_event(self, event: Event) -> Recording:
        """A recording with one more event."""
        return replace(self, events=tuple(sorted((*self.events, event))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .npz file (everything) or a .csv file (for `tauforge.motion.CsvMotion`), whole or not at all.

        A .csv file does not hold events: a TauforgeWarning says so if there are any.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".npz", ".csv"):
            raise ModelError(f"unknown suffix {suffix!r}", file=target, remedy="Use .npz or .csv")
        with written_whole(target) as file:
            if suffix == ".npz":
                write_npz(self, file)
            else:
                text = io.TextIOWrapper(file, encoding="utf-8", newline="")
                write_table(self, text)
                text.detach()
        if suffix == ".csv" and self.events:
            told = f"{target}: a CSV file does not hold the {counted(len(self.events), 'event')}"
            warnings.warn(TauforgeWarning(told, remedy="A .npz file holds all"), stacklevel=levels_to_the_caller())

    def write_csv(self, file: IO[str]) -> None:
        """CSV under the names of `columns`; targets are left out where there are none."""
        write_table(self, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int = MAX_RECORDING_BYTES) -> Recording:
        """The recording in a file that `save` wrote.

        max_bytes: that the arrays of an .npz file may take; 1 GiB, an hour of six joints at 1 kHz, unless you say more

        Identity: equal to what was saved; a .csv file does not hold the robot's own names, the events, and which
        coordinates other than a platform's angles wrap. ModelError where the file is anything else: other types and
        shapes, times that do not increase, numbers that are not finite.
        """
        return cls(**read_recording(Path(path), max_bytes))

    def to_xarray(self) -> Any:
        """An xarray.Dataset: the arrays over time and coordinate, forces over actuator, units in the attributes."""
        try:
            import xarray
        except ImportError:
            raise ModelError("to_xarray needs the package xarray", remedy="Run pip install xarray") from None
        data, places = {}, dict[str, Any](time=("time", self.time, {"units": "s"}))
        for name in ARRAYS:
            axis, labels, units = self._axis(name)
            places[axis] = list(labels)
            data[name] = (("time", axis), getattr(self, name), {"units": [x + RATE_UNITS.get(name, "") for x in units]})
        events = [f"{event.time!r} {event.what}: {event.which}{event.repeats}" for event in self.events]
        return xarray.Dataset(data, places, {"robot": self.robot, "events": events})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recording):
            return NotImplemented
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self) if f.compare]
        return all(np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def plot(self, quantities: Sequence[str] = ("position", "error", "force")) -> Any:
        """A matplotlib figure with a panel for each quantity and each of its units, and a legend beside each.

        quantities: names of arrays of the recording, or "error". Metres and radians, N and N m never share an axis.
        """
        with extra_for("plots need", "plots"):
            from matplotlib.figure import Figure
        known = ("error", *ARRAYS)
        if isinstance(quantities, str) or not quantities or not set(quantities) <= set(known):
            problem = f"expected names of arrays, got {quantities!r}"
            raise ModelError(problem, field="quantities", remedy=f"Known: {', '.join(known)}")
        panels = [panel for name in quantities for panel in self._panels(name)]
        figure = Figure(figsize=(8, 0.6 + 2.2 * len(panels)), layout="constrained")
        figure.suptitle(self.robot, parse_math=False)
        every = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
        for axes, (label, names, values) in zip(every, panels, strict=True):
            for place, column in values.items():
                axes.plot(self.time, column, color=f"C{place}", label=str(place))
            # Names come in afterwards: matplotlib leaves out those that begin with an underscore, and reads formulas.
            for text, name in zip(axes.legend(fontsize="small", **beside).get_texts(), names, strict=True):
                text.set(text=name, parse_math=False)
            axes.set_ylabel(label, parse_math=False)
            axes.grid(alpha=0.3)
        every[-1].set_xlabel("time, s")
        return figure

    def summary(self) -> Summary:
        """Duration, range and largest error of every coordinate, peaks of forces, and events, for people."""
        start, end = float(self.time[0]), float(self.time[-1])
        name = f"Recording of {self.robot}: " if self.robot else "Recording: "
        headline: Words = (name, end - start, f" s in {len(self.time):,} rows")
        parts: list[SummaryTable | Words] = [_coordinates(self), _forces(self)]
        if self.tool_error is not None:
            most = np.abs(self.tool_error).max(axis=0).tolist()
            of_tool: Rows = tuple(zip(TOOL_NAMES, TOOL_UNITS, most, strict=True))
            parts.insert(1, SummaryTable("The tool beside its target", ("", "unit", "largest error"), of_tool, texts=2))
        if self.events:
            listed = self.events[:EVENTS_LISTED]
            header: tuple[str, ...] = ("what", "which", "at [s]")
            rows: Rows = tuple((event.what, event.which, float(event.time)) for event in listed)
            if any(event.occurrences > 1 for event in listed):
                header = (*header, "times", "last at [s]")
                rows = tuple((*row, event.occurrences, event.last) for row, event in zip(rows, listed, strict=True))
            parts.append(SummaryTable("Events", header, rows, texts=2))
        if len(self.events) > EVENTS_LISTED:
            parts.append(f"And {len(self.events) - EVENTS_LISTED} more events.")
        return Summary(headline, tuple(parts))

    def _axis(self, quantity: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Kind, names and units of the columns of a quantity."""
        if quantity == "force":
            return "actuator", self.force_names, self.force_units
        if quantity == "error" and self.tool_error is not None:
            return "tool", TOOL_NAMES, TOOL_UNITS
        if quantity == "position" and self.coordinates not in ((), self.names):
            return "entry", self.names, self.units
        return "coordinate", self.coordinate_names, self.coordinate_units

    def _panels(self, quantity: str) -> list[tuple[str, list[str], dict[int, Array]]]:
        """Label, names and columns by their places, of the columns that share a unit, for each unit of a quantity."""
        values = getattr(self, quantity)
        names, units = _named(*self._axis(quantity)[1:], values.shape[1])
        panels = []
        for unit in dict.fromkeys(units):
            own = [k for k, other in enumerate(units) if other == unit]
            label = quantity.replace("_", " ") + (f", {unit}{RATE_UNITS.get(quantity, '')}" if unit else "")
            panels.append((label, [names[k] for k in own], {k: values[:, k] for k in own}))
        return panels


def _coordinates(run: Recording) -> SummaryTable:
    has_target = bool(np.isfinite(run.target_position).all())
    names, units = _named(run.names, run.units, run.position.shape[1])
    rows: list[tuple[Cell, ...]] = []
    errors = np.abs(run.target_position - run.position[:, run.places] if run.tool_error is not None else run.error)
    largest = dict(zip(run.places, errors.max(axis=0).tolist(), strict=True))
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        column = run.position[:, k]
        error: tuple[Cell, ...] = (largest.get(k),) if has_target else ()
        rows.append((name, unit, float(column.min()), float(column.max()), *error))
    header = ("coordinate", "unit", "smallest", "largest", *(("largest error",) if has_target else ()))
    return SummaryTable("Positions", header, tuple(rows), texts=2)


def _forces(run: Recording) -> SummaryTable:
    names, units = _named(run.force_names, run.force_units, run.force.shape[1])
    peaks = np.nan_to_num(np.abs(run.force)).argmax(axis=0)
    found = np.take_along_axis(run.force, peaks[None], axis=0)[0].tolist(), run.time[peaks].tolist()
    rows: Rows = tuple(zip(names, units, *found, strict=True))
    return SummaryTable("Peak forces, with their signs", ("actuator", "unit", "force", "at [s]"), rows, texts=2)


def _named(names: tuple[str, ...], units: tuple[str, ...], count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Numbers for columns without names, no units for those without."""
    return names or tuple(str(k) for k in range(1, count + 1)), units or ("",) * count


def check_recording(robot: Robot, recording: Recording, argument: str) -> None:
    """ModelError or ShapeError unless the recording has the coordinates, actuators and name of the robot, and finite
    positions.

    argument: what errors call the recording
    """
    stranger = recording.robot and recording.robot != robot.name
    whose = f"the recording is of {recording.robot}, not of {robot.name}"
    own, count = state_columns(robot), len(recording.time)
    for name, columns, what in (("position", own.position, "coordinate"), ("force", own.force, "actuator")):
        got = getattr(recording, name).shape
        if got != (count, len(columns)):
            if stranger:
                raise ModelError(whose, field=argument, remedy="Give that robot")
            expected = f"{count} rows of {counted(len(columns), what)}, as {robot.name} has"
            raise ShapeError(f"{argument}.{name}", expected=expected, got=str(got))
    pairs = (
        (recording.columns, [column.name for group in own for column in group]),
        (recording.units, [column.unit for column in own.position]),
        (recording.force_units, [column.unit for column in own.force]),
    )
    for theirs, ours in pairs:
        if theirs and (differing := next(((x, y) for x, y in zip(theirs, ours, strict=True) if x != y), None)):
            x, y = differing
            fault = f"does not fit {robot.name}: it has {x} where {robot.name} has {y}"
            raise ModelError(f"the recording of {recording.robot or 'another robot'} {fault}", field=argument)
    if stranger:  # with the same columns: platforms differ in nothing else
        remedy = f"Give that robot; if they are the same, dataclasses.replace(recording, robot={robot.name!r})"
        raise ModelError(whose, field=argument, remedy=remedy)
    expected = "finite positions at increasing times"
    if not count:
        raise ShapeError(argument, expected=expected, got="no rows")
    lost = np.argwhere(~np.isfinite(recording.position))
    if len(lost):
        row, place = lost[0].tolist()
        got = f"{own.position[place].name} = {recording.position[row, place]}"
        raise ShapeError(argument, expected=expected, got=got, row=row)
    back = np.flatnonzero(~(np.diff(recording.time) > 0))
    if len(back):
        row = int(back[0]) + 1
        before, after = recording.time[row - 1 : row + 1].tolist()
        raise ShapeError(argument, expected=expected, got=f"{after:g} s after {before:g} s", row=row)
