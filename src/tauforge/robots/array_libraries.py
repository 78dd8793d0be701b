"""Arrays that are not NumPy's: who evaluates a function on them. A new library is a module and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tauforge.robots.evaluate import Evaluator
    from tauforge.robots.robot import Robot


class ArrayLibrary(Protocol):
    """A module that evaluates functions on the arrays of another library.

    `call` gives the results for arguments as a user gives them, (..., *core) each, as arrays of the same library and on
    the same device. It raises the errors of `Evaluator.call`.
    """

    def call(
        self, evaluator: Evaluator, robot: Robot, name: str, given: Mapping[str, Any], on_singular: str, **options: Any
    ) -> tuple[Any, ...]: ...


# by the first part of the module that defines the class of an array
LIBRARIES = {"jax": "tauforge.robots.jax_arrays", "jaxlib": "tauforge.robots.jax_arrays"}


def root_of(value: Any) -> str:
    """The first part of the module that defines the class of a value."""
    return type(value).__module__.partition(".")[0]


def library_of(values: Iterable[Any]) -> Any | None:
    """The module that evaluates on these arrays; None for NumPy's arrays and whatever NumPy makes arrays of.

    Of a payload and a base motion the numbers are asked: a mass may be an array of a library.
    """
    for value in values:
        root = root_of(value)
        if root == "tauforge" and hasattr(value, "numbers"):
            root = root_of(value.numbers())
        if root in LIBRARIES:
            return import_module(LIBRARIES[root])
    return None


def namespace_of(values: Iterable[Any]) -> Any | None:
    """The functions of the library that one of these arrays belongs to; None for NumPy's."""
    for value in values:
        if root_of(value) in LIBRARIES:
            own = getattr(value, "__array_namespace__", None)
            return sys.modules[root_of(value)] if own is None else own()
    return None


def joined(namespace: Any, parts: Iterable[Any]) -> Any:
    """Parts (..., k) side by side along the last dimension; one of them is an array of the library."""
    own = [part for part in parts]
    shape = np.broadcast_shapes(*(tuple(part.shape[:-1]) for part in own))
    return namespace.concatenate([namespace.broadcast_to(part, (*shape, part.shape[-1])) for part in own], -1)
