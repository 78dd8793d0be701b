"""TOML read with caps on size, depth and number of entries, so that no file can make the parser slow or overflow it.

The caps are checked before tomllib sees the text: on 20,000 dotted keys it works for seconds and then overflows the
stack. One linear scan is enough, because it splits the text as tomllib does, up to the first syntax error, where
tomllib stops.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tauforge.errors import ModelError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 16  # of brackets
MAX_KEY_PARTS = 8
MAX_WORD = 200  # characters of a bare key or a number; longer integers take quadratic time to convert
MAX_TOKENS = 15_000  # words, numbers, signs, line ends and escapes: tomllib needs about 4 microseconds for each

# Python 3.11.2 misreads possessive groups, so there are none: every repetition ends where its own characters end, and
# what follows it begins with another, so that giving characters back fails at once and the scan stays linear.
TOKEN = re.compile(
    r"""
      (?P<text> \"{3} [^\\"]* (?: (?: \\. | "{1,2}(?!") ) [^\\"]* )* "{3,5}
              | '{3} [^']* (?: '{1,2}(?!') [^']* )* '{3,5}
              | "(?!"") [^"\\\n]* (?: \\. [^"\\\n]* )* "
              | '(?!'') [^'\n]* ' )
    | \#[^\n]*
    | (?P<word> [A-Za-z0-9_+:.-]+ )
    | (?P<mark> [][{}=,\n] )
    | (?P<open> ["'] )
    """,
    re.VERBOSE | re.DOTALL,
)
# tomllib puts the line into its message, and has attributes for it only from Python 3.14 on
LINE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, or a ModelError that names the file and, where there is one, the line."""
    try:
        return parse(decoded(_read_bytes(path)))
    except ModelError as error:
        raise error.located(path) from None


def _read_bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ModelError("expected a file, got a folder")
        if not path.exists():
            raise ModelError("no such file")
        if not path.is_file():  # a pipe would block for ever
            raise ModelError("expected a regular file")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}") from None


def decoded(data: bytes) -> str:
    check_size(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"the text is not UTF-8: byte {data[error.start]:#04x}",
            line=data.count(b"\n", 0, error.start) + 1,
            remedy="Save the file as UTF-8",
        ) from None
    if not text.strip():
        raise ModelError("the file is empty")
    return text


def check_size(data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise ModelError(f"the file is larger than {MAX_BYTES // 1024} KiB, the most a model file may have")


def parse(text: str) -> dict[str, Any]:
    check_caps(text)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = str(error)
        place = LINE.search(message)
        line = None if place is None else int(place[1] or text.count("\n") + 1)
        problem = LINE.sub("", message).strip()[:MAX_WORD]  # it may quote a long key
        raise ModelError(f"not valid TOML: {problem}", line=line) from None


def check_caps(text: str) -> None:
    """Refuse what would take the parser long, by one scan that knows strings and comments."""
    line, depth, dots, tokens = 1, 0, 0, 0
    for token in TOKEN.finditer(text):
        kind, content = token.lastgroup, token[0]
        tokens += 1
        if kind == "word":
            dots += content.count(".")
            if dots >= MAX_KEY_PARTS:
                raise ModelError(f"a dotted key has more than {MAX_KEY_PARTS} parts", line=line)
            if dots > 1:  # not the decimal point of a number, but parts of a key, which are slow
                tokens += 2 * dots
            if len(content) > MAX_WORD:
                raise ModelError(f"a key or number has more than {MAX_WORD} characters", line=line)
        elif kind == "mark":
            dots = 0
            depth += (content in "[{") - (content in "]}")
            if depth > MAX_DEPTH:
                raise ModelError(f"brackets are nested more than {MAX_DEPTH} deep", line=line)
            line += content == "\n"
        elif kind == "text":
            ends = content.count("\n")
            tokens += content.count("\\") + ends
            line += ends
        if tokens > MAX_TOKENS:
            raise ModelError(f"the file has more than {MAX_TOKENS} words, numbers, signs and line ends", line=line)
        if kind == "open":
            raise ModelError("not valid TOML: a string does not end", line=line)
        if depth < 0:  # tomllib stops here with its own error
            return
