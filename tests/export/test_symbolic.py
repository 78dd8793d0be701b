"""CasADi and SymPy: every function of every robot of the catalogue, equal to the methods."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.robot_functions import cases, largest_error, named, state_of
from support.tolerances import FORMULATIONS, error

casadi = pytest.importorskip("casadi")
sympy = pytest.importorskip("sympy")
IN_SYMPY = ("planar-2r", "stanford", "puma560", "dasgupta1998", "five-bar", "flyball-governor", "gripper")


def values_of(found, state):
    """Numbers by symbol."""
    rows = zip(found.arguments.values(), state, strict=True)
    return {symbol: x for symbols, row in rows for symbol, x in zip(symbols, row, strict=True)}


@pytest.mark.parametrize(("robot", "name"), in_turn(cases()), ids=named)
def test_casadi_equals_the_kernel(robot, name):
    given, expected, allowed = state_of(robot, name)
    function = tf.symbolic.casadi_function(robot, name)
    assert function.name() == name
    assert function.name_in() == [argument.name for argument in robot.functions[name].arguments]
    outs = function(*given)
    outs = outs if isinstance(outs, tuple) else (outs,)
    assert largest_error(outs, expected) < allowed


@pytest.mark.parametrize(("robot", "name"), in_turn(cases(*IN_SYMPY)), ids=named)
def test_sympy_equals_the_kernel(robot, name):
    given, expected, allowed = state_of(robot, name)
    found = tf.symbolic.sympy_expressions(robot, name, shared=True)
    values = values_of(found, given)
    assert not {*values} & {symbol for symbol, _ in found.substitutions}
    function = sympy.lambdify(
        list(values), list(found.results), modules="numpy", cse=lambda results: (found.substitutions, list(results))
    )
    with np.errstate(all="ignore"):  # both sides of a selection are evaluated
        got = function(*values.values())
    assert largest_error(got, expected) < allowed


def test_sympy_gives_one_expression_for_each_component():
    arm = tf.load("planar-2r")
    found = tf.symbolic.sympy_expressions(arm, "inverse_dynamics")
    (tau,) = found.results
    assert tau.shape == (2, 1)
    assert found.substitutions == []
    assert {s.name for s in tau.free_symbols} <= {f"{a}{k}" for a in ("q", "qd", "qdd") for k in range(2)}
    state = [(0.3, -0.4), (0.5, 0.6), (-0.7, 0.8)]
    values = values_of(found, state)
    assert error(np.array(tau.subs(values), float)[:, 0], arm.inverse_dynamics(*state)) < FORMULATIONS
    by_q = tau.jacobian(sympy.Matrix(found.arguments["q"])).subs(values)
    assert error(np.array(by_q, float), arm.inverse_dynamics_derivatives(*state)[0], core=2) < FORMULATIONS


def test_results_of_three_dimensions():
    arm, q = tf.load("planar-2r"), (0.3, -0.4)
    found = tf.symbolic.sympy_expressions(arm, "link_frames")
    (frames,) = found.results
    assert frames.shape == (3, 4, 4)
    got = np.array(frames.subs(values_of(found, [q])).tolist(), float)
    assert error(got, arm.link_frames(q), core=3) < FORMULATIONS
    rows = tf.symbolic.casadi_function(arm, "link_frames")(q)
    assert error(np.reshape(np.array(rows), (3, 4, 4)), arm.link_frames(q), core=3) < FORMULATIONS


def test_casadi_takes_loads_and_options():
    arm, rng = tf.load("puma560"), np.random.default_rng(4)
    q, qd, qdd, wrench = rng.normal(size=(4, 6))
    payload = tf.Payload(2.0, (0.1, 0.0, 0.2), np.eye(3) * 0.01)
    function = tf.symbolic.casadi_function(
        arm, "inverse_dynamics", loads=("payload", "tip_wrench"), formulation="newton-euler"
    )
    assert function.name_in() == ["q", "qd", "qdd", "tip_wrench", "payload"]
    got = np.array(function(q, qd, qdd, wrench, payload.numbers()))[:, 0]
    assert error(got, arm.inverse_dynamics(q, qd, qdd, payload=payload, tip_wrench=wrench)) < FORMULATIONS


def test_casadi_differentiates():
    arm, rng = tf.load("puma560"), np.random.default_rng(5)
    state = rng.normal(size=(3, 6))
    function = tf.symbolic.casadi_function(arm, "forward_dynamics")
    symbols = [casadi.MX.sym(name, 6) for name in function.name_in()]
    jacobians = casadi.Function("j", symbols, [casadi.jacobian(function(*symbols), x) for x in symbols])
    for got, wanted in zip(jacobians(*state), arm.forward_dynamics_derivatives(*state), strict=True):
        assert error(np.array(got), wanted, core=2) < 1e-10


@pytest.mark.parametrize("make", [tf.symbolic.casadi_function, tf.symbolic.sympy_expressions])
def test_bad_requests(make):
    arm = tf.load("puma560")
    with pytest.raises(tf.UnsupportedFeatureError, match="no function 'inverse'"):
        make(arm, "inverse")
    with pytest.raises(tf.UnsupportedFeatureError, match="takes no load 'wrench'"):
        make(arm, "inverse_dynamics", loads=("wrench",))
    with pytest.raises(tf.UnsupportedFeatureError, match="takes no load 'payload'"):
        make(arm, "inverse_dynamics", loads="payload")
    with pytest.raises(tf.UnsupportedFeatureError, match="unknown formulation"):
        make(arm, "inverse_dynamics", formulation="mine")
    with pytest.raises(tf.ModelError, match="mass"):
        make(tf.load("dietmaier"), "inverse_dynamics")


@pytest.mark.parametrize(("name", "library"), [("casadi_function", "casadi"), ("sympy_expressions", "sympy")])
def test_without_the_library(name, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(tf.UnsupportedFeatureError, match=r"Run pip install .*\[symbolic\]'"):
        getattr(tf.symbolic, name)(tf.load("planar-2r"), "inverse_dynamics")


def test_no_library_is_imported_before_it_is_needed():
    code = (
        "import sys, tauforge as tf; tf.symbolic; tf.load('planar-2r').inverse_dynamics([0, 0], [0, 0], [0, 0]);"
        "print([name for name in ('jax', 'torch', 'casadi', 'sympy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
