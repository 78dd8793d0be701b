"""The targets that kernels are made for, by name. A new target is a backend and one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from tauforge.errors import UnsupportedFeatureError
from tauforge.kernels import LOCK
from tauforge.kernels.specification import Shape, Specification


class Kernel(Protocol):
    """A compiled function: it takes arrays (..., *core) and returns one array, or a tuple of them."""

    @property
    def arguments(self) -> tuple[tuple[str, Shape], ...]: ...

    @property
    def results(self) -> tuple[Shape, ...]: ...

    def __call__(self, *arguments: Any, out: Any = None) -> Any: ...


class Backend(Protocol):
    """Turns specifications into kernels.

    1. `compile` returns a kernel that broadcasts over leading dimensions, for "float64" or "float32".
    2. It raises UnsupportedFeatureError for a precision that it does not have, and NoKernelError where a kernel is not
       available at the moment: then the NumPy reference is used.
    3. Equal `specification.identity` means equal results, so a backend may keep its kernels.
    """

    def compile(self, specification: Specification, dtype: str) -> Kernel: ...


class NoKernelError(RuntimeError):
    """No kernel is available; the NumPy reference is used instead."""


class NoCompilerError(NoKernelError):
    """The compiler of the target is not installed; the NumPy reference is used instead."""


class TooLargeError(NoKernelError):
    """The graph has more operations than the target compiles; the NumPy reference is used instead."""


# targets by name: a backend, or the module that has one called `backend`, which is slow to import
_BACKENDS: dict[str, Backend | str] = {"cpu": "tauforge.kernels.cpu.kernel", "cuda": "tauforge.kernels.cuda.kernel"}


def register(target: str, backend: Backend) -> None:
    """Register the backend that compiles `robot.kernel(function, target=target)`."""
    _BACKENDS[target] = backend


def backend_of(target: str) -> Backend:
    """The backend for this target; raises UnsupportedFeatureError if there is none of this name."""
    found = _BACKENDS.get(target)
    if found is None:
        remedy = f"Use one of {', '.join(_BACKENDS)}"
        raise UnsupportedFeatureError(f"unknown target {target!r}", field="target", remedy=remedy)
    if isinstance(found, str):
        try:
            with LOCK:  # the module leads to the compiler
                module = import_module(found)
        except ModuleNotFoundError as error:
            raise NoCompilerError(f"{error.name} is not installed") from None
        found = _BACKENDS[target] = module.backend
    return found
