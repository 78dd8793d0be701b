"""Counts the house: `python tools/house.py [CHECKOUT]` prints a table of what follows for this checkout or another.

code lines      lines of src/tauforge/**/*.py that hold a token of code: no comments, blank lines or docstrings
files           of src/tauforge/**/*.py
one reader      modules of src/tauforge that one module alone imports, a module of the same folder
robot members   public names of the class `tauforge.robots.robot.Robot`: its attributes and annotations, inherited ones
                included, that do not begin with an underscore
arm names       public names in `dir()` of a loaded arm
kind flags      places in src/tauforge outside robots/ that ask what kind a robot is: reads of an attribute of `FLAGS`,
                comparisons of `.kind`, `isinstance` or `type(...) is` with a class of one kind
first calls     Python functions of tauforge that are called (profile events "call", module bodies included) from the
                first inverse_dynamics of a loaded arm until it returns, in a new process with its code on disk
first frames    frames of tauforge on the stack when that call reaches the compiled kernel, and how many files they are in
batch frames    frames of tauforge on the stack when a later batch reaches the compiled kernel
second calls    profile events of tauforge in a second call with one state
mechanism       the same numbers for forward_dynamics of the five-bar, and how often its structure is analysed
"""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

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
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Lines that hold code."""
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
    return len(held - docstrings)


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
ROOT = os.path.dirname(tf.__file__)
name, method = sys.argv[1:3]
analysed = 0
def watch(frame, event, argument):
    global analysed
    if event == "call" and frame.f_code.co_filename.endswith("mechanism/structure.py") and frame.f_code.co_name == "made":
        analysed += 1
sys.setprofile(watch)
robot = tf.load(name)
sys.setprofile(None)
x = robot.random_states(3, seed=1)
state = [a[0] for a in x]
if method == "forward_dynamics":
    state = [state[0], state[1], np.zeros(len(robot.actuators))]
calls, spine, stack_of_kernel = 0, [], []
def count(frame, event, argument):
    global calls, analysed
    inside = frame.f_code.co_filename.startswith(ROOT)
    if event == "call" and inside:
        calls += 1
        if frame.f_code.co_filename.endswith("mechanism/structure.py") and frame.f_code.co_name == "made":
            analysed += 1
    # a generalized ufunc is called from the method that stands for the kernel
    if event == "call" and inside and frame.f_code.co_name == "__call__" and "kernels" in frame.f_code.co_filename:
        frames = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(ROOT):
                frames.append((os.path.relpath(frame.f_code.co_filename, ROOT), frame.f_code.co_name))
            frame = frame.f_back
        stack_of_kernel.append(frames[::-1])
sys.setprofile(count)
getattr(robot, method)(*state)
sys.setprofile(None)
first, first_stack, stack_of_kernel = calls, stack_of_kernel[-1], []
calls = 0
sys.setprofile(count)
getattr(robot, method)(*state)
sys.setprofile(None)
second = calls
batch = [np.repeat(a[None], 20000, axis=0) for a in state]
getattr(robot, method)(*batch)
sys.setprofile(count)
getattr(robot, method)(*batch)
sys.setprofile(None)
deepest = max(stack_of_kernel, key=len) if stack_of_kernel else []
print(json.dumps({"first": first, "stack": first_stack, "second": second, "batch": deepest, "analysed": analysed,
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


def run_time(checkout: Path, name: str, method: str) -> dict[str, object]:
    """The numbers of calls, from the second of two processes: the first has put the code on the disk."""
    with tempfile.TemporaryDirectory() as cache:
        answer(checkout, PROBE, name, method, cache=cache)
        found: dict[str, object] = json.loads(answer(checkout, PROBE, name, method, cache=cache))
    return found


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
        "code lines": sum(map(code_lines, texts.values())),
        "files": len(texts),
        "one reader": single_readers(folder),
        "robot members": int(answer(checkout, MEMBERS)),
        "arm names": arm["dir"],
        "kind flags": len(flags),
    }
    for label, told in (("", arm), ("mechanism: ", mechanism)):
        stack, batch = told["stack"], told["batch"]
        assert isinstance(stack, list)
        assert isinstance(batch, list)
        found |= {
            f"{label}first calls": told["first"],
            f"{label}first frames": f"{len(stack)} in {len({file for file, _ in stack})} files",
            f"{label}second calls": told["second"],
            f"{label}batch frames": len(batch),
        }
    found["mechanism: structure analysed"] = mechanism["analysed"]
    if flags:
        found["flags at"] = ", ".join(flags)
    return found


def main() -> None:
    """Prints the table of a checkout."""
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
    for name, value in table(checkout).items():
        print(f"{name:32} {value}")


if __name__ == "__main__":
    main()
