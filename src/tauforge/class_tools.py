"""Tools for writing classes: properties computed once, references that keep nothing alive, help texts of fields."""

from __future__ import annotations

import inspect
import re
import sys
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any, ParamSpec, Self, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class computed_once(cached_property[T_co]):
    """As `functools.cached_property`, without the lock that it holds on Python 3.11 while it computes.

    A child process forked at that moment would wait for that lock for ever. Without it two threads may compute the same
    value; one of the two stays.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T_co: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        assert self.attrname is not None
        return vars(instance).setdefault(self.attrname, self.func(instance))


class Weakly:
    """Calls give the object, or, when it is gone, another of its class with the same attributes.

    What an object keeps for itself refers to it like this. Then the object is freed, and its machine code with it, when
    the user drops it, and not whenever the garbage collector next looks for circles. What it kept may outlive it, as in
    `forces = load(...).inverse_dynamics`.
    """

    def __init__(self, x: object) -> None:
        self._kind = type(x)
        self._found: Callable[[], Any] = weakref.ref(x)
        self._attributes = {
            name: value
            for name, value in list(vars(x).items())  # another thread may install a shortcut
            if name.isidentifier() and not callable(getattr(self._kind, name, None))
        }

    def __call__(self) -> Any:
        found = self._found()
        if found is None:
            found = object.__new__(self._kind)
            vars(found).update(self._attributes)
            self._found = lambda: found
        return found


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def with_arguments_of(
    other: Callable[Arguments, Any], *but: str
) -> Callable[[Callable[..., Result]], Callable[Arguments, Result]]:
    """Gives the signature of another function to one that passes all of its arguments on to it, but some."""

    def signed(function: Callable[..., Result]) -> Callable[Arguments, Result]:
        returned = inspect.signature(function).return_annotation
        taken = [x for name, x in inspect.signature(other).parameters.items() if name not in but]
        signature = inspect.Signature(taken, return_annotation=returned)
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return signed


TupleClass = TypeVar("TupleClass", bound=type)


def with_field_docs(cls: TupleClass) -> TupleClass:
    """Gives each field of a NamedTuple the text of its line `name: text` in the class's docstring.

    `help` shows them in place of "Alias for field number 0".
    """
    if sys.flags.optimize >= 2:  # python -OO has no docstrings
        return cls
    page = inspect.cleandoc(cls.__doc__ or "")
    for field in vars(cls)["_fields"]:
        found = re.search(rf"^{field}:[ ]+(.*(?:\n[ ]+.*)*)", page, re.MULTILINE)
        if found is None:
            raise TypeError(f"the docstring of {cls.__name__} has no line for {field}")
        getattr(cls, field).__doc__ = " ".join(found[1].split())
    return cls
