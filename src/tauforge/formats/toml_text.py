"""What all model files share: provenance, and texts that read back equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tauforge.errors import ModelError
from tauforge.files import written_whole
from tauforge.formats.toml_guard import check_caps, check_size
from tauforge.formats.toml_table import Table
from tauforge.robots.provenance import KnownException, Source
from tauforge.validation import Rows, shown

KNOWN_EXCEPTION = {"body": 'body = "link of joint1"', "reason": 'reason = "as published"'}
SOURCE = {
    "fields": 'fields = ["mass", "com"]',
    "source": 'source = "author, title, year, table"',
    "note": 'note = "read from a transcription"',
}


def exceptions_of(top: Table) -> tuple[KnownException, ...]:
    tables = top.tables("known_exception", KNOWN_EXCEPTION)
    return tuple(KnownException(table.text("body"), table.text("reason")) for table in tables)


def sources_of(top: Table) -> tuple[Source, ...]:
    result = []
    for table in top.tables("source", SOURCE):
        note = table.text("note") if "note" in table else ""
        result.append(Source(table.texts("fields"), table.text("source"), note))
    return tuple(result)


def provenance_lines(exceptions: Sequence[KnownException], sources: Sequence[Source]) -> Iterable[str]:
    for exception in exceptions:
        yield from ("", "[[known_exception]]")
        yield from (f"{key} = {text(value, 'known_exceptions')}" for key, value in exception._asdict().items())
    for source in sources:
        yield from ("", "[[source]]")
        yield f"fields = [{', '.join(text(field, 'sources') for field in source.fields)}]"
        yield f"source = {text(source.source, 'sources')}"
        yield f"note = {text(source.note, 'sources')}"


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """A reader of the file sees the old or the new one whole. A ModelError of the lines names the file."""
    try:
        if path.suffix.lower() != ".toml":
            raise ModelError(f"unknown suffix {path.suffix!r}", remedy="Give a file name that ends in .toml")
        whole = "\n".join(lines) + "\n"
        data = whole.encode()
        check_size(data)
        check_caps(whole)
    except ModelError as error:
        raise error.located(path) from None
    with written_whole(path) as file:
        file.write(data)


def tensor_text(inertia: Rows) -> str:
    principal = all(inertia[i][j] == 0 for i in range(3) for j in range(3) if i != j)
    return list_text([inertia[i][i] for i in range(3)]) if principal else rows_text(inertia)


def list_text(values: Iterable[float]) -> str:
    return f"[{', '.join(map(repr, values))}]"


def rows_text(rows: Iterable[Iterable[float]]) -> str:
    return f"[{', '.join(map(list_text, rows))}]"


def text(value: str, field: str) -> str:
    """A TOML basic string: every control character escaped."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ModelError(
            f"{shown(value)} contains an unpaired surrogate, which no file can hold", field=field
        ) from None
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c for c in escaped) + '"'
