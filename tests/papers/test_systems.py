"""The table of what the papers describe: every public name and every test in it exists, and no row is left out."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

import paper_systems
import tauforge as tf
import tauforge_papers.derivation
from tauforge.cli.app import app
from tauforge_papers.registry import STUDIES
from tauforge_papers.systems import System, systems_of

TESTS = Path(__file__).parents[1]
COUNTS = {"dasgupta1998": 21, "pedrammehr2012": 13, "turney1980": 21, "lee1982": 23, "angeles": 16}
ROOTS = {"tf": tf, "tauforge_papers": tauforge_papers, "arm": tf.SerialArm, "platform": tf.StewartPlatform}
CHOICES = {"formulation": (*tf.FORMULATIONS, *tf.STEWART_MODELS), "model": tf.STEWART_MODELS}
ALL = [system for paper in STUDIES for system in systems_of(paper)]
CALLS = sorted({call for system in ALL for call in system.calls})
COMPLETE = 90  # of the rows, at least


def resolved(node: ast.expr) -> Any:
    """What an expression of the table stands for; a call stands for the class of its result."""
    if isinstance(node, ast.Name):
        return ROOTS[node.id]
    if isinstance(node, ast.Attribute):
        owner = resolved(node.value)
        fields = inspect.get_annotations(owner) if inspect.isclass(owner) else {}
        return fields[node.attr] if node.attr in fields else getattr(owner, node.attr)
    assert isinstance(node, ast.Call)
    function = resolved(node.func)
    parameters = inspect.signature(function).parameters
    for given in node.keywords:
        assert given.arg in parameters, f"{ast.unparse(node)} takes no {given.arg}"
        value = ast.literal_eval(given.value)
        assert value in CHOICES.get(given.arg, [value]), f"{ast.unparse(node)}: no {given.arg} is called {value}"
    if inspect.isclass(function):
        return function
    name = inspect.signature(function).return_annotation
    return inspect.unwrap(function).__globals__.get(name, name)


def command(words: str) -> None:
    name, *options = words.split()[1:]
    commands: Any = typer.main.get_command(app)
    found = commands.get_command(None, name)
    assert found is not None, f"no command is called {name}"
    assert {option for parameter in found.params for option in parameter.opts}.issuperset(options)


@pytest.mark.parametrize("call", CALLS)
def test_every_public_name_exists(call: str) -> None:
    if call.startswith("tauforge "):
        command(call)
    else:
        resolved(ast.parse(call, mode="eval").body)


def test_names_that_do_not_exist_are_found() -> None:
    for call in ("arm.leg_motion", "platform.leg_motion(twirl=1)", "platform.leg_motion().wheels", "tf.analysis.all"):
        with pytest.raises((AttributeError, AssertionError)):
            resolved(ast.parse(call, mode="eval").body)
    with pytest.raises(AssertionError, match="no formulation is called lagrange"):
        resolved(ast.parse("arm.inverse_dynamics(formulation='lagrange')", mode="eval").body)
    with pytest.raises(AssertionError):
        command("tauforge complexity --wheels")


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("system", [s for s in ALL if s.test], ids=lambda system: system.name)
def test_every_test_exists(system: System) -> None:
    file, name = system.test.split("::")
    assert name in functions_of(file)
    assert name.startswith("test_")
    assert not file.startswith("papers/test_studies"), "a study is of the paper's own robot"


@pytest.mark.parametrize("paper", STUDIES)
def test_no_row_is_left_out(paper: str) -> None:
    rows = systems_of(paper)
    letter = paper[0].upper()
    assert [row.name for row in rows] == [f"{letter}{k + 1}" for k in range(COUNTS[paper])]
    for row in rows:
        assert row.missing or (row.calls and row.test), f"{row.name} is complete without a name or a test"


def test_nearly_all_are_complete() -> None:
    assert sum(not system.missing for system in ALL) >= COMPLETE


def test_the_page_is_todays() -> None:
    text = paper_systems.PAGE.read_text(encoding="utf-8")
    assert paper_systems.page() == text, "run: make docs"
    assert sum(line.startswith(tuple(f"| {system.name} |" for system in ALL)) for line in text.splitlines()) == 94
