"""Checks of the values that describe a robot: finite, of the right shape, or an error names the field."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.algebra.scalars import cos_sin_of_constant
from tauforge.algebra.vectors import Matrix, Transform, Vector, rotation_about_x, rotation_about_z
from tauforge.arrays import Array, is_real, real_number, real_numbers
from tauforge.errors import ModelError, ShapeError, UnsupportedFeatureError

ROTATION_TOLERANCE = 1e-6  # of a rotation matrix in a file; nearer ones are made orthonormal
ROUNDING_TOLERANCE = 1e-12  # nearer still is left as it is, so that saved models load unchanged
SYMMETRY_TOLERANCE = 1e-9  # of an inertia tensor, relative to its largest entry
LARGEST = 1e100  # magnitude of any parameter of a robot: the products of a few of them stay finite

Floats = tuple[float, ...]
Rows = tuple[Floats, ...]
IDENTITY_ROWS: Rows = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
ZERO_INERTIA: Rows = ((0.0, 0.0, 0.0),) * 3


MAX_SHOWN = 60  # characters of a wrong value in a message
MOST_NAMES = 20  # names that a message lists


def did_you_mean(given: object, known: Iterable[str], show: Callable[[str], str] = str) -> str:
    """The question that begins a remedy, "Did you mean cubic? ", about the name most like it; "" where none is."""
    small = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(given).lower(), small, n=1)
    return f"Did you mean {show(small[near[0]])}? " if near else ""


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def known_names(wrong: object, names: Iterable[str], show: Callable[[str], str] = str) -> str:
    """The remedy for a name that is none of these: the one that was probably meant, and all of them."""
    every = list(dict.fromkeys(names))
    return f"{did_you_mean(wrong, every, show)}Known: {listed(map(show, every), MOST_NAMES) or 'none'}"


def check_known(name: str, known: Iterable[str], problem: str, field: str) -> None:
    """UnsupportedFeatureError with this problem unless the name is known; the remedy lists all that are."""
    every = list(known)
    if name not in every:
        remedy = f"{did_you_mean(name, every)}Use one of {', '.join(every)}"
        raise UnsupportedFeatureError(problem, field=field, remedy=remedy)


def listed(names: Iterable[str], most: int, separator: str = ", ") -> str:
    """As many names as a message holds, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return separator.join(every[:most]) + more


def counted(count: int, noun: str, several: str | None = None) -> str:
    """The number with its noun: 1 actuator, 2 actuators."""
    return f"{count} {noun if count == 1 else several or noun + 's'}"


def freedoms(count: int) -> str:
    return f"{counted(count, 'degree')} of freedom"


def text(value: Any, field: str) -> str:
    """A string that can be written to files and pictures: half of a surrogate pair alone is no character."""
    if not isinstance(value, str):
        raise ModelError(f"expected a string, got {shown(value)}", field=field)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ModelError(f"expected Unicode text, got {shown(value)}", field=field, remedy="Remove the lone surrogate")
    return value


def real(value: Any, field: str) -> float:
    """A finite real number."""
    if not is_real(value):
        raise ModelError(f"expected a number, got {shown(value)}", field=field)
    number = real_number(value)
    if not abs(number) <= LARGEST:
        raise ModelError(f"expected a finite number of at most {LARGEST:g}, got {number}", field=field)
    return number


def whole(value: Any, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ModelError(f"expected a whole number >= 1, got {value!r}", field=field)
    return int(value)


def non_negative(value: Any, field: str) -> float:
    number = real(value, field)
    if number < 0:
        raise ModelError(f"expected a number >= 0, got {number}", field=field)
    return number


def array(value: Any, shape: tuple[int, ...], field: str) -> NDArray[np.float64]:
    """An array of finite numbers of exactly this shape."""
    try:
        result = None if _has_truth(value) else real_numbers(value).astype(np.float64)  # truths would be 0 or 1
    except ValueError:
        result = None
    if result is None:
        raise ModelError(f"expected {describe(shape)}, got {shown(value)}", field=field)
    if result.shape != shape:
        raise ModelError(f"expected {describe(shape)}, got shape {result.shape}", field=field)
    sound = np.abs(result) <= LARGEST
    if not sound.all():
        raise ModelError(f"expected finite numbers of at most {LARGEST:g}, got {result[~sound][0]}", field=field)
    return result


def _has_truth(value: Any) -> bool:
    """True if True or False is among the entries of nested sequences."""
    if isinstance(value, list | tuple):
        return any(_has_truth(item) for item in value)
    return isinstance(value, bool | np.bool_)


def describe(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} numbers" if len(shape) == 1 else " x ".join(map(str, shape)) + " numbers"


def vector(value: Any, field: str) -> Floats:
    return tuple(array(value, (3,), field).tolist())


def per_joint(value: Any, n: int, field: str) -> list[Any]:
    """A sequence with one entry for each joint."""
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence | np.ndarray):
        raise ModelError(f"expected a sequence of {n}, one entry for each joint, got {shown(value)}", field=field)
    if len(value) != n:
        raise ModelError(f"expected {n} entries, one for each joint, got {len(value)}", field=field)
    return list(value)


