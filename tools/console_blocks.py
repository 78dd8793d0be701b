"""Run the commands of a page's console blocks, in a folder of their own, and write what they print below them.

`--check` compares. The page's Python blocks run first, in the same folder: they make the files that commands read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = (Path(__file__).parent.parent / "docs" / "command-line.md",)
BLOCK = re.compile(r"```(python|console)\n(.*?)```\n", flags=re.DOTALL)


def with_outputs(page: str) -> str:
    """The page with today's outputs."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": programs, "COLUMNS": "80", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:

        def done(match: re.Match[str]) -> str:
            kind, body = match.groups()
            if kind == "python":
                subprocess.run([sys.executable, "-c", body], cwd=folder, check=True)
                return match[0]
            lines = []
            for line in body.splitlines():
                if line.startswith("$ "):
                    ran = subprocess.run(
                        ["bash", "-c", f"exec 2>&1; {line[2:]}"],
                        cwd=folder,
                        env=environment,
                        stdout=subprocess.PIPE,
                        text=True,
                        check=False,
                    )
                    lines += [line, *(printed.rstrip() for printed in ran.stdout.splitlines())]
            return "```console\n" + "".join(f"{line}\n" for line in lines) + "```\n"

        return BLOCK.sub(done, page)


def main() -> int:
    texts = {path: with_outputs(path.read_text(encoding="utf-8")) for path in PAGES}
    if "--check" in sys.argv:
        return 0 if all(path.read_text(encoding="utf-8") == text for path, text in texts.items()) else 1
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
