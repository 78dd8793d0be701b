"""The short way from a public method to its kernel, for plain arrays.

After the first plain call of a method the robot's `__dict__` holds, under the method's name, a builtin of machine code,
which Python finds before the method. Under a second key the method itself finds it (`with_functions.quick`), so that a
method that was kept in a variable before the first call is quick, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import update_wrapper
from itertools import permutations, product
from types import BuiltinFunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauforge.class_tools import Weakly
from tauforge.evaluation.functions import Argument
from tauforge.kernels.specification import Shape

if TYPE_CHECKING:
    from tauforge.kernels.cpu.kernel import CpuKernel

FLOAT64 = np.dtype(np.float64)


def key_of(method: str) -> str:
    """Key of a method's shortcut in the `__dict__` of a robot: no attribute can have this name."""
    return f"quick {method}"


class KernelCall(NamedTuple):
    """A kernel for calls with certain loads, which it takes after the state.

    builtin: of machine code, for small arrays; NotImplemented where it does not take them. None if there is none, or
             if it was asked before
    """

    kernel: CpuKernel
    cores: tuple[Shape, ...]
    guarded: bool
    loads: tuple[Argument, ...]
    builtin: Callable[..., Any] | None

    def arrays(self, state: tuple[Any, ...], given: Mapping[str, Any]) -> list[Any] | None:
        """State and loads; None for a load of another kind, such as a number instead of a payload."""
        found = [*state]
        for name, _, _, kind, also in self.loads:
            load = given[name] if name in given else given[also]
            if kind is not None and type(load) is not kind:
                return None
            found.append(load if kind is None else load.numbers())
        return found

    def takes(self, arrays: list[Any]) -> bool:
        """True for plain arrays of the right shapes."""
        return len(arrays) == len(self.cores) and all(
            type(a) is np.ndarray and a.dtype is FLOAT64 and a.shape[-1:] == core
            for a, core in zip(arrays, self.cores, strict=True)
        )


class Shortcut:
    """Stands for a method of one robot: plain arrays go to a kernel, every other call to the method itself."""

    def __init__(self, robot: Any, method: str) -> None:
        own = getattr(type(robot), method)
        self.function: Callable[..., Any] = getattr(own, "__wrapped__", own)
        update_wrapper(self, self.function)
        self.__signature__ = inspect.signature(MethodType(self.function, robot))
        self.method = method
        self.calls: dict[tuple[str, ...], KernelCall] = {}  # by the names of the loads
        self.loads = {name for name, one in self.__signature__.parameters.items() if one.default is None}
        self.robot = Weakly(robot)

    def with_memory(self, memory: tuple[Any, ...]) -> Owner:
        """The same as the owner of a builtin."""
        found = tuple.__new__(Owner, memory)
        vars(found).update(vars(self))
        return found

    def __call__(self, *state: Any, **given: Any) -> Any:
        loads = {name: load for name, load in given.items() if load is not None or name not in self.loads}
        call = self.calls.get(tuple(loads))
        arrays = None if call is None else call.arrays(state, loads)
        if call is not None and arrays is not None:
            if call.builtin is not None and (out := call.builtin(*arrays)) is not NotImplemented:
                return out
            if call.takes(arrays):
                before = call.kernel.doubts() if call.guarded else 0
                with suppress(ValueError):  # the method words it
                    out = call.kernel(*arrays)
                    if not call.guarded or call.kernel.doubts() == before:
                        return out
        return self.function(self.robot(), *state, **given)

    def __reduce__(self) -> tuple[Any, ...]:
        """As the method."""
        return getattr, (self.robot(), self.method)


class Owner(tuple[Any, ...], Shortcut):
    """The owner of a builtin of machine code takes the calls that the builtin does not.

    The tuple holds the memory that the builtin has raw pointers to. The garbage collector clears the objects of a
    reference cycle in any order, and a builtin reads its definition once more when it is freed. Tuples and arrays are
    not cleared; other objects and those of ctypes are. Tuples take no weak references, which JAX needs.
    """

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        """A builtin is pickled by its owner and its name: there the owner stands for the robot."""
        return _itself, (self.robot(),)


class Declined(tuple[Any, ...]):
    """The owner of a builtin that has no other way: what it does not take is NotImplemented."""

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return NotImplemented


def _itself(x: Any) -> Any:
    return x


def is_installed(robot: Any, method: str, loads: tuple[str, ...]) -> bool:
    """True if a shortcut serves such calls already. loads: names of keywords"""
    shortcut = vars(robot).get(key_of(method))
    return shortcut is not None and loads in _behind(shortcut).calls


def install(robot: Any, method: str, loads: tuple[Argument, ...], kernel: CpuKernel, *, guarded: bool) -> None:
    """From now on a call of the robot's method with these loads finds a builtin, or the kernel, before the method."""
    own, key = vars(robot), key_of(method)
    shortcut = _behind(own[key]) if key in own else Shortcut(robot, method)
    builtin = kernel.builtin(shortcut, Declined if loads else shortcut.with_memory)
    cores = tuple(core for _, core in kernel.arguments)
    call = KernelCall(kernel, cores, guarded, loads, builtin if loads else None)
    for names in product(*((load.name, load.also) if load.also else (load.name,) for load in loads)):
        shortcut.calls |= dict.fromkeys(permutations(names), call)
    if not loads:
        own[method] = own[key] = builtin or shortcut
    elif key not in own:
        own[method] = own[key] = shortcut


def remove(robot: Any, method: str) -> None:
    """The next call finds the method of the class again."""
    for name in (method, key_of(method)):
        vars(robot).pop(name, None)


def is_shortcut(value: object, robot: object, method: str) -> bool:
    """True if `install` made this, for this method of this robot.

    It is told by its owner or its class, for wrappers copy names and other marks.
    """
    found = _behind(value)
    return isinstance(found, Shortcut) and found.robot() is robot and found.method == method


def _behind(shortcut: Any) -> Any:
    """The owner of a builtin, or the shortcut itself."""
    return shortcut.__self__ if isinstance(shortcut, BuiltinFunctionType) else shortcut
