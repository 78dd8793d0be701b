"""A reference that does not keep an object alive, and answers after it is gone."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


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
