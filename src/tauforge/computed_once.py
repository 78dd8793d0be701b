"""Properties that are computed when first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar, overload

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
