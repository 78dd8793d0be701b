"""Derivatives of platforms that are too large for one kernel, put together from smaller kernels.

Legs with universal joints and friction in the platform joints take more operations than are compiled at once. The
forces or the accelerations come first, then the slopes of the legs, which both kinds of derivatives share, then the
platform's equations.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tauforge.arrays import Array
from tauforge.formulations.stewart.derivatives import used_matrices
from tauforge.formulations.stewart.parameters import LEGS, Friction
from tauforge.robots.evaluate import Evaluator
from tauforge.robots.stewart import functions as formulas

IN_PARTS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
State = Mapping[str, Array]


def derivatives(evaluator: Evaluator, friction: Friction, method: str, state: State) -> tuple[Array, ...]:
    """By one kernel if it can be had, else by parts; by the reference where there are no kernels at all."""
    function, formula = formulas.FUNCTIONS[method], getattr(formulas, method)
    shapes = {name: value.shape[-1:] for name, value in state.items()}
    if not evaluator.too_large(method, formula, shapes, function.results, **function.options):
        return evaluator(method, formula, state, function.results, **function.options)
    dtype = np.result_type(*state.values())  # a part that takes few of the arguments has the precision of all
    return in_parts(evaluator, friction, method, {name: x.astype(dtype, copy=False) for name, x in state.items()})


def in_parts(evaluator: Evaluator, friction: Friction, method: str, state: State) -> tuple[Array, ...]:
    inverse = method == "inverse_dynamics_derivatives"
    solution = "inverse_dynamics" if inverse else "forward_dynamics"
    function = formulas.FUNCTIONS[solution]
    options = {**function.options, "trapped": False}
    (found,) = evaluator(solution, getattr(formulas, solution), state, function.results, **options)
    moved = {"pose": state["pose"], "twist": state["twist"]}
    if inverse:
        moved |= {"acceleration": state["acceleration"], "leg_forces": found}
    else:
        moved |= {"acceleration": found, "leg_forces": state["leg_forces"]}
    size = 3 + 9 * used_matrices(friction)
    (legs,) = evaluator("leg_slopes", formulas.leg_slopes, moved, [(LEGS, size)])
    given = {**moved, "legs": legs.reshape(*legs.shape[:-2], LEGS * size)}
    del given["leg_forces"]
    if "payload" in state:
        given["payload"] = state["payload"]
    last = "force_slopes" if inverse else "acceleration_slopes"
    return evaluator(last, getattr(formulas, last), given, formulas.FUNCTIONS[method].results)
