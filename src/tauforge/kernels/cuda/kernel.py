"""Kernels on NVIDIA GPUs: CUDA C, compiled by NVRTC, kept on disk as the processor's are, launched through CuPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tauforge.class_tools import computed_once
from tauforge.errors import ShapeError, UnsupportedFeatureError
from tauforge.kernels import LOCK, cache
from tauforge.kernels.backends import TooLargeError
from tauforge.kernels.cuda import arrays
from tauforge.kernels.cuda.source import kernel_source
from tauforge.kernels.scheduling import is_crowded
from tauforge.kernels.specification import Shape, Specification
from tauforge.tracing.graph import Graph, without_dead_code

OPTIONS = ("-std=c++17", "-default-device")


def binary(source: str, architecture: str) -> bytes:
    """The binary (cubin); NVRTC compiles it if it is not in the cache."""
    from cupy_backends.cuda.libs import nvrtc

    name = cache.key("cuda", source, architecture, *map(str, nvrtc.getVersion()), *OPTIONS)
    code = cache.load(name)
    if code is None:
        code = _compiled(nvrtc, source, architecture)
        cache.save(name, code)
    return code


def _compiled(nvrtc: Any, source: str, architecture: str) -> bytes:
    with LOCK:
        program = nvrtc.createProgram(source, "kernel.cu", (), ())
        try:
            nvrtc.compileProgram(program, (f"-arch={architecture}", *OPTIONS))
            return bytes(nvrtc.getCUBIN(program))
        except nvrtc.NVRTCError as error:
            raise RuntimeError(f"NVRTC: {error}\n{nvrtc.getProgramLog(program)}") from None
        finally:
            nvrtc.destroyProgram(program)


def compiled_function(source: str, name: str) -> Any:
    """The function of this name on the current GPU, ready to be launched."""
    import cupy

    module = cupy.cuda.function.Module()
    module.load(binary(source, f"sm_{cupy.cuda.Device().compute_capability}"))
    return module.get_function(name)


MAX_NODES = 16_000  # more take minutes to compile
MANY_RESULTS = 64
KEPT_LAUNCHES = 64
FOREIGN = "foreign"  # in a key: an array of another library than CuPy
NARROW = 2**31 - 2**16  # elements of an array, and threads, that 32 bits count; the last block may have more threads


class Launch(NamedTuple):
    """All of a call but the arrays: what depends on their shapes and strides alone.

    places: for each argument and result, elements from one state to the next, and from number to number
    made:   for each result, what makes a new array for it, or None where the call gives one
    """

    function: Any
    grid: tuple[int]
    block: tuple[int]
    count: Any
    places: list[tuple[Any, Any]]
    made: list[Any]

    def __call__(self, arguments: Sequence[Any], outs: Sequence[Any]) -> Any:
        results = [out if make is None else make() for out, make in zip(outs, self.made, strict=True)]
        self.on([*arguments, *results])
        return results[0] if len(results) == 1 else tuple(results)

    def on(self, operands: Sequence[Any]) -> None:
        numbers = [self.count]
        for array, (row, step) in zip(operands, self.places, strict=True):
            numbers += [array, row, step]
        self.function(self.grid, self.block, tuple(numbers))


def _key(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Everything that a launch depends on: strides of the CuPy arrays, their GPU, and the current one."""
    if not any(type(x).__module__ == "cupy" for x in operands):
        return (FOREIGN,)
    found: list[Any] = [arrays.cupy().cuda.Device().id]
    for x in operands:
        if x is None:
            found.append(None)
        elif type(x).__module__ != "cupy":
            found.append(FOREIGN)
        else:
            found += [x.shape, x.strides, x.dtype.char, x.device.id, x.data.ptr % 16]
    return tuple(found)


