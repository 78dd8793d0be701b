"""Public names of a package that are imported when they are first used, so that `import tauforge` is quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lazy_loader

from tauforge.kernels.lock import LOCK


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose `__init__.pyi` says where its names are.

    A public name is imported under the lock that a fork waits for: most names lead to the compiler in the end. Our own
    modules ask for others, such as `settings`, while they are being imported. Those must not wait here: the thread that
    has the lock may be waiting for them.
    """
    imported, names_of, public = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        if name not in public:
            return imported(name)
        with LOCK:
            return imported(name)

    return get, names_of, public
