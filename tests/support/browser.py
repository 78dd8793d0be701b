"""The system's Chromium, driven by playwright: for tests that look at pages as a reader's browser does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PATIENCE_MS = 60_000  # for a busy machine; drawing takes about two seconds
ALL_DRAWN = "document.querySelectorAll('.figure:not([data-drawn])').length === 0"
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1360, "height": 900}
LAPTOP, TABLET = {"width": 1100, "height": 900}, {"width": 900, "height": 900}
WINDOWS = pytest.mark.parametrize(
    "viewport", [DESKTOP, LAPTOP, TABLET, PHONE], ids=["desktop", "laptop", "tablet", "phone"]
)
Seen = Callable[..., tuple[Any, list[str]]]  # a page in a window, and what went wrong
NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; skips the test where there is none, fails it where TAUFORGE_BROWSER=required."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no browser: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("TAUFORGE_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    # Chromium refuses its sandbox to root, as whom containers often run.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def opened(browser: Any, address: str, **context: Any) -> tuple[Any, list[str]]:
    """A report with all figures drawn, and what went wrong: complaints on the console and requests to the network."""
    page = browser.new_page(**context)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: one.url.startswith(("file:", "data:", "blob:")) or wrong.append(one.url))
    page.goto(address)
    page.wait_for_function(ALL_DRAWN, timeout=PATIENCE_MS)
    return page, wrong
