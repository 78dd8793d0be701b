"""A kernel: a graph, its compiled loops, and how to call them."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tauforge.kernels import cache as disk
from tauforge.kernels import direct_call, engine, threads
from tauforge.kernels.host import host
from tauforge.kernels.llvm_module import emit_module
from tauforge.kernels.numpy_binding import generalized_ufunc
from tauforge.tracing.graph import Graph

MAX_NODES = 10_000  # above, the NumPy reference runs instead


class TooLargeError(RuntimeError):
    """A graph of more operations than are compiled; the NumPy reference runs instead."""


class Kernel:
    """One function of one robot, compiled on the spot.

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
        self._loaded: dict[int, engine.Loaded] = {}
        self.seconds: dict[str, float] = {}  # spent tracing, compiling and loading
        self.ufunc = generalized_ufunc(
            name, doc, [core for _, core in arguments], results, lambda bits: self.loaded(bits).address("loop")
        )

    def __call__(self, *arguments: np.ndarray, out: Any = None) -> Any:
        """Broadcasts like any generalized ufunc; large batches run on all threads."""
        return threads.call(self.ufunc, arguments, self._cores, self.results, out)

    def loaded(self, bits: int) -> engine.Loaded:
        """The machine code for float64 or float32, from the cache or made now."""
        with engine.LOCK:
            if bits not in self._loaded:
                self._loaded[bits] = self._load(bits)
            return self._loaded[bits]

    def _load(self, bits: int) -> engine.Loaded:
        machine = host()
        name = disk.key(self._identity, self.name, str(bits), str(self._limit), *map(str, machine), emitter_version())
        code = disk.load(name)
        if code is None:
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
        loaded = engine.Loaded(code, machine)
        self.seconds[f"load{bits}"] = time.perf_counter() - start
        return loaded

    def suspects(self) -> int:
        """Grows with every block of rows in float64 that had a suspect."""
        return int(ctypes.c_int64.from_address(self.loaded(64).address("suspects")).value)

    def builtin(self, fallback: Callable[..., Any]) -> Callable[..., Any] | None:
        """For one state or a short batch: a builtin that hands what it does not take, and suspects, to `fallback`.

        None where it is not supported.
        """
        if not direct_call.supported():
            return None
        return direct_call.builtin(self.loaded(64), self.name, self.doc, fallback)


@cache
def emitter_version() -> str:
    """Changes whenever any text changes that a kernel is made from."""
    package = Path(__file__).parent.parent
    parts = []
    for folder in ("algebra", "formulations", "tracing", "kernels", "robots"):
        for path in sorted((package / folder).rglob("*.py")):
            parts += [str(path.relative_to(package)), path.read_text(encoding="utf-8")]
    return disk.key(*parts)
