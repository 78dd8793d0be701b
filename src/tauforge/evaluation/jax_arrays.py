"""Functions of robots on JAX arrays: `jit`, `vmap`, `grad`, `jvp` and whatever is made of them.

Arrays with values are evaluated as NumPy's are, and singular rows raise the same errors. Under a transformation nothing
can raise. There the compiled kernel is an operation of the program, with the kernels of its derivatives as its rule,
and singular rows become NaN. A program on a GPU calls the CUDA kernels, which need CuPy; arrays with values on a GPU
are evaluated by such a program too.

Where a kernel cannot serve, the traced graph is evaluated over `jax.numpy`: for derivatives of derivatives, for
derivatives without a kernel, on a GPU without CuPy or with more operations than are compiled there, and on other
devices. There singular rows stay as they are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.errors import JaxRuntimeError

from tauforge.arrays import without_masks
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.differentiable import BoundFunction, bound_function, check_shapes, of_same_rank, product
from tauforge.evaluation.xla_calls import error_behind, number_of, target
from tauforge.kernels.cuda import arrays as gpu_arrays

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.evaluation.with_functions import WithFunctions

namespace: Any = jnp
PROCESSOR, GPU = "cpu", "gpu"


def call(
    evaluator: Evaluator, robot: WithFunctions, name: str, given: Mapping[str, Any], on_singular: str, **options: Any
) -> tuple[Any, ...]:
    """The function's results as JAX arrays; float32 where every argument is, or where JAX has no float64."""
    evaluation, values = bound_function(evaluator, name, given, on_singular, options)
    arrays = as_arrays(values)
    check_shapes(evaluation, robot.name, arrays)
    if any(isinstance(array, jax.core.Tracer) for array in arrays):
        return tuple(applied(evaluation._replace(on_singular="nan"), *of_same_rank(arrays)))
    if not all(map(on_processor, arrays)):
        return run(evaluation, of_same_rank(arrays))
    outs = evaluator(evaluation.request, dict(zip(values, map(np.asarray, arrays), strict=True)), robot, on_singular)
    place = None if jax.default_backend() == PROCESSOR else arrays[0].device  # not JAX's own choice, a GPU
    return tuple(jnp.asarray(out, device=place) for out in outs)


def array_like(value: Any, like: Any) -> Any:
    """Numbers as an array of JAX, which places it where the program runs."""
    return jnp.asarray(value)


def values_of(value: Any, what: str) -> Any:
    """The numbers for NumPy; UnsupportedFeatureError under a transformation and on other devices."""
    if isinstance(value, jax.core.Tracer) or (isinstance(value, jax.Array) and not on_processor(value)):
        problem = f"{what} is computed by NumPy and cannot be transformed by JAX"
        remedy = "Call it outside jit, vmap and grad, with arrays of the processor"
        raise UnsupportedFeatureError(problem, field=what, remedy=remedy)
    return np.asarray(value) if isinstance(value, jax.Array) else value


def as_arrays(values: Mapping[str, Any]) -> list[Any]:
    """JAX arrays of one type of real numbers."""
    arrays = []
    for name, value in values.items():
        try:
            array = jnp.asarray(without_masks(value))
        except (TypeError, ValueError):
            raise ShapeError(name, expected="real numbers", got=type(value).__name__) from None
        if not (jnp.issubdtype(array.dtype, jnp.floating) or array.dtype.kind in "biu"):
            raise ShapeError(name, expected="real numbers", got=f"{array.dtype} values")
        arrays.append(array)
    single = all(array.dtype == jnp.float32 for array in arrays)
    dtype = jnp.float32 if single else jnp.result_type(float)  # the second is float32 too where x64 is off
    return [array.astype(dtype) for array in arrays]


def on_processor(array: Any) -> bool:
    """True if an array with values is in the memory of the processor."""
    return all(device.platform == PROCESSOR for device in array.devices())


def serving() -> str | None:
    """The device, "cpu" or "gpu", of programs that may call kernels; None where the graph is evaluated instead."""
    backend = jax.default_backend()
    return backend if backend == PROCESSOR or (backend == GPU and _cupy_is_there()) else None


@cache
def _cupy_is_there() -> bool:
    try:
        gpu_arrays.cupy()
    except UnsupportedFeatureError:
        return False
    return True


def gpu_precision(array: Any) -> str | None:
    """The precision of the CUDA kernels that serve; None where those of the processor do."""
    return str(array.dtype) if serving() == GPU else None


def kernel_serves(evaluation: BoundFunction, array: Any) -> bool:
    """True if a program may call the kernel of an evaluation on arrays such as this one."""
    dtype = gpu_precision(array)
    return serving() is not None and (dtype is None or evaluation.fits_gpu(dtype))


def run(evaluation: BoundFunction, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results for arrays with values that are not in the processor's memory; a guarded function waits for them."""
    if not kernel_serves(evaluation, arrays[0]):
        return tuple(applied(evaluation, *arrays))  # through the graph
    try:
        found: tuple[Any, ...] = program(evaluation, *arrays)
        if evaluation.function.guard is not None:
            for out in found:
                out.block_until_ready()
        return found
    except JaxRuntimeError as error:
        raise error_behind(error) from None


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def applied(evaluation: BoundFunction, *arrays: Any) -> tuple[Any, ...]:
    """The results as an operation of a JAX program; the arrays have leading dimensions of the same number."""
    if not kernel_serves(evaluation, arrays[0]):
        return evaluation.over(jnp, *arrays)
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    struct: Any = jax.ShapeDtypeStruct
    shapes = [struct(batch + core, arrays[0].dtype) for core in evaluation.results]
    called = jax.ffi.ffi_call(target(), shapes, vmap_method="expand_dims")
    return tuple(called(*arrays, evaluation=np.int64(number_of(evaluation))))


def _changed(
    evaluation: BoundFunction, arrays: Sequence[Any], changes: Sequence[Any]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The results, and their change with the changes of the arguments."""
    wanted = [not isinstance(change, SymbolicZero) for change in changes]
    slopes = evaluation.slopes(wanted, gpu_precision(arrays[0])) if serving() is not None else None
    if slopes is None:
        whole = [c if is_wanted else jnp.zeros_like(a) for a, c, is_wanted in zip(arrays, changes, wanted, strict=True)]
        through: tuple[Any, Any] = jax.jvp(partial(evaluation.over, jnp), tuple(arrays), tuple(whole))
        return through
    results = applied(evaluation, *arrays)
    totals: list[Any] = [jnp.zeros_like(result) for result in results]
    for place, k, matrix in evaluation.slope_terms(slopes, lambda part: applied(part, *arrays)):
        if wanted[place]:
            totals[k] = totals[k] + product(matrix, evaluation.results[k], changes[place])
    return results, tuple(totals)


applied.defjvp(_changed, symbolic_zeros=True)
program = jax.jit(applied, static_argnums=0)
