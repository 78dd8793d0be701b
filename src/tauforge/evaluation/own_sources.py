"""Whether a formula does what our source files say, so that these files may stand for it in the identity of a kernel.

A function or a class that somebody replaced in one of our modules does not follow from the files, nor does the formula
of a robot that we do not know. The kernels of such robots are identified by their graphs.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from operator import attrgetter, eq, is_
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tauforge.evaluation.own_classes import has_own_methods, method_is_as_written

if TYPE_CHECKING:
    from tauforge.evaluation.evaluated import Evaluated
    from tauforge.evaluation.functions import Formula

PACKAGES = (  # beginnings of the names of modules whose functions are traced, laws of control and their steps included
    "tauforge.algebra.",
    "tauforge.formulations.",
    "tauforge.tracing.",
    "tauforge.robots.",
    "tauforge.control.",
    "tauforge.simulation.integrators",
    "tauforge.simulation.any_scalar_robot",
    "tauforge.simulation.step_formulas",
)
TOLD = ("functions", "varied_model", "model", "identity", "varying_fields")  # what the compiler asks of a robot

# where functions of our modules may be written: here, or in Python's library, such as dataclasses
FOLDERS = (str(Path(__file__).parents[1]), str(Path(dataclasses.__file__).parent))


# as they were when their module was first looked at: names with their functions, classes or tuples, in the namespaces
# of modules and classes and in tables; and what the functions do
_named: list[tuple[Mapping[str, Any], tuple[str, ...], tuple[object, ...]]] = []
_functions: dict[FunctionType, tuple[object, object, object]] = {}
_written = attrgetter("__code__", "__defaults__", "__kwdefaults__")
_modules: set[str] = set()
_foreign: set[str] = set()  # modules in which something was replaced before they were looked at


def formulas_are_ours(robot: Evaluated, formula: Formula) -> bool:
    """Whether the robot's model and the formula follow from our sources and from the robot's `identity`."""
    return model_is_ours(robot, formula) and not anything_replaced()


def model_is_ours(robot: Evaluated, formula: Formula) -> bool:
    """As `formulas_are_ours`, as far as the robot's own class and attributes can tell."""
    if not (getattr(formula, "__module__", None) or "").startswith("tauforge."):  # None in a bare `exec`
        return False
    kind = type(robot)
    return not has_own_methods(robot) and all(method_is_as_written(kind, name) for name in TOLD)


def anything_replaced() -> bool:
    """Whether something of a module that formulas come from is another than the one first seen there."""
    _look_at_new_modules()
    if _foreign or not all(all(map(is_, map(names.get, keys), values)) for names, keys, values in _named):
        return True
    return not all(map(eq, map(_written, _functions), _functions.values()))


def _look_at_new_modules() -> None:
    for name in list(sys.modules):
        if name in _modules or not name.startswith(PACKAGES):
            continue
        module = sys.modules[name]
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            continue
        _modules.add(name)
        _look_at(vars(module), name)
        for key, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == name:
                _look_at(vars(value), name)
            elif isinstance(value, Mapping) and key.isupper():  # a table of formulations, of models or of functions
                _look_at(value, name)


def _look_at(names: Mapping[str, Any], module: str) -> None:
    found = {name: value for name, value in names.items() if isinstance(value, FunctionType | type | tuple)}
    _named.append((names, tuple(found), tuple(found.values())))
    for name, value in found.items():
        made = name.startswith("__") and isinstance(value, FunctionType)  # by a dataclass, of a string
        if not made and not _is_known(value):
            _foreign.add(module)
        inner: object = value
        while isinstance(inner, FunctionType):
            _functions[inner] = _written(inner)
            inner = vars(inner).get("__wrapped__")


def _is_known(value: object) -> bool:
    """Whether it comes from our package, from Python or from NumPy."""
    if isinstance(value, FunctionType) and (value.__module__ or "").startswith("tauforge."):
        return value.__code__.co_filename.startswith(FOLDERS)  # a wrapper copies the name of the module
    if isinstance(value, tuple):
        return all(map(_is_known, value))
    if not isinstance(value, FunctionType | type):
        return True
    root = (value.__module__ or "").partition(".")[0]
    return root in ("tauforge", "numpy", "builtins") or root in sys.stdlib_module_names
