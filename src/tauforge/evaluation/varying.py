"""One kernel for a family of robots: fields of the robot become arguments instead of constants.

Such a kernel takes, after the state, an array for each varying field, and so serves a mass error or a length per row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.validation import did_you_mean, real_array

if TYPE_CHECKING:
    from tauforge.evaluation.with_functions import WithFunctions

NEVER_NEGATIVE = ("mass", "viscous", "coulomb", "motor_inertia", "friction")  # ends of names of fields
NEVER_ZERO = {"universal_axes": "axes other than zero", "gear_ratio": "numbers other than 0"}


def check_names(robot: WithFunctions, varying: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple, if these fields of the robot may vary, each once."""
    fields = known_fields(robot, varying)
    if len(set(fields)) < len(fields):
        raise UnsupportedFeatureError("a field is named twice", field="varying")
    robot._check_varying(fields)
    return fields


def known_fields(robot: WithFunctions, names: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple, if each is one of `varying_fields`."""
    if isinstance(names, str):
        raise UnsupportedFeatureError(f"expected a sequence of names, got {names!r}", field="varying")
    fields, known = tuple(names), robot.varying_fields
    for field in fields:
        if field not in known:
            robot._check_varying((field,))  # it may know why
            listed = f"{did_you_mean(field, known)}Use one of {', '.join(known)}"
            remedy = listed if known else f"No field of {robot.name} can vary"
            raise UnsupportedFeatureError(f"{field!r} cannot vary", field="varying", remedy=remedy)
    return fields


def check_values(robot: WithFunctions, given: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Arrays (N, *core) or (*core) of the fields that vary, with values that a robot may have."""
    fields = {}
    for name in check_names(robot, tuple(given)):
        value = real_array(name, given[name]).astype(float, copy=False)
        core = robot.varying_fields[name]
        if value.ndim < len(core) or value.shape[value.ndim - len(core) :] != core:
            raise ShapeError(name, expected=f"(N, {', '.join(map(str, core))})", got=str(value.shape))
        _check_range(name, value)
        fields[name] = value
    return fields


def _check_range(field: str, value: Array) -> None:
    if not np.isfinite(value).all():
        raise ShapeError(field, expected="finite numbers", got=str(value[~np.isfinite(value)][0]))
    if field.endswith(NEVER_NEGATIVE) and (value < 0).any():
        raise ShapeError(field, expected="numbers >= 0", got=str(value.min()))
    zero = ~value.any(axis=-1) if field == "universal_axes" else value == 0
    if field in NEVER_ZERO and zero.any():
        raise ShapeError(field, expected=NEVER_ZERO[field], got=str(value[zero][0].tolist()))


def in_rows(robot: WithFunctions, fields: Mapping[str, Array], rows: int) -> dict[str, Array]:
    """A share for every row, (rows, *core)."""
    return {name: np.broadcast_to(x, (rows, *robot.varying_fields[name])) for name, x in fields.items()}


def without_choices(options: Mapping[str, object]) -> dict[str, object]:
    """The first of each choice: forward derivatives. Reverse ones would record the robot's parameters twice."""
    return {name: value[0] if isinstance(value, tuple) else value for name, value in options.items()}
