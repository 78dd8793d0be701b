"""A function of a robot as other array libraries call it: one evaluation, and the evaluations of its derivatives.

Compiled kernels evaluate on the processor and on GPUs. The traced graph evaluates on whatever arrays support
arithmetic, so that another library can differentiate it again, or run it on its own device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import batch_shape, check_core, present
from tauforge.evaluation.functions import Argument, Function
from tauforge.kernels.backends import TooLargeError
from tauforge.kernels.cuda import arrays as gpu_arrays
from tauforge.kernels.specification import Shape
from tauforge.tracing.graph import Graph, without_dead_code

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator, Request
    from tauforge.evaluation.with_functions import WithFunctions

DERIVATIVES = "_derivatives"


class Slopes(NamedTuple):
    """An evaluation that gives derivatives.

    by: places of the arguments among those of the function; for each, the derivatives of all results
    """

    evaluation: BoundFunction
    by: tuple[int, ...]


class BoundFunction(NamedTuple):
    """One function with its options and loads, ready to be called on arrays (..., numbers), one for each argument.

    It can be hashed and compared, as libraries want it of an argument that is no array.

    on_singular: "raise" or "nan", what happens to rows that the function's guard refuses
    """

    evaluator: Evaluator
    request: Request
    on_singular: str

    @property
    def function(self) -> Function:
        return self.evaluator.functions[self.request.name]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        own = self.function
        return (*own.arguments, *(own.argument(name) for name in self.request.optional))

    @property
    def results(self) -> tuple[Shape, ...]:
        return self.evaluator.results(self.request)

    def on_processor(self, *arrays: Array) -> tuple[Array, ...]:
        """The results for NumPy arrays that broadcast together, by the kernel or by the reference."""
        # the evaluator's own copy of the robot judges: the user's may be gone while a compiled program still runs
        return self.evaluator(self.request, self.by_name(arrays), self.evaluator.robot, self.on_singular)

    def by_name(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """The arrays, one for each argument, by the arguments' names."""
        return {argument.name: array for argument, array in zip(self.arguments, arrays, strict=True)}

    def on_gpu(self, *arrays: Any, out: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """The results for CuPy arrays on one GPU that broadcast together, by the CUDA kernel, on the current stream.

        out: CuPy arrays for the results, default new ones
        """
        guard, first = self.evaluator.guard(self.request), arrays[0]
        kernel: Any = self.evaluator.kernel_on("cuda", self.request, str(first.dtype))
        wanted = [None] * len(self.results) if out is None else list(out)
        if guard is not None:
            kernel, wanted = kernel.with_doubt, [*wanted, None]
        try:
            found = kernel(*arrays, out=tuple(wanted))
        except TooLargeError as error:
            raise UnsupportedFeatureError(f"{error}", field="cuda", remedy="Copy the arrays to the host") from None
        outs = found if isinstance(found, tuple) else (found,)
        if guard is None:
            return outs
        with first.device:
            doubtful = ~(abs(outs[-1]) < guard.limit)
            if bool(doubtful.any()):  # this waits for the GPU
                rows = self.evaluator.robot, self.request, self.by_name(arrays), outs[:-1], doubtful
                self.evaluator.assessed(*rows, self.on_singular, gpu_arrays.cupy(), methodcaller("get"))
        return outs[:-1]

    def fits_gpu(self, dtype: str) -> bool:
        """True if there is a CUDA kernel of it."""
        return self.evaluator.fits_gpu(self.request, dtype)

    def over(self, library: Any, *arrays: Any) -> tuple[Any, ...]:
        """The results by the traced graph, one operation of the library after another, differentiable by it.

        library: a module with `broadcast_to`, `stack` and `zeros_like`
        Singular rows stay as they are computed: large, infinite or NaN.
        """
        inputs: dict[str, Any] = {}
        for argument, array in zip(self.arguments, arrays, strict=True):
            inputs |= {f"{argument.name}{k}": array[..., k] for k in range(argument.numbers)}
        batch = np.broadcast_shapes(*(tuple(array.shape[:-1]) for array in arrays))
        graph, one = self.graph, library.zeros_like(arrays[0][..., 0])
        values = iter(graph.evaluate(inputs))
        results = []
        for core in self.results:
            # adding zeros makes arrays of constants
            own = [library.broadcast_to(next(values) + one, batch) for _ in range(math.prod(core))]
            results.append(library.stack(own, -1).reshape(batch + core) if core else own[0])
        return tuple(results)

    @property
    def graph(self) -> Graph:
        """The graph of the results, without the guard's doubt."""
        return self.evaluator.kept(("graph", self.request), self._traced)

    def _traced(self) -> Graph:
        graph = self.evaluator.specification(self.request).graph
        return without_dead_code(graph.nodes, graph.outputs[: sum(math.prod(core) for core in self.results)])

    def slopes(self, wanted: Sequence[bool], gpu: str | None = None) -> list[Slopes] | None:
        """Evaluations that together give the derivatives by the wanted arguments; None where the graph must do.

        gpu: the precision of arrays on a GPU, such as "float32"; None for arrays in the processor's memory
        The derivatives of dynamics by the state have kernels of their own (`inverse_dynamics_derivatives`). The others
        come from the graph of the function. Derivatives of derivatives have no kernels: they would be too large.
        """
        if self.is_slope:
            return None
        places = [k for k, is_wanted in enumerate(wanted) if is_wanted]
        found: list[Slopes] = []
        state = range(len(self.function.arguments))
        known = self._known_derivatives()
        if known is not None and any(k in state for k in places):
            found.append(Slopes(known, tuple(state)))
            places = [k for k in places if k not in state]
        if places:
            by = tuple(self.arguments[k].name for k in places)
            own = self._replace(request=self.request._replace(by=by), on_singular="nan")
            if gpu is None and self.evaluator.kernel(own.request) is None:
                return None
            found.append(Slopes(own, tuple(places)))
        return None if gpu is not None and not all(part.evaluation.fits_gpu(gpu) for part in found) else found

    def slope_terms(
        self, slopes: Sequence[Slopes], evaluate: Callable[[BoundFunction], Sequence[Any]]
    ) -> Iterator[tuple[int, int, Any]]:
        """Places of an argument and of a result, and the derivatives (..., *core, numbers) of one by the other."""
        for part in slopes:
            matrices = iter(evaluate(part.evaluation))
            for place in part.by:
                for k in range(len(self.results)):
                    yield place, k, next(matrices)

    @property
    def is_slope(self) -> bool:
        return bool(self.request.by) or self.request.name.endswith(DERIVATIVES)

    def _known_derivatives(self) -> BoundFunction | None:
        """The function of the table that gives the derivatives by the state, where it takes the same loads."""
        name = self.request.name + DERIVATIVES
        function = self.evaluator.functions.get(name)
        if function is None or dict(self.request.options) != dict(self.function.options):
            return None
        if not {*self.request.optional} <= {argument.name for argument in function.optional}:
            return None
        numbers = [argument.numbers for argument in self.function.arguments]
        if [core[-1] for core in function.results] != numbers:  # by the coordinates of a mechanism, not by all of x
            return None
        request = self.evaluator.request(name, self.request.optional, {})
        # a singular row has no derivatives; the function itself has reported it already
        return self._replace(request=request, on_singular="nan")


def bound_function(
    evaluator: Evaluator, name: str, given: Mapping[str, Any], on_singular: str, options: Mapping[str, Any]
) -> tuple[BoundFunction, dict[str, Any]]:
    """The evaluation that a call asks for, and its arguments by name, loads as numbers; shapes are not checked."""
    arguments = {argument.name: value for argument, value in present(evaluator.functions[name], given)}
    loads = tuple(arguments)[len(evaluator.functions[name].arguments) :]
    return BoundFunction(evaluator, evaluator.request(name, loads, options), on_singular), arguments


def named_function(
    robot: WithFunctions, name: str, options: Mapping[str, Any], loads: Sequence[str] = ()
) -> BoundFunction:
    """The evaluation of a function by its name; UnsupportedFeatureError for options or loads that it does not take."""
    if name not in robot.functions:
        remedy = f"Use one of {', '.join(name for name, entry in robot.functions.items() if entry.public)}"
        raise UnsupportedFeatureError(f"there is no function {name!r}", field="kernel", remedy=remedy)
    function, chosen = robot.functions[name], robot._check_options(name, options)
    if unknown_options := sorted(set(chosen) - set(function.options)):
        remedy = f"Known: {', '.join(function.options) or 'none'}"
        raise UnsupportedFeatureError(f"{name} has no option {unknown_options[0]!r}", field="kernel", remedy=remedy)
    robot.check_function(name)
    known = [argument.name for argument in function.optional]
    if isinstance(loads, str) or (unknown := [load for load in loads if load not in known]):
        wrong = loads if isinstance(loads, str) else unknown[0]
        remedy = f"Give a sequence of names among {', '.join(known) or 'none'}"
        raise UnsupportedFeatureError(f"{name} of {robot.name} takes no load {wrong!r}", field="loads", remedy=remedy)
    taken = tuple(load for load in known if load in loads)
    robot._check_loads(taken, chosen)
    return BoundFunction(robot._evaluator, robot._evaluator.request(name, taken, chosen), "nan")


def precision(dtype: Any) -> str:
    """The name of a dtype, such as "float32"."""
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        problem = f"dtype {dtype!r} is not supported"
        raise UnsupportedFeatureError(problem, field="kernel", remedy="Use float64 or float32") from None


def check_shapes(evaluation: BoundFunction, robot: str, arrays: Sequence[Any]) -> None:
    """ShapeError where an array has the wrong core, or where the leading shapes do not broadcast together."""
    given = evaluation.by_name(arrays)
    for argument in evaluation.arguments:
        shape = tuple(given[argument.name].shape)
        check_core(argument.name, shape, argument.numbers, argument.meaning.format(name=robot))
    batch_shape(given)


def of_same_rank(arrays: Sequence[Any]) -> list[Any]:
    """Arrays with as many leading dimensions each, so that a library may add one more in front of all."""
    rank = max(array.ndim for array in arrays)
    return [array.reshape((1,) * (rank - array.ndim) + tuple(array.shape)) for array in arrays]


def product(matrices: Any, core: Shape, vector: Any) -> Any:
    """Derivatives (..., *core, numbers) times a change (..., numbers): the change of the result, (..., *core)."""
    leading = tuple(vector.shape[:-1])
    return (matrices * vector.reshape((*leading, *(1 for _ in core), vector.shape[-1]))).sum(-1)
