"""Whether an object does what our sources say: its class is exactly ours, and nothing was put over its methods.

A kernel stands for the text of our classes. It does not see a subclass, a method that was replaced on a class or on one
object, or a class that was loaded again after an edit. Such objects are asked through their own methods instead.
"""

from __future__ import annotations

from abc import ABC
from functools import cached_property
from inspect import getattr_static
from types import FunctionType
from typing import TypeVar

from tauforge.robots.direct import is_shortcut

UNWRITTEN = ("__annotations__", "__doc__")  # change without anybody's change: made when first asked for
Contents = dict[str, tuple[object, ...]]
Class = TypeVar("Class", bound=type)
_recorded: dict[type, Contents] = {}


def recorded(cls: Class) -> Class:
    """A class decorator: remembers the class as our sources define it."""
    _recorded[cls] = {name: _parts(value) for name, value in vars(cls).items() if name not in UNWRITTEN}
    return cls


def is_as_written(x: object) -> bool:
    """Whether x is exactly of a recorded class, no class of its was changed since, and x has no methods of its own."""
    return class_is_as_written(type(x)) and not has_own_methods(x)


def class_is_as_written(cls: type) -> bool:
    return all(base in _recorded and _unchanged(base) for base in cls.__mro__ if base not in (object, ABC))


def method_is_as_written(cls: type, name: str) -> bool:
    """Whether objects of this class have the recorded method, whatever else the class has of its own."""
    owner = next(base for base in cls.__mro__ if name in vars(base))
    return owner in _recorded and _same(_parts(vars(owner)[name]), _recorded[owner].get(name, ()))


def has_own_methods(x: object) -> bool:
    """Whether something in the object's __dict__ hides a method or property of its class, our shortcuts apart."""
    return any(
        _acts(hidden) and not isinstance(hidden, cached_property) and not is_shortcut(value)
        for name, value in vars(x).items()
        if (hidden := getattr_static(type(x), name, None)) is not None
    )


def honour_changes(robot: object) -> None:
    """Removes the shortcuts of a robot whose class was changed since: they would hide the change."""
    if not class_is_as_written(type(robot)):
        for method in [name for name, value in vars(robot).items() if is_shortcut(value)]:
            del vars(robot)[method]


def _unchanged(cls: type) -> bool:
    then, now = _recorded[cls], vars(cls)
    same = all(name in now and _same(_parts(now[name]), parts) for name, parts in then.items())
    return same and not any(_acts(now[name]) for name in now.keys() - then.keys() - set(UNWRITTEN))


def _parts(value: object) -> tuple[object, ...]:
    """What makes the value what it is. The text of a function may be exchanged, too."""
    if isinstance(value, FunctionType):
        return value, value.__code__, value.__defaults__, value.__kwdefaults__
    return (value,)


def _same(these: tuple[object, ...], those: tuple[object, ...]) -> bool:
    return len(these) == len(those) and all(a is b for a, b in zip(these, those, strict=True))


def _acts(value: object) -> bool:
    return callable(value) or hasattr(value, "__get__")
