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
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, Self

import numpy as np

from tauforge.algebra.scalars import FoldingScalar
from tauforge.control.law_arrays import Truth
from tauforge.control.traceable_robot import TraceablePositions, TraceableRobot

OURS = tuple(os.path.dirname(x.__file__ or "") + os.sep for x in (sys.modules["tauforge"], np))
LIBRARY = os.path.dirname(os.__file__) + os.sep
ACTS = {"print", "input", "open", "next", "exec", "start_new_thread", "start_joinable_thread"}  # builtin functions
OUTSIDE = {  # modules
    "_io", "time", "posix", "nt", "_socket", "select", "_queue", "_warnings", "_posixsubprocess", "_random", "random",
}  # fmt: skip
RANDOM = "random"  # stands for the generators of Python and NumPy among attributes
DEPTH, MANY = 6, 10_000  # of what is compared


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
        self._other, self._collected = sys.getprofile(), gc.isenabled()
        gc.disable()  # finalisers, and callbacks of the collection, are no part of a law
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._other)
        if self._collected:
            gc.enable()

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "call" and is_users(frame.f_code) and not _is_made(frame):
            self.known.append((frame.f_code, self._read(frame)))
        elif event == "c_call" and self.deed is None and not frame.f_code.co_filename.startswith(OURS[0]):
            owner = getattr(called, "__self__", None)
            own = None if owner is None or isinstance(owner, ModuleType) else type(owner).__module__
            if called.__name__ in ACTS or own in OUTSIDE or getattr(called, "__module__", None) in OUTSIDE:
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
        names |= {name: frame.f_globals[name] for name in code.co_names if name in frame.f_globals}
        held = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        names |= {name: values[name] for name in held if isinstance(values.get(name), list | dict | set)}
        return {name: look(value) for name, value in names.items()}

    def problem(self, later: CallWatch, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
        """Reason for which calls of the law are more than arithmetic, with the line.

        before, after: the `attributes` of the law, and after both watches
        """
        for name in (*before, *after):
            if before.get(name) != after.get(name):
                changed = "numbers that differ from call to call" if name == RANDOM else f"{name} is changed by a call"
                return f"{self.line_of(name)}: {changed}; what a law remembers is declared in `memory`"
        for (code, then), (_, now) in zip(self.known, later.known, strict=False):
            for name in then:
                if then[name] != now.get(name):
                    return f"{self.line_of(name, code)}: {name} is changed by a call"
        return None

    def line_of(self, name: str, *codes: CodeType) -> str:
        """The line in which the user's functions write something of this name, or read it; else their first."""
        everything = codes or [code for code, _ in self.known]
        found = [(not op.opname.startswith("STORE"), place(code.co_filename, op.positions and op.positions.lineno))
                 for code in everything for op in dis.get_instructions(code) if op.argval == name]  # fmt: skip
        if found:
            return min(found, key=lambda pair: pair[0])[1]
        return place(everything[0].co_filename, everything[0].co_firstlineno) if everything else name


def attributes(law: object, but: Collection[str]) -> dict[str, Any]:
    """The attributes of a law and of its classes, and the state of random numbers, to be compared."""
    own = {name: look(value) for name, value in vars(law).items() if name not in but}
    classes = [cls for cls in type(law).__mro__ if not cls.__module__.startswith(("tauforge.", "builtins", "abc"))]
    for cls in classes:
        own |= {name: look(value) for name, value in vars(cls).items() if not callable(value) and name[:2] != "__"}
    return own | {RANDOM: (random.getstate(), look(np.random.get_state()))}  # noqa: NPY002


def look(x: Any, depth: int = DEPTH) -> Any:
    """A value that can be compared later, whatever becomes of x; scalars that record are all the same."""
    if isinstance(x, FoldingScalar | Truth | TraceableRobot | TraceablePositions):
        return "recorded"
    if x is None or isinstance(x, str | bytes | int | float | complex | np.generic):
        return type(x), repr(x)
    if isinstance(x, np.ndarray):
        return x.shape, str(x.dtype), [look(e, depth) for e in x.flat] if x.dtype == object else x.tobytes()
    if not depth or isinstance(x, ModuleType):
        return id(x)
    if isinstance(x, list | tuple | set | frozenset | deque) and len(x) <= MANY:
        return id(x) if isinstance(x, list | set | deque) else 0, len(x), [look(e, depth - 1) for e in x]
    if isinstance(x, dict) and len(x) <= MANY:
        return [(look(k, depth - 1), look(v, depth - 1)) for k, v in x.items()]
    if isinstance(x, np.random.Generator):
        return look(x.bit_generator.state, depth)
    if isinstance(x, random.Random):
        return x.getstate()
    if isinstance(x, type):
        users = not x.__module__.startswith(("tauforge", "numpy", "builtins"))
        plain = {name: value for name, value in vars(x).items() if not callable(value) and name[:2] != "__"}
        return id(x), look(plain, depth - 1) if users else None
    inner = None if type(x).__module__.startswith(("tauforge.", "numpy")) else getattr(x, "__dict__", None)
    return id(x), look(inner, depth - 1) if isinstance(inner, dict) else None
