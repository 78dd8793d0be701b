"""Output of commands: tables, JSON, notes and errors, each to its own stream, and files, checked before any work."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from tauforge.errors import one_line, printable
from tauforge.units import number as number

if TYPE_CHECKING:
    from rich.console import Console, Group, RenderableType
    from rich.table import Table

    from tauforge.arrays import Array
    from tauforge.robots.summary import Summary
    from tauforge.tables.table import CsvColumn

UNBOUNDED = 10_000  # columns of a pipe: nothing is cut or folded there
NARROWEST = 30
WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}  # paths, names of options
FAILED = 1  # exit code
STDOUT = "-"  # as the name of a file
GAP = 2  # spaces before a column of a table, beside the one of the line between them
Records = list[dict[str, Any]]
UNFOLDED_LENGTH = 24  # characters of a first cell that are never folded


class Failed(typer.Exit):
    """A check that did not hold; what it was has been said."""

    def __init__(self) -> None:
        super().__init__(FAILED)


def bad(option: str, problem: str) -> typer.BadParameter:
    return typer.BadParameter(problem, param_hint=option)


def console(*, stderr: bool = False) -> Console:
    """As wide as the terminal; a pipe has no width of its own unless COLUMNS gives it one."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the one place that ends the command knows what to do

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS", "").isdigit() else UNBOUNDED
    return Screen(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, texts: int = 1) -> Group:
    """The first `texts` columns hold texts, the others numbers, which stay whole."""
    from rich import box
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    cells = [[cell if isinstance(cell, Text) else Text(one_line(str(cell))) for cell in row] for row in rows]
    # The cells bring their own padding: rich before 14.3 miscounts that of the outer columns.
    made = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    padding = [(0, 0, 0, GAP if place else 0) for place, _ in enumerate(columns)]
    for place, name in enumerate(columns):
        number = place >= texts
        longest = max((len(str(row[place])) for row in cells), default=0)
        least = max(map(len, name.split()), default=0)  # may be folded no further
        if number or (place == 0 and longest <= UNFOLDED_LENGTH):
            least = max(least, longest)
        head, wide = Padding(Text(one_line(name)), padding[place]), least + padding[place][-1]
        made.add_column(head, justify="right" if number else "left", overflow="fold", min_width=wide)
    for row in cells:
        made.add_row(*map(Padding, row, padding))
    return Group(*([Text(one_line(title), "bold")] if title else []), made, "")


def result(as_json: bool, data: dict[str, Any], shown: Callable[[], Iterable[RenderableType]]) -> None:
    """The one result of a command, for machines or for people, on stdout."""
    if as_json:
        sys.stdout.write(json.dumps(plain(data), indent=2, allow_nan=False) + "\n")
        return
    screen = console()
    for part in shown():
        if isinstance(part, str):
            wrapped = (textwrap.fill(line, screen.width, **WHOLE_WORDS) for line in printable(part).split("\n"))
            screen.print("\n".join(wrapped), markup=False, soft_wrap=True)
        else:
            least = screen.measure(part, options=screen.options.update(width=UNBOUNDED)).minimum
            # where the terminal is narrower it wraps the lines, but numbers stay whole
            screen.print(part, width=max(screen.width, least), crop=False)


