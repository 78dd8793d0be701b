"""Counts the house: `python tools/house.py [CHECKOUT OR COMMIT]` prints a table, by default of this checkout.

code lines      lines of src/tauforge/**/*.py that hold a token of code: no comments, blank lines or docstrings
files           of src/tauforge/**/*.py
import lines    lines of import statements in src/tauforge/**/*.py
one reader      modules of src/tauforge that one module alone imports, a module of the same folder
two classes     names of public classes that more than one module of src/tauforge defines
two constants   upper-case names to which modules of src/tauforge give more than one value
questions       docstrings of src/tauforge whose first word asks (`QUESTIONS`) and does not say what the code does
robot members   public names of the class `tauforge.robots.robot.Robot`: its attributes and annotations, inherited ones
                included, that do not begin with an underscore
arm names       public names in `dir()` of a loaded arm
kind flags      places in src/tauforge outside robots/ that ask what kind a robot is: reads of an attribute of `FLAGS`,
                comparisons of `.kind`, `isinstance` or `type(...) is` with a class of one kind

What runs is counted for inverse_dynamics of the arm puma560, and under "mechanism" for forward_dynamics of the
five-bar. A frame is a Python frame of tauforge; a call is a profile event "call" of one, module bodies included.

spine           in a new process with an empty cache: frames on the stack of the first call, from the public method to
                the first function of formulations/ that gets traced scalars, both included; the files they are in;
                and how many of them are in evaluation/ and were called from kernels/ or tracing/ (re-entries)
analysed        in the same process: how often the structure of the mechanism is analysed, from its load to the end of
                the first call, random states for it included
first calls     in a new process with its code on disk: calls from the first call of the method until it returns
second calls    calls during a second call with one state
batch frames    frames on the stack of a later call with 20,000 rows where the kernel runs: when
                `kernels/cpu/threads.py: call`, which calls NumPy's ufunc, is entered
"""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

FLAGS = {
    "positions_are_poses",
    "velocities_are_rates",
    "may_not_close",
    "matrix_maps_forces",
    "pose_takes_guess",
    "general_arm_size",
    "noun",
}
KINDS = {"SerialArm", "StewartPlatform", "Mechanism"}
QUESTIONS = {"What", "Whether", "Where", "How", "Which", "Why", "When", "Who"}
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_line_numbers(text: str) -> set[int]:
    """Numbers, from 1, of the lines that hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                docstrings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            held |= set(range(token.start[0], token.end[0] + 1))
    return held - docstrings


def import_line_numbers(text: str) -> set[int]:
    """Numbers, from 1, of the lines of import statements."""
    found = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom))
    return {line for n in found for line in range(n.lineno, (n.end_lineno or n.lineno) + 1)}


def classes_of(text: str) -> set[str]:
    """Names of the public classes that a module defines."""
    return {n.name for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")}


def constants_of(text: str) -> set[tuple[str, str]]:
    """Upper-case names that a module assigns, with the texts of their values."""
    found = set()
    for node in ast.parse(text).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        found |= {
            (target.id, ast.unparse(node.value))  # type: ignore[union-attr,arg-type]
            for target in targets
            if isinstance(target, ast.Name) and target.id.isupper()
        }
    return found


def repeated(names: Iterable[str]) -> list[str]:
    """Names that come more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def questions(text: str) -> list[int]:
    """Line numbers of docstrings that begin with a question word."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            told = (ast.get_docstring(node) or "").split(maxsplit=1)
            if told and told[0].rstrip(",") in QUESTIONS:
                found.append(node.body[0].lineno)
    return found


def kind_flags(text: str) -> list[int]:
    """Line numbers of questions for the kind of a robot."""
    found = []
    for node in ast.walk(ast.parse(text)):
        asked = isinstance(node, ast.Attribute) and node.attr in FLAGS
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = any(isinstance(x, ast.Attribute) and x.attr == "kind" and _of_robot(x) for x in sides)
            asked |= any(_is_type(x) for x in sides) and any(_names(x) & KINDS for x in sides)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            asked = bool(_names(node.args[-1]) & KINDS)
        if asked:
            found.append(node.lineno)
    return found


def _of_robot(node: ast.Attribute) -> bool:
    return bool(_names(node.value) & {"robot", "plant", "real", "mine", "arm"})


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def _names(node: ast.AST) -> set[str]:
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)} | {
        x.attr for x in ast.walk(node) if isinstance(x, ast.Attribute)
    }


def single_readers(folder: Path) -> int:
    """Modules with one importer, in the same folder."""
    readers: dict[str, set[str]] = {}
    names = {".".join(p.relative_to(folder.parent).with_suffix("").parts): p for p in folder.rglob("*.py")}
    for module, path in names.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                told = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                told = {alias.name for alias in node.names}
            else:
                continue
            for name in told & names.keys():
                readers.setdefault(name, set()).add(module)
    return sum(
        len(by - {name}) == 1 and next(iter(by - {name})).rpartition(".")[0] == name.rpartition(".")[0]
        for name, by in readers.items()
    )


PROBE = r"""
import json, os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import tauforge as tf
ROOT = os.path.dirname(tf.__file__) + os.sep
name, method = sys.argv[1:3]

def watched(call, look):
    # the calls of tauforge while it runs; look(frame, file) sees each
    count = 0
    def watch(frame, event, argument):
        nonlocal count
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            count += 1
            look(frame, frame.f_code.co_filename.removeprefix(ROOT))
    sys.setprofile(watch)
    result = call()
    sys.setprofile(None)
    return count, result

