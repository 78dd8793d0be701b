"""What we add to viser's page: a script that says the name of the part under the mouse.

viser tells its server of clicks, not of where the mouse is.
"""

from __future__ import annotations

import functools
import gzip
from importlib.resources import files
from typing import Any

END = b"</body>"


def add_script(answer: Any) -> None:
    """Into the answer of websockets that has viser's first page; anything else is left as it is."""
    packed = answer.headers.get("Content-Encoding") == "gzip"
    body = with_script(answer.body, packed)
    answer.body = body
    del answer.headers["Content-Length"]
    answer.headers["Content-Length"] = str(len(body))


@functools.lru_cache(maxsize=2)
def with_script(page: bytes, packed: bool) -> bytes:
    """A page with the script at its end; the same page where it has no end.

    packed: whether the page is compressed by gzip
    """
    before, end, after = (gzip.decompress(page) if packed else page).rpartition(END)
    if not end:
        return page
    script = (files("tauforge.viewer") / "page" / "names.js").read_bytes()
    whole = b"".join((before, b"<script>", script, b"</script>", end, after))
    return gzip.compress(whole) if packed else whole
