"""The README: its code runs, its numbers are today's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": 7,
    "docs/formulations.md": 2,
    "docs/stewart.md": 1,
    "docs/control.md": 2,
    "docs/command-line.md": 1,
    "docs/index.md": 1,
    "docs/speed.md": 2,
}


@pytest.fixture(autouse=True)
def as_a_reader(as_installed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # what a page saves goes there


@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs_from_top_to_bottom(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert len(blocks) >= PAGES[page]
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)


@pytest.mark.parametrize("name", ["README.md", "docs/formulations.md"])
def test_printed_results_are_real(capsys, name):
    page = (ROOT / name).read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    printed = re.findall(r"print\(.*\) +# (.*)", page)
    assert printed
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)
    assert capsys.readouterr().out.split("\n")[: len(printed)] == printed


@pytest.mark.parametrize("page", [*PAGES, "docs/complexity.md", "docs/model-file.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`]*`", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        assert target.startswith("http") or ((ROOT / page).parent / target).exists(), target


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
