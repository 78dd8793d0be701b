"""The evaluator of a robot's functions: the only place that joins formulas, arrays, tracing and compiler.

A formula takes the robot's model and named lists of scalars, and returns nested lists of scalars. It is traced once and
compiled to a kernel. Where there is no kernel (no executable memory, too many operations), the reference evaluates it
(`reference.py`).

The way of a call: a method of the robot -> `WithFunctions._answer` -> the evaluator -> `Evaluator.kernel` (trace,
compile, cache) or `reference` -> `Evaluator.assessed`. After the first plain call `fast_path.install` makes it shorter.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from tauforge import settings
from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.errors import SingularityError
from tauforge.evaluation.arguments import batch_shape, without_choices
from tauforge.evaluation.derivatives import slopes_by
from tauforge.evaluation.functions import Formula, Guard, choices, flat
from tauforge.evaluation.reference import reference
from tauforge.evaluation.unmodified import is_unmodified, own_methods
from tauforge.kernels.backends import NoKernelError, TooLargeError, backend_of
from tauforge.kernels.cpu.code_memory import executable_memory, need_memory
from tauforge.kernels.specification import Shape, Specification
from tauforge.tracing.graph import cheapest_trace, trace

if TYPE_CHECKING:
    from tauforge.evaluation.with_functions import WithFunctions
    from tauforge.kernels.backends import Kernel
    from tauforge.kernels.cpu.kernel import CpuKernel

Answer = TypeVar("Answer")


class Request(NamedTuple):
    """A request for a kernel: a function with its options, the optional arguments given, and the fields that vary.

    by: arguments whose derivatives are the results, in place of the function's own
    """

    name: str
    optional: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    varying: tuple[str, ...]
    doubt_alone: bool = False
    by: tuple[str, ...] = ()


class Evaluator:
    """Evaluates the functions of one robot when it is called, each by a kernel of its own (`kernel`).

    It refers to a copy of the robot: kernels may outlive the robot and must not keep it alive.
    """

    def __init__(self, robot: WithFunctions) -> None:
        self.robot: WithFunctions = copy.copy(robot)
        vars(self.robot).update(own_methods(robot))
        self.functions = robot.functions
        self._kernels: dict[Request, CpuKernel] = {}
        self._argument_names: dict[str, tuple[str, ...]] = {}
        self._too_large: set[Request] = set()
        self._kept: dict[Any, Any] = {}  # kernels by target and precision, and what other array libraries made

    def __call__(
        self,
        asked: str | Request,
        arguments: Mapping[str, Array],
        robot: WithFunctions | None = None,
        on_singular: str = "raise",
        **options: Any,
    ) -> tuple[Array, ...]:
        """The results for checked arguments of a function, or of a request. The guard assesses them for a robot."""
        if isinstance(asked, str):
            asked = self.request(asked, tuple(arguments)[len(self.functions[asked].arguments) :], options)
        function, guard = self.functions[asked.name], None if robot is None else self.guard(asked)
        kernel = self.kernel(asked)
        outs, doubtful = None, None
        if kernel is not None:
            before = kernel.doubts()
            outs = _called(kernel, arguments)
            if outs is not None:
                if guard is None or kernel.doubts() == before:
                    return outs
                (doubts,) = self(asked._replace(doubt_alone=True), arguments)
                doubtful = ~(np.abs(doubts) < guard.limit)
        elif (
            function.in_parts is not None
            and not (asked.by or asked.doubt_alone)
            and (not function.whole or asked in self._too_large)
        ):
            values = np.result_type(*arguments.values())  # a part that takes few of them has the precision of all
            outs = function.in_parts(self, {key: x.astype(values, copy=False) for key, x in arguments.items()})
            doubtful = np.ones(batch_shape(arguments), bool)
        if outs is None:
            formula = partial(self._formula(asked), self.robot.model, **choices(dict(asked.options))[0])
            shapes = self.results(asked)
            outs = reference(formula, arguments, shapes if self.guard(asked) is None else (*shapes, ()))
            outs, doubts = outs[: len(shapes)], outs[-1]
            doubtful = None if guard is None else ~(np.abs(doubts) < guard.limit)
        if robot is None or guard is None or doubtful is None or not doubtful.any():
            return outs
        mended = self.assessed(robot, asked, arguments, tuple(map(np.array, outs)), doubtful, on_singular)
        return tuple(out[()] for out in mended)

    def kernel(self, request: Request) -> CpuKernel | None:
        """The kernel on this processor, made on first use; None where the reference must do."""
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

    def kernel_on(self, target: str, request: Request, dtype: str) -> Kernel:
        """The kernel on any target; NoKernelError where there can be none."""
        backend = backend_of(target)
        return self.kept((request, backend, dtype), lambda: backend.compile(self.specification(request), dtype))

    # ------------------------------------------------------------------------------------------------------ requests

    def request(
        self, name: str, optional: tuple[str, ...], options: Mapping[str, Any], varying: tuple[str, ...] = ()
    ) -> Request:
        """The request of a call of the function with these loads and options."""
        chosen = {**self.functions[name].options, **options}
        if varying:
            chosen = without_choices(chosen)
        return Request(name, optional, tuple(chosen.items()), varying)

    def arguments_of(self, function: str) -> tuple[str, ...]:
        """Names of the arguments that a call of the function may give, optional ones included."""
        found = self._argument_names.get(function)
        if found is None:
            entry = self.functions[function]
            found = self._argument_names[function] = tuple([a.name for a in (*entry.arguments, *entry.optional)])
        return found

    def results(self, request: Request) -> tuple[Shape, ...]:
        """Core shapes of the results.

        For derivatives: all results with respect to the first argument, then to the second, and so on.
        """
        function = self.functions[request.name]
        if request.doubt_alone:
            return ((),)
        if not request.by:
            return function.results
        return tuple((*core, function.argument(name).numbers) for name in request.by for core in function.results)

    def guard(self, request: Request) -> Guard | None:
        """The guard of the function; None for requests whose rows are not judged."""
        return None if request.doubt_alone or request.by else self.functions[request.name].guard

    def fits_gpu(self, request: Request, dtype: str) -> bool:
        """True if it has few enough operations for a GPU, where it is compiled when it is called."""

        def fits() -> bool:
            kernel: Any = self.kernel_on("cuda", request, dtype)
            try:
                (kernel if self.guard(request) is None else kernel.with_doubt).graph  # noqa: B018 - it is traced
            except TooLargeError:
                return False
            return True

        return self.kept(("fits GPU", request), fits)

    def kept(self, key: Any, make: Callable[[], Answer]) -> Answer:
        """The object that was made under this key before, or is made now."""
        if key not in self._kept:
            self._kept.setdefault(key, make())
        found: Answer = self._kept[key]
        return found

    def specification(self, request: Request) -> Specification:
        """The specification of a kernel; its graph is traced when it is first asked for."""
        function = self.functions[request.name]
        shapes = {argument.name: argument.core for argument in function.arguments}
        shapes |= {name: (function.argument(name).numbers,) for name in request.optional}
        shapes |= {field: self.robot.varying_fields[field] for field in request.varying}
        formula, guard = self._formula(request), self.guard(request)
        robot = self.robot  # the specification must not refer to this evaluator, which refers to the kernel

        def recorded(chosen: dict[str, Any], *columns: Any) -> list[Scalar]:
            given = dict(zip(shapes, columns, strict=True))
            varied = {field: given.pop(field) for field in request.varying}
            model = robot.varied_model(varied) if varied else robot.model
            return flat(formula(model, **given, **chosen))

        formulas = [partial(recorded, chosen) for chosen in choices(dict(request.options))]
        origin = robot.identity if is_unmodified(robot) else None
        return Specification(
            request.name,
            f"{request.name} of one robot",
            partial(cheapest_trace, formulas, {name: math.prod(core) for name, core in shapes.items()}),
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

    # -------------------------------------------------------------------------------------------------------- guards

    def assessed(
        self,
        robot: WithFunctions,
        request: Request,
        arguments: Mapping[str, Any],
        outs: tuple[Any, ...],
        doubtful: Any,
        on_singular: str,
        library: Any = np,
        host: Callable[[Any], Array] = np.asarray,
    ) -> tuple[Any, ...]:
        """The guard's closer look at doubtful rows, on the processor: large answers stay, others are mended, become NaN
        or raise SingularityError of the first. Rows with an argument that is not finite are NaN and are not looked at.

        outs: arrays of the library, which are changed; host: makes an array of the library one of NumPy
        """
        batch, rows = batch_shape(arguments), doubtful
        for value in arguments.values():
            rows = rows & library.isfinite(value).all(axis=-1)
        places = np.argwhere(np.broadcast_to(host(rows), batch))
        guard = self.functions[request.name].guard
        if guard is None or not len(places):
            return outs

        def where(chosen: Array) -> tuple[Any, ...]:
            return tuple(map(library.asarray, chosen.T))

        def in_rows(x: Any, core: Shape) -> Array:
            return host(library.broadcast_to(x, (*batch, *core))[where(places)]).reshape(len(places), *core)

        again = {name: in_rows(x, x.shape[-1:]) for name, x in arguments.items()}
        if guard.mend is not None:
            at = where(places)
            for out, better in zip(outs, guard.mend(robot, again), strict=True):
                out[at] = library.asarray(better, out.dtype).reshape(out[at].shape)
            return outs
        assert guard.judge is not None
        found = tuple(in_rows(out, out.shape[len(batch) :]) for out in outs)
        verdict = guard.judge(robot, again, found, dict(request.options))
        if not verdict.refused.any():
            return outs
        if on_singular == "raise":
            first = int(np.argmax(verdict.refused))
            raise SingularityError(
                f"{robot.name}: {verdict.reasons[first]}",
                pose=verdict.position[first].tolist(),
                condition_number=float(verdict.condition[first]),
                row=tuple(int(k) for k in places[first]),
                remedy=verdict.remedy,
            )
        for out in outs:
            out[where(places[verdict.refused])] = np.nan
        return outs


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


def formula_kernel(
    name: str,
    doc: str,
    formula: Callable[..., Sequence[Scalar]],
    shapes: Mapping[str, Shape],
    results: Sequence[Shape],
    origin: str | None = None,
) -> Kernel:
    """The kernel of formula(**columns), which returns a flat list of scalars; NoKernelError where there is none."""
    need_memory()  # the compiler itself takes some

    def recorded(*columns: Sequence[Scalar]) -> Sequence[Scalar]:
        return formula(**dict(zip(shapes, columns, strict=True)))

    make_graph = partial(trace, recorded, {name: math.prod(core) for name, core in shapes.items()})
    specification = Specification(name, doc, make_graph, tuple(shapes.items()), tuple(results), origin)
    return backend_of("cpu").compile(specification, "float64")


def kernel_if_allowed(make: Callable[[], Kernel]) -> Kernel | None:
    """The kernel that `make` gives; None where kernels are off, or where there is no memory at the moment."""
    if not settings.kernels():
        return None
    try:
        return make()
    except NoKernelError:
        return None


def kernels_allowed() -> bool:
    """True if machine code may be made: kernels are switched on, and the system permits them."""
    return settings.kernels() and executable_memory()
