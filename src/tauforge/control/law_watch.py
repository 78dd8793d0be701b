"""Watching a law while it is recorded: what it does beside arithmetic, and what it remembers without saying so.

A recording is the law only if calls leave nothing behind and have nothing to do with the world: a second recording
must find all attributes, globals and variables of closures as the first has found them.
"""

from __future__ import annotations

import dis
import gc
import linecache
import os
import random
import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import CodeType, FrameType, FunctionType, MemberDescriptorType, ModuleType, TracebackType
from typing import Any, Self
from weakref import ref

import numpy as np

from tauforge.algebra.scalars import FoldingScalar
from tauforge.control.controller import Controller
from tauforge.control.law_arrays import Truth
from tauforge.control.traceable_robot import TraceablePositions, TraceableRobot
from tauforge.robots.robot import Robot

OURS = tuple(os.path.dirname(x.__file__ or "") + os.sep for x in (sys.modules["tauforge"], np))
LIBRARY = os.path.dirname(os.__file__) + os.sep
ACTS = {"print", "input", "open", "next", "exec", "start_new_thread", "start_joinable_thread"}  # builtin functions
OF_A_COPY = {"id", "globals"}  # builtin functions whose answers to a copy are others, or which hide what is read
OUTSIDE = {  # modules
    "_io", "time", "datetime", "posix", "nt", "_socket", "select", "_queue", "_warnings", "_posixsubprocess", "_random",
    "random",
}  # fmt: skip
HIDDEN = "hidden"
RANDOM = "random ()"  # stands for the generators of Python and NumPy among attributes
WITHOUT = ("__", "_abc_")  # attributes of classes that are not compared
DEPTH, MANY = 12, 10_000  # of what is compared


def is_users(code: CodeType) -> bool:
    name = code.co_filename
    ours = name.startswith((*OURS, "<frozen")) or (name.startswith(LIBRARY) and "site-packages" not in name)
    return not ours


def _is_made(frame: FrameType) -> bool:
    """True for methods that Python writes for our records and named tuples."""
    return str(frame.f_globals.get("__name__")).startswith(("tauforge.", "namedtuple_"))


def place(file: str, line: int | None) -> str:
    """The line of a file, with its text."""
    text = linecache.getline(file, line or 0).strip()
    return f"{os.path.basename(file)}:{line}" + (f" `{text}`" if text else "")


def place_of(trace: TracebackType | None) -> str | None:
    """The user's last line before an error."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        found = place(code.co_filename, trace.tb_lineno) if is_users(code) else found
        trace = trace.tb_next
    return found


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Puts the generators of Python and NumPy back."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - others may use it
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def place_of_method(method: Any) -> str:
    code: CodeType | None = getattr(method, "__code__", None)
    return repr(method) if code is None else place(code.co_filename, code.co_firstlineno)


class CallWatch:
    """A context in which calls are noted: `deed` is the first with an effect, `known` what each function reads."""

    def __init__(self) -> None:
        self.deed: str | None = None
        self.known: list[tuple[CodeType, dict[str, Any]]] = []

    def __enter__(self) -> Self:
        self._other: Any = sys.getprofile()
        self._collected = gc.isenabled()
        gc.disable()  # finalisers, and callbacks of the collection, are no part of a law
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        if self._other is None or callable(self._other):
            sys.setprofile(self._other)
        else:  # a profiler of cProfile is no function
            self._other.enable()
        if self._collected:
            gc.enable()

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "call" and is_users(frame.f_code) and not _is_made(frame):
            self.known.append((frame.f_code, self._read(frame)))
        elif event == "c_call" and self.deed is None and not frame.f_code.co_filename.startswith(OURS[0]):
            owner = getattr(called, "__self__", None)
            module = getattr(called if owner is None or isinstance(owner, ModuleType) else owner, "__module__", None)
            name = called.__name__
            if name in ACTS or module in OUTSIDE or (name in OF_A_COPY and is_users(frame.f_code)):
                self._note(frame, called.__name__)

    def _note(self, frame: FrameType | None, name: str) -> None:
        while frame is not None and not is_users(frame.f_code):
            if frame.f_code.co_filename.startswith(OURS[0]):
                return
            frame = frame.f_back
        if frame is not None and not _is_made(frame):
            where = place(frame.f_code.co_filename, frame.f_lineno)
            self.deed = f"{where}: calls {name}, which does more than to compute"

    @staticmethod
    def _read(frame: FrameType) -> dict[str, Any]:
        code, values = frame.f_code, frame.f_locals
        names = {name: values[name] for name in code.co_freevars if name in values and name != "__class__"}
        known = {name: frame.f_globals.get(name, sys.modules.get(name, frame)) for name in code.co_names}
        names |= {name: value for name, value in known.items() if value is not frame}
        for module in [value for value in names.values() if isinstance(value, ModuleType)]:
            names |= {f"{module.__name__}.{name}": vars(module)[name] for name in known if name in vars(module)}
        held = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        names |= {name: values[name] for name in held if isinstance(values.get(name), list | dict | set)}
        return {name: look(value) for name, value in names.items()}

    def problem(self, later: CallWatch, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
        """Reason for which calls of the law are more than arithmetic, with the line.

        before, after: the `attributes` of the law, and after both watches
        """
        for name in (*before, *after):
            if before.get(name) != after.get(name):
                changed = "numbers that differ from call to call" if name == RANDOM else changes(name, before.get(name))
                return f"{self.line_of(name.split()[0])}: {changed}; what a law remembers is declared in `memory`"
        for (code, then), (_, now) in zip(self.known, later.known, strict=False):
            for name in then:
                if then[name] != now.get(name):
                    return f"{self.line_of(name.rpartition('.')[2], code)}: {changes(name, then[name])}"
        return None

    def line_of(self, name: str, *codes: CodeType) -> str:
        """The line in which the user's functions write something of this name, or read it; else their first."""
        everything = codes or [code for code, _ in self.known]
        found = [(not op.opname.startswith("STORE"), place(code.co_filename, op.positions and op.positions.lineno))
                 for code in everything for op in dis.get_instructions(code) if op.argval == name]  # fmt: skip
        if found:
            return min(found, key=lambda pair: pair[0])[1]
        return place(everything[0].co_filename, everything[0].co_firstlineno) if everything else name


