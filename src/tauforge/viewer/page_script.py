"""What we add to viser's page: scripts for what viser does not do for its server.

It tells of clicks, not of where the mouse is; parts of the scene can cover its handle; its panel cannot begin folded.
"""

from __future__ import annotations

import functools
import gzip
from importlib.resources import files
from typing import Any

END = b"</body>"
SCRIPTS = ("names.js", "handle.js", "phone.js")


def add_scripts(answer: Any) -> None:
    """Into the answer of websockets that has viser's first page; anything else is left as it is."""
    packed = answer.headers.get("Content-Encoding") == "gzip"
    body = with_scripts(answer.body, packed)
    answer.body = body
    del answer.headers["Content-Length"]
    answer.headers["Content-Length"] = str(len(body))


@functools.lru_cache(maxsize=2)
def with_scripts(page: bytes, packed: bool) -> bytes:
    """A page with the scripts at its end; the same page where it has no end.

    packed: whether the page is compressed by gzip
    """
    before, end, after = (gzip.decompress(page) if packed else page).rpartition(END)
    if not end:
        return page
    folder = files("tauforge.viewer") / "page"
    scripts = [b"<script>" + (folder / name).read_bytes() + b"</script>" for name in SCRIPTS]
    whole = b"".join((before, *scripts, end, after))
    return gzip.compress(whole) if packed else whole
