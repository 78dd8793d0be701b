"""One text over every scalar: JAX, CasADi, SymPy, torch where it is installed, dual numbers, plain arrays."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import tauforge as tf
from support.strategies import random_arm, random_state
from support.tolerances import FORMULATIONS, error
from tauforge.algebra.scalars import ArrayScalar
from tauforge.evaluation.functions import results_of
from tauforge.formulations.serial import INVERSE_DYNAMICS as TEXTS
from tauforge.robots.serial.formulas import forward_dynamics, mass_matrix

ARM = random_arm(np.random.default_rng(21), "RPR", "modified", drives=True)
Q, QD, QDD = random_state(np.random.default_rng(22), 3)
TAU = ARM.inverse_dynamics(Q, QD, QDD)


def rigid(text, q, qd, qdd):
    return TEXTS[text](ARM.model.parameters, q, qd, qdd)


@pytest.fixture(params=list(TEXTS))
def text(request):
    return request.param


EXPECTED = ARM.without_friction().without_rotors().inverse_dynamics(Q, QD, QDD)


def test_floats(text):
    assert error(rigid(text, Q.tolist(), QD.tolist(), QDD.tolist()), EXPECTED) < FORMULATIONS


def test_bare_numpy_columns(text):
    batch = [list(np.stack([x, 2 * x], -1)) for x in (Q, QD, QDD)]
    got = np.array([np.broadcast_to(t, 2) for t in rigid(text, *batch)])
    assert error(got[:, 0], EXPECTED) < FORMULATIONS


def test_casadi(text):
    casadi = pytest.importorskip("casadi")
    symbols = [casadi.SX.sym(name, 3) for name in ("q", "qd", "qdd")]
    columns = [[ArrayScalar(s[k]) for k in range(3)] for s in symbols]
    out = casadi.vertcat(*(t.value if isinstance(t, ArrayScalar) else t for t in rigid(text, *columns)))
    f = casadi.Function("tau", symbols, [out])
    assert error(np.array(f(Q, QD, QDD)).ravel(), EXPECTED) < FORMULATIONS
    bare = casadi.vertcat(*rigid(text, *([s[k] for k in range(3)] for s in symbols)))
    assert error(np.array(casadi.Function("tau", symbols, [bare])(Q, QD, QDD)).ravel(), EXPECTED) < FORMULATIONS


def test_sympy(text):
    sympy = pytest.importorskip("sympy")
    symbols = [sympy.symbols(f"{name}:3") for name in ("q", "qd", "qdd")]
    out = rigid(text, *symbols)
    values = dict(zip([s for group in symbols for s in group], [*Q, *QD, *QDD], strict=True))
    assert error([float(sympy.sympify(t).subs(values)) for t in out], EXPECTED) < FORMULATIONS


def test_sympy_gives_the_textbook_formula():
    sympy = pytest.importorskip("sympy")
    arm = tf.SerialArm.from_dh(
        joints="R", alpha=[0], a=[0.5], d=[0], mass=[2.0], com=[(-0.2, 0, 0)], gravity=(0, -10, 0)
    )
    (q,), (qd,), (qdd,) = sympy.symbols("q:1"), sympy.symbols("v:1"), sympy.symbols("a:1")
    tau = TEXTS["joint-frames"](arm.model.parameters, [q], [qd], [qdd])[0]
    assert sympy.simplify(tau - (0.18 * qdd + 6.0 * sympy.cos(q))).subs({q: 0.3, qdd: 0.7}) == pytest.approx(
        0, abs=1e-14
    )
    assert tau.free_symbols == {q, qdd}


def test_jax_is_differentiable(text):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    @jax.jit
    def f(q, qd, qdd):
        columns = ([ArrayScalar(x[k]) for k in range(3)] for x in (q, qd, qdd))
        return jnp.stack([jnp.asarray(t.value if isinstance(t, ArrayScalar) else t) for t in rigid(text, *columns)])

    assert error(f(Q, QD, QDD), EXPECTED) < FORMULATIONS
    bare = ARM.without_friction().without_rotors()
    for number, ours in enumerate(bare.inverse_dynamics_derivatives(Q, QD, QDD)):
        theirs = jax.jacobian(f, argnums=number)(jnp.asarray(Q), jnp.asarray(QD), jnp.asarray(QDD))
        assert error(theirs, ours, core=2) < FORMULATIONS


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch(text):
    import torch

    columns = ([ArrayScalar(torch.tensor([x[k]])) for k in range(3)] for x in (Q, QD, QDD))
    assert error([float(t.value) for t in rigid(text, *columns)], EXPECTED) < FORMULATIONS


def test_a_mass_may_be_an_input():
    """The robot's own numbers too may be scalars: here the payload of the arm, as a traced input."""
    from tauforge.tracing.graph import trace

    def f(q, payload):
        return [
            x
            for row in mass_matrix(ARM.model, q, [payload[0], 0.1, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            for x in row
        ]

    graph = trace(f, {"q": 3, "m": 1})
    for mass in (0.0, 2.5):
        got = graph.evaluate({"q0": Q[0], "q1": Q[1], "q2": Q[2], "m0": mass})
        assert (
            error(np.reshape(got, (3, 3)), ARM.mass_matrix(Q, payload=tf.Payload(mass, (0.1, 0, 0.2))), core=2)
            < FORMULATIONS
        )


def test_forward_dynamics_over_floats():
    got = results_of(forward_dynamics(ARM.model, Q.tolist(), QD.tolist(), TAU.tolist()))
    assert error(got, QDD) < FORMULATIONS * np.linalg.cond(ARM.mass_matrix(Q))
