"""Where formulations meet arrays, the recorder and the compiler: the only place that joins them.

A formula takes named lists of scalars and returns nested lists of scalars. It is traced once and compiled to a kernel;
or, where there is no kernel (no executable memory, too many operations), its scalars are contiguous NumPy columns, one
per component, over blocks of rows: the reference evaluation of every public method.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Mapping
from functools import partial, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tauforge import settings
from tauforge.algebra.scalars import Column, FoldingScalar, Scalar
from tauforge.arrays import Array
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.kernels.cpu.code_memory import NoKernelError, executable_memory
from tauforge.kernels.lock import LOCK
from tauforge.tracing.graph import Graph, cheapest_trace

if TYPE_CHECKING:
    from tauforge.kernels.cpu.kernel import Kernel

BLOCK = 8192  # rows at a time: bounds the memory of the temporaries, and keeps them in the cache


def as_argument(name: str, value: ArrayLike, size: int, meaning: str) -> Array:
    """A real array (..., size); float32 stays, every other real type becomes float64; what is masked is NaN."""
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ShapeError(name, expected=f"(..., {size})", got="a ragged sequence") from None
    if raw.dtype.kind not in "biuf":
        raise ShapeError(name, expected=f"real numbers (..., {size})", got=f"{raw.dtype} values")
    if raw.shape[-1:] != (size,):
        raise ShapeError(name, expected=f"(..., {size}): {meaning}", got=str(raw.shape))
    masked = sys.modules.get("numpy.ma")  # slow to import, and without it nothing is masked
    if masked is not None and isinstance(value, masked.MaskedArray) and value.mask.any():
        raw = np.where(value.mask, np.nan, raw)
    return raw if raw.dtype == np.float32 else raw.astype(np.float64, copy=False)


def batch_shape(arguments: Mapping[str, Array]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(value.shape[:-1] for value in arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in arguments.items())
        raise ShapeError("arguments", expected="leading shapes that broadcast together", got=shapes) from None


def finite_rows(arguments: Mapping[str, Array]) -> Array:
    """Which rows of the batch (...) are finite in every argument."""
    return reduce(np.logical_and, (np.asarray(np.isfinite(value).all(axis=-1)) for value in arguments.values()))


Shape = tuple[int, ...]
Formula = Callable[..., Any]


class Evaluator:
    """Evaluates formulas of one robot, each by a kernel of its own.

    model:    makes what the formulas take first; called only if a formula runs, not for a kernel from the cache
    identity: a text that determines the model, for the kernel cache
    limits:   of the size of a function's last result, for its kernel to watch (`Kernel.suspects`)
    """

    def __init__(
        self, model: Callable[[], Any], identity: str, limits: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._model, self._identity, self._limits = model, identity, limits
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self._too_large: set[tuple[Any, ...]] = set()

    def __call__(
        self, name: str, formula: Formula, arguments: Mapping[str, Array], results: list[Shape], **options: Any
    ) -> tuple[Array, ...]:
        """formula(model, **columns, **options) for every row; arrays (..., *core) for each of the results.

        An option that is a tuple offers a choice of values with the same outcome: the cheapest is compiled.
        """
        kernel = self.kernel(
            name, formula, {key: value.shape[-1:] for key, value in arguments.items()}, results, **options
        )
        if kernel is None:
            return evaluate(partial(formula, self._model(), **choices(options)[0]), arguments, results)
        values = list(arguments.values())
        if len({value.dtype for value in values}) > 1:
            values = [value.astype(np.float64, copy=False) for value in values]
        try:
            out = kernel(*values)
        except ValueError:
            batch_shape(arguments)  # says what does not fit
            raise
        except NoKernelError:  # in float32, for which there was no memory left
            return evaluate(partial(formula, self._model(), **choices(options)[0]), arguments, results)
        return out if isinstance(out, tuple) else (out,)

    def kernel(
        self, name: str, formula: Formula, shapes: dict[str, Shape], results: list[Shape], **options: Any
    ) -> Kernel | None:
        """The kernel for arguments of these core shapes, made on first use; None where the reference must do."""
        key = (name, *shapes.items(), *options.items())
        found = self._kernels.get(key)
        if found is not None or key in self._too_large or not kernels_allowed():
            return found
        with LOCK:
            from tauforge.kernels.cpu.kernel import (
                TooLargeError,  # the compiler is slow to import: not before it is needed
            )
        try:
            return self._kernels.setdefault(key, self._make(name, formula, shapes, results, key, options))
        except TooLargeError:
            self._too_large.add(key)
            return None
        except NoKernelError:  # not remembered: there may be memory for it later
            return None

    def too_large(
        self, name: str, formula: Formula, shapes: dict[str, Shape], results: list[Shape], **options: Any
    ) -> bool:
        """Whether the function, described as for `kernel`, has more operations than are compiled."""
        made = self.kernel(name, formula, shapes, results, **options)
        return made is None and (name, *shapes.items(), *options.items()) in self._too_large

    def _make(
        self,
        name: str,
        formula: Formula,
        shapes: dict[str, Shape],
        results: list[Shape],
        key: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Kernel:
        with LOCK:
            from tauforge.kernels.cpu.kernel import kernel_of

        model = self._model  # the kernel must not refer to this evaluator, which refers to the kernel

        def graph() -> Graph:
            def recorded(chosen: dict[str, Any], *columns: Any) -> list[Scalar]:
                return flat(formula(model(), **dict(zip(shapes, columns, strict=True)), **chosen))

            sizes = {argument: math.prod(core) for argument, core in shapes.items()}
            return cheapest_trace([partial(recorded, chosen) for chosen in choices(options)], sizes)

        kernel = kernel_of(
            name,
            f"{name} of one robot",
            graph,
            list(shapes.items()),
            results,
            f"{key} {self._identity}",
            self._limits.get(name),
        )
        kernel.loaded(64)
        return kernel


def kernels_allowed() -> bool:
    """Whether machine code may be made: switched on, and the system lets us."""
    return settings.kernels() and executable_memory()


def precision(dtype: Any) -> int:
    """Bits of a kernel's numbers."""
    try:
        return {"float64": 64, "float32": 32}[np.dtype(dtype).name]
    except (TypeError, KeyError):
        raise UnsupportedFeatureError(f"dtype {dtype!r}", field="kernel", remedy="Use float64 or float32") from None


