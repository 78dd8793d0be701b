"""The README: its code runs, its numbers are today's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def test_the_code_runs_from_top_to_bottom():
    assert len(BLOCKS) >= 3
    namespace: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["hold"].shape == (4,)


def test_code_comes_within_the_first_thirty_lines():
    assert "```python" in "\n".join((ROOT / "README.md").read_text().splitlines()[:30])


def test_generated_tables_are_todays():
    done = subprocess.run([sys.executable, ROOT / "tools" / "generated_docs.py", "--check"], check=False)
    assert done.returncode == 0, "run: make docs"


def test_the_catalogue_is_named_in_full():
    import tauforge as tf

    text = (ROOT / "README.md").read_text()
    for name in tf.catalogue():
        assert f"`{name}`" in text


@pytest.mark.parametrize("arguments", [["puma560"], []])
def test_the_command_of_make_run(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "tauforge.analysis", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "largest disagreement" in done.stdout


def test_the_command_says_what_is_wrong():
    done = subprocess.run(
        [sys.executable, "-m", "tauforge.analysis", "puma"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "puma560" in done.stderr
    assert "Traceback" not in done.stderr
