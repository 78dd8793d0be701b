"""A report of made-up studies, and a browser that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.browser import Seen, chromium, opened
from support.made_up_studies import DIGEST, findings, study
from tauforge_papers.portraits import portraits
from tauforge_papers.report.writing import write_report
from tauforge_papers.reproduce import FRONT


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("shown")
    names = ["dasgupta1998", "turney1980"]
    studies = [study(name) for name in names]
    digests = dict.fromkeys(names, DIGEST)
    write_report(studies, FRONT, folder, portraits=portraits(names), findings=findings(), digests=digests)
    return (folder / "everything.html").as_uri()


@pytest.fixture(scope="session")
def front(address: str) -> str:
    return address.replace("everything.html", "index.html")


@pytest.fixture(scope="module")
def seen(browser: Any, address: str, front: str) -> Seen:
    """A page in a window, opened once for all tests that only look at it, and what went wrong."""

    @cache
    def page(width: int, height: int, scheme: str, media: str | None, first: bool) -> tuple[Any, list[str]]:
        window = {"width": width, "height": height}
        one, wrong = opened(browser, front if first else address, viewport=window, color_scheme=scheme)
        if media is not None:  # else it is printed as a reader prints it
            one.emulate_media(media=media)
        return one, wrong

    return lambda width, height, scheme="light", media=None, first=False: page(width, height, scheme, media, first)
