"""Whether an object does what our sources say: its class is exactly ours, and nothing was put over its methods.

A kernel stands for the source of our classes. It does not see a subclass, a method that was replaced on a class or on
one object, or a class that was loaded again after an edit. Such objects are asked through their own methods instead.
"""

from __future__ import annotations

from abc import ABC
from functools import cached_property
from types import FunctionType
from typing import NamedTuple, TypeVar

from tauforge.evaluation.fast_path import is_shortcut, remove

UNWRITTEN = ("__annotations__", "__doc__")  # change without anybody's change: made when first asked for
Class = TypeVar("Class", bound=type)
Source = tuple[object, ...]


class Contents(NamedTuple):
    """Attributes of a class by name, and what its functions do, because their code may be replaced, too."""

    attributes: dict[str, object]
    sources: dict[str, Source]


_recorded: dict[type, Contents] = {}


def recorded(cls: Class) -> Class:
    """A class decorator: remembers the class as our sources define it."""
    attributes = {name: value for name, value in vars(cls).items() if name not in UNWRITTEN}
    sources = {name: _source(value) for name, value in attributes.items() if isinstance(value, FunctionType)}
    _recorded[cls] = Contents(attributes, sources)
    return cls


def is_as_written(x: object) -> bool:
    """Whether x is exactly of a recorded class, its classes were not changed since, and x has no methods of its own."""
    return class_is_as_written(type(x)) and not has_own_methods(x)


def class_is_as_written(cls: type) -> bool:
    return all(base in _recorded and _unchanged(base) for base in cls.__mro__ if base not in (object, ABC))


def method_is_as_written(cls: type, name: str) -> bool:
    """Whether objects of this class have the recorded method, whatever else the class has of its own."""
    owner = _owner(cls, name)
    return owner is not None and owner in _recorded and _same(vars(owner)[name], name, _recorded[owner])


def has_own_methods(x: object) -> bool:
    """Whether something in the object's __dict__ hides a method or property of its class, our shortcuts apart."""
    return bool(own_methods(x))


def own_methods(x: object) -> dict[str, object]:
    """What in the object's __dict__ hides a method or property of its class, our shortcuts apart."""
    return {
        name: value
        for name, value in list(vars(x).items())  # another thread may install a shortcut
        if (owner := _owner(type(x), name)) is not None
        and _acts(hidden := vars(owner)[name])
        and not isinstance(hidden, cached_property)
        and not is_shortcut(value, x, name)
    }


def honour_changes(robot: object) -> None:
    """Removes shortcuts past methods that were replaced on the robot's class since: they would hide the new ones."""
    for name, value in list(vars(robot).items()):
        if callable(value) and is_shortcut(value, robot, name) and not method_is_as_written(type(robot), name):
            remove(robot, name)


def _owner(cls: type, name: str) -> type | None:
    """The class that an attribute of this name is found in."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


def _unchanged(cls: type) -> bool:
    then, now = _recorded[cls], vars(cls)
    if not all(_same(now.get(name, then), name, then) for name in then.attributes):
        return False
    return not any(_acts(now[name]) for name in now.keys() - then.attributes.keys() if name not in UNWRITTEN)


def _same(value: object, name: str, then: Contents) -> bool:
    if value is not then.attributes.get(name, then):
        return False
    return not isinstance(value, FunctionType) or _source(value) == then.sources[name]


def _source(value: object) -> Source:
    """What a function does, and the one that it wraps; nothing for anything else."""
    if not isinstance(value, FunctionType):
        return ()
    wrapped = _source(vars(value).get("__wrapped__"))
    return value.__code__, value.__defaults__, value.__kwdefaults__, *wrapped


def _acts(value: object) -> bool:
    return callable(value) or hasattr(value, "__get__")
