"""The type of arrays in signatures, and the way by which every number that a user gives becomes one.

A masked element is a gap in the data. `np.asarray` hands out the number below the mask, and with `float` it takes text,
decimals and the real part of complex numbers. Here a gap is NaN, and what is no real number is refused.
"""

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
REAL = (int, float, np.integer, np.floating)
MAX_INTEGER_BITS = 64  # of an entry of an array
PYTHON_NUMBERS = frozenset((int, float))  # types of the entries of most sequences, which need no closer look


def is_real(value: object) -> bool:
    """True for one real number, of Python or NumPy."""
    return isinstance(value, REAL) and not isinstance(value, bool)


def real_number(value: Any) -> float:
    """The value as a float; NaN where it is no real number."""
    if not is_real(value):
        return np.nan
    try:
        return float(value)
    except OverflowError:  # an integer of more than 308 digits
        return np.inf if value > 0 else -np.inf


def real_numbers(value: object, kinds: str = "iuf") -> Array:
    """An array of the real numbers in a value, of the type they have; NaN where they are masked.

    kinds: the kinds of NumPy's types that are taken
    ValueError where it holds anything else. Its text says what, for the end of a message: "got text".
    """
    try:
        given = np.asarray(value if type(value) is np.ndarray else without_masks(value))
    except (TypeError, ValueError, RuntimeError):  # ragged; deeper than NumPy's arrays; of a library that refuses
        raise ValueError("a ragged sequence" if isinstance(value, list | tuple) else f"a {_kind(value)}") from None
    if given.dtype.kind not in kinds:
        raise ValueError(_what(given))
    return given


def without_masks(value: Any) -> Any:
    """The value with NaN for what is masked, also within nested sequences."""
    masked = sys.modules.get("numpy.ma")  # slow to import, and without it nothing is masked
    if masked is None:
        return value
    if isinstance(value, masked.MaskedArray):
        return np.where(value.mask, np.nan, value.data) if value.dtype.kind in "biuf" else value.data
    if isinstance(value, (list, tuple)) and not PYTHON_NUMBERS.issuperset(map(type, value)):
        return [without_masks(item) for item in value]
    return value


def _what(given: Array) -> str:
    """The contents of an array that holds other things than the numbers asked for, for a message."""
    if given.dtype.kind in "US":
        return "text"
    if given.dtype.kind != "O":
        return f"{given.dtype} values"
    if odd := [entry for entry in given.flat if not isinstance(entry, REAL)]:
        return "None" if odd[0] is None else f"a {_kind(odd[0])}"
    if any(isinstance(entry, int) and entry.bit_length() > MAX_INTEGER_BITS for entry in given.flat):
        return f"an integer of more than {MAX_INTEGER_BITS} bits"
    return "numbers as Python objects (dtype object)" if given.size else "nothing"


def _kind(value: object) -> str:
    return type(value).__name__
