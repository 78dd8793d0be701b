"""Texts for people: numbers, and foreign texts made safe to show on a terminal."""

from __future__ import annotations

import math
import re

# control characters but tabs and line ends; marks that turn the direction of writing; line separators; half surrogates
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with every character that could command a terminal, or reorder a line, written as \x1b or \u202e."""
    return UNSAFE.sub(_escaped, text)


def one_line(text: str) -> str:
    """The same for a name, or a text with names: a line end in it cannot begin a line that passes for ours."""
    return printable(text).replace("\t", r"\t").replace("\n", r"\n")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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