class CudaKernel:
    """One function in one precision, for arrays on the GPU; compiled on first use for each layout of its arguments.

    Calls are put on CuPy's current stream and return at once.

    with_doubt: whether the last result is the doubt of the function's guard
    """

    def __init__(self, specification: Specification, dtype: str, *, with_doubt: bool = False) -> None:
        self.specification, self.dtype = specification, np.dtype(dtype)
        self.arguments = specification.arguments
        self.results: tuple[Shape, ...] = (*specification.results, *(((),) if with_doubt else ()))
        self._functions: dict[tuple[Any, ...], tuple[Any, int]] = {}
        self._launches: dict[tuple[Any, ...], Launch] = {}

    @computed_once
    def graph(self) -> Graph:
        """The graph of the results alone."""
        whole = self.specification.graph
        graph = without_dead_code(whole.nodes, whole.outputs[: sum(map(math.prod, self.results))])
        if len(graph.nodes) > MAX_NODES:
            name = self.specification.name
            raise TooLargeError(f"{name} has {len(graph.nodes)} operations; at most {MAX_NODES} are compiled")
        return graph

    @computed_once
    def with_doubt(self) -> CudaKernel:
        """The same kernel, whose last result is the doubt."""
        return CudaKernel(self.specification, self.dtype.name, with_doubt=True)

    def source(self, layouts: str | tuple[str, ...] = "rows") -> str:
        """CUDA C; it needs no GPU.

        layouts: "rows", "columns" or "strided" of all arguments and results, or of each
        """
        each = layouts if isinstance(layouts, tuple) else (layouts,) * (len(self.arguments) + len(self.results))
        return self._written(each)[0]

    def _written(self, layouts: tuple[str, ...], *, wide: bool = False, pairs: bool = False) -> tuple[str, int]:
        bits = 8 * self.dtype.itemsize
        return kernel_source(self.graph, self.arguments, self.results, bits, layouts, wide=wide, pairs=pairs)

    @computed_once
    def _prefers_pairs(self) -> bool:
        """Two states a thread are quicker in float32 as long as their values fit into the registers."""
        return self.dtype == np.float32 and not is_crowded(self.graph)

    @property
    def _prefers_wide(self) -> bool:
        """Places of 32 bits save up to a fifth of the time. There is an exception, as measured on an H200.

        With many results in float64 the compiler computes places ahead, and has no registers for them.
        """
        return self.dtype == np.float64 and sum(map(math.prod, self.results)) > MANY_RESULTS

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Arrays (..., *core) on one GPU; they broadcast as NumPy's do.

        out: an array, or a tuple of them, for the results; None among them for a new one
        """
        outs = (None,) * len(self.results) if out is None else tuple(out) if isinstance(out, tuple | list) else (out,)
        key = _key((*arguments, *outs))
        launch = self._launches.get(key)
        if launch is not None:
            return launch(arguments, outs)
        if len(arguments) != len(self.arguments):
            names = ", ".join(name for name, _ in self.arguments)
            taken = f"{self.specification.name} takes {len(self.arguments)} arguments ({names})"
            raise TypeError(f"{taken}, got {len(arguments)}")
        given = [self._checked(name, core, a) for (name, core), a in zip(self.arguments, arguments, strict=True)]
        device = given[0].device
        for (name, _), array in zip(self.arguments, given, strict=True):
            if array.device != device:
                raise ShapeError(name, expected=f"an array on GPU {device.id}", got=f"one on GPU {array.device.id}")
        with device:
            return self._launched(given, outs, key)

    def _checked(self, name: str, core: Shape, array: Any) -> Any:
        found = arrays.on_device(name, array)
        if found.dtype != self.dtype:
            raise ShapeError(name, expected=f"{self.dtype} numbers", got=str(found.dtype))
        if found.shape[found.ndim - len(core) :] != core or found.ndim < len(core):
            shape = ", ".join(("...", *map(str, core)))
            raise ShapeError(name, expected=f"({shape})", got=str(found.shape))
        return found

    def _launched(self, given: list[Any], outs: tuple[Any, ...], key: tuple[Any, ...]) -> Any:
        batches = [a.shape[: a.ndim - len(core)] for a, (_, core) in zip(given, self.arguments, strict=True)]
        try:
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            raise ShapeError("arguments", expected="batches that broadcast", got=", ".join(map(str, batches))) from None
        walks = [arrays.walk(a, batch, core) for a, (_, core) in zip(given, self.arguments, strict=True)]
        count = math.prod(batch)
        columns = arrays.are_columns(walks, count)
        made = [
            partial(arrays.empty, batch, core, self.dtype, columns) if out is None else None
            for out, core in zip(outs, self.results, strict=False)
        ]
        results = self._results(outs, made, batch)
        if count:
            ways = [*walks, *(arrays.walk(r, batch, core) for r, core in zip(results, self.results, strict=True))]
            layouts = tuple(way.layout for way in ways)
            wide = max(way.reach(count) for way in ways) >= NARROW or self._prefers_wide
            pairs = self._prefers_pairs and not wide and count % 2 == 0 and all(way.in_pairs for way in ways)
            integer = np.int64 if wide else np.int32
            function, block = self._function(layouts, wide, pairs)
            threads = count // 2 if pairs else count
            places = [(integer(way.row), integer(way.step)) for way in ways]
            launch = Launch(function, (-(-threads // block),), (block,), integer(count), places, made)
            launch.on([way.array for way in ways])
            if all(way.array.data.ptr == array.data.ptr for way, array in zip(walks, given, strict=True)):
                self._keep(key, launch)
        return results[0] if len(results) == 1 else tuple(results)

    def _keep(self, key: tuple[Any, ...], launch: Launch) -> None:
        """For the next call with arrays that lie alike. What is not CuPy's own is looked at in every call."""
        if FOREIGN not in key:
            if len(self._launches) >= KEPT_LAUNCHES:
                self._launches.clear()
            self._launches[key] = launch

    def _results(self, found: tuple[Any, ...], made: list[Any], batch: Shape) -> list[Any]:
        shapes = [(*batch, *core) for core in self.results]
        given = [None if o is None else getattr(o, "shape", ()) for o in found]
        if len(given) != len(shapes) or any(g not in (None, shape) for g, shape in zip(given, shapes, strict=True)):
            raise ShapeError("out", expected=", ".join(map(str, shapes)), got=", ".join(map(str, given)))
        each = zip(found, made, self.results, strict=True)
        return [make() if o is None else self._taken(o, batch, core) for o, make, core in each]

    def _taken(self, out: Any, batch: Shape, core: Shape) -> Any:
        """An array for a result, if the kernel can write to it."""
        array = arrays.on_device("out", out)
        if array.dtype != self.dtype:
            raise ShapeError("out", expected=f"{self.dtype} numbers", got=str(array.dtype))
        current = arrays.cupy().cuda.Device().id
        if array.device.id != current:
            raise ShapeError("out", expected=f"an array on GPU {current}", got=f"one on GPU {array.device.id}")
        if math.prod(batch):
            way = arrays.walk(array, batch, core)
            if way.array.data.ptr != array.data.ptr:
                raise ShapeError("out", expected="an array with one stride between states", got=str(array.strides))
            if way.length and ((not way.row and math.prod(batch) > 1) or (not way.step and way.length > 1)):
                raise ShapeError("out", expected="a place for every number", got=f"strides {array.strides}")
        return array

    def _function(self, layouts: tuple[str, ...], wide: bool, pairs: bool) -> tuple[Any, int]:
        key = (layouts, wide, pairs, arrays.cupy().cuda.Device().id)
        if key not in self._functions:
            source, block = self._written(layouts, wide=wide, pairs=pairs)
            self._functions[key] = compiled_function(source, "kernel"), block
        return self._functions[key]


class CudaBackend:
    """The kernels it makes are compiled when they are called: their source needs no GPU."""

    def compile(self, specification: Specification, dtype: str = "float64") -> CudaKernel:
        if dtype not in arrays.KERNEL_DTYPES:
            raise UnsupportedFeatureError(f"dtype {dtype!r}", field="kernel", remedy="Use float64 or float32")
        return CudaKernel(specification, dtype)


backend = CudaBackend()
