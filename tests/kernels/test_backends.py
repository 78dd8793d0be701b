"""Targets: a backend that the package does not know runs every function of every robot of the catalogue."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import tauforge as tf
from support.catalogue import in_turn
from support.in_doubles import in_doubles
from support.robot_functions import arguments_of, robots, same_nan, tried, usable
from support.tolerances import ROUNDING, error, error_beside, solve_tolerance
from tauforge.kernels import backends

jax = pytest.importorskip("jax")
MOST_LINES = 40
ROWS = 3
RESIDUALS = ("forces_left",)  # a share of forces: rounding where actuators give any acceleration


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
            whole = jax.numpy.stack(own, axis=-1) if own else jax.numpy.zeros((*batch, 0))
            results.append(whole.reshape(*batch, *core))
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


def allowed(robot, given):
    """Rounding of both, amplified by the systems that a function solves: of the mass matrix and of H."""
    found = ROUNDING
    for name in ("mass_matrix", "force_matrix"):
        if name in robot.functions and usable(robot, name):
            place = robot.functions[name].arguments[0].name
            if place in given:
                found += solve_tolerance(robot._evaluator(name, {place: given[place]})[0])
    return found


def test_a_target_that_nobody_registered_is_refused():
    with pytest.raises(tf.UnsupportedFeatureError, match=r"unknown target 'tpu'\. Use one of cpu"):
        tf.load("puma560").kernel("inverse_dynamics", target="tpu")


@pytest.mark.parametrize("name", in_turn(tried()))
def test_every_function_of_every_robot_runs_on_it(eager, name):
    robot = robots()[name]
    for key in robot.functions:
        if not usable(robot, key):
            continue  # dynamics of a robot without masses, or without actuators
        given = arguments_of(robot, key, ROWS)
        kernel = robot.kernel(key, target="jax-eager")
        got = kernel(*given.values())
        want = robot._evaluator(key, given)
        for a, b in zip(got if isinstance(got, tuple) else (got,), want, strict=True):
            assert type(a).__module__.startswith("jax")
            one, other = same_nan(a, b)
            if other.ndim == 1 and (np.ndim(want[0]) > 1 or key in RESIDUALS):  # a gap, left of what was closed
                assert error_beside(one, other, want[0] if len(want) > 1 else 1.0) < allowed(robot, given), key
            elif other.size:
                assert error(one.reshape(ROWS, -1), other.reshape(ROWS, -1)) < allowed(robot, given), key
