"""Every public function of every robot of the catalogue, on a state that means something."""

from __future__ import annotations

from functools import cache

import numpy as np

import tauforge as tf
from support.tolerances import FORMULATIONS, error_beside, solve_tolerance

SEED = 20


@cache
def chains_and_platforms():
    """Names of robots whose positions are any numbers: those of a mechanism must close its loops."""
    return tuple(name for name in tf.catalogue() if not isinstance(tf.load(name), tf.Mechanism))


@cache
def robots():
    return {name: tf.load(name) for name in chains_and_platforms()}


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


@cache
def state_of(robot, name, rows=None):
    """Arguments, NumPy's results and the error that another order of operations may make.

    rows: None for a single state
    """
    function, rng = robot.functions[name], np.random.default_rng(SEED)
    count = rows or 1
    sample = dict(zip(("position", "velocity", "acceleration"), robot.random_states(count), strict=True))
    places = {"q": "position", "pose": "position", "guess": "position", "qd": "velocity", "twist": "velocity"}
    given = []
    for argument in function.arguments:
        if argument.name in places:
            values = sample[places[argument.name]]
        elif argument.name == "lengths":
            values = robot.inverse_kinematics(sample["position"]) * (1 + 0.01 * rng.normal(size=(count, 6)))
        elif argument.name == "state":
            values = np.concatenate([sample["position"][:, :3], np.full((count, 4), 0.5)], axis=-1)
        else:
            values = rng.normal(size=(count, argument.numbers))
        given.append(np.ascontiguousarray(values if rows else values[0]))
    results = robot._evaluate(name, dict(zip((a.name for a in function.arguments), given, strict=True)))
    allowed = FORMULATIONS
    if "mass_matrix" in robot.functions and usable(robot, "mass_matrix"):
        allowed = max(allowed, solve_tolerance(robot.mass_matrix(sample["position"])))
    if "force_matrix" in robot.functions:
        allowed = max(allowed, solve_tolerance(robot.force_matrix(sample["position"])))
    return given, results, allowed


def called(robot, name, arrays):
    """All results of a function, by its method, or by the table where there is none."""
    if hasattr(robot, name):
        out = getattr(robot, name)(*arrays)
    else:
        out = robot._evaluate(name, dict(zip((a.name for a in robot.functions[name].arguments), arrays, strict=True)))
    return out if isinstance(out, tuple) else (out,)


def largest_error(outs, expected):
    """The largest of the errors of all results. A residual, a scalar beside a vector, has the vector's size."""
    sizes = [np.abs(wanted).max() for wanted in expected]
    if np.ndim(expected[0]) > np.ndim(expected[-1]):
        sizes = [max(sizes)] * len(sizes)
    return max(
        error_beside(np.reshape(np.asarray(got, float), np.shape(wanted)), wanted, size or 1.0)
        for got, wanted, size in zip(outs, expected, sizes, strict=True)
    )
