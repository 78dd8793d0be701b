"""Where formulas meet arrays, the recorder and the compiler: the only place that joins them.

A formula takes the robot's model and named lists of scalars, and returns nested lists of scalars. It is traced once and
compiled to a kernel. Where there is no kernel (no executable memory, too many operations), its scalars are contiguous
NumPy columns, one for each component, over blocks of rows: the reference evaluation of every public method.

The way of a call: `Robot._evaluate` -> `Evaluator.call` -> `checked` -> `Evaluator.kernel` (trace, compile, cache) or
`reference` -> `Evaluator._guarded`. After the first plain call `quick_call.install` makes the way shorter.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tauforge import settings
from tauforge.algebra.scalars import Column, Scalar
from tauforge.arrays import Array, real_numbers
from tauforge.errors import ShapeError, SingularityError, UnsupportedFeatureError
from tauforge.evaluation import fast_path as quick_call
from tauforge.evaluation.array_libraries import library_of
from tauforge.evaluation.derivatives import slopes_by
from tauforge.evaluation.functions import Argument, Formula, Function, Guard, flat, results_of
from tauforge.evaluation.unmodified import is_unmodified, method_is_ours, own_methods
from tauforge.evaluation.varying import without_choices
from tauforge.kernels.backends import NoKernelError, TooLargeError, backend_of
from tauforge.kernels.cpu.code_memory import executable_memory
from tauforge.kernels.specification import Shape, Specification
from tauforge.tracing.graph import Graph, cheapest_trace

if TYPE_CHECKING:
    from tauforge.evaluation.evaluated import Evaluated
    from tauforge.kernels.backends import Backend, Kernel
    from tauforge.kernels.cpu.kernel import CpuKernel

T = TypeVar("T")
BLOCK = 8192  # rows at a time: bounds the memory of the temporaries, and keeps them in the cache


# ------------------------------------------------------------------------------------------------------- arguments


def as_argument(name: str, value: ArrayLike, size: int, meaning: str) -> Array:
    """A real array (..., size); float32 stays, every other real type becomes float64; masked elements become NaN."""
    try:
        raw = real_numbers(value, "biuf")
    except ValueError as error:
        raise ShapeError(name, expected=f"real numbers (..., {size})", got=str(error)) from None
    check_core(name, raw.shape, size, meaning)
    return raw if raw.dtype == np.float32 else raw.astype(np.float64, copy=False)


def check_core(name: str, shape: Shape, size: int, meaning: str) -> None:
    """ShapeError where an array has another last dimension than the argument."""
    if shape[-1:] != (size,):
        raise ShapeError(name, expected=f"(..., {size}): {meaning}", got=str(tuple(shape)))


def checked(robot: str, function: Function, given: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays of the right core size, in the order of the table; absent optional arguments are left out."""
    return {
        argument.name: value
        if argument.kind is not None
        else as_argument(argument.name, value, argument.numbers, argument.meaning.format(name=robot))
        for argument, value in present(function, given)
    }


def present(function: Function, given: Mapping[str, Any]) -> Iterator[tuple[Argument, Any]]:
    """The arguments that a call gives, in the order of the table; of a payload and the like its numbers."""
    optional = {argument.name for argument in function.optional}
    for argument in (*function.arguments, *function.optional):
        value: Any = given.get(argument.name)
        if value is None and argument.name in optional:
            continue
        if argument.kind is None:
            yield argument, value
        elif isinstance(value, argument.kind):
            yield argument, value.numbers()  # type: ignore[attr-defined]
        else:
            expected = f"a tauforge.{argument.kind.__name__}"
            raise ShapeError(argument.name, expected=expected, got=type(value).__name__)


