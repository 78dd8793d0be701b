"""The version of our own sources: kernels in a cache are valid for the sources that they were traced from."""

from __future__ import annotations

import hashlib
import os
import secrets
from functools import cache

# what kernels come from
TRACED = ("algebra", "formulations", "tracing", "kernels", "evaluation", "robots", "control", "simulation")


@cache
def sources_digest() -> str:
    """A digest of every source file that a kernel is made from."""
    package = os.path.dirname(os.path.dirname(__file__))  # not pathlib: this is part of every first call
    digest = hashlib.sha256()
    empty = True
    for folder in TRACED:
        for place, _, files in sorted(os.walk(f"{package}/{folder}")):
            for name in sorted(files):
                if _is_source(place, name):
                    with open(f"{place}/{name}", "rb") as file:
                        source = file.read()
                    digest.update(f"{place.removeprefix(package)}/{name} {len(source)} ".encode() + source)
                    empty = False
    if empty:  # in an archive, for example: then entries serve this process alone
        digest.update(secrets.token_bytes())
    return digest.hexdigest()


def _is_source(place: str, name: str) -> bool:
    """Whether the file is a module's source, or its bytecode where it was installed without the source."""
    if name.endswith(".pyc"):
        return os.path.basename(place) != "__pycache__"
    return name.endswith(".py")
