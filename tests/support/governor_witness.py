"""The flyball governor of IFToMM's problem A05 by Lagrange's equations in three coordinates, apart from the package.

Both arms hang alike, by beta below the horizontal; the slider is at height z on the shaft. The angular momentum gives
the shaft's speed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

G, ROD, BALL, SLIDER, OFFSET, LENGTH = 9.81, 0.3, 5.0, 3.0, 0.05, 0.5  # kg and m
THIN, LONG = ROD * 2 * 0.01**2 / 12, ROD * (1 + 0.01**2) / 12
ABOUT_HINGE = LONG + ROD / 4 + BALL
STEP = 1e-6  # of differences
START = (0.0, 0.5, math.radians(30))  # of shaft, slider and arms


def about_shaft(beta: float) -> tuple[float, float]:
    """The moment of inertia about the shaft of all that turns, and its slope."""
    c, s = math.cos(beta), math.sin(beta)
    rod, ball = OFFSET + c / 2, OFFSET + c
    value = THIN + SLIDER * 2 * 0.1**2 / 12 + 2 * (LONG * c * c + THIN * s * s + ROD * rod**2 + BALL * ball**2)
    slope = 2 * (2 * (THIN - LONG) * s * c - ROD * rod * s - 2 * BALL * ball * s)
    return value, slope


def end(time: float, spin: float, stiffness: float, damping: float) -> Any:
    """(3,) coordinates at a time, s."""
    momentum = about_shaft(START[2])[0] * spin

    def rates(_: float, y: Any) -> list[float]:
        _, z, beta, dz, dbeta = y
        c, s = math.cos(beta), math.sin(beta)
        inertia, slope = about_shaft(beta)
        turn = momentum / inertia
        across, up = c / 2, 1 - s / 2 - z  # from the slider's end of a spring to the arm's
        length = math.hypot(across, up)
        d_length = (-across * s / 2 * dbeta + up * (-c / 2 * dbeta - dz)) / length
        pull = stiffness * (length - LENGTH) + damping * d_length
        on_slider = 2 * pull * up / length - SLIDER * G
        lever = (-across * s / 2 - up * c / 2) / length  # of the length by beta
        on_arms = slope * turn * turn / 2 + 2 * (G * (ROD / 2 + BALL) * c - pull * lever)
        return [turn, dz, dbeta, on_slider / SLIDER, on_arms / (2 * ABOUT_HINGE)]

    def slopes(_: float, y: Any) -> Any:
        """Radau needs them roughly. SciPy's own differences make longer and longer steps of the shaft's angle, on which
        nothing depends, until they overflow.
        """
        steps = STEP * np.eye(len(y))
        return np.transpose([(np.array(rates(0.0, y + h)) - rates(0.0, y - h)) / (2 * STEP) for h in steps])

    found = solve_ivp(rates, (0.0, time), [*START, 0.0, 0.0], method="Radau", jac=slopes, rtol=1e-12, atol=1e-13)
    return found.y[:3, -1]