def records(**columns: Iterable[Any]) -> Records:
    """Rows of columns that have names, for machines."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain(value: Any) -> Any:
    """The value as numbers, strings, lists and dicts. Numbers that are not finite become None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def item(text: str, remark: str = "", mark: str = "-") -> Table:
    """An entry of a list, its lines set in under each other; the remark below it, pale."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 1))
    whole = Text(printable(text))
    if remark:
        whole.append(f"\n{printable(remark)}", "dim")
    made.add_row(mark, whole)
    return made


def headline(summary: Summary) -> str:
    from tauforge.robots.summary import sentence

    return one_line(sentence(summary.headline))


def summary_parts(summary: Summary) -> Iterator[RenderableType]:
    """Tables and sentences below the headline."""
    from tauforge.robots.summary import SummaryTable, sentence, texts_of

    for part in summary.parts:
        if isinstance(part, SummaryTable):
            yield table(part.title, part.header, texts_of(part), texts=part.texts)
        else:
            yield sentence(part)


def seconds(value: float) -> str:
    return f"{value:.6g}"


def note(text: str) -> None:
    """Something to know about the result, on stderr, so that it never mixes with it."""
    _block("note", text, "")


def warn(text: str) -> None:
    _block("warning", text, "")


def error(text: str, remedy: str | None = None) -> None:
    _block("error", text, remedy or "")


def _block(kind: str, text: str, remedy: str) -> None:
    """One readable block: the kind, the text, and below it, set in, what to do."""
    width = max(NARROWEST, shutil.get_terminal_size().columns) if sys.stderr.isatty() else UNBOUNDED
    lines: list[str] = []
    for paragraph in (*printable(f"{kind}: {text}").splitlines(), *printable(remedy).splitlines()):
        first = "  " if lines else ""
        lines += textwrap.wrap(paragraph, width, initial_indent=first, subsequent_indent="  ", **WHOLE_WORDS)
    whole = "\n".join(lines)
    if _live() and not os.environ.get("NO_COLOR"):
        colour = {"error": "31", "warning": "33", "note": "36"}[kind]
        whole = f"\x1b[1;{colour}m{kind}:\x1b[0m" + whole[len(kind) + 1 :]
    with suppress(OSError):  # what cannot be written yet stays in the buffer, and is told of at the end
        sys.stdout.flush()
    with suppress(OSError):  # there is nobody to tell
        print(whole, file=sys.stderr, flush=True)


def _live() -> bool:
    """True if stderr is a terminal that understands escape codes."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """A live line on a terminal's stderr, with the time it takes; call it with what is being done now."""
    if not _live():
        yield lambda _: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console(stderr=True), transient=True) as line:
        task = line.add_task(what)
        yield lambda text: line.update(task, description=text)


# -------------------------------------------------------------------------------------------------------------- files


def check_output(
    output: str | None,
    inputs: Iterable[str | Path],
    suffixes: Sequence[str],
    as_json: bool = False,
    option: str = "--output",
) -> None:
    """Before any work: a file that can be written, and none that was read."""
    if output is None:
        return
    if output == STDOUT and option == "--output":
        if as_json:
            raise bad(option, "- and --json both write to stdout; give a file")
        return
    target = Path(output)
    if target.suffix.lower() not in suffixes:
        raise bad(option, f"expected a name that ends in {' or '.join(suffixes)}, got {output!r}")
    try:
        for path in inputs:
            if target.exists() and Path(path).exists() and target.samefile(path):
                raise bad(option, f"{output} is an input file; give another name")
        if target.is_dir() or output.endswith(os.sep):
            raise bad(option, f"{output} is a folder; give a file")
        if not target.parent.is_dir():
            raise bad(option, f"the folder {target.parent} does not exist")
        folder = os.path.dirname(os.path.realpath(target))
        if not os.access(folder, os.W_OK):
            raise bad(option, f"the folder {folder} is not writable")
        target.lstat()
    except FileNotFoundError:
        pass  # yet to be made
    except OSError as error:  # a name too long for any file
        raise bad(option, f"{output} cannot be written: {error.strerror}") from None


def write_output(output: str, writer: Callable[[IO[str]], None]) -> None:
    """Writes a file, or stdout, whole or not at all."""
    from tauforge.files import written_whole

    if output == STDOUT:
        whole = io.StringIO()  # nothing half on a pipe either
        writer(whole)
        sys.stdout.write(whole.getvalue())
        return
    with written_whole(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer(text)
        text.detach()


def write_table(output: str | None, columns: Sequence[CsvColumn], rows: Array) -> bool:
    """Writes a table of numbers where the user wants one; whether it took stdout, where nothing else may follow."""
    from tauforge.tables.table import write_csv

    if output is not None:
        write_output(output, lambda file: write_csv(file, columns, rows))
    return output == STDOUT
