"""Errors are data: attributes that programs read, one message made from them, and a way between processes."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from tauforge import errors
from tauforge.validation import MAX_SHOWN, shown

ERRORS = [
    tf.TauforgeError("it failed"),
    tf.ModelError("no mass", file="arm.toml", line=3, field="mass", remedy="Give one"),
    tf.UnsupportedFeatureError("planar joints", remedy="Use a revolute one"),
    tf.ShapeError("q", expected="(..., 6)", got="(5,)", hint="Six joints"),
    tf.SettingError("TAUFORGE_KERNELS", expected="0 or 1", got="off"),
    tf.SingularityError("no answer", pose=np.zeros(6), condition_number=1e17, row=[2, 3]),
    tf.ConvergenceError("no pose", residual=1e-3, iterations=50, row=7, remedy="Try another guess"),
    tf.DivergenceError("it ran away", time=0.5, position=np.zeros(2), velocity=np.ones(2), recording=None),
    tf.SweepError("the disk is full", store="out.zarr", remedy="Make room"),
]
SOURCES = Path(tf.__file__).parent
SEARCHING = {
    "split",
    "rsplit",
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "replace",
    "find",
    "index",
    "rfind",
}
SEARCHING |= {"removeprefix", "removesuffix", "search", "match", "fullmatch", "sub", "findall", "finditer"}
EXCEPTED = {
    "errors.py",  # makes the messages
    "formats/model_files.py",  # tomllib has attributes for the line only from Python 3.14 on
}


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_errors_come_back_from_other_processes(error, again):
    made = again(error)
    assert type(made) is type(error)
    assert str(made) == str(error)
    assert set(vars(made)) == set(vars(error))
    for name, value in vars(error).items():
        assert np.array_equal(getattr(made, name), value)


def test_every_error_is_tried():
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, tf.TauforgeError)}
    assert kinds == {type(error) for error in ERRORS}


def test_what_an_error_knows_is_in_its_attributes():
    _, model, _, shape, setting, singular, lost, away, stopped = ERRORS
    assert (stopped.store, stopped.reason) == ("out.zarr", "the disk is full")
    assert (model.problem, model.reason, model.file, model.line, model.field) == (
        "no mass",
        "no mass",
        "arm.toml",
        3,
        "mass",
    )
    assert (model.remedy, model.key, model.row) == ("Give one", None, None)
    assert (shape.name, shape.expected, shape.got, shape.hint) == ("q", "(..., 6)", "(5,)", "Six joints")
    assert (shape.reason, shape.remedy, shape.row) == ("expected (..., 6), got (5,)", "Six joints", None)
    assert (setting.name, setting.expected, setting.got) == ("TAUFORGE_KERNELS", "0 or 1", "off")
    assert (singular.reason, singular.condition_number, singular.row) == ("no answer", 1e17, (2, 3))
    assert np.array_equal(singular.pose, np.zeros(6))
    assert (lost.reason, lost.residual, lost.iterations, lost.row) == ("no pose", 1e-3, 50, 7)
    assert lost.remedy == "Try another guess"
    assert (away.reason, away.time, away.recording, away.row) == ("it ran away", 0.5, None, None)


@pytest.mark.parametrize("kind", [type(error) for error in ERRORS] + [errors.TauforgeWarning], ids=lambda k: k.__name__)
def test_every_attribute_is_documented(kind):
    """In the class itself, or in one that it comes from."""
    made = next((error for error in ERRORS if type(error) is kind), None) or kind("beware")
    pages = "\n".join(
        inspect.cleandoc(base.__doc__ or "") for base in kind.__mro__ if base.__module__ == errors.__name__
    )
    for name in vars(made):
        assert f"\n{name}:" in pages, name


def test_the_message_is_made_from_the_attributes():
    messages = [str(error) for error in ERRORS]
    assert messages == [
        "it failed",
        "arm.toml:3: mass: no mass. Give one",
        "planar joints. Use a revolute one",
        "q: expected (..., 6), got (5,). Six joints",
        "TAUFORGE_KERNELS='off': expected 0 or 1. Change the environment variable, or unset it",
        "no answer (row 2, 3, condition number 1e+17 at [0. 0. 0. 0. 0. 0.])",
        "no pose in row 7 (residual 0.001 after 50 iterations). Try another guess",
        "it ran away after t = 0.5 s, at [0. 0.]; `recording` holds the rows up to there",
        "out.zarr: the disk is full. Make room",
    ]
    for error, message in zip(ERRORS, messages, strict=True):
        assert message == error.statement + ("" if error.remedy is None else f". {error.remedy}")
        assert error.args == (message,)


@pytest.mark.parametrize(
    ("given", "row", "words"),
    [
        (None, None, ""),
        ((), None, ""),
        (3, 3, "row 3"),
        (np.int64(3), 3, "row 3"),
        (np.argwhere([False, True])[0], 1, "row 1"),
        (np.argwhere(np.array(True))[0], None, ""),  # a single state
        (np.array([1, 0]), (1, 0), "row 1, 0"),
    ],
    ids=str,
)
def test_rows_of_batches(given, row, words):
    """Whatever index NumPy gives, it becomes plain integers."""
    within = f" in {words}" if words else ""
    for error, message in (
        (tf.TauforgeError("bad", row=given), f"bad{within}"),
        (tf.ShapeError("q", expected="a", got="b", row=given), f"q: expected a, got b{within}"),
        (
            tf.SingularityError("bad; worse", pose=[], condition_number=1.0, row=given),
            f"bad; worse ({words}{', ' if words else ''}condition number 1 at [])",
        ),
        (
            tf.ConvergenceError("bad", residual=1.0, iterations=1, row=given),
            f"bad{within} (residual 1 after 1 iterations)",
        ),
        (tf.SingularityWarning("bad", row=given), f"bad{within}"),
        (tf.ModelError("bad", field="pose").in_batch(given), f"pose{', ' if words else ''}{words}: bad"),
    ):
        assert error.row == row
        assert type(error.row) is type(row)
        assert str(error) == message == error.args[0]
        assert str(pickle.loads(pickle.dumps(error))) == message


def test_a_row_can_have_another_name():
    error = tf.SingularityError("no answer", pose=[0], condition_number=1e17, row=15)
    error.row_name = "row 17 of motion.csv, t = 0.17 s"
    assert str(error) == "no answer (row 17 of motion.csv, t = 0.17 s, condition number 1e+17 at [0])"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_rows_of_files():
    """Rows of a CSV file are counted as a spreadsheet does, and the message names row and column."""
    error = tf.ModelError("expected a number", row=3, field="q1")
    assert str(error) == "row 3, column q1: expected a number"
    found = error.located("motion.csv")
    assert str(found) == "motion.csv: row 3, column q1: expected a number"
    assert (found.row, found.field, error.file) == (3, "q1", None)
    assert found.located("other.csv") is found
    assert type(tf.UnsupportedFeatureError("no").located("a.urdf")) is tf.UnsupportedFeatureError


def test_no_residual_no_words_about_it():
    assert str(tf.ConvergenceError("it stopped", residual=np.nan, iterations=0)) == "it stopped"
    assert str(tf.ConvergenceError("it stopped", residual=np.nan, iterations=9)) == "it stopped (after 9 iterations)"


def test_warnings_carry_the_same():
    warning = tf.SingularityWarning("near a singular pose", row=4, remedy="Turn back")
    assert (warning.reason, warning.row, warning.remedy) == ("near a singular pose", 4, "Turn back")
    assert str(warning) == "near a singular pose in row 4. Turn back"
    made = pickle.loads(pickle.dumps(warning))
    assert (str(made), made.row) == (str(warning), 4)
    with pytest.warns(tf.SingularityWarning, match="^beware$") as caught:
        warnings.warn("beware", tf.SingularityWarning, stacklevel=1)
    assert (caught[0].message.reason, caught[0].message.row) == ("beware", None)


def test_they_are_a_module_of_the_package_at_once():
    code = "import tauforge as tf, sys; print('tauforge.errors' in sys.modules, tf.errors.ModelError is tf.ModelError)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False True\n", "")
    assert "errors" in tf.__all__


def test_terminals_are_not_commanded():
    hostile = "\x1b[2J"
    for error in (
        tf.ModelError(hostile, field=hostile, remedy=hostile, file=hostile),
        tf.ShapeError(hostile, expected=hostile, got=hostile),
        tf.SingularityWarning(hostile, row=1),
    ):
        assert "\x1b" not in str(error) + error.reason
        error.row_name = hostile
        assert "\x1b" not in str(error)


def test_arms_and_platforms_name_the_row():
    """By the index of the batch, which nobody has to read out of a message."""
    empty = tf.load("planar-2r").replace(mass=[0.0, 0.0], inertia=np.zeros((2, 3)))
    q = np.zeros((2, 3, 2))
    with pytest.raises(tf.SingularityError) as caught:
        empty.forward_dynamics(q, q, q + 1.0)
    assert caught.value.row == (0, 0)
    q[0, :2] = np.nan  # rows that are not finite are NaN, and not singular
    with pytest.raises(tf.SingularityError) as caught:
        empty.forward_dynamics(q, 0 * q, 0 * q + 1.0)
    assert caught.value.row == (0, 2)
    with pytest.raises(tf.SingularityError) as caught:
        empty.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    assert caught.value.row is None
    rig = tf.load("motion-rig")
    pose = np.zeros((3, 6)) + np.eye(6)[2]
    pose[2, 2] = 0.0
    with pytest.raises(tf.SingularityError) as caught:
        rig.inverse_dynamics(pose, 0 * pose, 0 * pose)
    assert caught.value.row == 2


def _named(tree: ast.AST) -> set[str]:
    """Names of exceptions and warnings: those that `except` binds, and what our functions call them."""
    bound = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    return bound | {"error", "fault", "warning", "message"}


def _texts(tree: ast.AST, names: set[str]) -> set[ast.AST]:
    """str(error) and the names it is assigned to."""

    def is_text(node: ast.AST) -> bool:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr")):
            return False
        inner = node.args[0] if node.args else node
        return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(inner))

    found = {node for node in ast.walk(tree) if is_text(node)}
    kept = {t.id for n in ast.walk(tree) if isinstance(n, ast.Assign) and n.value in found for t in n.targets}
    return found | {
        n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in kept and isinstance(n.ctx, ast.Load)
    }


def searches(source: str) -> list[str]:
    """Lines that look into the message of an error, or write one: by methods of str, `re`, `in`, slices or `.args`."""
    tree = ast.parse(source)
    texts = _texts(tree, _named(tree))
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in SEARCHING:
                wrong = owner in texts or any(argument in texts for argument in node.args)
            case ast.Subscript(value=owner):
                wrong = owner in texts
            case ast.Compare(ops=operations, comparators=others):
                wrong = any(isinstance(o, ast.In | ast.NotIn) for o in operations) and any(x in texts for x in others)
            case ast.Attribute(value=ast.Name(id=name), attr="args"):
                wrong = name in _named(tree)
            case _:
                wrong = False
        if wrong:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def test_nobody_searches_in_messages():
    """A message may be rewritten at any time; whoever needs a part of it finds an attribute."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if name not in EXCEPTED and (lines := searches(path.read_text(encoding="utf-8"))):
            found[name] = lines
    assert not found


def test_the_command_line_needs_no_regular_expressions_for_messages():
    """Two files of it use `re`, for what users and authors write: numbers with units, and descriptions of robots."""
    using = {
        path.name
        for path in (SOURCES / "cli").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) and any(alias.name == "re" for alias in node.names)
    }
    assert using <= {"inputs.py", "robots.py"}


@pytest.mark.parametrize(
    "line",
    [
        "str(error).split(' (residual')",
        "ROW.sub('', str(error))",
        "'row' in str(error)",
        "str(error)[:-4]",
        "error.args = ('other',)",
        "re.search('row', str(caught))",
    ],
)
def test_searches_are_found(line):
    assert searches(f"try:\n    work()\nexcept ValueError as caught:\n    error = caught\n    {line}\n")
    assert not searches("try:\n    work()\nexcept ValueError as error:\n    show(str(error), error.reason)\n")


def test_a_wrong_value_is_shown_whole_where_there_is_room():
    just, longer = "x" * (MAX_SHOWN - 2), "x" * (MAX_SHOWN - 1)  # and two quotes
    assert shown(just) == repr(just)
    assert shown(longer) == repr(longer)[:MAX_SHOWN] + "..."
