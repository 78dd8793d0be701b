"""Fingerprints of what was asked, and of the versions and the processor that results were made with.

Numbers are kept as they are, whatever is long as a digest.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import json
import platform
import sys
from collections.abc import Mapping, Set
from importlib.metadata import version
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tauforge import __version__
from tauforge.errors import ModelError
from tauforge.evaluation.evaluator import kernels_allowed
from tauforge.kernels.cpu.engine import host
from tauforge.robots.robot import Robot

NOTES = ("sources", "known_exceptions")  # of a robot: where its numbers come from, which changes no result
KEPT_CHARACTERS = 40  # characters of JSON up to which a value is kept as it is
VERSIONED = ("tauforge", "numpy", "builtins")
FORMER_NAMES = {  # of classes that were renamed, by which older stores know them
    "tauforge.sweeps.options.SweptPositions": "tauforge.sweeps.options.Positions",
    "tauforge.sweeps.tracking.SampledMotion": "tauforge.sweeps.tracking.HeldTargets",
}


def described(value: Any) -> dict[str, Any]:
    """A mapping that says what an object is: its class or code, and what it holds, robots field by field."""
    if isinstance(value, FunctionType | MethodType | functools.partial):
        return {"function": _short(value)}
    kind = type(value)
    return {"kind": f"{kind.__module__}.{kind.__qualname__}", **_code(kind)} | {
        name: _robot(held) if isinstance(held, Robot) else _short(held) for name, held in _fields(value).items()
    }


def differences(stored: Any, asked: Any, place: str = "") -> list[str]:
    """Sentences about every entry that differs between two fingerprints."""
    if isinstance(stored, Mapping) and isinstance(asked, Mapping):
        found = []
        for name in dict.fromkeys([*stored, *asked]):
            below = f"{place}.{name}" if place else str(name)
            if name not in stored:
                found.append(f"{below} is new")
            elif name not in asked:
                found.append(f"{below} is missing now")
            else:
                found += differences(stored[name], asked[name], below)
        return found
    if stored == asked:
        return []
    if any(isinstance(x, str) and x.startswith("sha256:") for x in (stored, asked)):
        return [f"{place} is another"]
    return [f"{place} was {json.dumps(stored)} and is {json.dumps(asked)}"]


def digest(value: Any) -> str:
    """A digest of everything in a value; equal values have equal ones, in every process."""
    found = hashlib.sha256()
    _feed(found, value, ())
    return f"sha256:{found.hexdigest()[:32]}"


def _robot(robot: Robot) -> dict[str, Any]:
    kept = {name: _short(value) for name, value in _fields(robot).items() if name not in NOTES}
    return {"kind": type(robot).__qualname__, **_code(type(robot)), **kept}


def _code(kind: type) -> dict[str, str]:
    """A digest of what somebody wrote for a class that no version stands for."""
    return {} if _is_of_library(kind.__module__) else {"code": digest(kind)}


def _short(value: Any) -> Any:
    """A small value itself, if JSON keeps it exactly; else its digest."""
    if value is None or isinstance(value, bool | int | float | str):
        text = json.dumps(value)
        if len(text) <= KEPT_CHARACTERS and "NaN" not in text and "Infinity" not in text:
            return value
    return digest(value)


def _fields(value: Any) -> dict[str, Any]:
    """Fields from which an object was made."""
    if isinstance(value, Robot):
        return value.__getstate__()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(getattr(value, "__dict__", {}))


def _feed(into: Any, value: Any, above: tuple[int, ...]) -> None:
    """Adds a value: its kind, its length and its contents, so that no two different values give the same bytes."""
    if id(value) in above:
        if isinstance(value, type | FunctionType):  # functions and classes may name themselves and each other
            into.update(f"<again {value.__qualname__}>".encode())
            return
        raise _undescribed(value, "it contains itself")

    def add(kind: str, *parts: Any) -> None:
        into.update(f"<{kind} {len(parts)}>".encode())
        for part in parts:
            _feed(into, part, (*above, id(value)))

    def put(kind: str, data: bytes) -> None:
        into.update(f"<{kind} {len(data)}>".encode() + data)

    match value:
        case None | bool() | int() | complex() | np.generic():
            put(type(value).__name__, repr(value).encode())
        case float():
            put("float", value.hex().encode())
        case str():
            put("str", value.encode("utf-8", "surrogatepass"))
        case bytes():
            put("bytes", value)
        case np.ndarray() if value.dtype.kind in "biufcSU":
            put("array", f"{value.dtype.str} {value.shape} ".encode() + np.ascontiguousarray(value).tobytes())
        case enum.Enum():
            add("enum", type(value), value.name)
        case PurePath():
            put("path", str(value).encode())
        case Mapping():
            pairs = sorted(((digest(key), key) for key in value), key=lambda pair: pair[0])
            add("mapping", *(part for _, key in pairs for part in (key, value[key])))
        case Set():
            add("set", *sorted(digest(part) for part in value))
        case tuple() | list():
            add("sequence", *value)
        case type():
            name = f"{value.__module__}.{value.__qualname__}"
            put("type", FORMER_NAMES.get(name, name).encode())
            if not _is_of_library(value.__module__):
                add("written", *(part for base in value.__mro__ for part in _written(base)))
        case ModuleType():
            put("module", value.__name__.encode())
        case functools.partial():
            add("partial", value.func, value.args, value.keywords)
        case MethodType():
            add("method", value.__func__, value.__self__)
        case FunctionType():
            cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
            add("function", value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells)
            if not _is_of_library(value.__module__):
                add("globals", *(part for pair in _globals(value) for part in pair))
        case CodeType():
            add("code", value.co_code, value.co_consts, value.co_names)
        case _ if hasattr(value, "__dict__") or dataclasses.is_dataclass(value):
            add("object", type(value), _fields(value))
        case _:
            raise _undescribed(value, f"a {type(value).__name__}")


def _is_of_library(module: str) -> bool:
    """True for modules that a version describes: ours, NumPy's and Python's own, which a store names."""
    root = module.partition(".")[0]
    return root in VERSIONED or (root in sys.stdlib_module_names and root != "__main__")


def _written(cls: type) -> list[Any]:
    """The functions that somebody wrote for a class, by name; dataclasses add others, which follow from its fields."""
    if _is_of_library(cls.__module__):
        return []
    found = []
    for name, value in sorted(vars(cls).items()):
        plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if isinstance(plain, FunctionType) and plain.__code__.co_filename != "<string>":
            found += [name, plain]
    return found


def _globals(function: FunctionType) -> list[tuple[str, Any]]:
    """Globals that a function and those inside it use; things of libraries by their own names."""
    found, codes = set(), [function.__code__]
    while codes:
        code = codes.pop()
        found |= set(code.co_names)
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
    named = []
    for name in sorted(found & function.__globals__.keys()):
        value = function.__globals__[name]
        module = getattr(value, "__module__", None) or type(value).__module__
        callable_of_library = callable(value) and _is_of_library(str(module))
        named.append((name, f"{module}.{name}" if callable_of_library else value))
    return named


def _undescribed(value: Any, why: str) -> ModelError:
    problem = f"a study holds what cannot be compared later: {why}"
    return ModelError(problem, field="fingerprint", remedy="Give the study a fingerprint of its own")


def environment() -> dict[str, Any]:
    """Versions and kind of machine that determine results bit by bit, as JSON.

    vector_bits: of the compiled kernels; None where the NumPy reference runs in their place
    """
    kernels = kernels_allowed()
    return {
        "tauforge": __version__,
        "numpy": version("numpy"),
        "kernels": kernels,
        "vector_bits": host().vector_bits if kernels else None,
        "processor": platform.machine(),
    }
