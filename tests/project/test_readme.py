"""The README and the pages: their code runs, their numbers are today's."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from console_blocks import PAGES as PRINTING
from pages import difference

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": 1,
    "docs/formulations.md": 2,
    "docs/stewart.md": 1,
    "docs/lee-puma.md": 2,
    "docs/command-line.md": 1,
    "docs/index.md": 1,
    "docs/speed.md": 2,
    "docs/differentiable.md": 5,
    "docs/c-code.md": 1,
    "docs/pictures.md": 7,
    "docs/conventions.md": 1,
}
NEEDS = {"import torch": find_spec("torch") is not None, '.mp4"': shutil.which("ffmpeg") is not None}


@pytest.fixture(autouse=True)
def as_a_reader(as_installed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # what a page saves goes there


@pytest.fixture
def needs_kernels(switch):
    """Skips what is about kernels or a C compiler where there are none."""

    def skip(page: str) -> None:
        text = (ROOT / page).read_text(encoding="utf-8")
        if switch == "0" and re.search(r"\.kernel\(|tf\.rollout\(", text):
            pytest.skip(f"{page} shows kernels, which TAUFORGE_KERNELS=0 switches off")
        if re.search(r"^\$ .*\bgcc ", text, re.MULTILINE) and shutil.which("gcc") is None:
            pytest.skip(f"{page} calls gcc, which is not on the PATH")

    return skip


@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs_from_top_to_bottom(page, needs_kernels):
    needs_kernels(page)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= PAGES[page]
    namespace: dict[str, object] = {}
    for block in blocks:
        if all(there for word, there in NEEDS.items() if word in block):
            exec(compile(block, page, "exec"), namespace)


@pytest.mark.parametrize("name", ["README.md", "docs/formulations.md"])
def test_printed_results_are_real(capsys, name, needs_kernels):
    needs_kernels(name)
    page = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    printed = re.findall(r"print\(.*\) +# (.*)", page)
    assert printed
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)
    assert difference("\n".join(printed), "\n".join(capsys.readouterr().out.split("\n")[: len(printed)])) == ""


def test_code_comes_within_the_first_thirty_lines():
    assert "```python" in "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30])


def test_generated_tables_are_todays():
    tool = ROOT / "tools" / "generated_docs.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: make docs\n{done.stderr}"


@pytest.mark.parametrize("page", PRINTING, ids=lambda path: path.stem)
def test_outputs_below_the_code_are_todays(page, needs_kernels):
    needs_kernels(page)
    tool = ROOT / "tools" / "console_blocks.py"
    done = subprocess.run([sys.executable, tool, "--check", page.stem], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run: make docs\n{done.stderr}"


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_faults_on_the_page_are_those_of_the_tests():
    """Every row of docs/reliability.md has tests that bear its number, and every number of a test has a row."""
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    tests = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))
    assert len(rows) == len(set(rows))
    assert set(rows) == set(re.findall(r"\bmark\.fault\((\d+)\)", tests))


def test_the_catalogue_is_named_in_full():
    import tauforge as tf

    text = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
    for name in tf.catalogue():
        assert f"`{name}`" in text


def test_the_speed_table_has_a_column_for_every_vector_width(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import generated_docs

    def case(function, **ns):
        return {"function": function, "states": 4, "ns": {name: {"fastest": x} for name, x in ns.items()}}

    narrow = {"tauforge, 256-bit vectors": 20.0}
    report = {
        "environment": {"cpu": "lake", "vector_bits": 512, "narrow_vector_bits": 256, "date": "2026", "commit": "c"},
        "batches": [case("mass_matrix", tauforge=10.0, **narrow, other=200.0)],
        "platforms": [case("platform: condition_number", tauforge=10.0, other=50.0)],
        "rollouts": case("rollout", tauforge=1.0, **narrow),
        "platform_rollouts": case("platform: rollout", tauforge=2.0, **narrow),
    }
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "benchmarks" / "results" / "day.json").write_text(json.dumps(report))
    monkeypatch.setattr(generated_docs, "ROOT", tmp_path)
    head, _, *rows, _, note = generated_docs.speed_table().splitlines()
    assert head == "| function | states | tauforge, 512-bit | tauforge, 256-bit | others |"
    assert rows == [
        "| mass matrix | 4 | 10.0 ns | 20.0 ns | other 20 x / 10 x |",
        "| platform: condition number | 4 | 10.0 ns |  | other 5 x |",
        "| step of an arm's rollout under computed torque | 4 | 1.0 ns | 20.0 ns |  |",
        "| step of a platform's rollout under computed torque | 4 | 2.0 ns | 20.0 ns |  |",
    ]
    assert "one core of lake with 512-bit and with 256-bit vectors" in note
