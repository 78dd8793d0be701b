"""Functions of robots on CuPy's arrays: CUDA kernels, results on the same GPU, nothing copied to the host.

Payloads and base motions are objects, not arrays: their few numbers are copied to the GPU. A guarded function looks at
its doubts, which waits for the GPU, and judges doubtful rows on the host; `robot.kernel` does neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.kernels.backends import TooLargeError
from tauforge.kernels.cuda import arrays
from tauforge.robots.evaluate import check_core, present
from tauforge.robots.functions import Function

if TYPE_CHECKING:
    from tauforge.robots.evaluate import Evaluator, Request
    from tauforge.robots.robot import Robot


def call(
    evaluator: Evaluator, robot: Robot, name: str, given: Mapping[str, Any], on_singular: str, **options: Any
) -> tuple[Any, ...]:
    """The function's results for CuPy's arrays, (..., *core) each, on the same GPU."""
    function = evaluator.functions[name]
    arguments = checked(robot.name, function, given)
    request = evaluator.request(name, tuple(arguments)[len(function.arguments) :], options)
    first = arguments[function.arguments[0].name]
    dtype = str(first.dtype)
    if dtype not in ("float64", "float32"):
        raise ShapeError(function.arguments[0].name, expected="float64 or float32 numbers", got=dtype)
    guard = function.guard
    kernel: Any = evaluator.compiled_for(request, "cuda", dtype)
    if guard is not None:
        kernel = kernel.with_doubt
    try:
        outs = kernel(*arguments.values())
    except TooLargeError as error:
        raise UnsupportedFeatureError(f"{error}", field="cuda", remedy="Copy the arrays to the host") from None
    outs = outs if isinstance(outs, tuple) else (outs,)
    if guard is None:
        return outs
    return _guarded(evaluator, robot, request, arguments, outs[:-1], ~(abs(outs[-1]) < guard.limit), on_singular)


def checked(robot: str, function: Function, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as arrays on the GPU, in the order of the table; absent optional ones are left out."""
    found: dict[str, Any] = {}
    for argument, value in present(function, given):
        if argument.kind is None:
            found[argument.name] = arrays.on_device(argument.name, value)
        else:
            found[argument.name] = array_like(value, next(iter(found.values())))
        meaning = argument.meaning.format(name=robot)
        check_core(argument.name, found[argument.name].shape, argument.numbers, meaning)
    return found


def _guarded(
    evaluator: Evaluator,
    robot: Robot,
    request: Request,
    arguments: Mapping[str, Any],
    outs: tuple[Any, ...],
    doubtful: Any,
    on_singular: str,
) -> tuple[Any, ...]:
    """The guard's closer look at the doubtful rows, on the host; rows with an argument that is not finite are NaN."""
    library = arrays.cupy()
    batch = doubtful.shape
    rows = doubtful
    for value in arguments.values():
        rows = rows & library.isfinite(value).all(axis=-1)
    if not bool(rows.any()):
        return outs
    again = {name: library.broadcast_to(x, (*batch, x.shape[-1]))[rows].get() for name, x in arguments.items()}
    places = np.argwhere(rows.get())
    refused = evaluator.refused(robot, request, again, tuple(out[rows].get() for out in outs), places, on_singular)
    for place in places[refused]:
        for out in outs:
            out[tuple(place)] = np.nan
    return outs


def array_like(value: Any, like: Any) -> Any:
    """An array of numbers, of the type and on the GPU of another array."""
    with like.device:
        return arrays.cupy().asarray(value, like.dtype)


def values_of(value: Any, what: str) -> Any:
    """What is on a GPU is not copied from there: searches run on the processor."""
    if not hasattr(value, "__cuda_array_interface__"):
        return value
    raise UnsupportedFeatureError(
        f"{what} searches on the processor", field="cuda", remedy="Copy the arrays there first, by cupy.asnumpy"
    )


def __getattr__(name: str) -> Any:
    """`namespace`, the functions of CuPy, which is imported when it is asked for."""
    if name == "namespace":
        return arrays.cupy()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
