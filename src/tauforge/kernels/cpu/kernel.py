"""Kernels on this processor: a graph becomes one LLVM module, which is compiled and called through NumPy."""

from __future__ import annotations

import ctypes
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array, real_numbers, without_masks
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.kernels import LOCK, cache
from tauforge.kernels.backends import NoKernelError, TooLargeError
from tauforge.kernels.cpu import engine, numpy_binding, threads
from tauforge.kernels.cpu.code_memory import need_memory
from tauforge.kernels.cpu.engine import Host, host
from tauforge.kernels.cpu.llvm_body import Operand, emit_body
from tauforge.kernels.cpu.llvm_builtin import ADDRESSES, builtin_function
from tauforge.kernels.cpu.llvm_loop import OFFSETS, loop_function, run_body, spoil_function
from tauforge.kernels.cpu.llvm_rows import copies
from tauforge.kernels.cpu.llvm_text import Vectors, Writer
from tauforge.kernels.cpu.numpy_binding import TYPE_NUMBERS, generalized_ufunc
from tauforge.kernels.specification import Specification
from tauforge.tracing.graph import Graph


def attributes(host: Host) -> str:
    """Of functions, #0, and of those with vectors, #1."""
    width = f'"prefer-vector-width"="{host.vector_bits}" "min-legal-vector-width"="{host.vector_bits}"'
    common = f'"no-trapping-math"="true" {width}'
    return f"attributes #0 = {{ nounwind {common} }}\nattributes #1 = {{ noinline nounwind alignstack=64 {common} }}\n"


