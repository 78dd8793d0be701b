"""The numbers and bars of the viewer's panel, as HTML. Every name is escaped: robots come from anyone's files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from tauforge.arrays import Array
from tauforge.robots.records import LimitedQuantity
from tauforge.robots.robot import Robot
from tauforge.units import number
from tauforge.viewer import colours
from tauforge.viewer.colours import RED_CONDITION, condition_colour, condition_words
from tauforge.viewer.evaluation import Reading

PANEL_DIGITS = 5
LIMITS_SHOWN = 4  # the nearest to being exceeded
LARGEST_CONDITION = 1e5  # the end of the bar
ROUNDING_SHARE = 1e-12  # of the largest force: a smaller difference is rounding

TABLE_STYLE = "width:100%;border-collapse:collapse;font-size:12px;line-height:1.5;font-variant-numeric:tabular-nums"
# A long name is broken, not cut: names of limits often differ at their ends alone.
NAME_STYLE = "overflow-wrap:anywhere;max-width:11em;line-height:1.25;padding-right:.5em"
NUMBER_STYLE = "text-align:right;white-space:nowrap;padding-left:.5em"
TRACK_STYLE = "position:relative;height:8px;border-radius:2px;background:rgba(128,128,128,.22);overflow:hidden"
HEAD_STYLE = "font-weight:600;padding-top:.35em;text-align:left"


def readings_html(robot: Robot, reading: Reading, scales: Array) -> str:
    """Forces, sensors, limits, condition and energy.

    scales: (m,) N m or N that fill a bar where an actuator has no limit
    """
    parts = [*_forces(robot, reading, scales), *_sensors(robot, reading), *_limits(reading.limited)]
    parts += [*_condition(reading), *_energy(reading)]
    lines = [
        f'<div data-{key} style="color:{colour};font-size:12px">{escape(getattr(reading, key))}</div>'
        for key, colour in (("unreached", colours.OVER), ("problem", colours.OVER), ("note", colours.BASE))
        if getattr(reading, key)
    ]
    table = f'<table style="{TABLE_STYLE}">{"".join(parts)}</table>'
    return f'<div style="padding:0 .9em .6em">{"".join(lines)}{table}</div>'


def heading_html(robot: Robot) -> str:
    coordinates = f"{robot.n} coordinate{'s' if robot.n != 1 else ''}"
    return f'<div style="padding:0 .9em;font-size:12px">{escape(robot.kind)}, {coordinates}</div>'


def force_shares(robot: Robot, forces: Array) -> Array:
    """(m,) sizes of forces beside their limits; NaN where there is no limit."""
    limits = robot.max_forces
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(limits), np.abs(forces) / limits, np.nan)


def _forces(robot: Robot, reading: Reading, scales: Array) -> Iterator[str]:
    if not robot.actuators:
        return
    yield _head("Forces")
    shares, forces = force_shares(robot, reading.forces), _flat(reading.forces, scales)
    for k, actuator in enumerate(robot.actuators):
        force, limited = float(forces[k]), math.isfinite(actuator.max_force)
        filled = force / (actuator.max_force if limited else float(scales[k]) or 1.0)
        hint = f"limit {_text(actuator.max_force, actuator.unit)}" if limited else "no limit"
        bar = _both_ways(filled, colours.of_share(float(shares[k])))
        yield _row(actuator.words, bar, _text(force, actuator.unit), f"force-{k}", hint)
    if reading.difference is not None:
        yield _head("Difference to the default")
        differences = _flat(reading.difference, scales)
        for k, actuator in enumerate(robot.actuators):
            yield _row(actuator.words, "", _text(differences[k], actuator.unit), f"difference-{k}")


def _text(value: float, unit: str) -> str:
    return f"{number(float(value), PANEL_DIGITS)} {unit}"


def _flat(values: Array, scales: Array) -> Array:
    """Values without what is only rounding."""
    return np.where(np.abs(values) <= ROUNDING_SHARE * scales, 0.0, values)


def _sensors(robot: Robot, reading: Reading) -> Iterator[str]:
    if [s.column for s in robot.sensors.quantities] not in ([], [c.column for c in robot.coordinates]):
        yield _head("Sensors")
        each = [
            f'<span style="white-space:nowrap">{escape(sensor.column)}&nbsp;<span data-key="sensor-{k}">'
            f"{_text(value, escape(sensor.unit))}</span></span>"
            for k, (sensor, value) in enumerate(zip(robot.sensors.quantities, reading.sensors, strict=True))
        ]
        yield f'<tr><td colspan="3">{", ".join(each)}</td></tr>'


def _limits(limited: Sequence[LimitedQuantity]) -> Iterator[str]:
    """The quantities nearest to their limits, the nearest first."""
    if not limited:
        return
    yield _head("Limits, the nearest first")
    for one in sorted(limited, key=_room)[:LIMITS_SHOWN]:
        value = float(one.values[0])
        within = _room(one) >= 0
        colour = colours.OVER if not within else colours.NEAR if _room(one) < 1 - colours.NEAR_SHARE else colours.LOW
        yield _row(one.name, _between(one, value, colour), _text(value, one.unit), "limit", _range(one))


def _room(one: LimitedQuantity) -> float:
    """Room to the nearer limit, as a share of half the range, or of the value where a side is open."""
    half, margin = (one.upper - one.lower) / 2, float(one.margin[0])
    size = half if math.isfinite(half) and half > 0 else abs(float(one.values[0]))
    return margin / size if size else margin


def _range(one: LimitedQuantity) -> str:
    low, high = (number(x, PANEL_DIGITS) if math.isfinite(x) else "…" for x in (one.lower, one.upper))
    return f"{low} to {high} {one.unit}"


def _condition(reading: Reading) -> Iterator[str]:
    if reading.condition is None:
        return
    yield _head("Condition number")
    end = math.log10(LARGEST_CONDITION)
    red = 100 * math.log10(RED_CONDITION) / end
    finite = math.isfinite(reading.condition)
    filled = min(max(math.log10(reading.condition) / end, 0.0), 1.0) if finite else 1.0
    place = f"position:absolute;left:{red:.0f}%;right:0;top:0;bottom:0"
    band = f'<div style="{place};background:{colours.OVER};opacity:.3"></div>'
    bar = f'<div style="{TRACK_STYLE}">{band}{_piece(0.0, filled, condition_colour(reading.condition))}</div>'
    words = condition_words(reading.condition)
    text, hint = number(reading.condition, PANEL_DIGITS), "red: near a singularity"
    yield _row(words or "of this position", bar, text, "condition", hint, colours.OVER if words else "inherit")


def _energy(reading: Reading) -> Iterator[str]:
    if reading.energy is None:
        return
    yield _head("Energy")
    for name, value in zip(("kinetic", "potential"), reading.energy, strict=True):
        yield _row(name, "", _text(value, "J"), name)


def _head(text: str) -> str:
    return f'<tr><td colspan="3" style="{HEAD_STYLE}">{escape(text)}</td></tr>'


def _row(name: str, bar: str, text: str, key: str, hint: str = "", colour: str = "inherit") -> str:
    shown = escape(name)
    return (
        f'<tr title="{escape(hint)}"><td style="{NAME_STYLE};color:{colour}" title="{shown}">{shown}</td>'
        f'<td style="width:24%">{bar}</td><td style="{NUMBER_STYLE}" data-key="{key}">{escape(text)}</td></tr>'
    )


def _both_ways(share: float, colour: str) -> str:
    """A bar from the middle: to the right for positive shares."""
    half = min(abs(share), 1.0) / 2 if math.isfinite(share) else 0.0
    return f'<div style="{TRACK_STYLE}">{_piece(0.5 - half if share < 0 else 0.5, half, colour)}</div>'


def _between(one: LimitedQuantity, value: float, colour: str) -> str:
    """A mark where the value is between its limits; nothing where a side is open."""
    if not math.isfinite(one.upper - one.lower) or not one.upper > one.lower:
        return ""
    place = min(max((value - one.lower) / (one.upper - one.lower), 0.0), 1.0)
    return f'<div style="{TRACK_STYLE}">{_piece(max(place - 0.02, 0.0), 0.04, colour)}</div>'


def _piece(start: float, length: float, colour: str) -> str:
    place = f"left:{100 * start:.1f}%;width:{100 * length:.1f}%"
    return f'<div style="position:absolute;top:0;bottom:0;{place};background:{colour}"></div>'
