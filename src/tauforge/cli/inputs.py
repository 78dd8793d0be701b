"""Inputs of commands: texts of options as robots, quantities and payloads, and motions from files."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tauforge.cli.output import bad, note, number, seconds, warn
from tauforge.errors import ModelError, Reported
from tauforge.units import NUMBER, UNITS

if TYPE_CHECKING:
    from tauforge.motion.csv_motion import CsvMotion
    from tauforge.robots.loads import Payload
    from tauforge.robots.robot import Robot

VOWELS = ("a", "e", "i", "o", "u")
LIMIT_ROUNDING = 1e-9  # relative to the limit: a motion that ends on it, converted from another unit, is not beyond it


def load_robot(name: str, tip: str | None = None, lock: list[str] | None = None) -> Robot:
    from tauforge.formats.loading import load

    locked = pairs("--lock", lock, "JOINT=VALUE")
    held = {joint: quantity("--lock", value, "rad", "m") for joint, value in locked}
    return load(name, tip=tip, lock=held or None)


def load_and_listen(name: str, tip: str | None, lock: list[str] | None) -> tuple[Robot, list[str]]:
    """The robot, and the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load_robot(name, tip, lock)
    return robot, [str(warning.message) for warning in caught]


def kind_of(robot: Robot) -> str:
    """Such as "an arm"."""
    from tauforge.robots.robot import noun_of

    noun = noun_of(robot)
    return f"{'an' if noun[:1].lower() in VOWELS else 'a'} {noun}"


def quantity(option: str, text: str, *kinds: str) -> float:
    """A number, in SI units unless it carries one of its own, such as 90deg or 20mm.

    kinds: the SI units of what it may measure; without any, no unit fits
    """
    fitting = {name: factor for name, (kind, factor) in UNITS.items() if kind in kinds}
    found = NUMBER.fullmatch(text)
    unit = (found[2] or "") if found else ""
    if found is None or (unit and unit not in fitting) or not math.isfinite(float(found[1])):
        units = f" in {' or '.join(kinds)}, or one with its unit ({', '.join(fitting)})" if kinds else " without a unit"
        raise bad(option, f"expected a number{units}, got {text!r}")
    return float(found[1]) * (fitting[unit] if unit else 1.0)


def quantities(option: str, text: str, kinds: Sequence[str]) -> list[float]:
    """Numbers with commas between them, each of its kind."""
    parts, count = text.split(","), len(kinds)
    if len(parts) != count:
        raise bad(option, f"expected {count} number{'s' * (count > 1)} separated by commas, got {len(parts)}")
    return [quantity(option, part, kind) for part, kind in zip(parts, kinds, strict=True)]


def parse_wrench(text: str | None) -> list[float] | None:
    """N and N m, (6,)."""
    return None if text is None else quantities("--wrench", text, ["N"] * 3 + ["N m"] * 3)


def parse_payload(text: str | None) -> Payload | None:
    from tauforge.robots.loads import Payload

    if text is None:
        return None
    count = text.count(",") + 1
    if count not in (1, 4):
        raise bad("--payload", f"expected a mass, or a mass and three coordinates, got {count} numbers")
    values = quantities("--payload", text, ("kg", "m", "m", "m")[:count])
    return Payload(values[0], values[1:] or (0.0, 0.0, 0.0))


def robot_carrying(robot: Any, text: str | None) -> Any:
    """The robot with the payload as part of it."""
    payload = parse_payload(text)
    return robot if payload is None else robot.carrying(payload)


def pairs(option: str, texts: list[str] | None, form: str = "NAME=VALUE") -> Iterator[tuple[str, str]]:
    """Names and values of an option that may be repeated."""
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise bad(option, f"expected {form}, got {text!r}")
        yield name.strip(), value


# ------------------------------------------------------------------------------------------------- motions from files


def read_motion(path: Path, robot: Any, smooth: float | None = None) -> CsvMotion:
    """The motion of a file, with notes on what it does not say."""
    from tauforge.motion.csv_motion import CsvMotion

    motion = CsvMotion(path, robot, smooth=smooth)
    if motion.derived:
        spline = "a spline" if smooth is None else f"a spline that smooths above {smooth:g} Hz"
        note(f"{path}: no columns give {' and '.join(motion.derived)}; they are derived from {spline}")
    if motion.turned:
        note(f"{path}: jumps by a full turn between rows were removed from {', '.join(motion.turned)}")
    if noisy := [name for name in motion.rough if name not in motion.coarse]:  # of the others a warning says more
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
        values, unit = quantity.values, quantity.unit
        ends = ((quantity.lower, quantity.lower - values), (quantity.upper, values - quantity.upper))
        size = max((abs(limit) for limit, _ in ends if math.isfinite(limit)), default=0.0)
        for limit, beyond in ends:
            outside = beyond > LIMIT_ROUNDING * size
            if outside.any():
                furthest, first = int(beyond.argmax()), seconds(motion.times[outside.argmax()])
                warn(
                    f"{quantity.phrase(furthest)} {number(values[furthest])} {unit}, {number(beyond[furthest])} {unit} "
                    f"beyond its limit of {number(limit)} {unit}; first beyond it at {first} s"
                )