def stack_of(frame):
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(ROOT):
            found.append((frame.f_code.co_filename.removeprefix(ROOT), frame.f_code.co_qualname
                          if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]

analysed, spine, batch = 0, [], []
def structure(frame, file):
    global analysed
    analysed += file == "robots/mechanism/structure.py" and frame.f_code.co_name in ("made", "analyse", "analysed")

robot = watched(lambda: tf.load(name), structure)[1]
state = [a[0] for a in watched(lambda: robot.random_states(3, seed=1), structure)[1]]
if method == "forward_dynamics":
    state[2] = np.zeros(len(robot.actuators))

def first(frame, file):
    structure(frame, file)
    given = [x[0] for x in frame.f_locals.values() if isinstance(x, list) and x] if not spine else []
    if file.startswith("formulations/") and any(type(x).__name__ == "Traced" for x in given):
        spine.extend(stack_of(frame))

def kernel(frame, file):
    if file == "kernels/cpu/threads.py" and frame.f_code.co_name == "call":
        batch[:] = stack_of(frame)

first_calls = watched(lambda: getattr(robot, method)(*state), first)[0]
second_calls = watched(lambda: getattr(robot, method)(*state), lambda *_: None)[0]
rows = [np.repeat(a[None], 20000, axis=0) for a in state]
getattr(robot, method)(*rows)
watched(lambda: getattr(robot, method)(*rows), kernel)
print(json.dumps({"first": first_calls, "second": second_calls, "spine": spine, "batch": batch, "analysed": analysed,
                  "dir": len([n for n in dir(robot) if not n.startswith("_")])}))
"""
MEMBERS = """
from tauforge.robots.robot import Robot
names = set(dir(Robot)).union(*(getattr(c, "__annotations__", {}) for c in Robot.__mro__))
print(len([n for n in names if not n.startswith("_")]))
"""


def answer(checkout: Path, script: str, *arguments: str, cache: str = "") -> str:
    """What a script prints in a new process, with the sources of this checkout."""
    surroundings = {**os.environ, "PYTHONPATH": str(checkout / "src"), "TAUFORGE_CACHE": cache, "TAUFORGE_KERNELS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env=surroundings, check=True, capture_output=True, text=True
    )
    return done.stdout


class Counts(NamedTuple):
    """What runs, of one method.

    spine, batch: the stacks, (file, function) each from the public method inwards
    """

    first: int
    second: int
    spine: list[list[str]]
    batch: list[list[str]]
    analysed: int
    dir: int

    @property
    def reentries(self) -> int:
        """How often kernels/ or tracing/ call back into evaluation/."""
        rooms = [file.partition("/")[0] for file, _ in self.spine]
        return sum(below in ("kernels", "tracing") and room == "evaluation" for below, room in pairwise(rooms))


def run_time(checkout: Path, name: str, method: str) -> Counts:
    """The spine and the analyses from a first process with an empty cache, the rest from a second with its code."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (Counts(**json.loads(answer(checkout, PROBE, name, method, cache=cache))) for _ in range(2))
    return warm._replace(spine=cold.spine, analysed=cold.analysed)


def table(checkout: Path) -> dict[str, object]:
    """All counts by name."""
    folder = checkout / "src" / "tauforge"
    texts = {path: path.read_text() for path in folder.rglob("*.py")}
    arm, mechanism = (
        run_time(checkout, "puma560", "inverse_dynamics"),
        run_time(checkout, "five-bar", "forward_dynamics"),
    )
    outside = {path: text for path, text in texts.items() if "robots" not in path.relative_to(folder).parts}
    flags = [f"{path.relative_to(folder)}:{line}" for path, text in outside.items() for line in kind_flags(text)]
    found: dict[str, object] = {
        "code lines": sum(len(code_line_numbers(text)) for text in texts.values()),
        "files": len(texts),
        "import lines": sum(len(import_line_numbers(text)) for text in texts.values()),
        "two classes": len(repeated(name for text in texts.values() for name in classes_of(text))),
        "two constants": len(repeated(name for name, _ in set().union(*map(constants_of, texts.values())))),
        "questions": sum(len(questions(text)) for text in texts.values()),
        "one reader": single_readers(folder),
        "robot members": int(answer(checkout, MEMBERS)),
        "arm names": arm.dir,
        "kind flags": len(flags),
    }
    for label, counts in (("", arm), ("mechanism: ", mechanism)):
        files = {file for file, _ in counts.spine}
        found |= {
            f"{label}spine": f"{len(counts.spine)} frames, {len(files)} files, {counts.reentries} re-entries",
            f"{label}first calls": counts.first,
            f"{label}second calls": counts.second,
            f"{label}batch frames": len(counts.batch),
        }
    found["mechanism: analysed"] = mechanism.analysed
    if flags:
        found["flags at"] = ", ".join(flags)
    return found


def sources_of(commit: str, folder: Path) -> Path:
    """The sources of a commit of this repository, unpacked."""
    root = Path(__file__).parents[1]
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=root, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder, filter="data")
    return folder


def main() -> None:
    """Prints the table of a checkout or a commit."""
    given = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(given).resolve() if Path(given).is_dir() else sources_of(given, Path(folder))
        for name, value in table(checkout).items():
            print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
