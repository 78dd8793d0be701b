"""Result tuples whose fields say in `help` what they are."""

from __future__ import annotations

import inspect
import re
import sys
from typing import TypeVar

T = TypeVar("T", bound=type)


def with_field_docs(cls: T) -> T:
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
