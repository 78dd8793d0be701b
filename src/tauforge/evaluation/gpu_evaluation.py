"""Functions of robots by their CUDA kernels, for whatever library owns the arrays: CuPy's arrays share their memory.

A guarded function looks at its doubts, which waits for the GPU, and judges doubtful rows on the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels.backends import TooLargeError
from tauforge.kernels.cuda import arrays

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator, Request


def answer_on_gpu(
    evaluator: Evaluator,
    request: Request,
    arguments: Mapping[str, Any],
    on_singular: str,
    out: Sequence[Any] | None = None,
) -> tuple[Any, ...]:
    """The results for checked arguments on one GPU, launched on CuPy's current stream.

    arguments: CuPy's arrays (..., numbers) of float32 or float64, in the order of the table; they broadcast together
    out:       CuPy's arrays for the results, default new ones
    It judges by the evaluator's own copy of the robot, for the user's may be gone while a program still runs.
    """
    guard = evaluator.guard(request)
    first = next(iter(arguments.values()))
    kernel: Any = evaluator.compiled_for(request, "cuda", str(first.dtype))
    given = [None] * len(evaluator.results(request)) if out is None else list(out)
    if guard is not None:
        kernel, given = kernel.with_doubt, [*given, None]
    try:
        found = kernel(*arguments.values(), out=tuple(given))
    except TooLargeError as error:
        raise UnsupportedFeatureError(f"{error}", field="cuda", remedy="Copy the arrays to the host") from None
    outs = found if isinstance(found, tuple) else (found,)
    if guard is None:
        return outs
    with first.device:
        _judge(evaluator, request, arguments, outs[:-1], ~(abs(outs[-1]) < guard.limit), on_singular)
    return outs[:-1]


def _judge(
    evaluator: Evaluator,
    request: Request,
    arguments: Mapping[str, Any],
    outs: tuple[Any, ...],
    doubtful: Any,
    on_singular: str,
) -> None:
    """The guard's closer look at the doubtful rows, on the host: those that it refuses raise, become NaN or are mended.

    Rows with an argument that is not finite are NaN for that reason, and are not looked at.
    """
    if not bool(doubtful.any()):
        return
    library = arrays.cupy()
    batch, rows = doubtful.shape, doubtful
    for value in arguments.values():
        rows = rows & library.isfinite(value).all(axis=-1)
    if not bool(rows.any()):
        return
    again = {name: library.broadcast_to(x, (*batch, x.shape[-1]))[rows].get() for name, x in arguments.items()}
    places = np.argwhere(rows.get())
    mended = evaluator.mended(evaluator.robot, request, again)
    if mended is not None:
        where = tuple(map(library.asarray, places.T))
        for out, better in zip(outs, mended, strict=True):
            out[where] = library.asarray(better, out.dtype)
        return
    found = tuple(out[rows].get() for out in outs)
    refused = evaluator.refused(evaluator.robot, request, again, found, places, on_singular)
    if refused.any():
        where = tuple(map(library.asarray, places[refused].T))
        for out in outs:
            out[where] = np.nan
