"""Numbers of sixty digits that any formula takes: a reference that rounding does not reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauforge.algebra.scalars import BINARY, FoldingScalar, Scalar
from tauforge.evaluation.functions import flat, results_of

DIGITS = 60
OTHER_NAMES = {"abs": "fabs"}


class LongNumber(FoldingScalar):
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = mpmath.mpf(value)

    def _binary(self, name: str, a: Scalar, b: Scalar) -> LongNumber:
        return LongNumber((mpmath.atan2 if name == "atan2" else BINARY[name])(_bare(a), _bare(b)))

    def _unary(self, name: str) -> LongNumber:
        return LongNumber(-self.value if name == "neg" else getattr(mpmath, OTHER_NAMES.get(name, name))(self.value))

    def _select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> LongNumber:
        return LongNumber(_bare(x) if _bare(a) < _bare(b) else _bare(y))


def _bare(x: Scalar) -> Any:
    return x.value if isinstance(x, LongNumber) else x


def exactly(formula: Callable[..., Any], model: Any, *arguments: ArrayLike, **options: Any) -> NDArray[Any]:
    """Results of a formula at one state, without its doubt, flat."""
    with mpmath.workdps(DIGITS):
        given = [[LongNumber(float(x)) for x in np.ravel(a)] for a in arguments]
        return np.array([float(_bare(x)) for x in flat(results_of(formula(model, *given, **options)))])
