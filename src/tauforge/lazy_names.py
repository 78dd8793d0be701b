"""Public names of a package that are imported when they are first used, so that `import tauforge` is quick."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from tauforge.kernels import LOCK


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose `__init__.pyi` says where its names are.

    A public name is imported under the lock that a fork waits for: most names lead to the compiler in the end. Our own
    modules ask for others, such as `settings`, while they are being imported. Those must not wait here: the thread that
    has the lock may be waiting for them.
    """
    places = places_of(f"{os.path.splitext(file)[0]}.pyi")
    public = sorted(places)

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with LOCK:
            module = import_module(f"{package}.{places[name] or name}")
        return getattr(module, name) if places[name] else module

    return get, public.copy, public


def places_of(stub: str) -> dict[str, str]:
    """The names that a stub imports, with their modules relative to the package; "" for modules themselves."""
    with open(stub, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    return {
        alias.asname or alias.name: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
