"""Exported functions against what the robot's own methods give."""

from __future__ import annotations

import numpy as np

import tauforge as tf
from support.robot_functions import arguments_of, usable
from support.tolerances import ROUNDING, solve_tolerance

STATES = 20
AGREE = 1e-12  # RELIABILITY: C against kernels


def exported(robot, folder, **options):
    folder.mkdir(exist_ok=True)
    return tf.export_c(robot, folder, **options)


def some(robot, names):
    return [name for name in names if name in robot.functions or name == "computed_torque"]


def allowed(robot, given):
    """Rounding of both, magnified by the systems that a function solves."""
    found = max(AGREE, ROUNDING)
    for name in ("mass_matrix", "force_matrix"):
        if name in robot.functions and usable(robot, name):
            place = robot.functions[name].arguments[0].name
            if place in given:
                found += solve_tolerance(robot._evaluator(name, {place: given[place]})[0])
    return found


def agrees(robot, library, functions, dtype, evaluate, slack=1.0):
    for key in functions:
        function = robot.functions[key]
        given = {name: x.astype(dtype).astype(float) for name, x in arguments_of(robot, key, STATES, seed=7).items()}
        got = library(key, list(given.values()), function.results)
        want = evaluate(key, given)
        for name, a, b in zip(function.result_names(key), got, want, strict=True):
            flat = np.asarray(b).reshape(STATES, -1)
            if name in ("residual", "gap"):  # what is left of it is rounding
                assert np.abs(a - flat).max() < slack * AGREE
            elif flat.size:
                beside = contributions(evaluate, given, flat) if key == "forward_dynamics" else np.abs(flat)
                sizes = beside.max(axis=1)
                off = np.max(np.abs(np.asarray(a) - flat).max(axis=1) / np.where(sizes > 0, sizes, 1.0))
                assert off < slack * allowed(robot, given), (key, name)


def contributions(evaluate, given, accelerations):
    """What forces and the motion contribute to accelerations, added up without signs: their balance is no loss."""
    forces = list(given)[2]
    without = np.asarray(evaluate("forward_dynamics", given | {forces: np.zeros_like(given[forces])})[0])
    without = without.reshape(accelerations.shape)
    return np.abs(accelerations - without) + np.abs(without)
