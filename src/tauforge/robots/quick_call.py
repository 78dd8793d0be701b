"""The short way from a public method to its kernel, for plain arrays."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from functools import wraps
from types import BuiltinFunctionType, CodeType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.kernels.lock import LOCK

if TYPE_CHECKING:
    from tauforge.kernels.cpu.kernel import Kernel

DOUBLE = np.dtype(np.float64)


class Documented:
    """A robot's method itself, for the shorter ways to it that the robot keeps.

    They refer to the robot weakly: it is freed, and its machine code with it, when the user drops it, and not whenever
    the garbage collector next looks for circles. A shorter way may outlive its robot, as in
    `forces = load(...).inverse_dynamics`; then another robot with the same attributes takes its place.
    """

    def __init__(self, robot: Any, method: str) -> None:
        self.method = method
        self.function: Callable[..., Any] = getattr(type(robot), method)
        self.signature = inspect.signature(MethodType(self.function, robot))
        self._robot: Callable[[], Any] = weakref.ref(robot)
        self._type = type(robot)
        self._attributes = {
            name: value for name, value in vars(robot).items() if not callable(getattr(self._type, name, None))
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


def straight_to(kernel: Kernel, documented: Documented, *, watched: bool) -> Callable[..., Any]:
    """Plain arrays to the kernel; everything else to the documented method, which also words the errors.

    watched: results with suspects among them (`Kernel.suspects`) are asked of the documented method too, which checks.
    """
    cores = [core for _, core in kernel.arguments]

    @wraps(documented.function)
    def direct(*arguments: Any, **more: Any) -> Any:
        if more or len(arguments) != len(cores):
            return documented(*arguments, **more)
        for a, core in zip(arguments, cores, strict=True):
            if type(a) is not np.ndarray or a.dtype is not DOUBLE or a.shape[-1:] != core:
                return documented(*arguments)
        before = kernel.suspects() if watched else 0
        try:
            out = kernel(*arguments)
        except ValueError:
            return documented(*arguments)
        if watched and kernel.suspects() != before:
            return documented(*arguments)
        return out

    vars(direct).update(__signature__=documented.signature, documented=documented)
    return direct


DIRECT = next(x for x in straight_to.__code__.co_consts if isinstance(x, CodeType) and x.co_name == "direct")


def install(robot: Any, method: str, kernel: Kernel, *, watched: bool) -> None:
    """From now on a call of the robot's method finds, before the method itself: a builtin, then the kernel."""
    documented = Documented(robot, method)
    direct = straight_to(kernel, documented, watched=watched)
    vars(robot)[method] = kernel.builtin(documented.robot, direct) or direct


def is_shortcut(value: object, robot: object, method: str) -> bool:
    """Whether `install` made this, for this method of this robot.

    It is told by its owner or its code, for wrappers copy names and other marks.
    """
    if isinstance(value, BuiltinFunctionType):
        with LOCK:
            from tauforge.kernels.cpu.builtin_call import Handed  # leads to the compiler

        value = value.__self__.call if isinstance(value.__self__, Handed) else None
    if getattr(value, "__code__", None) is not DIRECT:
        return False
    documented: Documented = vars(value)["documented"]
    return documented.robot() is robot and documented.method == method