def batch_shape(arguments: Mapping[str, Array]) -> Shape:
    try:
        return np.broadcast_shapes(*(value.shape[:-1] for value in arguments.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in arguments.items())
        raise ShapeError("arguments", expected="leading shapes that broadcast together", got=shapes) from None


def finite_rows(arguments: Mapping[str, Array]) -> Array:
    """Which rows of the batch (...) are finite in every argument."""
    return reduce(np.logical_and, (np.asarray(np.isfinite(value).all(axis=-1)) for value in arguments.values()))


# ------------------------------------------------------------------------------------------------------- evaluation


class Request(NamedTuple):
    """Which kernel: a function with its options, the optional arguments that are given, and the fields that vary.

    by: arguments whose derivatives are the results, in place of the function's own
    """

    name: str
    optional: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    varying: tuple[str, ...]
    doubt_alone: bool = False
    by: tuple[str, ...] = ()


class Evaluator:
    """Evaluates the functions of one robot, each by a kernel of its own.

    It refers to a copy of the robot: kernels may outlive the robot and must not keep it alive.
    """

    def __init__(self, robot: Evaluated) -> None:
        self.robot: Evaluated = copy.copy(robot)
        vars(self.robot).update(own_methods(robot))
        self.functions = robot.functions
        self._kernels: dict[Request, CpuKernel] = {}
        self._others: dict[tuple[Request, Backend, str], Kernel] = {}  # asked for by target and precision
        self._too_large: set[Request] = set()
        self._kept: dict[Any, Any] = {}  # what other array libraries made of the functions

    def call(
        self, robot: Evaluated, name: str, given: Mapping[str, Any], on_singular: str = "raise", **options: Any
    ) -> tuple[Array, ...]:
        """The function's results for arguments as a user gives them, (..., *core) each.

        on_singular: "raise" the error of the function's guard, or "nan" for the rows that it refuses
        After the first plain call, one with the table's own options, the next ones find a shorter way.
        """
        library = library_of(given.values())
        if library is not None:
            found: tuple[Array, ...] = library.call(self, robot, name, given, on_singular, **options)
            return found
        function = self.functions[name]
        arguments = checked(robot.name, function, given)
        results = self(name, arguments, robot, on_singular, **options)
        if function.quick and all(function.options[key] == value for key, value in options.items()):
            loads = tuple(arguments)[len(function.arguments) :]
            wanted = not quick_call.is_installed(robot, name, loads) and method_is_ours(type(robot), name)
            if wanted and not own_methods(robot):
                kernel = self.kernel(name, loads)
                if kernel is not None:
                    taken = tuple(function.argument(load) for load in loads)
                    quick_call.install(robot, name, taken, kernel, guarded=function.guard is not None)
        return results

    def __call__(
        self,
        name: str,
        arguments: Mapping[str, Array],
        robot: Evaluated | None = None,
        on_singular: str = "raise",
        **options: Any,
    ) -> tuple[Array, ...]:
        """The function's results for checked arguments; they are not guarded where no robot is given."""
        loads = tuple(arguments)[len(self.functions[name].arguments) :]
        return self.answer(self.request(name, loads, options), arguments, robot, on_singular)

    def answer(
        self,
        request: Request,
        arguments: Mapping[str, Array],
        robot: Evaluated | None = None,
        on_singular: str = "raise",
    ) -> tuple[Array, ...]:
        """As `__call__`, for any request."""
        if request.by:
            return self._outcome(request, arguments)[0]
        function = self.functions[request.name]
        if function.in_parts is not None and self.is_too_large(request):
            values = np.result_type(*arguments.values())  # a part that takes few of them has the precision of all
            outs = function.in_parts(self, {key: x.astype(values, copy=False) for key, x in arguments.items()})
            doubtful: Array | None = None if function.guard is None else np.ones(batch_shape(arguments), bool)
        else:
            outs, doubtful = self._outcome(request, arguments)
        if robot is None or doubtful is None or not doubtful.any():
            return outs
        return self._guarded(robot, request, arguments, outs, doubtful, on_singular)

    def _outcome(self, request: Request, arguments: Mapping[str, Array]) -> tuple[tuple[Array, ...], Array | None]:
        """Results, and which rows are doubtful; None where the function has no guard or nothing is."""
        guard = self.guard(request)
        kernel = self._kernel(request)
        if kernel is not None:
            before = kernel.doubts()
            outs = _called(kernel, arguments)
            if outs is not None:
                if guard is None or kernel.doubts() == before:
                    return outs, None
                (doubts,) = self._outcome(request._replace(doubt_alone=True), arguments)[0]
                return outs, ~(np.abs(doubts) < guard.limit)
        formula = partial(self._formula(request), self.robot.model, **choices(dict(request.options))[0])
        results = self.results(request)
        outs = evaluate(formula, arguments, results if guard is None else (*results, ()))
        return outs[: len(results)], None if guard is None else ~(np.abs(outs[-1]) < guard.limit)

    def _guarded(
        self,
        robot: Evaluated,
        request: Request,
        arguments: Mapping[str, Array],
        outs: tuple[Array, ...],
        doubtful: Array,
        on_singular: str,
    ) -> tuple[Array, ...]:
        """The guard's closer look: rows that it refuses raise or become NaN, large answers near them stay.

        Rows with an argument that is not finite are NaN for that reason, and are not looked at.
        """
        batch = batch_shape(arguments)
        rows = np.broadcast_to(doubtful, batch) & np.broadcast_to(finite_rows(arguments), batch)
        if not rows.any():
            return outs
        again = {name: np.broadcast_to(x, (*batch, x.shape[-1]))[rows] for name, x in arguments.items()}
        mended = self.mended(robot, request, again)
        if mended is not None:
            outs = tuple(np.array(out) for out in outs)
            for out, better in zip(outs, mended, strict=True):
                out[rows] = better
            return outs
        found = tuple(out[rows] for out in outs)
        verdict = self.refused(robot, request, again, found, np.argwhere(rows), on_singular)
        if not verdict.any():
            return outs
        refused = np.array(rows)  # also of a single state, where it has no dimensions
        refused[rows] = verdict
        outs = tuple(np.array(out) for out in outs)
        for out in outs:
            out[refused] = np.nan
        return outs

    def mended(self, robot: Evaluated, request: Request, arguments: Mapping[str, Array]) -> tuple[Array, ...] | None:
        """Better results for k doubtful rows, (k, ...) each; None where the guard judges them instead."""
        guard = self.functions[request.name].guard
        return None if guard is None or guard.mend is None else guard.mend(robot, arguments)

    def refused(
        self,
        robot: Evaluated,
        request: Request,
        arguments: Mapping[str, Array],
        outs: tuple[Array, ...],
        places: Array,
        on_singular: str,
    ) -> Array:
        """(k,) which of k doubtful rows the guard refuses; SingularityError of the first if it is to raise.

        arguments, outs: (k, ...) each; places: (k, d) the indices of the rows in the batch
        """
        guard = self.functions[request.name].guard
        assert guard is not None
        assert guard.judge is not None
        verdict = guard.judge(robot, arguments, outs, dict(request.options))
        if on_singular == "raise" and verdict.refused.any():
            first = int(np.argmax(verdict.refused))
            raise SingularityError(
                f"{robot.name}: {verdict.reasons[first]}",
                pose=verdict.position[first].tolist(),
                condition_number=float(verdict.condition[first]),
                row=tuple(int(k) for k in places[first]),
                remedy=verdict.remedy,
            )
        return verdict.refused

    # ------------------------------------------------------------------------------------------------------- kernels

    def request(
        self, name: str, optional: tuple[str, ...], options: Mapping[str, Any], varying: tuple[str, ...] = ()
    ) -> Request:
        """What a call of the function with these loads and options asks for."""
        chosen = {**self.functions[name].options, **options}
        if varying:
            chosen = without_choices(chosen)
        return Request(name, optional, tuple(chosen.items()), varying)

    def kernel(
        self, name: str, optional: tuple[str, ...] = (), varying: tuple[str, ...] = (), **options: Any
    ) -> CpuKernel | None:
        """The kernel on this processor, made on first use; None where the reference must do."""
        return self._kernel(self.request(name, optional, options, varying))

    def compiled(self, name: str, target: str, dtype: str, varying: tuple[str, ...], **options: Any) -> Kernel:
        """The function on any target; NoKernelError where there can be no kernel."""
        return self.compiled_for(self.request(name, (), options, varying), target, dtype)

    def compiled_for(self, request: Request, target: str, dtype: str) -> Kernel:
        """The kernel of a request on any target; NoKernelError where there can be none."""
        key = request, backend_of(target), dtype
        found = self._others.get(key)
        return found or self._others.setdefault(key, key[1].compile(self.specification(request), dtype))

    def results(self, request: Request) -> tuple[Shape, ...]:
        """Core shapes; of derivatives by several arguments first those of all results by the first, and so on."""
        function = self.functions[request.name]
        if request.doubt_alone:
            return ((),)
        if not request.by:
            return function.results
        return tuple((*core, function.argument(name).numbers) for name in request.by for core in function.results)

    def guard(self, request: Request) -> Guard | None:
        """What judges the rows of a request; None where nothing does."""
        return None if request.doubt_alone or request.by else self.functions[request.name].guard

    def has_kernel(self, request: Request) -> bool:
        """Whether there is a kernel on this processor; it is compiled if need be."""
        return self._kernel(request) is not None

    def fits_gpu(self, request: Request, dtype: str) -> bool:
        """Whether it has few enough operations for a GPU, where it is compiled when it is called."""
        return self.kept(("fits GPU", request), lambda: self._fits_gpu(request, dtype))

    def _fits_gpu(self, request: Request, dtype: str) -> bool:
        kernel: Any = self.compiled_for(request, "cuda", dtype)
        try:
            (kernel if self.guard(request) is None else kernel.with_doubt).graph  # noqa: B018 - it is traced
        except TooLargeError:
            return False
        return True

    def kept(self, key: Any, make: Callable[[], T]) -> T:
        """What was made under this key before, or now."""
        if key not in self._kept:
            self._kept.setdefault(key, make())
        found: T = self._kept[key]
        return found

    def is_too_large(self, request: Request) -> bool:
        """Whether the function has more operations than are compiled."""
        if not self.functions[request.name].whole:
            return True
        return self._kernel(request) is None and request in self._too_large

    def _kernel(self, request: Request) -> CpuKernel | None:
        found = self._kernels.get(request)
        known = request in self._too_large or not self.functions[request.name].whole
        if found is not None or known or not kernels_allowed():
            return found
        try:
            made: Any = backend_of("cpu").compile(self.specification(request), "float64")
        except TooLargeError:
            self._too_large.add(request)
            return None
        except NoKernelError:  # not remembered: there may be memory for it later
            return None
        return self._kernels.setdefault(request, made)

    def specification(self, request: Request) -> Specification:
        """What a kernel of it computes; its graph is traced when it is first asked for."""
        function = self.functions[request.name]
        shapes = {argument.name: argument.core for argument in function.arguments}
        shapes |= {name: (function.argument(name).numbers,) for name in request.optional}
        shapes |= {field: self.robot.varying_fields[field] for field in request.varying}
        formula, options = self._formula(request), choices(dict(request.options))
        robot = self.robot  # the specification must not refer to this evaluator, which refers to the kernel

        def make_graph() -> Graph:
            def recorded(chosen: dict[str, Any], *columns: Any) -> list[Scalar]:
                given = dict(zip(shapes, columns, strict=True))
                varied = {field: given.pop(field) for field in request.varying}
                model = robot.varied_model(varied) if varied else robot.model
                return flat(formula(model, **given, **chosen))

            counts = {name: math.prod(core) for name, core in shapes.items()}
            return cheapest_trace([partial(recorded, chosen) for chosen in options], counts)

        origin = robot.identity if is_unmodified(robot) else None
        guard = self.guard(request)
        return Specification(
            request.name,
            f"{request.name} of one robot",
            make_graph,
            tuple(shapes.items()),
            self.results(request),
            None if origin is None else f"{request} {origin}",
            None if guard is None else guard.limit,
            function.large,
        )

    def _formula(self, request: Request) -> Formula:
        formula = self.functions[request.name].formula
        if request.by:
            return slopes_by(formula, request.by)
        if not request.doubt_alone:
            return formula

        def doubt(*arguments: Any, **more: Any) -> list[Scalar]:
            return [formula(*arguments, **more).doubt()]

        return doubt


def _called(kernel: CpuKernel, arguments: Mapping[str, Array]) -> tuple[Array, ...] | None:
    """The kernel's results; None where there is no memory for its code in float32."""
    values = list(arguments.values())
    if len({value.dtype for value in values}) > 1:
        values = [value.astype(np.float64, copy=False) for value in values]
    try:
        out = kernel(*values)
    except ValueError:
        batch_shape(arguments)  # says what does not fit
        raise
    except NoKernelError:
        return None
    return out if isinstance(out, tuple) else (out,)


def kernels_allowed() -> bool:
    """Whether machine code may be made: switched on, and the system lets us."""
    return settings.kernels() and executable_memory()


def check_request(function: str, functions: Mapping[str, Function], options: Mapping[str, Any], dtype: Any) -> str:
    """The name of the dtype, if the robot has such a function with such options."""
    if function not in functions:
        known_names = ", ".join(name for name, entry in functions.items() if entry.public)
        raise UnsupportedFeatureError(
            f"there is no function {function!r}", field="kernel", remedy=f"Use one of {known_names}"
        )
    known = functions[function].options
    if unknown := sorted(set(options) - set(known)):
        raise UnsupportedFeatureError(
            f"{function} has no option {unknown[0]!r}", field="kernel", remedy=f"Known: {', '.join(known) or 'none'}"
        )
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        raise UnsupportedFeatureError(
            f"dtype {dtype!r} is not supported", field="kernel", remedy="Use float64 or float32"
        ) from None


def choices(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the options that are tuples."""
    values = [value if isinstance(value, tuple) else (value,) for value in options.values()]
    return [dict(zip(options, combination, strict=True)) for combination in itertools.product(*values)]


# ------------------------------------------------------------------------------------------------------- reference


def reference(
    robot: Evaluated, name: str, arguments: Mapping[str, Array], fields: Mapping[str, Array]
) -> tuple[Array, ...]:
    """A plain call of the robot's function by the reference, with varying fields (..., *core) instead of its own."""
    function = robot.functions[name]

    def formula(**given: Any) -> Any:
        varied = {field: given.pop(field) for field in fields}
        return results_of(function.formula(robot.varied_model(varied), **given, **choices(function.options)[0]))

    shapes = robot.varying_fields
    flat_fields = {
        field: value.reshape(*value.shape[: value.ndim - len(shapes[field])], -1) for field, value in fields.items()
    }
    return evaluate(formula, {**arguments, **flat_fields}, function.results)


def evaluate(formula: Formula, arguments: Mapping[str, Array], results: Sequence[Shape]) -> tuple[Array, ...]:
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