def emit_module(graph: Graph, specification: Specification, host: Host, bits: int) -> str:
    """LLVM source with `loop` (the gufunc's inner loop) and, in 64 bits, `builtin` (for one state).

    Blocks of rows with a doubt that is not below the specification's limit are counted in `doubts`.
    """
    lanes = host.lanes(bits)
    arguments, results, limit = specification.arguments, specification.results, specification.doubt_limit
    shapes = [*arguments, *(("", core) for core in results)]
    operands = [Operand(name, core, k) for k, (name, core) in enumerate(shapes)]
    ins, outs = operands[: len(arguments)], operands[len(arguments) :]
    body = emit_body(graph, ins, outs, bits, lanes, avx512=host.has_avx512, doubt_limit=limit)
    number = "double" if bits == 64 else "float"
    texts, declarations = [body.text, OFFSETS, copies(number, bits // 8)], set(body.declarations)
    texts.append("@doubts = global i64 0\n")
    writers = [spoil_function(ins, outs, bits, lanes), loop_function(body, ins, outs, bits, lanes, host)]
    if bits == 64:
        texts.append(f"@addresses = global [{len(ADDRESSES)} x ptr] zeroinitializer\n")
        writers.append(builtin_function(body, ins, outs, host))
    return module_of(texts, declarations, writers, host)


def module_of(texts: list[str], declarations: set[str], writers: list[tuple[str, Writer]], host: Host) -> str:
    """LLVM source of these texts and functions."""
    for head, code in writers:
        texts.append(head + " {\nentry:\n" + "\n".join(code.lines) + "\n}\n")
        declarations |= code.declarations
    return "".join([*texts, *(f"{d}\n" for d in sorted(declarations)), attributes(host)])


def emit_block_module(graph: Graph, specification: Specification, host: Host, shared: Collection[str]) -> str:
    """LLVM source with void block(ptr table, ptr scratch): a block of rows in float64, for the time loop.

    table:  the addresses of the operands, whose blocks are `BlockColumns`, aligned as vectors are
    shared: names of the arguments of which a block has one row
    """
    lanes = host.lanes(64)
    shapes = [*specification.arguments, *(("", core) for core in specification.results)]
    operands = [Operand(name, core, k, name in shared) for k, (name, core) in enumerate(shapes)]
    ins, outs = operands[: len(specification.arguments)], operands[len(specification.arguments) :]
    body = emit_body(graph, ins, outs, 64, lanes, avx512=host.has_avx512, columns=True)
    code = Writer()
    run_body(code, body, Vectors(code, 64, lanes, avx512=host.has_avx512), "%table", "%scratch")
    code.do("ret void")
    texts = [body.text, f"@scratch_bytes = constant i64 {body.scratch * host.vector_bits // 8}\n"]
    spoil = spoil_function(ins, outs, 64, lanes, columns=True)
    return module_of(
        texts, set(body.declarations), [spoil, ("define void @block(ptr %table, ptr %scratch) #1", code)], host
    )


MAX_NODES = 16_000  # for larger graphs the NumPy reference is used
MAX_LARGE = 40_000  # the same for functions that are worth some seconds of compiling
RECENT = 32  # kernels that are kept for a while although nothing refers to them
BITS_OF = {"float64": 64, "float32": 32}
Key = tuple[str, Host]


def compiled(specification: Specification, graph: Graph, machine: Host, emit: Callable[[], str]) -> bytes:
    """The object file of the source that `emit` writes of the graph; TooLargeError where it would take too long."""
    most = MAX_LARGE if specification.large else MAX_NODES
    if len(graph.nodes) > most:
        problem = f"{specification.name} has {len(graph.nodes)} operations; at most {most} are compiled"
        raise TooLargeError(problem)
    source = emit()
    need_memory(len(source))
    return engine.compile_text(source, machine)


class CpuKernel:
    """One function, compiled on first use; it is called like a generalized ufunc of NumPy (`ufunc`)."""

    def __init__(self, specification: Specification) -> None:
        self.specification, self.name = specification, specification.name
        self.arguments, self.results = specification.arguments, specification.results
        self._cores = [len(core) for _, core in specification.arguments]
        self._empty = [k for k, (_, core) in enumerate(specification.arguments) if 0 in core]
        self._doubts = {bits: ctypes.c_int64(0) for bits in TYPE_NUMBERS}
        self.seconds: dict[str, float] = {}  # spent tracing, compiling and loading
        cores = [core for _, core in specification.arguments]
        self._ufunc, self._loops = generalized_ufunc(self.name, specification.doc, cores, list(self.results))

    @property
    def ufunc(self) -> np.ufunc:
        """NumPy's own object, with `where=`, `axes=` and the rest; the first access compiles both its loops.

        There is none of a function with an argument without numbers: NumPy would take any number of them.
        """
        if self._empty:
            problem = f"{self.name} has an argument without numbers, which a ufunc of NumPy cannot check"
            raise UnsupportedFeatureError(problem, field="ufunc", remedy="Call the kernel itself")
        for bits in TYPE_NUMBERS:
            self.loaded(bits)
        return self._ufunc

    def __call__(self, *arguments: ArrayLike, out: Any = None) -> Any:
        """Broadcasts like any generalized ufunc; large batches run on all threads."""
        if len(arguments) != len(self._cores):
            names = ", ".join(name for name, _ in self.arguments)
            raise TypeError(f"{self.name} takes {len(self._cores)} arguments ({names}), got {len(arguments)}")
        arrays = [a if type(a) is np.ndarray else self._array(k, a) for k, a in enumerate(arguments)]
        for k in self._empty:
            name, core = self.arguments[k]
            if arrays[k].shape[-len(core) :] != core:
                expected = f"(..., {', '.join(map(str, core))})"
                raise ShapeError(name, expected=expected, got=str(arrays[k].shape))
        self.loaded(32 if all(a.dtype == np.float32 for a in arrays) else 64)
        try:
            return threads.call(self._ufunc, arrays, self._cores, list(self.results), out)
        except TypeError:  # from NumPy, about arrays of other things than real numbers
            for k, array in enumerate(arrays):
                self._numbers(k, array)
            raise

    def _array(self, k: int, given: Any) -> Array:
        """An argument as an array, of the class that it has; NaN where it is masked."""
        given = without_masks(given)
        return given if isinstance(given, np.ndarray) else self._numbers(k, given)

    def _numbers(self, k: int, given: Any) -> Array:
        """An argument as an array of real numbers; ShapeError where it holds others."""
        try:
            return real_numbers(given, "biuf")
        except ValueError as error:
            raise ShapeError(self.arguments[k][0], expected="real numbers", got=str(error)) from None

    def loaded(self, bits: int) -> engine.Loaded:
        """The machine code for float64 or float32, from the cache or compiled now. It may raise NoKernelError."""
        found = self._loops.loaded.get(bits)
        if found is not None:
            return found
        with LOCK:
            if bits in self._loops.loaded:
                return self._loops.loaded[bits]
            machine, specification = host(), self.specification
            name = cache.key(specification.identity, str(bits), *map(str, machine))
            code = cache.load(name)
            if code is None:
                need_memory()
                start = time.perf_counter()
                graph = specification.graph if specification.origin is None else specification.make_graph()
                self.seconds["trace"] = time.perf_counter() - start
                start = time.perf_counter()
                code = compiled(specification, graph, machine, lambda: emit_module(graph, specification, machine, bits))
                self.seconds[f"compile{bits}"] = time.perf_counter() - start
                cache.save(name, code)
            start = time.perf_counter()
            made = engine.Loaded(code, machine, "loop")
            self.seconds[f"load{bits}"] = time.perf_counter() - start
            self._doubts[bits] = ctypes.c_int64.from_address(made.address("doubts"))
            self._loops.put(bits, made)
            return made

    def doubts(self) -> int:
        """Grows with every block of rows that had a doubt not below the limit."""
        return sum(count.value for count in self._doubts.values())

    def builtin(
        self, call: Callable[..., Any], owner: Callable[[tuple[Any, ...]], Callable[..., Any]]
    ) -> Callable[..., Any] | None:
        """A builtin for one state or a short batch (`numpy_binding.builtin`); None where builtins are not supported."""
        supported = numpy_binding.builtins_supported()
        return numpy_binding.builtin(self.loaded(64), self.name, call, owner) if supported else None


class CpuBackend:
    """Equal specifications share one kernel while something refers to it, and for a while after."""

    def __init__(self) -> None:
        self._shared: WeakValueDictionary[Key, CpuKernel] = WeakValueDictionary()
        self._recent: OrderedDict[Key, CpuKernel] = OrderedDict()  # for robots made, called and dropped in a loop

    def compile(self, specification: Specification, dtype: str = "float64") -> CpuKernel:
        """The kernel, with its machine code in this precision loaded."""
        if dtype not in BITS_OF:
            problem = f"dtype {dtype!r} is not supported"
            raise UnsupportedFeatureError(problem, field="kernel", remedy="Use float64 or float32")
        empty = [0 in core for core in specification.results]
        # NumPy takes the size of a result without numbers from an argument without numbers
        if all(empty) or (any(empty) and not any(0 in core for _, core in specification.arguments)):
            raise NoKernelError(f"{specification.name} has results without numbers")
        kernel = self.kernel_of(specification)
        kernel.loaded(BITS_OF[dtype])
        return kernel

    def kernel_of(self, specification: Specification) -> CpuKernel:
        """The kernel; a new one is not compiled yet."""
        key = (specification.identity, host())
        with LOCK:
            found = self._shared.get(key)
            if found is None:
                found = self._shared[key] = CpuKernel(specification)
            self._recent[key] = found
            self._recent.move_to_end(key)
            if len(self._recent) > RECENT:
                self._recent.popitem(last=False)
            return found


backend = CpuBackend()
