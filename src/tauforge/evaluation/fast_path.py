"""The short way from a public method to its kernel, for plain arrays.

After the first plain call of a method the robot's `__dict__` holds, under the method's name, a builtin of machine code,
which Python finds before the method. Under a second key the method itself finds it, so that a method that was kept in a
variable before the first call is quick, too.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from functools import update_wrapper, wraps
from itertools import permutations, product
from types import BuiltinFunctionType, MethodType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from tauforge.evaluation.functions import Argument
from tauforge.kernels.lock import LOCK

if TYPE_CHECKING:
    from tauforge.kernels.cpu.kernel import CpuKernel

DOUBLE = np.dtype(np.float64)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Loads = tuple[Argument, ...]


def key_of(method: str) -> str:
    """Where a robot's `__dict__` keeps the short way for the method itself: no attribute can have this name."""
    return f"quick {method}"


def quick(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """A method of a robot that may be answered by its kernel alone."""
    key = key_of(method.__name__)

    @wraps(method)
    def found(self: R, /, *arguments: P.args, **more: P.kwargs) -> T:
        shortcut = self.__dict__.get(key)
        if shortcut is None:
            return method(self, *arguments, **more)
        result: T = shortcut(*arguments, **more) if more else shortcut(*arguments)
        return result

    return found


class Documented:
    """A robot's method itself, for the shorter ways to it that the robot keeps.

    They refer to the robot weakly: it is freed, and its machine code with it, when the user drops it, and not whenever
    the garbage collector next looks for circles. A shorter way may outlive its robot, as in
    `forces = load(...).inverse_dynamics`; then another robot with the same attributes takes its place.
    """

    def __init__(self, robot: Any, method: str) -> None:
        self.method = method
        own = getattr(type(robot), method)
        self.function: Callable[..., Any] = getattr(own, "__wrapped__", own)
        self.signature = inspect.signature(MethodType(self.function, robot))
        self._robot: Callable[[], Any] = weakref.ref(robot)
        self._type = type(robot)
        self._attributes = {
            name: value
            for name, value in list(vars(robot).items())  # another thread may install a shortcut
            if name.isidentifier() and not callable(getattr(self._type, name, None))
        }

    def robot(self) -> Any:
        found = self._robot()
        if found is None:
            found = object.__new__(self._type)
            vars(found).update(self._attributes)
            self._robot = lambda: found
        return found

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return self.function(self.robot(), *arguments, **more)


class Dispatcher:
    """Stands for the method where no machine code does: it takes the way that fits the names of the keywords."""

    def __init__(self, documented: Documented) -> None:
        self.documented = documented
        self.ways: dict[tuple[str, ...], Callable[..., Any]] = {}
        update_wrapper(self, documented.function)
        self.__signature__ = documented.signature

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return self.ways.get(tuple(more), self.documented)(*arguments, **more)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.documented.robot(), self.documented.method)


def straight_to(kernel: CpuKernel, *, guarded: bool) -> Callable[..., Any]:
    """Plain arrays to the kernel; NotImplemented for everything else, and for batches with a doubtful row."""
    cores = [core for _, core in kernel.arguments]

    def straight(*arrays: Any) -> Any:
        if len(arrays) != len(cores):
            return NotImplemented
        for a, core in zip(arrays, cores, strict=True):
            if type(a) is not np.ndarray or a.dtype is not DOUBLE or a.shape[-1:] != core:
                return NotImplemented
        before = kernel.doubts() if guarded else 0
        try:
            out = kernel(*arrays)
        except ValueError:
            return NotImplemented
        return NotImplemented if guarded and kernel.doubts() != before else out

    return straight


def plain_way(straight: Callable[..., Any], documented: Documented) -> Callable[..., Any]:
    """For calls without keywords, which the builtin has handed on; the documented method words the errors."""

    def way(*arguments: Any) -> Any:
        out = straight(*arguments)
        return documented(*arguments) if out is NotImplemented else out

    return way


def way_with_loads(
    kernel: CpuKernel, straight: Callable[..., Any], dispatcher: Dispatcher, names: Sequence[str], loads: Loads
) -> Any:
    """For calls with loads by these keywords, such as payload=, which the kernel takes after the state."""
    documented, kinds = dispatcher.documented, [(name, load.kind) for name, load in zip(names, loads, strict=True)]
    short = kernel.builtin(documented.robot, straight) or straight

    def way(*arguments: Any, **given: Any) -> Any:
        arrays = []
        for name, kind in kinds:
            load = given[name]
            if load is None:
                return dispatcher(*arguments, **{key: value for key, value in given.items() if value is not None})
            if kind is not None and type(load) is not kind:
                return documented(*arguments, **given)
            arrays.append(load if kind is None else load.numbers())
        out = short(*arguments, *arrays)
        return documented(*arguments, **given) if out is NotImplemented else out

    return way


def is_installed(robot: Any, method: str, loads: tuple[str, ...]) -> bool:
    """Whether the next such call finds a shorter way already. loads: names of keywords"""
    shortcut = vars(robot).get(key_of(method))
    return shortcut is not None and loads in dispatcher_of(shortcut).ways


def install(robot: Any, method: str, loads: Loads, kernel: CpuKernel, *, guarded: bool) -> None:
    """From now on a call of the robot's method finds a builtin and then the kernel before the method itself.

    Each hands on what it does not take, the last to the method itself.
    """
    own, key = vars(robot), key_of(method)
    if key not in own:
        own[method] = own[key] = Dispatcher(Documented(robot, method))
    dispatcher, straight = dispatcher_of(own[key]), straight_to(kernel, guarded=guarded)
    if loads:
        for names in product(*((load.name, load.also) if load.also else (load.name,) for load in loads)):
            way = way_with_loads(kernel, straight, dispatcher, names, loads)
            dispatcher.ways |= dict.fromkeys(permutations(names), way)
        return
    dispatcher.ways[()] = plain_way(straight, dispatcher.documented)
    own[method] = own[key] = kernel.builtin(dispatcher.documented.robot, dispatcher) or dispatcher


def remove(robot: Any, method: str) -> None:
    """The next call finds the method of the class again."""
    for name in (method, key_of(method)):
        vars(robot).pop(name, None)


def dispatcher_of(shortcut: Any) -> Dispatcher:
    """Behind a builtin, or the shortcut itself."""
    owner: Any = shortcut.__self__ if isinstance(shortcut, BuiltinFunctionType) else None
    found: Dispatcher = shortcut if owner is None else owner.call
    return found


def is_shortcut(value: object, robot: object, method: str) -> bool:
    """Whether `install` made this, for this method of this robot.

    It is told by its owner or its class, for wrappers copy names and other marks.
    """
    if isinstance(value, BuiltinFunctionType):
        with LOCK:
            from tauforge.kernels.cpu.builtin_call import Handed  # leads to the compiler

        value = value.__self__.call if isinstance(value.__self__, Handed) else None
    if type(value) is not Dispatcher:
        return False
    return value.documented.robot() is robot and value.documented.method == method
