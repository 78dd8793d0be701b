"""Every public function of the robots of the catalogue, on a state that means something.

All arms and platforms, and a few mechanisms: together they have a pose among their coordinates, redundant constraints
with reactions that are not unique (NaN), springs and no actuator, joints that follow others, and sliders. A soak tries
all mechanisms.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import tauforge as tf
from conftest import SOAK
from support.catalogue import names_of
from support.tolerances import FORMULATIONS, error_beside, solve_tolerance

SEED = 20
MECHANISMS = ("3-rps", "five-bar", "flyball-governor", "gripper", "slider-crank")
OPEN = 0.01  # rad or m by which loops are opened to have a gap


@cache
def robots():
    return {name: tf.load(name) for name in tried()}


def tried():
    """Names of the robots."""
    left_out = set() if SOAK > 1 else {*names_of("mechanism")} - {*MECHANISMS}
    return tuple(name for name in tf.catalogue() if name not in left_out)


def usable(robot, name):
    try:
        robot.check_function(name)
    except tf.ModelError:
        return False
    return True


def cases(*names):
    """Robots and names of functions: those that users are offered and that the robot has masses for.

    names: of robots, default all
    """
    return [
        (robot, name)
        for robot in map(robots().get, names or robots())
        for name, function in robot.functions.items()
        if function.public and usable(robot, name)
    ]


def named(value):
    return value if isinstance(value, str) else value.name


def arguments_of(robot, name, rows, seed=SEED):
    """Random arguments by name; loops of `loop_gap` are a little open, for rounding decides what closed ones leave."""
    found = robot.random_arguments(name, rows, seed)
    if name == "loop_gap":
        found["x"] = found["x"] + OPEN * np.sin(np.arange(found["x"].shape[-1]))
    return found


@cache
def state_of(robot, name, rows=None):
    """Arguments, NumPy's results and the error that another order of operations may make.

    rows: None for a single state
    """
    function = robot.functions[name]
    found = arguments_of(robot, name, rows or 1)
    given = [np.ascontiguousarray(values if rows else values[0]) for values in found.values()]
    results = robot._answer(name, dict(zip((a.name for a in function.arguments), given, strict=True)))
    position, allowed = robot.random_states(rows or 1, SEED)[0], FORMULATIONS
    for matrix in ("mass_matrix", "force_matrix"):
        if matrix in robot.functions and usable(robot, matrix):
            allowed = max(allowed, solve_tolerance(getattr(robot, matrix)(position)))
    return given, results, allowed


def called(robot, name, arrays):
    """All results of a function, by its method, or by the table where there is none."""
    if hasattr(robot, name):
        out = getattr(robot, name)(*arrays)
    else:
        out = robot._answer(name, dict(zip((a.name for a in robot.functions[name].arguments), arrays, strict=True)))
    return out if isinstance(out, tuple) else (out,)


def same_nan(got, wanted):
    """Both with zeros where both are NaN: reactions that are not unique."""
    a, b = np.reshape(np.asarray(got, float), np.shape(wanted)), np.asarray(wanted, float)
    assert np.array_equal(np.isnan(a), np.isnan(b))
    return np.nan_to_num(a), np.nan_to_num(b)


def largest_error(outs, expected):
    """The largest of the errors of all results. A residual, a scalar beside a vector, has the vector's size."""
    pairs = [same_nan(got, wanted) for got, wanted in zip(outs, expected, strict=True)]
    sizes = [np.abs(wanted).max(initial=0.0) for _, wanted in pairs]
    if np.ndim(expected[0]) > np.ndim(expected[-1]):
        sizes = [max(sizes)] * len(sizes)
    return max(error_beside(got, wanted, size or 1.0) for (got, wanted), size in zip(pairs, sizes, strict=True))
