"""Arrays that are not NumPy's: who evaluates a function on them. A new library is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from tauforge.robots.evaluate import Evaluator
    from tauforge.robots.robot import Robot


class ArrayLibrary(Protocol):
    """A module that evaluates functions on the arrays of another library.

    namespace:  the functions of the library, such as `concatenate`
    call:       the results for arguments as a user gives them, (..., *core) each, as arrays of the same library and on
                the same device; it raises the errors of `Evaluator.call`
    array_like: makes an array of numbers, of the type and on the device of another array
    values_of:  an array of NumPy, for searches that run on the processor only
    """

    namespace: Any

    def call(
        self, evaluator: Evaluator, robot: Robot, name: str, given: Mapping[str, Any], on_singular: str, **options: Any
    ) -> tuple[Any, ...]: ...

    def array_like(self, value: Any, like: Any) -> Any: ...

    def values_of(self, value: Any, what: str) -> Any: ...


# by the first part of the module that defines the class of an array
LIBRARIES = {
    "cupy": "tauforge.robots.cupy_arrays",
    "jax": "tauforge.robots.jax_arrays",
    "jaxlib": "tauforge.robots.jax_arrays",
    "torch": "tauforge.robots.torch_arrays",
}


def root_of(value: Any) -> str:
    """The first part of the module that defines the class of a value."""
    return type(value).__module__.partition(".")[0]


def library_of(values: Iterable[Any]) -> ArrayLibrary | None:
    """The module that evaluates on these arrays; None for NumPy's arrays and whatever NumPy makes arrays of.

    A payload or a base motion counts by its numbers: a mass may be an array of a library.
    """
    for value in values:
        root = root_of(value)
        if root == "tauforge" and hasattr(value, "numbers"):
            root = root_of(value.numbers())
        if root in LIBRARIES:
            found: Any = import_module(LIBRARIES[root])
            library: ArrayLibrary = found
            return library
    return None


def common_arrays(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The functions of a library, and the values as its arrays; at least one is an array of it."""
    library = library_of(values)
    assert library is not None
    first = next(value for value in values if root_of(value) in LIBRARIES)
    arrays = [value if root_of(value) in LIBRARIES else library.array_like(value, first) for value in values]
    return library.namespace, arrays


def joined(namespace: Any, parts: Sequence[Any]) -> Any:
    """Parts (..., k) side by side along the last dimension."""
    shape = np.broadcast_shapes(*(tuple(part.shape[:-1]) for part in parts))
    return namespace.concatenate([namespace.broadcast_to(part, (*shape, part.shape[-1])) for part in parts], -1)


class Arithmetic(NamedTuple):
    """How to compute with an array and with constants beside it, whatever library it comes from.

    xp:       the functions, such as `xp.sqrt`
    constant: makes an array of numbers
    """

    xp: Any
    constant: Callable[[Any], Any]


def arithmetic_of(array: Any) -> Arithmetic:
    library = library_of((array,))
    if library is None:
        return Arithmetic(np, np.asarray)
    return Arithmetic(library.namespace, partial(library.array_like, like=array))


P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def on_processor(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """A method that searches with NumPy: arrays of other libraries are read, and the results become arrays of theirs.

    It cannot be differentiated, and it refuses arrays that are not in the processor's memory.
    """

    @wraps(method)
    def searched(self: R, /, *arguments: P.args, **more: P.kwargs) -> T:
        given = [*arguments, *more.values()]
        library = library_of(given)
        if library is None:
            return method(self, *arguments, **more)
        like = next(value for value in given if root_of(value) in LIBRARIES)
        read: Any = [library.values_of(value, method.__name__) for value in given]
        found: Any = method(self, *read[: len(arguments)], **dict(zip(more, read[len(arguments) :], strict=True)))
        result: T = _handed_back(library, found, like)
        return result

    return searched


def _handed_back(library: ArrayLibrary, found: Any, like: Any) -> Any:
    if isinstance(found, np.ndarray | np.generic):
        return library.array_like(np.asarray(found), like)
    if isinstance(found, tuple):
        parts = [_handed_back(library, part, like) for part in found]
        return type(found)._make(parts) if hasattr(found, "_make") else tuple(parts)  # named or plain
    return found
