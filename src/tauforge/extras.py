"""Extras of tauforge, such as `viewer`: their libraries, and how to install them beside the tauforge that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError

SOURCE = Path(__file__).parents[2]


@contextmanager
def extra_for(who: str, extra: str) -> Iterator[None]:
    """Imports under it raise ModelError with what to install where a library is missing. who: such as "plots need"."""
    try:
        yield
    except ImportError as error:
        name = (error.name or "").partition(".")[0]
        if name.startswith("tauforge"):
            raise
        raise ModelError(f"{who} {name}", remedy=how_to_install(extra)) from None


def how_to_install(extra: str) -> str:
    """A sentence with a command that installs from where this tauforge came from.

    A tauforge from a checkout must not ask an index, where the name may be someone else's. pip notes in direct_url.json
    (PEP 610) where a package came from, unless that was an index.
    """
    if Path(__file__).parent == SOURCE / "src" / "tauforge" and (SOURCE / "pyproject.toml").is_file():
        return f"Run pip install -e '.[{extra}]' in {_shown(SOURCE)}"
    origin = _origin()
    if origin is None:
        return f"Run pip install 'tauforge[{extra}]'"
    url = origin.get("url")
    if not isinstance(url, str) or "dir_info" in origin:
        return f"Run pip install '.[{extra}]' in {_checkout(url)}"
    if "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}"
    return f"Run pip install 'tauforge[{extra}] @ {url}'"


def _origin() -> dict[str, Any] | None:
    """The note of pip; None if the package came from an index, {} if it was not installed or the note is unreadable."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("tauforge").read_text("direct_url.json")
        noted = None if text is None else json.loads(text)
    except (PackageNotFoundError, ValueError):
        return {}
    return noted if noted is None or isinstance(noted, dict) else {}


def _checkout(url: object) -> str:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    folder = Path(url2pathname(urlsplit(url).path)) if isinstance(url, str) else None
    return "a checkout of tauforge" if folder is None or not folder.is_dir() else _shown(folder)


def _shown(folder: Path) -> str:
    """Messages are pasted into bug reports: the user's name in the home folder's path stays out of them."""
    try:
        return str(Path("~") / folder.relative_to(Path.home()))
    except (ValueError, RuntimeError):  # elsewhere, or there is no home folder
        return str(folder)
