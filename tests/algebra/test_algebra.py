"""Vectors, rotations, inertias and scalars: identities on random numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from support.strategies import random_inertia, random_rotation, seeds
from support.tolerances import EPSILON, ROUNDING, error
from tauforge.algebra import dual, inertias, scalars
from tauforge.algebra import vectors as v
from tauforge.algebra.rotations import Quaternion, axes_along, quaternion_of_rotation, rotation_vector
from tauforge.algebra.scalars import ArrayScalar


def vector(a):
    return v.Vector(*np.asarray(a).tolist())


def matrix(a):
    return v.Matrix.of(np.asarray(a).tolist())


def array(m):
    return np.array([list(row) for row in m.rows] if isinstance(m, v.Matrix) else list(m), dtype=float)


@given(seeds)
def test_vectors_and_matrices_are_those_of_numpy(rng):
    a, b = rng.normal(size=(2, 3))
    A, B = rng.normal(size=(2, 3, 3))
    assert error(array(v.cross(vector(a), vector(b))), np.cross(a, b)) < ROUNDING
    assert v.dot(vector(a), vector(b)) == pytest.approx(a @ b, abs=ROUNDING)
    assert error(array(matrix(A) @ vector(a)), A @ a) < ROUNDING
    assert error(array(matrix(A).times(matrix(B))), A @ B, core=2) < ROUNDING
    assert error(array(v.outer(vector(a), vector(b))), np.outer(a, b), core=2) < ROUNDING
    assert error(array(v.skew(vector(a)) @ vector(b)), np.cross(a, b)) < ROUNDING
    assert array(matrix(A).T).tolist() == A.T.tolist()
    assert matrix(A).trace == pytest.approx(np.trace(A), abs=ROUNDING)


@given(seeds)
def test_transforms_compose_and_invert(rng):
    T = [v.Transform(matrix(random_rotation(rng)), vector(rng.normal(size=3))) for _ in range(2)]
    p = vector(rng.normal(size=3))

    def apply(t, x):
        return t.rotation @ x + t.translation

    assert error(array(apply(T[0].then(T[1]), p)), array(apply(T[0], apply(T[1], p)))) < ROUNDING
    assert error(array(apply(T[0].inverse(), apply(T[0], p))), array(p)) < ROUNDING


@given(seeds, st.floats(0.1, 10))
def test_inertias_of_a_cloud_of_points(rng, mass):
    """Everything from the definition: a body is a cloud of point masses."""
    points = rng.normal(size=(20, 3))
    weights = rng.uniform(0.1, 1, 20) * mass

    def tensor(p):
        return sum(w * (x @ x * np.eye(3) - np.outer(x, x)) for w, x in zip(weights, p, strict=True))

    R, shift = random_rotation(rng), rng.normal(size=3)
    h = weights @ points
    I = matrix(tensor(points))
    new_h, new_I = inertias.moved(float(weights.sum()), vector(h), I, vector(shift))
    assert error(array(new_h), weights @ (points + shift)) < ROUNDING
    assert error(array(new_I), tensor(points + shift), core=2) < ROUNDING
    assert error(array(inertias.rotated(I, matrix(R))), tensor(points @ R.T), core=2) < ROUNDING
    assert (
        error(array(inertias.second_moments(I)), np.einsum("k,ka,kb->ab", weights, points, points), core=2) < ROUNDING
    )
    one = inertias.point_mass_inertia(float(weights[0]), vector(points[0]))
    x = points[0]
    assert error(array(one), weights[0] * (x @ x * np.eye(3) - np.outer(x, x)), core=2) < ROUNDING


@given(seeds, st.floats(-7, 7))
def test_cheap_turns_of_a_tensor_equal_the_product(rng, angle):
    I = matrix(random_inertia(rng))
    c, s = math.cos(angle), math.sin(angle)
    for cheap, R in ((inertias.turned_about_z, v.rotation_z(c, s)), (inertias.turned_about_x, v.rotation_x(c, s))):
        assert error(array(cheap(I, c, s)), array(inertias.rotated(I, R)), core=2) < ROUNDING
    assert array(inertias.turned_about_z(I, 1.0, 0.0)).tolist() == array(I).tolist()


@pytest.mark.parametrize("quarter", range(-9, 10))
def test_quarter_turns_are_exact(quarter):
    c, s = scalars.cos_sin_of_constant(quarter * math.pi / 2)
    assert (c, s) in {(1, 0), (0, 1), (-1, 0), (0, -1)}
    assert c == pytest.approx(math.cos(quarter * math.pi / 2), abs=1e-12)
    assert s == pytest.approx(math.sin(quarter * math.pi / 2), abs=1e-12)


def test_an_angle_near_a_quarter_turn_is_left_alone():
    c, s = scalars.cos_sin_of_constant(math.pi / 2 + 1e-9)
    assert (c, s) == (math.cos(math.pi / 2 + 1e-9), math.sin(math.pi / 2 + 1e-9))


@pytest.mark.parametrize("s", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0.6, 0.8, 0), (0.6, 0, -0.8)], ids=str)
def test_axes_along_any_direction(s):
    assert_axes_along(np.array(s, float))
    assert_axes_along(np.array(s) - [0, 0, 1e-300])  # the other side of where it jumps


@given(seeds)
def test_axes_along_random_directions(rng):
    s = rng.normal(size=3) * [1, 1, rng.choice([1.0, 1e-9])]
    assert_axes_along(s / np.linalg.norm(s))


def assert_axes_along(s):
    R = np.array([list(row) for row in axes_along(v.Vector(*s.tolist())).rows])
    assert np.array_equal(R[:, 0], s)
    assert np.abs(R.T @ R - np.eye(3)).max() < 8 * EPSILON
    assert np.linalg.det(R) > 0
    columns = axes_along(v.Vector(*(ArrayScalar(np.array([x])) for x in s)))
    assert np.array_equal([[x.value[0] for x in row] for row in columns.rows], R)


ANGLES = st.one_of(
    st.floats(0, np.pi), st.floats(-17, 0).map(lambda x: 10**x), st.floats(-17, 0).map(lambda x: np.pi - 10**x)
)  # rad, also near none and near half a turn


@given(seeds, ANGLES)
def test_rotation_vectors_are_those_of_scipy(rng, angle):
    axis = rng.normal(size=3)
    turn = angle * axis / np.linalg.norm(axis)
    R = Rotation.from_rotvec(turn).as_matrix()
    q = quaternion_of_rotation(matrix(R))
    assert q.w >= 0
    assert error(array(Quaternion(*q).rotation()), R, core=2) < ROUNDING
    got = array(rotation_vector(matrix(R)).vector)
    if got @ turn < 0:  # the other sign of half a turn
        assert np.pi - angle < ROUNDING
        got = -got
    assert np.abs(got - turn).max() < ROUNDING


@pytest.mark.parametrize("axis", np.eye(3))
def test_half_a_turn_about_an_axis(axis):
    R = 2 * np.outer(axis, axis) - np.eye(3)
    vector_, shrinking = rotation_vector(matrix(R))
    assert np.abs(array(vector_)).tolist() == (np.pi * axis).tolist()
    assert shrinking == 0


@given(seeds, st.floats(0, 3.1))
def test_slope_of_a_rotation_vector(rng, angle):
    """Against central differences of SciPy's vector along R exp([omega t]x)."""
    axis, omega = rng.normal(size=(2, 3))
    R, dt = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)), 1e-5
    ends = [(R * Rotation.from_rotvec(sign * dt * omega)).as_rotvec() for sign in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * dt)
    got = array(rotation_vector(matrix(R.as_matrix())).slope() @ vector(omega))
    assert np.abs(got - slope).max() < 1e-8 * np.linalg.norm(omega) ** 3 + 1e-9  # of third derivatives, and rounding


