"""Numbers and axes that ready studies take, checked: texts of options, and values that an axis may have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import ModelError
from tauforge.sweeps.axes import Axis
from tauforge.units import in_si


def number_option(options: Mapping[str, str], name: str, unit: str, default: float) -> float:
    """The number of an option in an SI unit, "" for a pure number; the default where it is not given."""
    return default if name not in options else float(numbers_option(options, name, [unit])[0])


def positive_option(options: Mapping[str, str], name: str, unit: str, default: float) -> float:
    """The same, and ModelError unless it is above 0."""
    found = number_option(options, name, unit, default)
    if found <= 0:
        raise ModelError(f"expected a number above 0, got {found:g}", field=f"option {name}")
    return found


def numbers_option(options: Mapping[str, str], name: str, units: Sequence[str]) -> Array:
    """The numbers of an option, separated by commas, one for each of the SI units."""
    texts = options[name].split(",")
    if len(texts) != len(units):
        raise ModelError(
            f"expected {len(units)} number{'s' * (len(units) > 1)} separated by commas, got {len(texts)}",
            field=f"option {name}",
        )
    found = []
    for text, unit in zip(texts, units, strict=True):
        value = in_si(text)
        if value is None or value[1] not in ("", unit):
            words = f"a number in {unit}" if unit else "a number without a unit"
            raise ModelError(f"expected {words}, got {text.strip()!r}", field=f"option {name}")
        found.append(value[0])
    return np.array(found)


def point_option(options: Mapping[str, str], name: str) -> Array:
    """(3,) m; the origin where the option is not given."""
    return numbers_option(options, name, ["m"] * 3) if name in options else np.zeros(3)


def check_values(axes: Iterable[Axis], name: str, holds: Callable[[Array], Array], words: str) -> None:
    """ModelError where an axis of this name has values that do not hold. words: what they must be, such as ">= 0"."""
    for axis in axes:
        if axis.name == name and not (good := holds(axis.values)).all():
            raise ModelError(f"expected {words}, got {axis.values[~good][0]:g}", field=f"axis {name}")


def common_unit(units: Iterable[str]) -> str:
    """The unit of numbers that lie in one array: "N m or N" where they have different ones."""
    return " or ".join(sorted(set(units)))
