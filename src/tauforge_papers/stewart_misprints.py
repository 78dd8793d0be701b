"""What a misprint of a paper on the Stewart platform costs: our own code with lines put back as printed.

The forces are compared with the exact model in the coordinates of the universal joints, which shares no equation of a
leg with the papers: along paths I and II on the paper's robot, and at random fast states of random platforms, where
friction, spin and every direction count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from tauforge.algebra.scalars import Scalar
from tauforge.analysis.comparison import row_errors
from tauforge.arrays import Array
from tauforge.evaluation.functions import Formula
from tauforge.evaluation.reference import reference
from tauforge.formats.loading import PlatformName, load
from tauforge.formulations.stewart import exact, kinematics, pedrammehr2012, universal_coordinates
from tauforge.formulations.stewart.lumping import lumped
from tauforge.formulations.stewart.parameters import LEGS, motion
from tauforge.robots.stewart.formulas import external
from tauforge.robots.stewart.stewart_platform import StewartPlatform
from tauforge_papers.misprints import Line, Trial, printed_formula
from tauforge_papers.random_platforms import fast_states, random_platform
from tauforge_papers.stewart_paths import FAST, SLOW, sampled

States = tuple[Array, Array, Array]
PLATFORMS, STATES = 4, 40
LOAD = 300.0  # N and N m, about the weight of these platforms
TRIED_ON = f"{PLATFORMS} random platforms with {STATES} fast states each"
SHARED = (kinematics, exact, pedrammehr2012)  # that other modules import from, in the order of imports


def forces_of(formula: Formula, model: Any, states: States, load: Array | None = None, **options: Any) -> Array:
    """formula(model, motion, external) for every state, (k, 6); nothing is compiled.

    load: (k, 6) N and N m, external force and moment in the platform's axes, as both papers have them
    """

    def forces(
        pose: list[Scalar], twist: list[Scalar], acceleration: list[Scalar], wrench: list[Scalar]
    ) -> list[Scalar]:
        moving = motion(pose, twist, acceleration)
        found: list[Scalar] = formula(model, moving, external(moving.R, wrench, platform_axes=True), **options)
        return found

    given = (*states, np.zeros((len(states[0]), 6)) if load is None else load)
    arguments = dict(zip(("pose", "twist", "acceleration", "wrench"), given, strict=True))
    (found,) = reference(forces, arguments, [(LEGS,)])
    return found


def error_under_load(module: ModuleType, **options: Any) -> float:
    """Largest error of a module's forces beside the largest force, where random external forces and moments act."""
    random = np.random.default_rng(0)
    errors = []
    for _ in range(PLATFORMS):
        platform = random_platform(random)
        states = fast_states(platform, random, STATES)
        load = LOAD * random.normal(size=(STATES, 6))
        formula = partial(module.inverse_dynamics, **options)
        (found,), exact = _compared([formula], platform, states, load)
        errors.append(row_errors(found, exact).max())
    return float(max(errors))


def on_platforms(module: ModuleType, *lines: Line, robot: PlatformName, **options: Any) -> Callable[[], Trial]:
    """A trial of a module's `inverse_dynamics` with lines as printed, everything else right.

    robot:   that of the paper, for newtons on paths I and II
    options: switches of `inverse_dynamics` that make the module exact
    """

    def trial() -> Trial:
        random = np.random.default_rng(0)
        formulas = [
            partial(f, **options) for f in (printed_formula(module, *lines, shared=SHARED), module.inverse_dynamics)
        ]
        errors = []
        for _ in range(PLATFORMS):
            platform = random_platform(random)
            found, exact = _compared(formulas, platform, fast_states(platform, random, STATES))
            errors.append([row_errors(forces, exact) for forces in found])
        as_printed, mended = np.array(errors).swapaxes(0, 1)
        newtons, worst = [], float(mended.max())
        for path in (SLOW, FAST):
            (wrong, right), exact = _compared(formulas, load(robot), sampled("", path).states)
            newtons.append(float(np.abs(wrong - exact).max()))
            worst = max(worst, float(np.abs(right - exact).max() / np.abs(exact).max()))
        return Trial(float(np.median(as_printed)), worst, tuple(newtons))

    return trial


def _compared(
    formulas: Sequence[Formula], platform: StewartPlatform, states: States, load: Array | None = None
) -> tuple[list[Array], Array]:
    """Forces by each formula, and by the exact model."""
    p = platform.parameters
    exact = forces_of(universal_coordinates.inverse_dynamics, lumped(p), states, load)
    return [forces_of(formula, p, states, load) for formula in formulas], exact
