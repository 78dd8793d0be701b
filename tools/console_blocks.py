"""Run the code of a page, in a folder of its own, and write below it what it prints.

Python blocks share one namespace from top to bottom; a text block right below one is its output. A console block has
commands, each with its output below it. Names choose pages; `--check` compares.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import settle

DOCS = Path(__file__).parent.parent / "docs"
NAMES = (
    "command-line",
    "quickstart",
    "arms",
    "platforms",
    "simulation",
    "control",
    "errors",
    "troubleshooting",
    "adding-a-formulation",
    "adding-a-robot",
    "gpu",
    "workspace",
    "designs",
    "mechanisms",
)
PAGES = (*(DOCS / f"{name}.md" for name in NAMES), *sorted(DOCS.glob("how-to-*.md")))
BLOCK = re.compile(r"```(python|console)\n(.*?)```\n(\n```text\n.*?```\n)?", flags=re.DOTALL)


def with_outputs(page: str) -> str:
    """The page with today's outputs."""
    names: dict[str, object] = {}

    def done(match: re.Match[str]) -> str:
        kind, body, printed = match.groups()
        if kind == "console":
            return "```console\n" + _answered(body) + f"```\n{printed or ''}"
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(body, "page", "exec"), names)
        code = f"```python\n{body}```\n"
        return code if printed is None else f"{code}\n```text\n{output.getvalue()}```\n"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(done, page)


def _answered(body: str) -> str:
    """Every command with what it prints."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": programs, "COLUMNS": "80", "NO_COLOR": "1"}
    lines = []
    for line in body.splitlines():
        if line.startswith("$ "):
            ran = subprocess.run(
                ["bash", "-c", f"exec 2>&1; {line[2:]}"],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            lines += [line, *(printed.rstrip() for printed in ran.stdout.splitlines())]
    return "".join(f"{line}\n" for line in lines)


def main() -> int:
    chosen = [path for path in PAGES if path.stem in sys.argv[1:]] or PAGES
    texts = {path: with_outputs(path.read_text(encoding="utf-8")) for path in chosen}
    return settle(texts)


if __name__ == "__main__":
    raise SystemExit(main())
