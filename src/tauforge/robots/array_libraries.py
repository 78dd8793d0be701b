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
LIBRARIES: dict[str, str] = {"cupy": "tauforge.robots.cupy_arrays"}


def library_of(values: Iterable[Any]) -> Any | None:
    """The module that evaluates on these arrays; None for NumPy's arrays and whatever NumPy makes arrays of."""
    for value in values:
        name = LIBRARIES.get(type(value).__module__.partition(".")[0])
        if name is not None:
            return import_module(name)
    return None
