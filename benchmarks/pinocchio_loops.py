"""A mechanism in Pinocchio's C++ (pinocchio_mechanisms.cpp): the same tree, with its loops closed at points."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from compiled import batch_call, pinocchio_library

import tauforge as tf
from tauforge.algebra.rotations import rotation_of
from tauforge.algebra.scalars import ArrayScalar
from tauforge.algebra.vectors import Transform, Vector
from tauforge.evaluation.reference import reference
from tauforge.formulations.mechanism.complement import Complement, MovingComplement
from tauforge.formulations.mechanism.cuts import posed_at
from tauforge.robots.mechanism.loop_matrices import LoopEquations

KINDS = {"R": 0, "P": 1, "F": 2}
PROXIMAL = (1e-8, 5)  # mu and iterations of constraintDynamics where rows are redundant, as those out of a plane are
LOOP_SOLVER = (1e-6, 20)  # of the loop solver, which needs mu > 0


def numbers(T: Transform) -> list[float]:
    return [float(x) for row in T.rotation.rows for x in row] + [float(x) for x in T.translation]


class PinocchioMechanism:
    """The functions over batches; q, v and a are Pinocchio's own."""

    def __init__(self, mechanism: tf.Mechanism, planar: bool) -> None:
        library = pinocchio_library("pinocchio_mechanisms")
        assert library is not None, "Pinocchio's C++ core is needed"
        self.library, self.mechanism, self.m = library, mechanism, mechanism.model
        m = self.m
        joints = [[frame.parent + 1, KINDS[frame.kind], *numbers(frame.before)] for frame in m.frames]
        bodies = []
        for body in m.bodies:
            own, place = body.parameters, body.place
            inertia = [float(x) for row in own.inertia.rows for x in row]
            if place.joint_frame >= 0:
                bodies.append([place.joint_frame + 1, *numbers(place.displacement), own.mass, *own.com, *inertia])
        loops = [
            [cut.a.joint_frame + 1, cut.b.joint_frame + 1, *numbers(cut.a.displacement), *numbers(cut.b.displacement)]
            for cut in m.cuts
        ]
        arrays = [np.array(rows, float) for rows in (joints, bodies, loops)]
        library.make_mechanism.restype = ctypes.c_void_p
        pairs = [x for rows in arrays for x in (ctypes.c_int(len(rows)), ctypes.c_void_p(rows.ctypes.data))]
        gravity = np.array([*m.gravity], float)
        mu, iterations = PROXIMAL if planar else (0.0, 1)
        self.handle = ctypes.c_void_p(
            library.make_mechanism(
                *pairs,
                ctypes.c_void_p(gravity.ctypes.data),
                ctypes.c_double(mu),
                iterations,
                ctypes.c_double(LOOP_SOLVER[0]),
                LOOP_SOLVER[1],
            )
        )

    # ------------------------------------------------------------------------------------------------ coordinates

    def turns(self, x: np.ndarray, at: int) -> np.ndarray:
        """(k, 3, 3) axes of `before` <- axes of a free body."""
        places = [self.m.reads[at + i] for i in (3, 4, 5)]
        R = rotation_of(Vector(*(ArrayScalar(x[:, k]) for k in places)))
        entries = [[getattr(entry, "value", entry) for entry in row] for row in R.rows]
        return np.stack([np.stack([np.broadcast_to(e, len(x)) for e in row], -1) for row in entries], -2)

    def q(self, x: np.ndarray) -> np.ndarray:
        parts = []
        for frame in self.m.frames:
            own = x[:, [self.m.reads[frame.at + i] for i in range(3 if frame.kind == "F" else 1)]]
            parts.append(own if frame.kind == "F" else own + frame.offset)
            if frame.kind == "F":
                parts.append(quaternions(self.turns(x, frame.at)))
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def v(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Rates of the tree, of a free body in its own axes."""
        found = np.array(v)
        for frame in self.m.frames:
            if frame.kind == "F":
                R = self.turns(x, frame.at)
                for first in (frame.at, frame.at + 3):
                    found[:, first : first + 3] = np.einsum("kji,kj->ki", R, v[:, first : first + 3])
        return found

    def a(self, x: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Accelerations of the tree, of a free body spatial ones in its own axes."""
        found, own = self.v(x, a), self.v(x, v)
        for frame in self.m.frames:
            if frame.kind == "F":
                k = frame.at
                found[:, k : k + 3] -= np.cross(own[:, k + 3 : k + 6], own[:, k : k + 3])
        return found

    def tree_motion(self, x: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rates and accelerations of the whole tree by our own formulas."""
        m = self.m

        def formula(x: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any]) -> list[Any]:
            complement = Complement(m, posed_at(m, x), m.independent)
            v = complement.rates(qd)
            return [v, MovingComplement(complement, v).accelerations(qdd)]

        v, a = reference(formula, {"x": x, "qd": qd, "qdd": qdd}, ((m.n,), (m.n,)))
        return v, a

    # -------------------------------------------------------------------------------------------------- functions

    def call(self, name: str, arguments: tuple[np.ndarray, ...], width: int) -> Callable[[], np.ndarray]:
        routine = getattr(self.library, name)
        routine.restype = None
        arrays = tuple(np.ascontiguousarray(a, dtype=float) for a in arguments)
        run = batch_call(routine, [self.handle], arrays, [(width,)])

        def call() -> np.ndarray:
            found: np.ndarray = run()[0]
            return found

        call.arguments = arrays  # type: ignore[attr-defined]  # the routine reads them by their addresses
        return call

    def split(self, x: np.ndarray) -> None:
        """Which rows determine the other rates, for the projection: the best ones at some positions."""
        m = self.m
        points = [cut._replace(kind="point", axes=-1) for cut in m.cuts]
        J, _ = LoopEquations(m._replace(cuts=tuple(points))).matrix_and_gaps(x[:5])
        others = [k for k in range(m.n) if k not in m.independent]
        rest, rows = J[:, :, others] / np.linalg.norm(J), list[int]()
        for _ in others:
            sizes = np.linalg.norm(rest, axis=2).min(axis=0)
            sizes[rows] = -1.0
            rows.append(int(np.argmax(sizes)))
            e = rest[:, rows[-1]] / np.linalg.norm(rest[:, rows[-1]], axis=1, keepdims=True)
            rest = rest - np.einsum("kr,kj->krj", np.einsum("krj,kj->kr", rest, e), e)
        lists = [np.array(sorted(given), np.int32) for given in (rows, others)]
        lists.append(np.array(m.independent, np.int32))
        pairs = [x for given in lists for x in (ctypes.c_int(len(given)), ctypes.c_void_p(given.ctypes.data))]
        self.library.split.restype = None
        self.library.split(self.handle, *pairs)


def quaternions(R: np.ndarray) -> np.ndarray:
    """(k, 4) x, y, z, w of rotations by less than half a turn."""
    w = np.sqrt(np.maximum(0.0, 1.0 + np.trace(R, axis1=1, axis2=2))) / 2
    x, y, z = ((R[:, i, j] - R[:, j, i]) / (4 * w) for i, j in ((2, 1), (0, 2), (1, 0)))
    return np.stack([x, y, z, w], axis=-1)
