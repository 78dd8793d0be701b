"""What import-linter cannot say: rooms above robots/ ask the robot, and never what kind it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tauforge"
KINDS = {
    *("SerialArm", "StewartPlatform", "Mechanism"),
    *("ArmDescription", "PlatformDescription", "MechanismDescription"),
}
LABELS = {"kind"}  # a word for people; nothing may depend on it
ROOMS = ("motion", "control", "simulation", "pictures", "analysis", "workspace", "charts", "cli")
# Modules that need a constant or a search of one kind of robot, and why.
EXCEPTIONS = {
    ("motion/tool_motion.py", "tauforge.robots.serial"): "takes the same steps as the arm's inverse kinematics",
    ("analysis/stewart_forces.py", "tauforge.robots.stewart"): "the condition number beyond which forces are refused",
}
# Lines that ask for a `kind` which is not a robot's, and whose it is.
OTHER_KINDS = {
    ("workspace/criteria.py", "limit.kind"): "a limit: a stroke, a cone",
    ("workspace/explaining.py", "f.kind"): "a limit: a stroke, a cone",
}


def modules(*rooms):
    return sorted(path for room in rooms for path in (SOURCE / room).rglob("*.py"))


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def names_in(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }


def questions_about_kinds(tree):
    """Lines that compare a kind: isinstance, issubclass, type(x) is K, match K()."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            asked = names_in(node.args[1])
        elif isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot | ast.Eq) for op in node.ops):
            asked = names_in(node)
        elif isinstance(node, ast.MatchClass):
            asked = names_in(node.cls)
        else:
            continue
        if asked & KINDS:
            yield node.lineno if hasattr(node, "lineno") else node.cls.lineno


def labels_in(node):
    """Words such as robot.kind; the kind of a dtype is NumPy's."""
    for n in ast.walk(node):
        if isinstance(n, ast.Attribute) and n.attr in LABELS and "dtype" not in names_in(n.value):
            yield n


def questions_about_labels(tree):
    """Labels that decide something: comparisons, match, keys, and methods such as startswith."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                asked = node
            case ast.Match():
                asked = node.subject
            case ast.Subscript():
                asked = node.slice
            case ast.Call(func=ast.Attribute()):
                asked = node if node.func.attr == "get" else node.func.value
            case _:
                continue
        yield from labels_in(asked)


def imports_at_run_time(tree):
    """Imported modules; what stands under `if TYPE_CHECKING:` is for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in names_in(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            yield from imports_at_run_time(node)


def kind_rooms(tree):
    rooms = {".".join(name.split(".")[:3]) for name in imports_at_run_time(tree)}
    return rooms & {"tauforge.robots.serial", "tauforge.robots.stewart", "tauforge.robots.mechanism"}


def test_nobody_outside_robots_asks_what_kind_a_robot_is():
    others = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "robots")
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in modules(*others)
        for line in questions_about_kinds(parsed(path))
    ]
    assert found == []


def test_nobody_outside_robots_decides_by_a_label():
    # kinds of joints, cuts and arguments, not of robots
    rooms = ("robots", "formulations", "formats", "evaluation")
    paths = (path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in rooms)
    found = {
        (path.relative_to(SOURCE).as_posix(), ast.unparse(label))
        for path in paths
        for label in questions_about_labels(parsed(path))
    }
    assert found == set(OTHER_KINDS)  # an exception that is no longer needed goes too


def test_rooms_above_robots_import_no_kind_of_robot():
    found = {
        (path.relative_to(SOURCE).as_posix(), room) for path in modules(*ROOMS) for room in kind_rooms(parsed(path))
    }
    assert found == set(EXCEPTIONS)  # an exception that is no longer needed goes too


@pytest.mark.parametrize(
    "source",
    [
        "if isinstance(robot, SerialArm): pass",
        "x = isinstance(robot, tf.SerialArm | Other)",
        "y = issubclass(type(robot), (Other, StewartPlatform))",
        "if type(robot) is SerialArm: pass",
        "match robot:\n    case StewartPlatform(): pass",
    ],
)
def test_such_questions_are_found(source):
    assert len(list(questions_about_kinds(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "if robot.kind == 'serial arm': pass",
        "x = 'platform' != self.robot.kind",
        "y = robot.kind in ('arm', 'platform')",
        "z = (a.kind, a.n) == (0, 1)",
        "match robot.kind:\n    case 'cart': pass",
        "law = LAWS[robot.kind]",
        "if robot.kind.startswith('serial'): pass",
        "law = LAWS.get(robot.kind)",
        "article = 'an' if robot.kind[0] in 'aeiou' else 'a'",
    ],
)
def test_decisions_by_labels_are_found(source):
    assert len(list(questions_about_labels(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "source",
    ["text = f'{robot.kind} {robot.name}'", "x = array.dtype.kind in 'iuf'", "said(robot.kind)", "kind == robot.n"],
)
def test_words_for_people_are_no_decisions(source):
    assert list(questions_about_labels(ast.parse(source))) == []


def test_such_imports_are_found():
    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from tauforge.robots.stewart.limits import Limits\n"
        "def f():\n    from tauforge.robots.serial.serial_arm import SerialArm\n"
    )
    assert kind_rooms(tree) == {"tauforge.robots.serial"}
