"""TOML as values and back, capped before it is parsed; and names of the files that a model file names.

Such a name is relative, with slashes, and never leads out of the model's folder: whoever loads a model that somebody
else wrote must not have other files opened by it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError, in_file
from tauforge.files import decoded, read_capped, written_whole
from tauforge.validation import shown

PACKAGE = "package://"
MANIFEST = "package.xml"  # of a package of ROS
MAX_TOML_BYTES = 256 * 1024
MAX_BRACKETS = 16  # of brackets
MAX_KEY_PARTS = 8
MAX_WORD = 200  # characters of a bare key or a number; longer integers take quadratic time to convert
MAX_TOKENS = 15_000  # words, numbers, signs, line ends and escapes: tomllib needs about 4 microseconds for each

# Python 3.11.2 misreads possessive groups, so there are none: every repetition ends where its own characters end, and
# what follows it begins with another, so that giving characters back fails at once and the search stays linear.
STRING_OR_COMMENT = re.compile(
    r"""
      \"{3} [^\\"]* (?: (?: \\. | "{1,2}(?!") ) [^\\"]* )* "{3,5}
    | '{3} [^']* (?: '{1,2}(?!') [^']* )* '{3,5}
    | "(?!"") [^"\\\n]* (?: \\. [^"\\\n]* )* "
    | '(?!'') [^'\n]* '
    | \#[^\n]*
    | (?P<open> ["'] ) .*
    """,
    re.VERBOSE | re.DOTALL,
)
# On 20,000 dotted keys tomllib works for seconds and then overflows the stack. What would take it long, or deep:
CAPPED_PATTERNS = {
    rf"(?: \. [^.\n=,\[\]{{}}]* ){{{MAX_KEY_PARTS}}}": f"a dotted key has more than {MAX_KEY_PARTS} parts",
    rf"(?<! [\w+:.-] ) [\w+:.-]{{{MAX_WORD + 1}}}": f"a key or number has more than {MAX_WORD} characters",
    rf"(?: [\[{{] [^\[\]{{}}]* ){{{MAX_BRACKETS + 1}}}": f"brackets are nested more than {MAX_BRACKETS} deep",
    '"': "not valid TOML: a string does not end",
}
# a decimal point is part of a number
COUNTED_TOKEN = re.compile(r"[\w+:-]+ (?: \. \d [\w+-]* )? | [.\[{=,\n\\']", re.VERBOSE)
# tomllib puts the line into its message, and has attributes for it only from Python 3.14 on
ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, or a ModelError that names the file and, where there is one, the line."""
    with in_file(path):
        return parse(read_capped(path, MAX_TOML_BYTES))


def parse(data: bytes) -> dict[str, Any]:
    """The tables of a text; a ModelError names the line."""
    text = decoded(data, MAX_TOML_BYTES)
    if not text.strip():
        raise ModelError("the file is empty")
    _check_caps(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ModelError("not valid TOML: brackets are nested too deep") from None
    except ValueError as error:
        message = str(error)
        place = ERROR_LINE.search(message)
        line = None if place is None else int(place[1] or text.count("\n") + 1)
        problem = ERROR_LINE.sub("", message).strip()[:MAX_WORD]  # it may quote a long key
        raise ModelError(f"not valid TOML: {problem}", line=line) from None


def _check_caps(text: str) -> None:
    bare = STRING_OR_COMMENT.sub(_counted_part, text)
    faults = [(re.search(pattern, bare, re.VERBOSE), problem) for pattern, problem in CAPPED_PATTERNS.items()]
    more = next(islice(COUNTED_TOKEN.finditer(bare), MAX_TOKENS, None), None) if len(bare) > MAX_TOKENS else None
    for found, problem in [*faults, (more, f"the file has more than {MAX_TOKENS} words, numbers, signs and line ends")]:
        if found is not None:
            raise ModelError(problem, line=bare.count("\n", 0, found.start()) + 1)


def _counted_part(found: re.Match[str]) -> str:
    """An apostrophe with the line ends and escapes of a string, a quote for one that does not end, "" for a comment."""
    if found[0].startswith("#"):
        return ""
    return '"' if found["open"] else "'" + re.sub(r"[^\n\\]+", "", found[0])


def write_toml(path: Path, values: Mapping[str, Any]) -> None:
    """Write values by key: a list of dicts as tables, a dict in one line, None not at all.

    A reader of the file sees the old or the new one whole.
    """
    with in_file(path):
        data = ("\n".join(_lines(values)) + "\n").encode()
        _check_caps(decoded(data, MAX_TOML_BYTES))
    with written_whole(path) as file:
        file.write(data)


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, list):
            for table in value:
                yield from ("", f"[[{key}]]", *_lines(table))
        elif value is not None:
            yield f"{key} = {_text(value, key)}"


def _text(value: Any, key: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return _string(value, key)
        case tuple():
            return f"[{', '.join(_text(item, key) for item in value)}]"
        case dict():
            return f"{{ {', '.join(f'{name} = {_text(item, name)}' for name, item in value.items())} }}"
    return repr(value)


def _string(value: str, key: str) -> str:
    """A TOML basic string: every control character escaped."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ModelError(f"{shown(value)} contains an unpaired surrogate, which no file can hold", field=key) from None
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c for c in escaped) + '"'


# ------------------------------------------------------------------------------------------- files that a model names


def relative_parts(given: str, path: str) -> list[str]:
    """The names of folders and the file, with . and .. resolved. given: the name as messages quote it"""
    if "://" in path or path.startswith("file:"):
        raise ModelError(f"{shown(given)} is an address, and only files are read")
    # a colon begins a drive or a stream on Windows, a backslash is a separator there
    if path.startswith("/") or any(c in "\\:" or not c.isprintable() for c in path):
        raise ModelError(f"{shown(given)} is not a relative path with slashes")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise ModelError(f"{shown(given)} leads out of the model's folder")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts or path.endswith("/"):
        raise ModelError(f"{shown(given)} names no file")
    return parts


def file_beside(model: Path, name: str) -> Path:
    """The file of this name in the folder of a model file, or below it."""
    folder = model.absolute().parent
    found = folder.joinpath(*relative_parts(name, name))
    if Path(os.path.realpath(folder)) not in Path(os.path.realpath(found)).parents:
        raise ModelError(f"{shown(name)} is a link out of the model's folder, and is not opened")
    if not os.path.lexists(found):  # False, too, for names that no file can have
        raise ModelError(f"there is no file {shown(name)} beside it")
    return model.parent.joinpath(*relative_parts(name, name))
