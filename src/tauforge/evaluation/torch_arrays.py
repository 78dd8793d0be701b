"""Functions of robots on torch tensors: autograd, `torch.func` and derivatives of any order.

The compiled kernel is an operation with the kernels of its derivatives as its rule. Derivatives of derivatives go
through the traced graph, one operation of torch after another. Singular rows raise as they do for NumPy's arrays.

Tensors on a GPU are evaluated there by the CUDA kernels, on torch's current stream. The results are torch's memory, and
nothing is copied but the few numbers of payloads and base motions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tauforge.arrays import real_numbers
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.differentiable import BoundFunction, bound_function, check_shapes, of_same_rank, product
from tauforge.kernels.cuda import arrays

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.evaluation.with_functions import WithFunctions

namespace: Any = torch
PROCESSOR, GPU = "cpu", "cuda"
PRECISION_OF = {torch.float32: "float32", torch.float64: "float64"}


def call(
    evaluator: Evaluator, robot: WithFunctions, name: str, given: Mapping[str, Any], on_singular: str, **options: Any
) -> tuple[Any, ...]:
    """The function's results as tensors of the arguments' type, on their device."""
    evaluation, values = bound_function(evaluator, name, given, on_singular, options)
    loads = [argument.name for argument in evaluation.arguments if argument.kind is not None]
    tensors = as_tensors(values, loads)
    check_shapes(evaluation, robot.name, tensors)
    if tensors[0].device.type not in (PROCESSOR, GPU):
        problem = f"tensors on {tensors[0].device} are not supported"
        raise UnsupportedFeatureError(problem, field="device", remedy="Move them with .cpu()")
    return tuple(Applied.apply(evaluation, *of_same_rank(tensors)))


def as_tensors(values: Mapping[str, Any], loads: Sequence[str]) -> list[torch.Tensor]:
    """Tensors of one type and on one device. Numbers and NumPy's arrays beside them become such tensors.

    loads: names of the values that are few numbers of an object; only those are copied to another device
    """
    own = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
    for name, tensor in own.items():
        if tensor.dtype not in PRECISION_OF:
            raise ShapeError(name, expected="a tensor of float32 or float64", got=f"{tensor.dtype} values")
    for quality in ("device", "dtype"):
        found = sorted({str(getattr(tensor, quality)) for tensor in own.values()})
        if len(found) > 1:
            raise ShapeError("arguments", expected=f"tensors of one {quality}", got=" and ".join(found))
    first = next(iter(own.values()))
    others = [name for name in values if name not in own and name not in loads]
    if first.device.type != PROCESSOR and others:
        kinds = sorted({f"{type(values[name]).__module__}.{type(values[name]).__qualname__}" for name in others})
        raise ShapeError(", ".join(others), expected=f"a tensor on {first.device}", got=" and ".join(kinds))
    return [value if name in own else _as_tensor(name, value, first) for name, value in values.items()]


def _as_tensor(name: str, value: Any, like: torch.Tensor) -> torch.Tensor:
    try:
        array = real_numbers(value, "biuf")
    except ValueError as error:
        raise ShapeError(name, expected="real numbers in the processor's memory", got=str(error)) from None
    return array_like(array.astype(float), like)


def array_like(value: Any, like: torch.Tensor) -> torch.Tensor:
    """A tensor on the device of another, of its type if both are floats.

    It is a copy, for NumPy's memory may be read-only.
    """
    if isinstance(value, torch.Tensor):
        return value
    array = np.asarray(value)
    own = isinstance(value, np.ndarray) and (array.dtype.kind in "bi" or not like.is_floating_point())
    return torch.tensor(array, dtype=None if own else like.dtype, device=like.device)


def values_of(value: Any, what: str) -> Any:
    """The numbers for NumPy; UnsupportedFeatureError where a gradient is asked for, and on other devices."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.device.type != PROCESSOR:
        problem = f"{what} is computed on the processor, the tensors are on {value.device}"
        raise UnsupportedFeatureError(problem, field="device", remedy="Move them with .cpu()")
    if value.requires_grad or torch._C._functorch.is_functorch_wrapped_tensor(value):
        problem = f"{what} is computed by NumPy and cannot be differentiated or transformed by torch"
        remedy = "Give it tensors without gradients, for example by .detach()"
        raise UnsupportedFeatureError(problem, field=what, remedy=remedy)
    return value.numpy()


