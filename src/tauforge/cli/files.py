"""Files that commands write: checked before any work, written whole, never onto what was read."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tauforge.cli.values import bad

if TYPE_CHECKING:
    from tauforge.arrays import Array
    from tauforge.tables.table import CsvColumn

STDOUT = "-"


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
    """What the writer writes, whole or not at all."""
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