def changes(name: str, before: Any) -> str:
    return f"{name} holds what cannot be compared" if HIDDEN in str(before) else f"{name} is changed by a call"


def attributes(law: object, but: Collection[str]) -> dict[str, Any]:
    """The attributes of a law and of its classes, and the state of random numbers, to be compared."""
    kinds = [*type(law).__mro__, *type(type(law)).__mro__]
    classes = [cls for cls in kinds if not cls.__module__.startswith(("tauforge.", "builtins", "abc"))]
    found: dict[str, Any] = {RANDOM: [random.getstate(), look(np.random.get_state())]}  # noqa: NPY002
    for holder in (law, *classes):
        for name, value in vars(holder).items():
            if name not in but and not name.startswith(WITHOUT):
                slot = isinstance(value, MemberDescriptorType)
                found.setdefault(name, []).append(look(getattr(law, name, None) if slot else value))
    return found


def look(x: Any, depth: int = DEPTH, seen: dict[int, Any] | None = None) -> Any:
    """A value that can be compared later, whatever becomes of x; scalars that record are all the same.

    What cannot be looked into is equal to nothing. seen: what was looked at already, by its `id`
    """
    if isinstance(x, FoldingScalar | Truth | TraceableRobot | TraceablePositions):
        return "recorded"
    if x is None or isinstance(x, str | bytes | int | float | complex | np.generic):
        return type(x), repr(x)
    seen = {} if seen is None else seen
    inner = partial(look, depth=depth - 1, seen=seen)
    if isinstance(x, np.ndarray):
        return x.shape, str(x.dtype), [*map(inner, x.flat)] if x.dtype == object else x.tobytes()
    module = str(getattr(x, "__module__", None))
    ours = callable(x) and module.startswith(("numpy", "tauforge", "builtins")) and not hasattr(x, "__self__")
    if not depth or id(x) in seen or ours or isinstance(x, ModuleType | Robot):
        return id(x)
    seen[id(x)] = x
    if isinstance(x, list | tuple | deque | set | frozenset | dict):
        by_identity = isinstance(x, set | frozenset | dict) and any(isinstance(e, Controller | ref) for e in x)
        if len(x) > MANY or by_identity:  # a copy of a law is another key
            return HIDDEN, object()
        values = [*map(inner, x.values())] if isinstance(x, dict) else []
        return 0 if isinstance(x, tuple | frozenset | dict) else id(x), [*map(inner, x)], values
    if isinstance(x, type):
        return id(x), inner({k: v for k, v in vars(x).items() if not k.startswith(WITHOUT)})
    return (HIDDEN, object()) if hasattr(x, "__next__") else (id(x), [*map(inner, _parts(x))])


def _parts(x: Any) -> list[Any]:
    """Attributes and contents that an object keeps, as far as Python tells."""
    owner = getattr(x, "__self__", None)
    kept = [object.__getstate__(x), None if isinstance(owner, ModuleType) else owner]  # attributes and slots
    if kept == [None, None] and not isinstance(x, FunctionType | np.ufunc):
        try:
            return [x.__reduce_ex__(2)]
        except Exception:
            return [] if callable(x) or hasattr(x, "__get__") else [iter(())]
    return kept
