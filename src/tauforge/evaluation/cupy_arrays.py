"""Functions of robots on CuPy arrays: CUDA kernels, results on the same GPU, nothing copied to the host.

They serve every array that says its memory is on a GPU (`__cuda_array_interface__`, DLPack); the results are CuPy
arrays. Payloads and base motions are objects, not arrays: their few numbers are copied to the GPU. `robot.kernel`
neither waits for the GPU nor judges, as guarded functions do here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.differentiable import bound_function, check_shapes
from tauforge.kernels.cuda import arrays

if TYPE_CHECKING:
    from tauforge.evaluation.differentiable import BoundFunction
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.evaluation.with_functions import WithFunctions


def call(
    evaluator: Evaluator, robot: WithFunctions, name: str, given: Mapping[str, Any], on_singular: str, **options: Any
) -> tuple[Any, ...]:
    """The function's results as CuPy arrays, (..., *core) each, on the GPU of the arguments."""
    evaluation, values = bound_function(evaluator, name, given, on_singular, options)
    found = on_one_gpu(evaluation, values)
    check_shapes(evaluation, robot.name, found)
    return evaluation.on_gpu(*found)


def on_one_gpu(evaluation: BoundFunction, values: Mapping[str, Any]) -> list[Any]:
    """The arguments as CuPy arrays that share their memory; the numbers of payloads and the like are copied."""
    found: list[Any] = []
    for argument, value in zip(evaluation.arguments, values.values(), strict=True):
        if argument.kind is not None:
            found.append(array_like(value, found[0]))
            continue
        found.append(arrays.on_device(argument.name, value))
        dtype = str(found[-1].dtype)
        if dtype not in arrays.KERNEL_DTYPES:
            raise ShapeError(argument.name, expected="float64 or float32 numbers", got=dtype)
    return found


def array_like(value: Any, like: Any) -> Any:
    """An array of numbers, of the type and on the GPU of another array."""
    model = arrays.on_device("array", like)
    with model.device:
        shared = arrays.on_device("array", value) if arrays.is_on_gpu(value) else value
        return arrays.cupy().asarray(shared, model.dtype)


def values_of(value: Any, what: str) -> Any:
    """The value, unless it is on a GPU: searches run on the processor, and nothing is copied there."""
    if not arrays.is_on_gpu(value):
        return value
    remedy = "Copy the arrays there first, by cupy.asnumpy"
    raise UnsupportedFeatureError(f"{what} searches on the processor", field="cuda", remedy=remedy)


def __getattr__(name: str) -> Any:
    """`namespace`, the functions of CuPy, which is imported when it is asked for."""
    if name == "namespace":
        return arrays.cupy()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
