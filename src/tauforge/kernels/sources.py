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
            if os.path.basename(place) == "__pycache__":
                continue
            for name in sorted(files):
                if name.endswith((".py", ".pyc")):  # a module's bytecode stands here where it has no source
                    with open(f"{place}/{name}", "rb") as file:
                        source = file.read()
                    digest.update(f"{place.removeprefix(package)}/{name} {len(source)} ".encode() + source)
                    empty = False
    if empty:  # in an archive, for example: then entries serve this process alone
        digest.update(secrets.token_bytes())
    return digest.hexdigest()
