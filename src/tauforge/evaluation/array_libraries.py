"""Libraries of arrays other than NumPy, and the modules that evaluate functions on them.

A new library is a module and a line here. CuPy serves arrays of other libraries that say their memory is on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

from tauforge.arrays import without_masks
from tauforge.kernels.cuda.arrays import is_on_gpu

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.evaluation.with_functions import WithFunctions


class ArrayLibrary(Protocol):
    """A module that evaluates functions on the arrays of another library.

    namespace:  the functions of the library, such as `concatenate`
    call:       the results for arguments as a user gives them, (..., *core) each, as arrays of the library and on the
                same device; it raises the errors of `Evaluator.call`
    array_like: makes an array of the library, of the type and on the device of another array
    values_of:  an array of NumPy, for searches that run on the processor only
    """

    namespace: Any

    def call(
        self,
        evaluator: Evaluator,
        robot: WithFunctions,
        name: str,
        given: Mapping[str, Any],
        on_singular: str,
        **options: Any,
    ) -> tuple[Any, ...]: ...

    def array_like(self, value: Any, like: Any) -> Any: ...

    def values_of(self, value: Any, what: str) -> Any: ...


CUPY = "tauforge.evaluation.cupy_arrays"
# by the first part of the module that defines the class of an array, or a class that it is derived from
LIBRARY_MODULES = {
    "cupy": CUPY,
    "jax": "tauforge.evaluation.jax_arrays",
    "jaxlib": "tauforge.evaluation.jax_arrays",
    "torch": "tauforge.evaluation.torch_arrays",
}
NUMPY_ROOTS = ("numpy", "builtins")  # in the processor's memory


class _Roots(dict[type, tuple[str, ...]]):
    """First parts of the modules that define a class and those that it is derived from; kept for each class."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = found = tuple(str(base.__module__).partition(".")[0] for base in kind.__mro__)
        return found


_roots = _Roots()


def module_of(value: Any) -> str | None:
    """The name of the module that evaluates on an array; None for NumPy arrays and whatever NumPy makes arrays of.

    A payload or a base motion counts by its numbers: a mass may be an array of a library.
    """
    roots = _roots[type(value)]
    if roots[0] in NUMPY_ROOTS:
        return None
    if listed := [LIBRARY_MODULES[root] for root in roots if root in LIBRARY_MODULES]:
        return listed[0]
    if roots[0] == "tauforge" and hasattr(value, "numbers"):
        return module_of(value.numbers())
    return CUPY if is_on_gpu(value) else None


class Choice(NamedTuple):
    """The library that evaluates, and the first of its arrays."""

    library: ArrayLibrary
    first: Any


def choice_of(values: Iterable[Any]) -> Choice | None:
    """The library that evaluates on these values; None for NumPy. One that can differentiate goes before CuPy."""
    others = [value for value in values if _roots[type(value)][0] not in NUMPY_ROOTS]  # as a rule none
    modules = [(module, value) for value in others if (module := module_of(value)) is not None]
    if not modules:
        return None
    module, first = next((pair for pair in modules if pair[0] != CUPY), modules[0])
    found: Any = import_module(module)
    return Choice(found, first)


def library_of(values: Iterable[Any]) -> ArrayLibrary | None:
    """The module that evaluates on these arrays; None for NumPy arrays and whatever NumPy makes arrays of."""
    choice = choice_of(values)
    return None if choice is None else choice.library


def common_arrays(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The functions of a library, and the values as its arrays; those of NumPy, and the values, if there is none."""
    choice = choice_of(values)
    if choice is None:
        return np, list(values)
    library, first = choice
    made = [value if _is_listed(value) else library.array_like(without_masks(value), first) for value in values]
    return library.namespace, made


def _is_listed(value: Any) -> bool:
    return not LIBRARY_MODULES.keys().isdisjoint(_roots[type(value)])


def joined(namespace: Any, parts: Sequence[Any]) -> Any:
    """Parts (..., k) side by side along the last dimension."""
    shape = np.broadcast_shapes(*(tuple(part.shape[:-1]) for part in parts))
    return namespace.concatenate([namespace.broadcast_to(part, (*shape, part.shape[-1])) for part in parts], -1)


class ArrayArithmetic(NamedTuple):
    """Functions and constants for computing with an array of any library.

    xp:       the functions, such as `xp.sqrt`
    constant: makes an array of numbers
    """

    xp: Any
    constant: Callable[[Any], Any]


def arithmetic_of(array: Any) -> ArrayArithmetic:
    library = library_of((array,))
    if library is None:
        return ArrayArithmetic(np, np.asarray)
    return ArrayArithmetic(library.namespace, partial(library.array_like, like=array))


P = ParamSpec("P")
R = TypeVar("R")
Answer = TypeVar("Answer")


def on_processor(method: Callable[Concatenate[R, P], Answer]) -> Callable[Concatenate[R, P], Answer]:
    """A method that searches with NumPy: arrays of other libraries are read, and the results become arrays of theirs.

    It cannot be differentiated, and it refuses arrays that are not in the processor's memory.
    """

    @wraps(method)
    def searched(self: R, /, *arguments: P.args, **more: P.kwargs) -> Answer:
        given = [*arguments, *more.values()]
        choice = choice_of(given)
        if choice is None:
            return method(self, *arguments, **more)
        library, like = choice
        read: Any = [library.values_of(value, method.__name__) for value in given]
        found: Any = method(self, *read[: len(arguments)], **dict(zip(more, read[len(arguments) :], strict=True)))
        result: Answer = _handed_back(library, found, like)
        return result

    return searched


def _handed_back(library: ArrayLibrary, found: Any, like: Any) -> Any:
    if isinstance(found, np.ndarray | np.generic):
        return library.array_like(np.asarray(found), like)
    if isinstance(found, tuple):
        parts = [_handed_back(library, part, like) for part in found]
        return type(found)._make(parts) if hasattr(found, "_make") else tuple(parts)  # named or plain
    return found
