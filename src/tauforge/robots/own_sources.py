"""Whether a formula does what our source files say, so that these files may stand for it in the identity of a kernel.

A function or a class that somebody replaced in one of our modules does not follow from the files, nor does the formula
of a robot that we do not know. The kernels of such robots are identified by their graphs.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tauforge.robots.own_classes import method_is_as_written

if TYPE_CHECKING:
    from tauforge.robots.functions import Formula
    from tauforge.robots.robot import Robot

PACKAGES = (  # beginnings of the names of modules whose functions are traced, laws of control and their steps included
    "tauforge.algebra.",
    "tauforge.formulations.",
    "tauforge.tracing.",
    "tauforge.robots.",
    "tauforge.control.",
    "tauforge.simulation.integrators",
    "tauforge.simulation.compiled_steps",
)
TOLD = ("functions", "varied_model", "model", "identity", "varying_fields")  # what the compiler asks of a robot

# names in the namespaces of modules and classes, with the functions and classes that were there first
_first: list[tuple[Any, str, object]] = []
_seen: set[str] = set()
_foreign: set[str] = set()  # modules in which something was replaced before they were looked at


def formulas_are_ours(robot: Robot, formula: Formula) -> bool:
    """Whether the robot's model and the formula follow from our sources and from the robot's `identity`."""
    if not (getattr(formula, "__module__", None) or "").startswith("tauforge."):  # None in a bare `exec`
        return False
    kind = type(robot)
    return all(method_is_as_written(kind, name) for name in TOLD) and not anything_replaced()


def anything_replaced() -> bool:
    """Whether a function or a class of a module that formulas come from is another than the one first seen there."""
    _look_at_new_modules()
    return bool(_foreign) or any(names.get(name) is not value for names, name, value in _first)


def _look_at_new_modules() -> None:
    for name in list(sys.modules):
        if name in _seen or not name.startswith(PACKAGES):
            continue
        module = sys.modules[name]
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            continue
        _seen.add(name)
        _look_at(vars(module), name)
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == name:
                _look_at(vars(value), name)


def _look_at(names: Any, module: str) -> None:
    for name, value in names.items():
        if isinstance(value, FunctionType | type):
            _first.append((names, name, value))
            if not _is_known(value):
                _foreign.add(module)


def _is_known(value: FunctionType | type) -> bool:
    """Whether it comes from our package, from Python or from NumPy."""
    root = (value.__module__ or "").partition(".")[0]
    return root in ("tauforge", "numpy", "builtins") or root in sys.stdlib_module_names