def test_zero_and_one_fold():
    x = ArrayScalar(np.array([2.0, np.nan]))
    assert 0.0 * x == 0.0
    assert x * 0 == 0.0
    assert 0.0 / x == 0.0
    for same in (x + 0.0, 0 + x, x - 0.0, x * 1, 1.0 * x, x / 1):
        assert same is x
    for minus in (0 - x, -1 * x, x * -1.0, x / -1):
        assert minus.value[0] == -2.0
    assert (x + 1).value[0] == 3.0


def test_a_numpy_number_on_the_left_does_not_swallow_the_scalar():
    x = ArrayScalar(np.arange(3.0))
    assert isinstance(np.float64(2.0) * x, ArrayScalar)
    assert isinstance(np.float64(2.0) - x, ArrayScalar)


@pytest.mark.parametrize("name", ["sin", "cos", "tanh", "sqrt", "sign", "rint"])
def test_functions_of_numbers_and_columns_agree(name):
    for x in (0.0, 0.3, 2.0):
        column = scalars.function(name, ArrayScalar(np.array([x]))).value[0]
        assert scalars.function(name, x) == pytest.approx(column, abs=1e-15)
    assert math.isnan(scalars.function(name, math.nan))


def test_not_a_number_instead_of_an_exception():
    assert math.isnan(scalars.sin(math.inf))
    assert math.isnan(scalars.sqrt(-1.0))
    assert scalars.sign(-0.5) == -1.0


@given(st.floats(0.2, 2), st.floats(0.2, 2))
def test_dual_numbers_differentiate(x, y):
    X, Y = dual.seeded([x, y])
    f = (scalars.sin(X) * Y - X / Y + 3.0) * scalars.sqrt(X * Y) + scalars.tanh(Y) - scalars.cos(X * 2.0) + 1.0 / X
    root = math.sqrt(x * y)
    bracket = math.sin(x) * y - x / y + 3
    dx = (math.cos(x) * y - 1 / y) * root + bracket * y / (2 * root) + 2 * math.sin(2 * x) - 1 / x**2
    dy = (math.sin(x) + x / y**2) * root + bracket * x / (2 * root) + 1 - math.tanh(y) ** 2
    assert dual.derivative(f, 0) == pytest.approx(dx, rel=1e-13, abs=1e-13)
    assert dual.derivative(f, 1) == pytest.approx(dy, rel=1e-13, abs=1e-13)
    assert dual.derivative(scalars.sign(X), 0) == 0.0
    assert dual.derivative(2.0, 0) == 0.0
    assert dual.primal(f) == pytest.approx(bracket * root + math.tanh(y) - math.cos(2 * x) + 1 / x, rel=1e-14)
