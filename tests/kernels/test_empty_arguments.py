"""Kernels of functions with an argument without numbers: forces of mechanisms that have no actuators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.kernel_checks import agree, reference, several, traced_kernel
from support.tolerances import FORMULATIONS, SINGLE
from tauforge.kernels.backends import NoKernelError
from tauforge.kernels.cpu.engine import VECTOR_BITS, host
from tauforge.kernels.cpu.kernel import backend
from tauforge.tracing.graph import trace

WITHOUT_ACTUATORS = ["bricard", "flyball-governor"]
FUNCTIONS = ["forward_dynamics", "forward_dynamics_derivatives"]
WIDTHS = [str(bits) for bits in (128, 256, 512) if bits <= host().vector_bits]
pytestmark = pytest.mark.usefixtures("kernels_on")


def states(robot: tf.Mechanism, *batch: int) -> list[Any]:
    """Positions with loops closed, rates, and forces without numbers."""
    rng = np.random.default_rng(5)
    near = robot.positions.coordinates(robot.home) + 0.1 * rng.uniform(-1.0, 1.0, (*batch, robot.n))
    return [robot.configuration(near), rng.normal(size=(*batch, robot.n)), np.zeros((*batch, 0))]


@pytest.mark.parametrize("name", WITHOUT_ACTUATORS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_methods_use_kernels_that_equal_the_reference(
    monkeypatch: pytest.MonkeyPatch, name: str, function: str, width: str
) -> None:
    """One state, full blocks and a rest, several leading dimensions, arrays that broadcast, float32."""
    monkeypatch.setenv(VECTOR_BITS, width)
    robot = tf.load(name)
    assert not robot.actuators
    method = getattr(robot, function)
    for batch in ((), (37,), (2, 3)):
        state = states(robot, *batch)
        for _ in range(2):  # the second call finds the builtin
            agree(getattr(robot, function)(*state), reference(robot, function, *state), batch, FORMULATIONS)
        agree(robot.kernel(function)(*state), reference(robot, function, *state), batch, FORMULATIONS)
        single = [part.astype(np.float32) for part in state]
        got = several(method(*single))
        assert {part.dtype for part in got} == {np.dtype(np.float32)}
        agree(got, reference(robot, function, *(part.astype(float) for part in single)), batch, SINGLE)
    assert type(vars(robot)[function]).__name__ == "builtin_function_or_method"
    x, qd, _ = states(robot)
    forces = np.zeros((5, 0))  # alone they give the batch its shape
    agree(getattr(robot, function)(x, qd, forces), reference(robot, function, x, qd, forces), (5,), FORMULATIONS)
    none = [np.zeros((0, *part.shape[1:])) for part in states(robot, 2)]
    assert several(getattr(robot, function)(*none))[0].shape == (0, *robot.functions[function].results[0])


@pytest.mark.parametrize("name", WITHOUT_ACTUATORS)
def test_results_into_given_arrays_and_on_threads(name: str) -> None:
    robot = tf.load(name)
    kernel = robot.kernel("forward_dynamics_derivatives")
    state = [np.repeat(part, 2000, axis=0) for part in states(robot, 33)]  # enough for two threads
    outs = tuple(np.full((66_000, *core), np.nan) for core in kernel.results)
    given = kernel(*state, out=outs)
    assert all(a is b for a, b in zip(given, outs, strict=True))
    agree(tuple(part[::2000] for part in outs), kernel(*(part[::2000] for part in state)), (33,), FORMULATIONS)
    spoilt = [part[::2000].copy() for part in state]
    spoilt[1][3] = np.inf
    found = robot.forward_dynamics(*spoilt)
    assert np.isnan(found[3]).all()
    assert np.isfinite(np.delete(found, 3, axis=0)).all()


@pytest.mark.parametrize("name", WITHOUT_ACTUATORS)
def test_forces_with_numbers_are_refused(name: str) -> None:
    robot = tf.load(name)
    x, qd, _ = states(robot, 4)
    for _ in range(2):
        with pytest.raises(tf.ShapeError, match=rf"tau: expected \(\.\.\., 0\): {name} has 0 actuators, got \(4, 1\)"):
            robot.forward_dynamics(x, qd, np.zeros((4, 1)))
        robot.forward_dynamics(x, qd, np.zeros((4, 0)))
    kernel: Any = robot.kernel("forward_dynamics")
    with pytest.raises(tf.ShapeError, match=r"tau: expected \(\.\.\., 0\), got \(4, 1\)"):
        kernel(x, qd, np.zeros((4, 1)))
    with pytest.raises(tf.UnsupportedFeatureError, match=r"ufunc: .* NumPy cannot check\. Call the kernel itself"):
        kernel.ufunc  # noqa: B018 - it raises


def test_no_kernel_where_there_is_nothing_to_compute() -> None:
    graph = trace(lambda x: [], {"x": 2})
    kernel = traced_kernel("nothing", graph, [("x", (2,))], [(0,)], None)
    with pytest.raises(NoKernelError, match=r"^nothing has results without numbers$"):
        backend.compile(kernel.specification)
