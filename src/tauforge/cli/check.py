"""`check` tells everything that is wrong with a model file, not only the first fault.

A reader stops at the first fault. Here the value at fault is replaced by one that is known to be good, and the file is
read again, until nothing new is found.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from tauforge.cli.inputs import load_robot
from tauforge.cli.options import Json, Lock, Tip, switch
from tauforge.cli.output import Failed, bad, headline, item, result
from tauforge.errors import ModelError

MAX_PROBLEMS = 50  # problems that are looked for
LISTS = ("body", "joint", "spring", "known_exception", "source")  # keys that hold tables


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .toml, .urdf or .xml (MJCF) file.")],
    tip: Tip = None,
    lock: Lock = None,
    strict: Annotated[bool, switch("--strict", "Warnings fail the check too.")] = False,
    as_json: Json = False,
) -> None:
    """Is a model file good? Exit code 0 if so, 1 if not, with everything that is wrong in it."""
    report = checked(file, tip, lock)
    good = not report.problems and not (strict and report.warnings)
    data = {"file": str(file), "good": good, **report._asdict()}

    def shown() -> Any:
        count = len(report.problems)
        if good:
            yield f"{file}: good. {report.summary}"
        elif count:
            yield f"{file}: {count} problem{'s' * (count > 1)}"
        else:
            yield f"{file}: not good enough for --strict. {report.summary}"
        yield from (item(problem, mark=f"{k}.") for k, problem in enumerate(report.problems, 1))
        yield from (item(warning, mark="warning:") for warning in report.warnings)

    result(as_json, data, shown)
    if not good:
        raise Failed


class Checked(NamedTuple):
    """summary: what the robot is, if the file is good."""

    problems: list[str]
    warnings: list[str]
    summary: str


def checked(path: Path, tip: str | None, lock: list[str] | None) -> Checked:
    if path.suffix.lower() not in (".toml", ".urdf", ".xml"):
        raise bad("FILE", f"expected a name that ends in .toml, .urdf or .xml, got {str(path)!r}")
    if not path.is_file():
        raise bad("FILE", f"{path} is not a file")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            robot = load_robot(str(path), tip, lock)
        except ModelError as error:
            others = _others(path, error) if path.suffix.lower() == ".toml" else []
            return Checked([_text(error), *others], [], "")
    texts = [str(warning.message) for warning in caught]
    return Checked([], texts + robot.issues(), headline(robot.summary()))


def _text(error: ModelError) -> str:
    """Without the file, which stands above all of them."""
    place = [] if error.line is None else [f"line {error.line}"]
    text = ": ".join([*place, *filter(None, [error.field]), error.reason])
    return text if error.remedy is None else f"{text}. {error.remedy}"


def _others(path: Path, first: ModelError) -> list[str]:
    """Faults behind the first."""
    from tauforge.formats.loading import format_of, good_values
    from tauforge.formats.model_files import read_toml

    try:
        values = read_toml(path)
        own = format_of(values)
    except ModelError:
        return []  # no TOML, or of an unknown format
    good = good_values(own)
    nowhere = path / "nowhere"  # no file is in a file: reading ends there, after all that needs no other file
    missing: set[str | None] = set()
    try:
        values = own.with_paths(values, path)
    except ModelError as fault:
        missing = {fault.field}
        values |= {key: nowhere for key in own.files if isinstance(values.get(key), str)}
    found: list[str] = []
    error, before = first, set[tuple[str | None, str]]()
    while len(found) < MAX_PROBLEMS and (error.field, error.reason) not in before:
        before.add((error.field, error.reason))
        if error.field not in missing and not _repaired(values, error, good):
            break
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                own.read(values)
            break
        except ModelError as following:
            error = following
            if error.file == nowhere:
                break
            if (error.field, error.reason) not in before:
                found.append(_text(error))
    return found


class FileValue(NamedTuple):
    """A value of the file, under `key` in the table `owner`. donor: a good table of the same kind."""

    owner: dict[str, Any]
    key: str
    donor: dict[str, Any]


def _repaired(values: dict[str, Any], error: ModelError, good: dict[str, Any]) -> bool:
    """Puts a good value where the fault is, or takes away what is unknown; whether there is such a place."""
    place = _place(values, error, good)
    if place is None or place.key in LISTS:  # other bodies or joints would have faults of their own
        return False
    if place.key in place.donor and place.key != error.key:
        place.owner[place.key] = place.donor[place.key]
        return True
    return place.owner.pop(place.key, None) is not None


def _place(values: dict[str, Any], error: ModelError, good: dict[str, Any]) -> FileValue | None:
    """The value that the field of the error names, or the value that holds it."""
    tables = {"": (values, good)}
    for name in LISTS:
        given = values.get(name)
        for k, table in enumerate(given if isinstance(given, list) else (), 1):
            if isinstance(table, dict):
                tables[f"{name}[{k}]"] = (table, good.get(name, [{}])[0])
    field = error.field or ""
    if error.key is not None and field in tables:
        return FileValue(tables[field][0], error.key, tables[field][1])
    for path, (owner, donor) in tables.items():
        for key in {**owner, **donor}:
            name = f"{path}.{key}" if path else key
            inside = (f"{name}.",) if name in LISTS else (f"{name}.", f"{name}[")
            if field == name or field.startswith(inside):
                return FileValue(owner, key, donor)
    return None
