"""A line on the terminal that says how far a sweep is, how fast it goes and how long it will take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tauforge.number_text import number

RATE_OVER = 10.0  # s, over which the rate is averaged


@contextmanager
def progress_bar(label: str, total: int, done: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Call it with the points of every block that is finished. Without a terminal it says nothing.

    total, done: points of the grid, and of the blocks that were there already
    shown:       whether to say anything
    """
    if not shown or not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{number(task.speed, 3)} points/s" if task.speed else "")

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=RATE_OVER) as line:
        task = line.add_task(label, total=total, completed=done)
        yield lambda points: line.advance(task, points)
