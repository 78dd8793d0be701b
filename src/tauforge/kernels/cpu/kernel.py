"""A kernel: a graph, its compiled loops, and how to call them."""

from __future__ import annotations

import ctypes
import hashlib
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike

from tauforge.kernels import cache as disk
from tauforge.kernels.cpu import builtin_call, engine, threads
from tauforge.kernels.cpu.code_memory import NoKernelError, need_memory
from tauforge.kernels.cpu.host import host
from tauforge.kernels.cpu.llvm_module import emit_module
from tauforge.kernels.cpu.numpy_binding import TYPE_NUMBERS, generalized_ufunc
from tauforge.kernels.lock import LOCK
from tauforge.tracing.graph import Graph

MAX_NODES = 10_000  # above, the NumPy reference runs instead
RECENT = 32  # kernels that stay for a while although nobody refers to them


class TooLargeError(NoKernelError):
    """A graph of more operations than are compiled; the NumPy reference runs instead."""


class Kernel:
    """One function of one robot, compiled on the spot; called like a generalized ufunc of NumPy (`ufunc`).

    graph:     makes the graph; called only if the code is not in the cache
    arguments: names and core shapes; element k of argument a is the graph's input a + str(k)
    results:   core shapes
    identity:  a text that determines the graph, for the cache
    limit:     numbers of the last result that are not below it in size are suspects (see `suspects`)
    """

    def __init__(
        self,
        name: str,
        doc: str,
        graph: Callable[[], Graph],
        arguments: list[tuple[str, tuple[int, ...]]],
        results: list[tuple[int, ...]],
        identity: str,
        limit: float | None = None,
    ) -> None:
        self.name, self.doc, self.arguments, self.results = name, doc, arguments, results
        self._graph, self._identity, self._limit = graph, identity, limit
        self._cores = [len(core) for _, core in arguments]
        self._suspects = ctypes.c_int64(0)
        self.seconds: dict[str, float] = {}  # spent tracing, compiling and loading
        self._ufunc, self._loops = generalized_ufunc(name, doc, [core for _, core in arguments], results)

    @property
    def ufunc(self) -> np.ufunc:
        """NumPy's own object, with `where=`, `axes=` and the rest; both its loops are compiled by asking for it."""
        for bits in TYPE_NUMBERS:
            self.loaded(bits)
        return self._ufunc

    def __call__(self, *arguments: ArrayLike, out: Any = None) -> Any:
        """Broadcasts like any generalized ufunc; large batches run on all threads."""
        if len(arguments) != len(self.arguments):
            names = ", ".join(name for name, _ in self.arguments)
            raise TypeError(f"{self.name} takes {len(self.arguments)} arguments ({names}), got {len(arguments)}")
        arrays = [a if isinstance(a, np.ndarray) else np.asarray(a) for a in arguments]
        self.loaded(32 if all(a.dtype == np.float32 for a in arrays) else 64)
        return threads.call(self._ufunc, arrays, self._cores, self.results, out)

    def loaded(self, bits: int) -> engine.Loaded:
        """The machine code for float64 or float32, from the cache or made now; NoKernelError where it cannot be had."""
        found = self._loops.loaded.get(bits)
        if found is not None:
            return found
        with LOCK:
            if bits not in self._loops.loaded:
                made = self._load(bits)
                if bits == 64:
                    self._suspects = ctypes.c_int64.from_address(made.address("suspects"))
                self._loops.put(bits, made)
            return self._loops.loaded[bits]

    def _load(self, bits: int) -> engine.Loaded:
        machine = host()
        name = disk.key(self._identity, self.name, str(bits), str(self._limit), *map(str, machine), emitter_version())
        code = disk.load(name)
        if code is None:
            need_memory()
            start = time.perf_counter()
            graph = self._graph()
            traced = time.perf_counter()
            if len(graph.nodes) > MAX_NODES:
                raise TooLargeError(f"{self.name}: {len(graph.nodes)} operations, at most {MAX_NODES} are compiled")
            code = engine.compile_text(
                emit_module(graph, self.arguments, self.results, machine, bits, self._limit), machine
            )
            self.seconds |= {"trace": traced - start, f"compile{bits}": time.perf_counter() - traced}
            disk.save(name, code)
        start = time.perf_counter()
        loaded = engine.Loaded(code, machine, "loop")
        self.seconds[f"load{bits}"] = time.perf_counter() - start
        return loaded

    def suspects(self) -> int:
        """Grows with every block of rows in float64 that had a suspect."""
        return self._suspects.value

    def builtin(self, robot: Callable[[], Any], call: Callable[..., Any]) -> Callable[..., Any] | None:
        """For one state or a short batch: a builtin that hands what it does not take, and suspects, on to `call`.

        robot: gives the robot that it is a method of. None where it is not supported.
        """
        if not builtin_call.supported():
            return None
        return builtin_call.builtin(self.loaded(64), self.name, robot, call)


_shared: WeakValueDictionary[str, Kernel] = WeakValueDictionary()  # equal robots use the same code while one lives
_recent: OrderedDict[str, Kernel] = OrderedDict()  # so that a robot made, called and dropped in a loop finds its code


def kernel_of(
    name: str,
    doc: str,
    graph: Callable[[], Graph],
    arguments: list[tuple[str, tuple[int, ...]]],
    results: list[tuple[int, ...]],
    identity: str,
    limit: float | None = None,
) -> Kernel:
    """As `Kernel`, but the same one for the same identity."""
    key = disk.key(identity, name, str(limit), *map(str, host()))
    with LOCK:
        found = _shared.get(key)
        if found is None:
            found = _shared[key] = Kernel(name, doc, graph, arguments, results, identity, limit)
        _recent[key] = found
        _recent.move_to_end(key)
        if len(_recent) > RECENT:
            _recent.popitem(last=False)
        return found


@cache
def emitter_version() -> str:
    """Changes whenever any text changes that a kernel is made from."""
    package = os.path.dirname(
        os.path.dirname(os.path.dirname(__file__))
    )  # not pathlib: this is part of every first call
    digest = hashlib.sha256()
    empty = True
    for folder in ("algebra", "formulations", "tracing", "kernels", "robots", "control", "simulation"):
        for place, _, files in sorted(os.walk(f"{package}/{folder}")):
            for name in sorted(files):
                if _is_source(place, name):
                    with open(f"{place}/{name}", "rb") as file:
                        text = file.read()
                    digest.update(f"{place.removeprefix(package)}/{name} {len(text)} ".encode() + text)
                    empty = False
    if empty:  # in an archive, for example: then entries serve this process alone
        digest.update(secrets.token_bytes())
    return digest.hexdigest()


def _is_source(place: str, name: str) -> bool:
    """A module's text, or its bytecode where it was installed without the text."""
    if name.endswith(".pyc"):
        return os.path.basename(place) != "__pycache__"
    return name.endswith(".py")
