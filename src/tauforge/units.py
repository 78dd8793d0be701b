"""Numbers and units in texts: units that files and commands may use, in SI, and numbers as people read them."""

from __future__ import annotations

import math
import re

# By SI unit, the units of the same kind, and how many of it one is.
KINDS = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0},
    "rad": {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "rev": 2 * math.pi},
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254},
    "rad/s": {"rad/s": 1.0, "deg/s": math.pi / 180, "rpm": math.pi / 30},
    "m/s": {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3},
    "rad/s^2": {"rad/s^2": 1.0, "deg/s^2": math.pi / 180},
    "m/s^2": {"m/s^2": 1.0, "cm/s^2": 1e-2, "mm/s^2": 1e-3},
    "N": {"N": 1.0, "kN": 1e3},
    "N m": {"N m": 1.0, "kN m": 1e3, "N mm": 1e-3},
    "kg": {"kg": 1.0, "g": 1e-3},
}
UNITS = {unit: (kind, factor) for kind, units in KINDS.items() for unit, factor in units.items()}
NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*?)?\s*")
SPELLINGS = {"°": "deg", "Nm": "N m", "kNm": "kN m", "Nmm": "N mm", "µm": "um", "µs": "us"}


def known_spelling(text: str) -> str:
    """The unit as `UNITS` spells it, however it is written; the text itself where it is no known unit."""
    plain = re.sub(r"\s+", " ", text.replace("²", "^2").replace("s2", "s^2").replace("**", "^"))
    plain = re.sub(r"(?<=\w)[.·*](?=\w)", " ", plain)
    unit = SPELLINGS.get(plain, plain)
    return unit if unit in UNITS else text


def in_si(text: str) -> tuple[float, str] | None:
    """A finite number in SI units and its SI unit, "" where it has none: "30deg" is 0.52 and "rad".

    None for a text that is no such number.
    """
    found = NUMBER.fullmatch(text)
    unit = known_spelling(found[2]) if found and found[2] else ""
    if found is None or (unit and unit not in UNITS) or not math.isfinite(float(found[1])):
        return None
    kind, factor = UNITS[unit] if unit else ("", 1.0)
    return float(found[1]) * factor, kind


def number(value: float, digits: int = 4) -> str:
    """Short, without an exponent where that is readable."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return {"nan": "-", "inf": "inf", "-inf": "-inf"}[str(float(value))]
    size = abs(value)
    if 1e-3 <= size < 1e6:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        text = f"{value:.{places}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
