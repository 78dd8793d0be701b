"""The examples: each runs by itself, draws one figure, prints its numbers, and what it claims it asserts."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.fixture
def pyplot(as_installed, monkeypatch, tmp_path):
    """Figures are drawn into memory; the working folder is a place where an example may leave nothing."""
    matplotlib = pytest.importorskip("matplotlib", reason="examples draw: pip install tauforge[plots]")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda *_, **__: None)
    plt.close("all")
    yield plt
    plt.close("all")


def libraries_of(path):
    """What an example imports and may be missing: it is imported in a try, with a message for whoever lacks it."""
    tries = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Try))
    return [alias.name for node in tries for line in node.body for alias in getattr(line, "names", ())]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_draws_one_figure(path, pyplot, tmp_path, capsys):
    for library in libraries_of(path):
        pytest.importorskip(library, reason=f"{path.name} needs {library}")
    runpy.run_path(str(path), run_name="__main__")
    (number,) = pyplot.get_fignums()
    figure = pyplot.figure(number)
    figure.canvas.draw()  # with every warning an error: a missing glyph, a layout that does not fit
    for axes in figure.axes:
        assert axes.has_data(), f"an empty panel in {path.name}"
        assert axes.get_xlabel() or axes.get_ylabel() or axes.get_title(loc="left")
    assert capsys.readouterr().out.strip()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_reads_as_a_page_of_the_gallery(path):
    tree = ast.parse(path.read_text())
    title, line, _, *story = (ast.get_docstring(tree) or "").splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert story
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree)), "what an example claims it asserts"


@pytest.mark.parametrize("path", [path for path in EXAMPLES if libraries_of(path)], ids=lambda path: path.stem)
def test_says_which_library_is_missing(path, pyplot, monkeypatch):
    (library,) = libraries_of(path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SystemExit, match=r"This example needs \w+: pip install '\.\["):
        runpy.run_path(str(path), run_name="__main__")


def test_numbered_without_gaps():
    assert [path.stem[:3] for path in EXAMPLES] == [f"{k:02}_" for k in range(1, len(EXAMPLES) + 1)]


def test_runs_from_a_shell(tmp_path, user_environment):
    environment = {**os.environ, "MPLBACKEND": "Agg", **user_environment}
    done = subprocess.run(
        [sys.executable, EXAMPLES[0]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "joint1: at most" in done.stdout
