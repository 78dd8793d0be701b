"""Our docstrings are plain text with aligned lists, `name: meaning`; Sphinx reads reStructuredText. This turns the one
into the other: lists of arguments, fields of tuples with the comments beside them, and nothing else marked up.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

ITEM = re.compile(r"(\w+(?:, \w+)*):\s+(\S.*)")
NEXT_ITEM = re.compile(r"; (?=[a-z_]+(?:, [a-z_]+)*: )")  # two short ones may share a line
REMARK = re.compile(r"(Identity|Identities|Source): +(\S.*)")
FIELD = re.compile(r"    (\w+): [^#=]+(?:= [^#]+)?# (.*)")
MODULE = re.compile(r"\b[a-z_]+\.(?=[A-Z])")  # of a type in a signature
LONG = 40  # characters of a default value
CODE = re.compile(r"(`[^`]+`)")


def marked(text: str) -> str:
    """Words in backticks as code, everything else as it stands."""
    parts = CODE.split(text)
    return "".join(
        f"``{part[1:-1]}``" if CODE.fullmatch(part) else re.sub(r"([\\*|`]|_\b)", r"\\\1", part) for part in parts
    )


def definitions(items: list[tuple[str, str]]) -> list[str]:
    lines = [".. rst-class:: arguments", ""]
    for names, meaning in items:
        lines += ["   " + ", ".join(f"``{name}``" for name in names.split(", ")), f"       {marked(meaning)}"]
    return [*lines, ""]


def structured(text: str) -> list[str]:
    """Lines of reStructuredText."""
    result: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        result += _equation(block) if block.startswith("    ") else _prose(block)
    return result


def _equation(block: str) -> list[str]:
    return ["::", "", *(f"    {line.strip()}" for line in block.splitlines()), ""]


def _prose(block: str) -> list[str]:
    result: list[str] = []
    items: list[tuple[str, str]] = []
    paragraph: list[str] = []

    def close() -> None:
        nonlocal items, paragraph
        if items:
            result.extend(definitions(items))
        if paragraph:
            result.extend([" ".join(paragraph), ""])
        items, paragraph = [], []

    for line in block.splitlines():
        if remark := REMARK.fullmatch(line):
            close()
            paragraph = [f"*{remark[1]}:* {marked(remark[2])}"]
        elif items and (line.startswith(" ") or (line[0].islower() and not ITEM.fullmatch(line))):
            names, meaning = items[-1]
            items[-1] = names, f"{meaning} {line.strip()}"
        elif (not paragraph or items) and ITEM.fullmatch(line):
            found = (ITEM.fullmatch(part) for part in NEXT_ITEM.split(line))
            items += [(item[1], item[2]) for item in found if item]
        elif paragraph and not items:
            paragraph.append(marked(line.strip()))
        else:
            close()
            paragraph = [marked(line.strip())]
    close()
    return result


def fields_of(thing: Any) -> list[str]:
    """The fields of a tuple or dataclass that have a comment beside them."""
    own = getattr(thing, "_fields", ()) or (
        dataclasses.is_dataclass(thing) and [f.name for f in dataclasses.fields(thing)]
    )
    if not own:
        return []
    found = (FIELD.fullmatch(line) for line in inspect.getsource(thing).splitlines())
    items = [(match[1], match[2]) for match in found if match and match[1] in own]
    return definitions(items) if items else []


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if not name.startswith("tauforge"):
        return
    text = "\n".join(lines)
    lines[:] = structured(text) if text.strip() else []
    if what == "class":
        lines += fields_of(obj)


class Long:
    """A default value that would fill lines."""

    def __repr__(self) -> str:
        return "..."


def shortened(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(default=Long()) if len(repr(parameter.default)) > LONG else parameter


def signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str] | None:
    """As the source has it: `ArrayLike`, not the dozen types that it stands for."""
    if what not in ("class", "exception", "function", "method") or signature is None:
        return None
    whole = inspect.signature(obj)
    own = [shortened(p) for k, p in enumerate(whole.parameters.values()) if k or p.name not in ("self", "cls")]
    text = MODULE.sub("", stringify_signature(whole.replace(parameters=own), unqualified_typehints=True))
    text = text.replace("<factory>", "...")  # a dataclass makes this default anew; what it says is no expression
    arguments, _, result = text.partition(") -> ")
    made = what in ("class", "exception")  # what is made is the class itself
    return (f"{arguments})" if result else arguments, "" if made else result)


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Fields of a tuple are listed with their class."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
