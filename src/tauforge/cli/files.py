"""Files of commands: motions that they read, with notes on what they do not say, and files that they write."""

from __future__ import annotations

import io
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tauforge.cli.options import bad
from tauforge.cli.output import note, number, seconds, warn
from tauforge.errors import ModelError, Reported

if TYPE_CHECKING:
    from tauforge.arrays import Array
    from tauforge.motion.csv_motion import CsvMotion
    from tauforge.robots.records import LimitedQuantity
    from tauforge.robots.robot import Robot
    from tauforge.tables.table import CsvColumn

STDOUT = "-"
LIMIT_ROUNDING = 1e-9  # relative to the limit: a motion that ends on it, converted from another unit, is not beyond it


def read_motion(path: Path, robot: Any, smooth: float | None = None) -> CsvMotion:
    """The motion of a file, with notes on what it does not say."""
    from tauforge.motion.csv_motion import CsvMotion

    motion = CsvMotion(path, robot, smooth=smooth)
    if motion.derived:
        spline = "a spline" if smooth is None else f"a spline that smooths above {smooth:g} Hz"
        note(f"{path}: no columns give {' and '.join(motion.derived)}; they are derived from {spline}")
    if motion.turned:
        note(f"{path}: jumps by a full turn between rows were removed from {', '.join(motion.turned)}")
    noisy = [name for name in motion.rough if name not in motion.coarse]  # of the others a warning says more
    if noisy:
        warn(
            f"{path}: the accelerations of {', '.join(noisy)} jump from sample to sample, because the positions are "
            "rounded or noisy, and so do the forces. Give accelerations or more digits, or use --smooth HZ"
        )
    if not motion.even:
        least, most = motion.steps
        note(f"{path}: the time steps are uneven, {seconds(least)} to {seconds(most)} s")
    if motion.unused:
        note(f"{path}: these columns are not used: {', '.join(motion.unused)}")
    return motion


@contextmanager
def rows_of(path: Path, rows: Any, times: Any = None) -> Iterator[None]:
    """Errors and warnings about a row of an array name that of the file. A ModelError names its row itself.

    rows: (k,) of the file, for each row of the arrays; times: (k,) s, named too where there are any
    """

    def name_row(said: object) -> None:
        if isinstance(said, Reported) and isinstance(said.row, int) and not isinstance(said, ModelError):
            time = "" if times is None else f", t = {seconds(times[said.row])} s"
            said.row_name = f"row {rows[said.row]} of {path}{time}"

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Reported as error:
            name_row(error)
            raise
    for warning in caught:
        name_row(warning.message)
        warnings.warn(warning.message, warning.category, stacklevel=3)


def warn_of_forces(robot: Robot, peaks: Sequence[float]) -> None:
    """One warning for each actuator that is asked for more than it can give."""
    for actuator, peak in zip(robot.actuators, peaks, strict=True):
        if abs(peak) > actuator.max_force:
            asked, limit = (f"{number(x)} {actuator.unit}" for x in (abs(peak), actuator.max_force))
            warn(f"{actuator.words} needs {asked}, more than its limit of {limit}")


def warn_of_motion(robot: Robot, motion: CsvMotion) -> None:
    """One warning for each limit that the motion goes beyond: how far, and when first."""
    for quantity in robot.bounds.quantities(motion.positions, motion.samples.velocity):
        _warn_outside(quantity, motion.times)


def _warn_outside(quantity: LimitedQuantity, times: Array) -> None:
    """A warning for each end of the limits that the values pass."""
    values, unit = quantity.values, quantity.unit
    ends = ((quantity.lower, quantity.lower - values), (quantity.upper, values - quantity.upper))
    size = max((abs(limit) for limit, _ in ends if math.isfinite(limit)), default=0.0)
    for limit, beyond in ends:
        outside = beyond > LIMIT_ROUNDING * size
        if outside.any():
            furthest = int(beyond.argmax())
            warn(
                f"{quantity.phrase(furthest)} {number(values[furthest])} {unit}, {number(beyond[furthest])} {unit} "
                f"beyond its limit of {number(limit)} {unit}; first beyond it at {seconds(times[outside.argmax()])} s"
            )


# ---------------------------------------------------------------------------------------------- files that are written


def check_output(
    output: str | None,
    inputs: Iterable[str | Path],
    suffixes: Sequence[str],
    as_json: bool = False,
    option: str = "--output",
) -> None:
    """Before any work: a file that can be written, and none that was read."""
    if output is None:
        return
    if output == STDOUT and option == "--output":
        if as_json:
            raise bad(option, "- and --json both write to stdout; give a file")
        return
    target = Path(output)
    if target.suffix.lower() not in suffixes:
        raise bad(option, f"expected a name that ends in {' or '.join(suffixes)}, got {output!r}")
    try:
        for path in inputs:
            if target.exists() and Path(path).exists() and target.samefile(path):
                raise bad(option, f"{output} is an input file; give another name")
        if target.is_dir() or output.endswith(os.sep):
            raise bad(option, f"{output} is a folder; give a file")
        if not target.parent.is_dir():
            raise bad(option, f"the folder {target.parent} does not exist")
        folder = os.path.dirname(os.path.realpath(target))
        if not os.access(folder, os.W_OK):
            raise bad(option, f"the folder {folder} is not writable")
        target.lstat()
    except FileNotFoundError:
        pass  # yet to be made
    except OSError as error:  # a name too long for any file
        raise bad(option, f"{output} cannot be written: {error.strerror}") from None


def write_output(output: str, writer: Callable[[IO[str]], None]) -> None:
    """What the writer writes, whole or not at all."""
    from tauforge.files import written_whole

    if output == STDOUT:
        whole = io.StringIO()  # nothing half on a pipe either
        writer(whole)
        sys.stdout.write(whole.getvalue())
        return
    with written_whole(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer(text)
        text.detach()


def write_table(output: str | None, columns: Sequence[CsvColumn], rows: Array) -> bool:
    """Writes a table of numbers where the user wants one; whether it took stdout, where nothing else may follow."""
    from tauforge.tables.table import write_csv

    if output is not None:
        write_output(output, lambda file: write_csv(file, columns, rows))
    return output == STDOUT
