"""What other packages add: found by entry points, and not missed where there is none."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import tauforge as tf
from support.command_line import error_of, run
from tauforge.cli import app
from tauforge.plugins import WRITERS, plugins

SOURCE = Path(tf.__file__).parent


def imported(path):
    """Modules that a file imports, wherever the statement stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_tauforge_never_imports_the_papers():
    found = [path for path in SOURCE.rglob("*.py") if any("tauforge_papers" in name for name in imported(path))]
    assert found == []


def test_the_papers_are_not_loaded_before_somebody_asks():
    code = (
        "import sys, tauforge, tauforge.cli.app, tauforge.viewer.viewer\n"
        "tauforge.load('planar-2r').inverse_dynamics([0, 0], [0, 0], [0, 0])\n"
        "print([name for name in sys.modules if name.startswith('tauforge_papers')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_papers_offer_a_command_counts_and_motions():
    (commands,) = plugins("tauforge.commands").values()
    (counts,) = plugins("tauforge.complexity").values()
    (motions,) = plugins("tauforge.motions").values()
    assert [name for name, _ in commands.COMMANDS] == ["reproduce"]
    assert counts.papers_data()
    assert motions(tf.load("dasgupta1998"))


@pytest.fixture
def alone(monkeypatch):
    """As if no other package were installed."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    app.added_commands.cache_clear()
    yield
    app.added_commands.cache_clear()


@pytest.mark.usefixtures("alone")
def test_without_them_the_rest_works():
    assert "reproduce" not in run("--help").stdout
    assert "No such command 'reproduce'" in error_of("reproduce")
    assert "no installed package has published counts; tauforge_papers has them" in error_of("complexity", "--papers")


def test_a_writer_may_be_of_another_package(tmp_path, monkeypatch):
    (tmp_path / "foreign_writer.py").write_text("def write(robot, path):\n    path.write_text(robot.name)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(WRITERS["SerialArm"], ".name", "foreign_writer")
    tf.load("planar-2r").save(tmp_path / "arm.name")
    assert (tmp_path / "arm.name").read_text() == "planar-2r"