def checked_request(
    function: str, functions: Mapping[str, Any], target: str, dtype: Any, options: Mapping[str, Any]
) -> int:
    """Of a robot's `kernel`: the bits of its numbers, if there is such a function with such options."""
    if function not in functions:
        raise UnsupportedFeatureError(
            f"no function {function!r}", field="kernel", remedy=f"Use one of {', '.join(functions)}"
        )
    if target != "cpu":
        raise UnsupportedFeatureError(f"target {target!r}", field="kernel", remedy="Use cpu")
    check_options(function, options, functions[function].options)
    return precision(dtype)


def check_options(function: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise UnsupportedFeatureError(
            f"{function} has no option {unknown[0]!r}", field="kernel", remedy=f"Known: {', '.join(known) or 'none'}"
        )


def loaded(kernel: Kernel | None, function: str, bits: int) -> Kernel:
    """The kernel with its machine code in this precision; UnsupportedFeatureError where there is none."""
    try:
        if kernel is not None:
            kernel.loaded(bits)
            return kernel
    except NoKernelError:
        pass
    raise no_kernel(function)


def no_kernel(function: str) -> UnsupportedFeatureError:
    if not settings.kernels():
        why = f"{settings.shown(settings.KERNELS)} switches kernels off"
    elif not executable_memory():
        why = "no executable memory left"
    else:
        from tauforge.kernels.cpu.kernel import MAX_NODES

        why = f"more than {MAX_NODES} operations, or no executable memory left"
    return UnsupportedFeatureError(
        f"{function} has no kernel: {why}", field="kernel", remedy="The method itself answers by the NumPy reference"
    )


def choices(options: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the options that are tuples."""
    values = [value if isinstance(value, tuple) else (value,) for value in options.values()]
    return [dict(zip(options, combination, strict=True)) for combination in itertools.product(*values)]


def evaluate(formula: Formula, arguments: Mapping[str, Array], results: list[Shape]) -> tuple[Array, ...]:
    """The reference: formula(**columns) for every row over NumPy; float32 only if every argument is."""
    batch = batch_shape(arguments)
    if not batch:  # one state is a batch of one, so that it gets the very same digits
        single = evaluate(formula, {name: value[None] for name, value in arguments.items()}, results)
        return tuple(out[0] for out in single)
    dtype = np.result_type(*(value.dtype for value in arguments.values()))
    outs = tuple(np.empty(batch + core, dtype) for core in results)
    whole = {name: np.broadcast_to(value, batch + value.shape[-1:]) for name, value in arguments.items()}
    with np.errstate(all="ignore"):
        _fill(outs, batch, formula, whole)
    return outs


def _fill(outs: tuple[Array, ...], batch: Shape, formula: Formula, arguments: Mapping[str, Array]) -> None:
    rows = math.prod(batch)
    if rows > BLOCK:
        step = max(1, BLOCK * batch[0] // rows)
        for start in range(0, batch[0], step):
            whole = step > 1 or len(batch) == 1
            block: slice | int = slice(start, start + step) if whole else start
            part = (min(step, batch[0] - start), *batch[1:]) if whole else batch[1:]
            _fill(
                tuple(out[block] for out in outs),
                part,
                formula,
                {name: value[block] for name, value in arguments.items()},
            )
        return
    columns = {
        name: [Column(value[..., k].copy()) for k in range(value.shape[-1])] for name, value in arguments.items()
    }
    spoilt = ~finite_rows(arguments)
    scalars = iter(flat(formula(**columns)))
    for out in outs:
        for index in np.ndindex(*out.shape[len(batch) :]):
            scalar = next(scalars)
            # a result that overflows becomes NaN: 0 x + x; in kernels it may stay infinite
            out[(..., *index)] = scalar.value * 0.0 + scalar.value if isinstance(scalar, Column) else scalar
        out[spoilt] = np.nan


def flat(nested: Any) -> list[Scalar]:
    """Every scalar of nested sequences and vectors, in order."""
    if isinstance(nested, FoldingScalar) or not hasattr(nested, "__iter__"):
        return [nested]
    return [scalar for item in nested for scalar in flat(item)]
