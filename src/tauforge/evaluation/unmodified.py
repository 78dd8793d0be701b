"""Check that an object does what our sources say: its class is exactly one of ours, and no method was replaced.

Our sources and the robot's `identity` stand for the kernels of such robots. Others are identified by their traced
graphs, or asked by their own methods. Functions that somebody replaces inside our modules are not looked for: with
TAUFORGE_CACHE=off nothing that was compiled before is used.
"""

from __future__ import annotations

from abc import ABC
from functools import cached_property
from operator import attrgetter, is_
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

from tauforge.evaluation.fast_path import is_shortcut, remove

Class = TypeVar("Class", bound=type)
UNWRITTEN = ("__annotations__", "__annotate__", "__doc__")  # change without anybody's change: made when first asked for
NOTHING = {  # what a class has that adds nothing to its bases
    *UNWRITTEN, "__module__", "__qualname__", "__parameters__", "__abstractmethods__", "_abc_impl", "__firstlineno__",
    "__static_attributes__", "__annotations_cache__", "__annotate_func__", "__dict__", "__weakref__", "__slotnames__",
}  # fmt: skip
_code = attrgetter("__code__", "__defaults__", "__kwdefaults__")


class Contents(NamedTuple):
    """Attributes of a class by name; its functions and those that they wrap, and their code, which may be replaced."""

    attributes: dict[str, Any]
    functions: list[FunctionType]
    codes: list[Any]

    def has_its_code(self) -> bool:
        return [*map(_code, self.functions)] == self.codes

    def is_of(self, cls: type) -> bool:
        """True if nothing was replaced in the class, and no method or descriptor was added."""
        now = vars(cls)
        same = all(map(is_, map(now.get, self.attributes), self.attributes.values()))
        added = now.keys() - self.attributes.keys() - {*UNWRITTEN}
        return same and self.has_its_code() and not any(_acts(now[name]) for name in added)


_ours: dict[type, Contents] = {}


def ours(cls: Class) -> Class:
    """A class decorator: remembers a class of this package as our sources define it."""
    if cls.__module__.startswith("tauforge."):
        attributes = {name: value for name, value in vars(cls).items() if name not in UNWRITTEN}
        outer = [value for value in attributes.values() if isinstance(value, FunctionType)]
        functions = [*outer, *(inner for f in outer if isinstance(inner := vars(f).get("__wrapped__"), FunctionType))]
        _ours[cls] = Contents(attributes, functions, [*map(_code, functions)])
    return cls


def is_unmodified(x: object, sound: set[type] | None = None) -> bool:
    """True if x is exactly of one of our classes, and nothing was replaced on them or on x.

    sound: classes that were looked at just now
    """
    kind, sound = type(x), set() if sound is None else sound
    classes = [kind, *_capabilities(kind)] if kind not in sound else []
    return all(_class_is_unmodified(cls, sound) for cls in classes) and not own_methods(x, sound)


def plain_class(x: object) -> type | None:
    """Our class that x is exactly of, or of a subclass that adds nothing; None for others."""
    kind = next(base for base in type(x).__mro__ if base in _ours or not vars(base).keys() <= NOTHING)
    return kind if _class_is_unmodified(kind, set()) and type(type(x)) is type(kind) and not own_methods(x) else None


def _class_is_unmodified(cls: type, sound: set[type]) -> bool:
    for base in cls.__mro__:
        if base in sound or base in (object, ABC):
            continue
        if base not in _ours or not _ours[base].is_of(base):
            return False
        sound.add(base)
    return True


def _capabilities(cls: type) -> list[type]:
    """The classes of the objects that objects of this class make once."""
    values = (value for base in cls.__mro__ for value in vars(base).values() if isinstance(value, cached_property))
    return [value.func for value in values if isinstance(value.func, type)]


def method_is_ours(cls: type, name: str) -> bool:
    """True if objects of this class have our method of this name, whatever else the class has of its own."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), object)
    known = _ours.get(owner)
    return known is not None and known.attributes.get(name) is vars(owner)[name] and known.has_its_code()


def own_methods(x: object, sound: set[type] | None = None) -> dict[str, object]:
    """Entries of __dict__ that hide a method or property of the class, without shortcuts and capabilities.

    sound: as in `is_unmodified`
    """
    sound = set() if sound is None else sound
    return {
        name: value
        for name, value in list(vars(x).items())  # another thread may install a shortcut
        if _acts(hidden := getattr(type(x), name, None))
        and not (isinstance(hidden, cached_property) and _is_as_made(hidden, value, sound))
        and not is_shortcut(value, x, name)
    }


def _is_as_made(once: cached_property[Any], value: object, sound: set[type]) -> bool:
    """True if a property made this value, and nothing was replaced on it."""
    if isinstance(once.func, type) and type(value) is not once.func:
        return False
    return is_unmodified(value, sound) if any(base in _ours for base in type(value).__mro__) else True


def remove_outdated_shortcuts(robot: object) -> None:
    """Removes shortcuts past methods that were replaced on the robot's class since: they would hide the new ones."""
    for name, value in list(vars(robot).items()):
        if callable(value) and is_shortcut(value, robot, name) and not method_is_ours(type(robot), name):
            remove(robot, name)


def _acts(value: object) -> bool:
    return callable(value) or hasattr(value, "__get__")
