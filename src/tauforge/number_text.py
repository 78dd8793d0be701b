"""Numbers for people."""

from __future__ import annotations

import math


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