class Applied(torch.autograd.Function):  # type: ignore[misc, unused-ignore]  # torch may be absent
    """An evaluation as an operation of torch; the tensors have leading dimensions of the same number."""

    @staticmethod
    def forward(evaluation: BoundFunction, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if tensors[0].device.type == GPU:
            return _on_gpu(evaluation, tensors)
        outs = evaluation.on_processor(*(tensor.detach().numpy() for tensor in tensors))
        return tuple(torch.from_numpy(np.array(out, copy=None)) for out in outs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.evaluation, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        evaluation, tensors = ctx.evaluation, ctx.saved_tensors
        wanted = ctx.needs_input_grad[1:]
        slopes = evaluation.slopes(wanted, _gpu_precision(tensors[0]))
        if slopes is None:
            return None, *_swept_back(evaluation, tensors, wanted, gradients)
        found: list[Any] = [None] * len(tensors)
        for place, k, matrix in evaluation.slope_terms(slopes, lambda part: Applied.apply(part, *tensors)):
            if wanted[place] and gradients[k] is not None:
                share = _pulled_back(matrix, len(evaluation.results[k]), gradients[k])
                found[place] = share if found[place] is None else found[place] + share
        # an argument that was broadcast collects the gradients of all rows
        each = zip(found, tensors, strict=True)
        return None, *(None if share is None else share.sum_to_size(tensor.shape) for share, tensor in each)

    @staticmethod
    def jvp(ctx: Any, _: None, *changes: Any) -> tuple[torch.Tensor, ...]:
        evaluation, tensors = ctx.evaluation, ctx.saved_tensors
        wanted = [change is not None for change in changes]
        slopes = evaluation.slopes(wanted, _gpu_precision(tensors[0]))
        if slopes is None:
            whole = [torch.zeros_like(t) if c is None else c for t, c in zip(tensors, changes, strict=True)]
            return tuple(torch.func.jvp(partial(evaluation.over, torch), tuple(tensors), tuple(whole))[1])
        totals: list[Any] = [0.0] * len(evaluation.results)
        for place, k, matrix in evaluation.slope_terms(slopes, lambda part: Applied.apply(part, *tensors)):
            if wanted[place]:
                totals[k] = totals[k] + product(matrix, evaluation.results[k], changes[place])
        return tuple(totals)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], evaluation: BoundFunction, *tensors: Any) -> tuple[Any, Any]:
        """One leading dimension more; an argument without it has it with length 1."""
        each = zip(tensors, in_dims[1:], strict=True)
        outs = Applied.apply(evaluation, *(x.unsqueeze(0) if dim is None else x.movedim(dim, 0) for x, dim in each))
        return outs, (0,) * len(outs)


def _on_gpu(evaluation: BoundFunction, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """By the CUDA kernel, on torch's current stream; torch's allocator, which knows the stream, owns the results."""
    library, first = arrays.cupy(), tensors[0]
    batch = torch.broadcast_shapes(*(tensor.shape[:-1] for tensor in tensors))
    outs = tuple(torch.empty(batch + core, dtype=first.dtype, device=first.device) for core in evaluation.results)
    with on_stream_of(first):
        shared = [library.asarray(tensor.detach()) for tensor in tensors]
        evaluation.on_gpu(*shared, out=[library.asarray(out) for out in outs])
    return outs


def on_stream_of(tensor: torch.Tensor) -> AbstractContextManager[None]:
    """A context in which CuPy's GPU and stream are torch's."""
    return arrays.on_stream(tensor.device.index, torch.cuda.current_stream(tensor.device).cuda_stream)


def _gpu_precision(tensor: torch.Tensor) -> str | None:
    """None for a tensor in the processor's memory."""
    return PRECISION_OF[tensor.dtype] if tensor.device.type == GPU else None


def _pulled_back(matrix: torch.Tensor, rank: int, gradient: torch.Tensor) -> torch.Tensor:
    """Derivatives (..., *core, numbers) and the gradient by a result (..., *core): the gradient by the argument."""
    return (matrix * gradient[..., None]).sum(dim=tuple(range(-1 - rank, -1))) if rank else matrix * gradient[..., None]


def _swept_back(
    evaluation: BoundFunction, tensors: Sequence[torch.Tensor], wanted: Sequence[bool], gradients: Sequence[Any]
) -> list[Any]:
    """The gradients through the graph, differentiable again."""

    def results(*varied: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = iter(varied)
        arrays = [next(given) if is_wanted else t for t, is_wanted in zip(tensors, wanted, strict=True)]
        return evaluation.over(torch, *arrays)

    outs, pull = torch.func.vjp(results, *(t for t, is_wanted in zip(tensors, wanted, strict=True) if is_wanted))
    each = zip(outs, gradients, strict=True)
    found = iter(pull(tuple(torch.zeros_like(out) if gradient is None else gradient for out, gradient in each)))
    return [next(found) if is_wanted else None for is_wanted in wanted]
