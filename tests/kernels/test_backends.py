"""Targets: a backend that the package does not know runs every function of every robot of the catalogue."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import tauforge as tf
from support.in_doubles import in_doubles
from support.robot_functions import chains_and_platforms
from support.tolerances import ROUNDING, error, solve_tolerance
from tauforge.kernels import backends

jax = pytest.importorskip("jax")
MOST_LINES = 40
ROWS = 3


class JaxKernel:
    """A graph evaluated on JAX's arrays, one operation after another."""

    def __init__(self, specification, dtype):
        self.graph, self.dtype = specification.graph, dtype
        self.arguments, self.results = specification.arguments, specification.results

    def __call__(self, *arguments, out=None):
        inputs, batch = {}, ()
        for (name, core), given in zip(self.arguments, arguments, strict=True):
            array = jax.numpy.asarray(given, self.dtype)
            leading = array.shape[: array.ndim - len(core)]
            batch = np.broadcast_shapes(batch, leading)
            columns = array.reshape(*leading, -1)
            inputs |= {f"{name}{k}": columns[..., k] for k in range(columns.shape[-1])}
        values = iter(self.graph.evaluate(inputs))
        results = []
        for core in self.results:
            own = [jax.numpy.broadcast_to(next(values), batch) for _ in range(math.prod(core))]
            results.append(jax.numpy.stack(own, axis=-1).reshape(*batch, *core))
        return tuple(results) if len(results) > 1 else results[0]


class JaxBackend:
    def compile(self, specification, dtype):
        return JaxKernel(specification, dtype)


def test_the_backend_is_short():
    lines = [*inspect.getsourcelines(JaxKernel)[0], *inspect.getsourcelines(JaxBackend)[0]]
    assert len(lines) < MOST_LINES


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(backends, "_BACKENDS", dict(backends._BACKENDS))
    backends.register("jax-eager", JaxBackend())
    with in_doubles():
        yield


def states(robot, function, rng):
    """Arguments of a function that mean something: poses near a level one, quaternions of length 1."""
    given = []
    for argument in function.arguments:
        values = 0.1 * rng.normal(size=(ROWS, *argument.core))
        if argument.name in ("pose", "guess"):
            values[:, 2] += 1.0
        elif argument.name == "state":
            values[:, 2:4] += 1.0
        elif argument.name == "lengths":
            values += 1.2
        elif argument.name == "matrix":
            n = math.isqrt(argument.core[0])
            values = (0.01 * values.reshape(ROWS, n, n) + np.eye(n)).reshape(ROWS, -1)
        given.append(values)
    return given


def allowed(robot, given):
    """Rounding of both, amplified by the systems that a function solves: of the mass matrix and of H."""
    found = ROUNDING
    for name in ("mass_matrix", "force_matrix"):
        place = given.get("q", given.get("pose"))
        if name in robot.functions and place is not None:
            found += solve_tolerance(robot._evaluator(name, {robot.functions[name].arguments[0].name: place})[0])
    return found


def test_a_target_that_nobody_registered_is_refused():
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown target 'tpu'\. Use one of cpu"):
        tf.load("puma560").kernel("inverse_dynamics", target="tpu")


@pytest.mark.parametrize("name", chains_and_platforms())
def test_every_function_of_every_robot_runs_on_it(eager, name):
    robot, rng = tf.load(name), np.random.default_rng(0)
    for key, function in robot.functions.items():
        try:
            robot.check_function(key)
        except tf.ModelError:
            continue  # dynamics of a robot without masses
        arguments = states(robot, function, rng)
        kernel = robot.kernel(key, target="jax-eager")
        got = kernel(*arguments)
        given = {argument.name: x for argument, x in zip(function.arguments, arguments, strict=True)}
        want = robot._evaluator(key, given)
        for a, b in zip(got if isinstance(got, tuple) else (got,), want, strict=True):
            assert type(a).__module__.startswith("jax")
            whole = np.asarray(b)[..., None] if np.ndim(b) == 1 else b
            assert error(np.asarray(a).reshape(whole.shape), whole, core=whole.ndim - 1) < allowed(robot, given), key
