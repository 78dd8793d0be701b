"""3-vectors and 3x3 matrices over any scalar, and rigid transforms made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar, Scalars, cos_sin, sqrt


class Vector:
    """Three components in one frame."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Scalar, y: Scalar, z: Scalar) -> None:
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[Scalar]:
        yield self.x
        yield self.y
        yield self.z

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vector:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"Vector({self.x!r}, {self.y!r}, {self.z!r})"


ZERO = Vector(0.0, 0.0, 0.0)
E_X, E_Y, E_Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)


def dot(a: Vector, b: Vector) -> Scalar:
    return a.x * b.x + a.y * b.y + a.z * b.z


def cross(a: Vector, b: Vector) -> Vector:
    return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def unit(a: Vector) -> Vector:
    scale = 1.0 / sqrt(dot(a, a))
    return Vector(a.x * scale, a.y * scale, a.z * scale)


class Matrix:
    """Three rows. `M @ v` and `M @ N` are products, `M.T` the transpose."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[Vector]) -> None:
        self.rows = tuple(rows)

    @classmethod
    def of(cls, rows: Sequence[Scalars]) -> Matrix:
        return cls([Vector(*row) for row in rows])

    @classmethod
    def diagonal(cls, x: Scalar, y: Scalar, z: Scalar) -> Matrix:
        return cls.of(((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)))

    def __getitem__(self, index: tuple[int, int]) -> Scalar:
        return tuple(self.rows[index[0]])[index[1]]

    @property
    def T(self) -> Matrix:
        return Matrix.of(list(zip(*self.rows, strict=True)))

    @property
    def trace(self) -> Scalar:
        return self.rows[0].x + self.rows[1].y + self.rows[2].z

    def __matmul__(self, other: Vector) -> Vector:
        r = self.rows
        return Vector(dot(r[0], other), dot(r[1], other), dot(r[2], other))

    def times(self, other: Matrix) -> Matrix:
        """The matrix product; `@` is kept for matrix times vector."""
        columns = other.T.rows
        return Matrix.of([[dot(row, column) for column in columns] for row in self.rows])

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix([a + b for a, b in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix([a - b for a, b in zip(self.rows, other.rows, strict=True)])

    def __neg__(self) -> Matrix:
        return Matrix([-row for row in self.rows])

    def __mul__(self, factor: Scalar) -> Matrix:
        return Matrix([row * factor for row in self.rows])

    def __repr__(self) -> str:
        return f"Matrix({self.rows!r})"


UNIT_VECTORS = (E_X, E_Y, E_Z)
IDENTITY = Matrix(UNIT_VECTORS)
ZERO_MATRIX = Matrix((ZERO, ZERO, ZERO))


def outer(a: Vector, b: Vector) -> Matrix:
    return Matrix([b * component for component in a])


def skew(a: Vector) -> Matrix:
    """[a]x: skew(a) @ b = a x b."""
    return Matrix.of(((0.0, -a.z, a.y), (a.z, 0.0, -a.x), (-a.y, a.x, 0.0)))


def rotation_z(c: Scalar, s: Scalar) -> Matrix:
    """Rotation about z by the angle with cosine c and sine s."""
    return Matrix.of(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))


def rotation_x(c: Scalar, s: Scalar) -> Matrix:
    return Matrix.of(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))


def rotation_about_z(angle: Scalar) -> Matrix:
    """Rotation about z; exact where a constant angle is a multiple of a quarter turn."""
    return rotation_z(*cos_sin(angle))


def rotation_about_x(angle: Scalar) -> Matrix:
    return rotation_x(*cos_sin(angle))


class Transform(NamedTuple):
    """A rigid displacement: maps a point p of the inner frame to `rotation @ p + translation` of the outer."""

    rotation: Matrix
    translation: Vector

    def then(self, inner: Transform) -> Transform:
        """Outer <- inner <- innermost."""
        return Transform(self.rotation.times(inner.rotation), self.rotation @ inner.translation + self.translation)

    def inverse(self) -> Transform:
        return Transform(self.rotation.T, -(self.rotation.T @ self.translation))


NO_DISPLACEMENT = Transform(IDENTITY, ZERO)