def inertia(value: Any, field: str) -> Rows:
    """A symmetric tensor, from three principal moments or a 3 x 3 matrix."""
    raw = np.asarray(value, dtype=object)
    tensor = np.diag(array(value, (3,), field)) if raw.ndim == 1 else array(value, (3, 3), field)
    largest = np.abs(tensor).max()
    if np.abs(tensor - tensor.T).max() > SYMMETRY_TOLERANCE * largest:
        problem = f"the inertia tensor is not symmetric: {shown(value)}"
        raise ModelError(problem, field=field, remedy="Give Ixy and Iyx the same value")
    return rows((tensor + tensor.T) / 2)


def transform(value: Any, field: str) -> Rows:
    """A 4 x 4 rigid displacement; None is the identity."""
    if value is None:
        return IDENTITY_ROWS
    T = array(value, (4, 4), field)
    if not np.array_equal(T[3], (0, 0, 0, 1)):
        raise ModelError(f"the last row of a transform must be 0 0 0 1, got {T[3].tolist()}", field=field)
    return rows(np.block([[rotation(T[:3, :3], field), T[:3, 3:]], [np.array([[0.0, 0.0, 0.0, 1.0]])]]))


FROM_ANGLES = 'scipy.spatial.transform.Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()'


def rotation(
    value: ArrayLike, field: str, otherwise: str = f"make R from angles by {FROM_ANGLES}"
) -> NDArray[np.float64]:
    """A proper rotation matrix, made orthonormal if it was printed with few digits.

    otherwise: what else the remedy proposes to do where it is none
    """
    R = array(value, (3, 3), field)
    error = np.abs(R.T @ R - np.eye(3)).max()
    if error > ROTATION_TOLERANCE or np.linalg.det(R) < 0:
        problem = f"R is not a rotation matrix: R'R differs from 1 by {error:.2g}, det = {np.linalg.det(R):.3g}"
        raise ModelError(problem, field=field, remedy=f"Give more digits, or {otherwise}")
    if error > ROUNDING_TOLERANCE:
        U, _, V = np.linalg.svd(R)
        return np.asarray(U @ V)
    return R


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll), exact at quarter turns."""
    c, s = cos_sin_of_constant(pitch)
    about_y = Matrix.of(((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)))
    return rotation_about_z(yaw).times(about_y).times(rotation_about_x(roll))


def rows(a: NDArray[np.float64]) -> Rows:
    return tuple(tuple(float(x) for x in row) for row in a)


def to_transform(T: Rows) -> Transform:
    """Nested numbers to the algebra's transform."""
    return Transform(Matrix.of([row[:3] for row in T[:3]]), Vector(T[0][3], T[1][3], T[2][3]))


def from_transform(T: Transform) -> Rows:
    R, p = T
    return tuple((*row, t) for row, t in zip(R.rows, p, strict=True)) + ((0.0, 0.0, 0.0, 1.0),)


def broadcast_shape(name: str, parts: dict[str, Array]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(part.shape for part in parts.values()))
    except ValueError:
        shapes = ", ".join(f"{field} {part.shape}" for field, part in parts.items())
        raise ShapeError(name, expected="leading shapes that broadcast together", got=shapes) from None


def real_vectors(name: str, value: ArrayLike) -> Array:
    v = real_array(name, value)
    if v.shape[-1:] != (3,):
        raise ShapeError(name, expected="(..., 3)", got=str(v.shape))
    return v


def real_array(name: str, value: ArrayLike) -> Array:
    """Real numbers; what is not finite spoils its own row, as in a state."""
    try:
        result = real_numbers(value)
    except ValueError as error:
        raise ShapeError(name, expected="numbers", got=str(error)) from None
    return np.array(result, None if result.dtype == np.float32 else np.float64)
