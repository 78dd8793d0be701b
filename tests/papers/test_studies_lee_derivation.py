"""Lee, Chung, Mudge & Turney 1982: steps of its derivation by symbols, by differences and operation by operation."""

from __future__ import annotations

import numpy as np
import sympy

from tauforge_papers.derivation import derivation_steps
from tauforge_papers.lee1982 import resolved_rate
from tauforge_papers.turney1980.derivation import arm_and_state


def test_operations_of_the_inverse():
    """Elimination and back substitution, operation by operation."""
    for n in (1, 2, 6):
        multiply = add = 0
        for k in range(n):
            for _ in range(k + 1, n):
                multiply += 1 + n - k  # the factor, the row and its right side
                add += n - k
        for k in range(n):
            multiply += n - k
            add += n - 1 - k
        assert resolved_rate.inverse_operations(n) == (multiply, add)


def test_identities_by_symbols():
    """2.15-2.17 for any vectors."""
    a, b, c = (sympy.Matrix(sympy.symbols(f"{name}1:4")) for name in "abc")
    U = sympy.eye(3)
    assert sympy.expand(a.cross(b.cross(c)) - (a.dot(c) * b - c * a.dot(b))) == sympy.zeros(3, 1)
    assert sympy.expand(a.cross(b.cross(c)) - ((c * a.T).trace() * U - c * a.T) * b) == sympy.zeros(3, 1)
    assert sympy.expand((a * b.cross(c).T).trace() - c.cross(a).dot(b)) == 0
    assert sympy.expand(a.cross(b.cross(c)) - b.cross(a.cross(c)) - a.cross(b).cross(c)) == sympy.zeros(3, 1)


def test_the_double_sum_of_an_acceleration():
    """4.11 against the second derivative of the origin's place along a motion, by differences."""
    arm, (q, qd, qdd) = arm_and_state()
    h, step = 1e-4, derivation_steps(arm, q, qd, qdd, "lee1982")["4.11"]
    here, after, before = (arm.link_frames(q + qd * t + qdd * t**2 / 2)[1:] for t in (0.0, h, -h))
    exact = ((after - 2 * here + before)[:, :3, 3] / h**2)[..., None]
    found = here[:, :3, :3] @ step.left[..., None]  # from the links' frames
    assert np.abs(found - exact - [[0], [0], [9.8]]).max() < 1e-5 * np.abs(exact).max()
    first, *others = (step.as_printed[0] - step.left).tolist()
    assert np.abs(first).max() < 1e-12  # one joint, one term
    assert np.abs(others).max() > 0.1
