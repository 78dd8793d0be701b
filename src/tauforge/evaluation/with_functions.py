"""Base of everything with functions over a model, such as a robot: its methods answer users, its kernels programs."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from tauforge import settings
from tauforge.algebra.scalars import Scalar
from tauforge.arrays import Array
from tauforge.class_tools import computed_once
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.evaluation.arguments import ON_SINGULAR, by_name, check_names, checked
from tauforge.evaluation.array_libraries import library_of
from tauforge.evaluation.differentiable import named_function, precision
from tauforge.evaluation.evaluator import Evaluator, Request, kernels_allowed
from tauforge.evaluation.fast_path import install, is_installed, key_of
from tauforge.evaluation.functions import FunctionTable
from tauforge.evaluation.unmodified import method_is_ours, ours, own_methods
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.specification import Shape, Specification

if TYPE_CHECKING:
    from tauforge.kernels.backends import Kernel

P = ParamSpec("P")
R = TypeVar("R")
Answer = TypeVar("Answer")


def quick(method: Callable[Concatenate[R, P], Answer]) -> Callable[Concatenate[R, P], Answer]:
    """A method of a robot that may be answered by its kernel alone."""
    key = key_of(method.__name__)

    @wraps(method)
    def found(self: R, /, *arguments: P.args, **more: P.kwargs) -> Answer:
        shortcut = self.__dict__.get(key)
        if shortcut is None:
            return method(self, *arguments, **more)
        result: Answer = shortcut(*arguments, **more) if more else shortcut(*arguments)
        return result

    return found


def by_table(method: Callable[Concatenate[R, P], Answer]) -> Callable[Concatenate[R, P], Answer]:
    """A method that the entry of its name in the robot's table answers. Its own body is its documentation.

    Where its signature is (*state, **loads), the entry says what it takes by position and by keyword.
    """
    name, parameters = method.__name__, inspect.signature(method).parameters
    places = [key for key, x in parameters.items() if x.kind is x.POSITIONAL_OR_KEYWORD][1:]
    takes_any = any(x.kind is x.VAR_POSITIONAL for x in parameters.values())

    @wraps(method)
    def answered(self: Any, /, *given: P.args, **named: P.kwargs) -> Answer:
        method(self, *given, **named)  # Python words what is wrong with the arguments
        if takes_any:
            everything = self._by_name(name, given, named)
        else:
            everything = {**dict(zip(places, given, strict=False)), **named}
        arguments, on_singular, options = self._sorted(name, everything)
        found: Any = self._answer(name, arguments, on_singular, **options)
        result: Answer = found[0] if len(found) == 1 else found
        return result

    return quick(answered)


@ours
class WithFunctions(ABC):
    """Something with functions over a model. `robots/robot.py` documents the abstract members."""

    name: str

    @property
    @abstractmethod
    def functions(self) -> FunctionTable: ...

    @property
    @abstractmethod
    def model(self) -> Any: ...

    @property
    @abstractmethod
    def varying_fields(self) -> Mapping[str, Shape]: ...

    @property
    @abstractmethod
    def identity(self) -> str | None: ...

    @abstractmethod
    def varied_model(self, values: Mapping[str, Sequence[Scalar]]) -> Any: ...

    @abstractmethod
    def check_function(self, function: str) -> None: ...

    @abstractmethod
    def _check_loads(self, loads: Collection[str], options: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def _check_options(self, function: str, options: Mapping[str, Any]) -> dict[str, Any]: ...

    @abstractmethod
    def _check_varying(self, fields: tuple[str, ...]) -> None: ...

    @computed_once
    def _evaluator(self) -> Evaluator:
        return Evaluator(self)

    def _answer(
        self, function: str, given: Mapping[str, Any], on_singular: str = "raise", **options: Any
    ) -> tuple[Array, ...]:
        """The function's results for arguments as a user gives them, (..., *core) each.

        on_singular: "raise" the error of the function's guard, or "nan" for the rows that it refuses
        After the first plain call, one with the table's own options, the next ones find a shorter way.
        """
        if on_singular not in ("raise", "nan"):
            raise ShapeError("on_singular", expected="'raise' or 'nan'", got=repr(on_singular))
        self.check_function(function)
        evaluator = self._evaluator
        library = library_of(given.values())
        if library is not None:
            return library.call(evaluator, self, function, given, on_singular, **options)
        entry = evaluator.functions[function]
        arguments = checked(self.name, entry, given)
        loads = tuple(arguments)[len(entry.arguments) :]
        request = evaluator.request(function, loads, options)
        results = evaluator(request, arguments, self, on_singular)
        plain = entry.quick and all(entry.options[key] == value for key, value in options.items())
        if plain and not is_installed(self, function, loads) and method_is_ours(type(self), function):
            kernel = None if own_methods(self) else evaluator.kernel(request)
            if kernel is not None:
                install(self, function, tuple(map(entry.argument, loads)), kernel, guarded=entry.guard is not None)
        return results

    def _sorted(self, function: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], str, dict[str, Any]]:
        """Arguments with loads, on_singular= and options of a call that gives them by name."""
        options = self._check_options(function, given)
        arguments = {name: options.pop(name) for name in self._evaluator.arguments_of(function) if name in options}
        on_singular = options.pop(ON_SINGULAR, "raise")
        self._check_loads([name for name, value in arguments.items() if value is not None], options)
        return arguments, on_singular, options

    def _by_name(self, function: str, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        if function not in self.functions:
            raise UnsupportedFeatureError(f"{self.name} has no {function}", field=function)
        return by_name(self.name, function, self.functions[function], given, self._check_options(function, named))

    def kernel(
        self, function: str, *, target: str = "cpu", dtype: str = "float64", varying: Sequence[str] = (), **options: Any
    ) -> Kernel:
        """The compiled function behind the method of this name: called like a generalized ufunc, it takes `out=`.

        function: such as "inverse_dynamics"; options: such as formulation= for that one
        target:   "cpu", or another that was registered (`tauforge.kernels.backends`)
        varying:  names of `varying_fields` that become arguments after the state, an array (..., *core) each
        Identity: equals the method on arrays of this dtype, of `replace`d robots if fields vary; it does not judge
        singular rows. On the CPU `.ufunc` is NumPy's object itself. UnsupportedFeatureError where there is no kernel.
        """
        request = self._request(function, options, varying)
        if target == "cpu" and not kernels_allowed():
            raise no_kernel(function)
        try:
            return self._evaluator.kernel_on(target, request, precision(dtype))
        except NoKernelError as error:
            raise no_kernel(function, error) from None

    def specification(
        self, function: str, *, loads: Sequence[str] = (), varying: Sequence[str] = (), **options: Any
    ) -> Specification:
        """The graph of the method of this name with its arguments and results, for those who write code from it.

        function, varying, options: as in `kernel`
        loads: optional arguments of the table's entry that become arguments after the state, such as "payload"
        """
        return self._evaluator.specification(self._request(function, options, varying, loads))

    def _request(
        self, function: str, options: Mapping[str, Any], varying: Sequence[str], loads: Sequence[str] = ()
    ) -> Request:
        chosen = named_function(self, function, options, loads).request
        fields = check_names(self, varying)
        return self._evaluator.request(function, chosen.optional, dict(chosen.options), fields)


def no_kernel(function: str, error: NoKernelError | None = None) -> UnsupportedFeatureError:
    """The error for a function without a kernel, with the reason of the backend or the one why no kernels are made."""
    if error is not None:
        why = str(error)
    elif not settings.kernels():
        why = f"{settings.shown(settings.KERNELS)} switches kernels off"
    else:
        why = "there is no executable memory left"
    remedy = "Call the method, which uses the NumPy reference"
    return UnsupportedFeatureError(f"{function} has no kernel: {why}", field="kernel", remedy=remedy)
