"""What NumPy does with scalars that are recorded: the same, or a refusal with the line."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from support import own_laws
from support.own_laws import ARM, MOVE, START, Base, assert_is_simulated, assert_runs_step_by_step
from tauforge.control.law_graph import LawGraph

pytestmark = [pytest.mark.usefixtures("kernels_on"), pytest.mark.fault(35)]


class Branch(Base):
    def more(self, t, position, velocity):
        if np.sum(velocity) > 1e9:  # here
            return 0.1 * position
        return 0.2 * position


class BranchOnOne(Base):
    def more(self, t, position, velocity):
        rows = np.reshape(position, (-1, 2))
        return np.reshape([[-q if q > 0.05 else q for q in row] for row in rows], np.shape(position))  # here


class BranchOnTime(Base):
    def more(self, t, position, velocity):
        return position if t < 0.05 else -position  # here


class Equality(Base):
    def more(self, t, position, velocity):
        if t == 0.02:  # here
            return position
        return -position


class Membership(Base):
    def more(self, t, position, velocity):
        return position if t in {0.0, 0.02} else -position  # here


class PlainSine(Base):
    def more(self, t, position, velocity):
        return math.sin(t) * position  # here


class Floats(Base):
    def more(self, t, position, velocity):
        return np.asarray(position, dtype=float) * 2  # here


class Exponential(Base):
    def more(self, t, position, velocity):
        return np.exp(-3 * t) * position  # here


class Filled(Base):
    def more(self, t, position, velocity):
        push = np.zeros(np.shape(position))
        push[..., 0] = position[..., 1]  # here
        return push


class LinearSystem(Base):
    def more(self, t, position, velocity):
        stiff = np.eye(2) + 0.1 * position[..., None] * position[..., None, :]
        return np.linalg.solve(stiff, velocity[..., None])[..., 0]  # here


class Catching(Base):
    def more(self, t, position, velocity):
        try:
            return 0.1 * position if t < 0.05 else 0.3 * position  # here
        except TypeError:
            return -7.0 * position


class Text(Base):
    def more(self, t, position, velocity):
        return position if f"{t}".startswith("0.0") else -position  # here


class Missing(Base):
    """What numbers have and scalars that record have not."""

    def more(self, t, position, velocity):
        try:
            return -position if (t - 0.0).is_integer() else position  # here
        except AttributeError:
            return position


class MissingOfOne(Base):
    def more(self, t, position, velocity):
        found = np.asarray(position)
        try:
            return np.exp(found)
        except TypeError:
            return 0.1 * found


UNTRACEABLE = {
    Text: "a number is asked for",
    Missing: "is_integer of a number is asked for",
    Branch: "a branch on a value",
    BranchOnOne: "a branch on a value",
    BranchOnTime: "a branch on a value",
    Equality: "a branch on a value",
    Membership: "",
    PlainSine: "a number is asked for",
    Floats: "a number is asked for",
    Exponential: "numpy.exp is not recorded",
    Filled: "a number is asked for",
    LinearSystem: "numpy.linalg.solve is not recorded",
    Catching: "a branch on a value",
}


@pytest.mark.parametrize("kind", UNTRACEABLE, ids=lambda kind: kind.__name__)
def test_what_cannot_be_traced_runs_step_by_step(kind):
    assert_runs_step_by_step(kind, UNTRACEABLE[kind])


def test_what_is_missed_within_numpy():
    found = assert_is_simulated(MissingOfOne(), "methods: ").stepped_by
    assert "exp of a number is asked for" in found


class Smooth(Base):
    """Everything that NumPy does and a recording does too, in parts of shapes that broadcast."""

    def __init__(self):
        self.limit, self.matrix, self.note = 3.0, np.array([[1.0, 0.2], [0.0, 0.5]]), ["no", {"number": 2}]

    def more(self, t, position, velocity):
        x, v = position[..., 0], velocity[..., 1]
        swing = np.sin(3 * t) * np.cos(x) + np.tanh(v) + np.sqrt(np.abs(x)) + np.arctan2(x, 1 + v**2) + np.hypot(x, v)
        swing = swing + np.where((x > 0.05) & ~(v >= 0), x**3, np.where(x <= -0.1, -2.0, 1 / (2 + x)))
        bent = np.clip(np.stack([swing, np.arctan(swing)], axis=-1), -self.limit, 0.4) @ self.matrix.T
        bent = bent + np.maximum(position, velocity) - np.minimum(position[..., ::-1], 0.05) + 2.0 * (velocity < 0)
        turned = np.zeros_like(position)
        turned[..., 0] = np.einsum("...i,...i->...", position, velocity)
        return bent + turned + np.sign(velocity) * np.sum(position, axis=-1, keepdims=True) + abs(position) ** -0.5


def test_what_can_be_recorded(monkeypatch):
    """Branches on attributes, time, and the functions of NumPy that a law needs."""
    monkeypatch.setattr(own_laws, "START", (START[0] + [0.0, 1e-3], START[1]))  # no zeros
    for limit in (3.0, 0.2):
        law = Smooth()
        law.limit = limit
        assert_is_simulated(law, "machine code")


def test_nan_is_on_the_side_where_numpy_has_it():
    class Sides(Base):
        def more(self, t, position, velocity):
            a, b = position[..., :1], velocity[..., :1]
            found = [np.where(c, 1.0, 2.0) for c in (a < b, a <= b, a > b, a >= b, a == b, a != b, ~(a < b))]
            return np.concatenate(
                [sum(3.0**k * f for k, f in enumerate(found)), np.maximum(a, b) + np.minimum(a, b)], -1
            )

    graph, law = LawGraph(Sides(), ARM).forces_graph, Sides()
    for a, b in itertools.product((-1.0, 0.0, 2.0, np.nan), repeat=2):
        x, v = np.array([a, 0.0]), np.array([b, 0.0])
        inputs = {f"position{k}": y for k, y in enumerate(x)} | {f"velocity{k}": y for k, y in enumerate(v)}
        inputs |= {f"target{k}": np.float64(0.0) for k in range(2)}
        assert np.array_equal(graph.evaluate(inputs), law.force(0.0, x, v, MOVE.sample(0.0)), equal_nan=True)
