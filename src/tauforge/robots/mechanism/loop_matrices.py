"""Loops in numbers: where joint frames are, the loop matrix, and by how much loops are open, at many positions at once.

`formulations.mechanism.cuts` says the same over any scalar, frame by frame along a loop: kernels are made of it. Here
vectors are in the world's axes, and one array has the entries of all joints of all loops: however many they are, an
evaluation takes about as many calls of NumPy. Zeros by structure are lost on the way.
"""

from __future__ import annotations

import numpy as np

from tauforge.algebra.rotations import rotation_of
from tauforge.algebra.vectors import Transform, Vector
from tauforge.arrays import Array
from tauforge.formulations.mechanism.cuts import sides
from tauforge.formulations.mechanism.parameters import CUT_ROWS, MechanismParameters
from tauforge.formulations.trees.frames import FREEDOMS, GROUND

POSITIONS_AT_ONCE = 512  # positions at a time: keeps the temporaries in the cache


class JointFrames:
    """The joint frames of a mechanism; `worlds` places them."""

    def __init__(self, m: MechanismParameters) -> None:
        frames = m.frames
        self.reads = list(m.reads)
        self.parents = [frame.parent for frame in frames]
        self.before = _homogeneous([frame.before for frame in frames])
        self.inverted = np.array([frame.inverted for frame in frames], bool)
        self.at = np.array([frame.at for frame in frames], int)
        self.offsets = np.array([0.0 if frame.turns_and_slides else frame.offset for frame in frames])[:, None]
        kinds = np.array([frame.kind for frame in frames], str)
        self.hinges, self.sliders, self.free = (np.flatnonzero(kinds == kind) for kind in "RPF")
        self.vectors = np.flatnonzero((kinds == "B") | (kinds == "F"))  # joints whose rates are vectors
        self.angles = (self.at + 3 * (kinds == "F"))[self.vectors, None] + np.arange(3)
        self.travels = self.at[self.free, None] + np.arange(3)
        self.frame_of_rate = np.repeat(np.arange(len(frames)), [FREEDOMS[frame.kind] for frame in frames])

    def worlds(self, x: Array) -> Array:
        """(frames + 1, k, 4, 4) world <- joint frame at x (k, N); the last is the world itself, as GROUND is -1."""
        q, hinges, sliders = x.T[self.reads], self.hinges, self.sliders
        placed = np.zeros((len(self.parents), len(x), 4, 4))
        placed[:] = np.eye(4)
        angles = q[self.at[hinges]] + self.offsets[hinges]
        placed[hinges, :, 0, 0] = placed[hinges, :, 1, 1] = np.cos(angles)
        placed[hinges, :, 1, 0] = sines = np.sin(angles)
        placed[hinges, :, 0, 1] = -sines
        placed[sliders, :, 2, 3] = q[self.at[sliders]] + self.offsets[sliders]
        if len(self.vectors):
            turn = np.array([[*row] for row in rotation_of(Vector(*(q[own] for own in self.angles.T))).rows])
            inverted = self.inverted[self.vectors]
            turn[:, :, inverted] = turn[:, :, inverted].swapaxes(0, 1)
            placed[self.vectors, :, :3, :3] = np.moveaxis(turn, (0, 1), (-2, -1))
            placed[self.free, :, :3, 3] = np.moveaxis(q[self.travels], 1, -1)
        found = np.empty((len(self.parents) + 1, len(x), 4, 4))
        found[GROUND] = np.eye(4)
        for own, (parent, local) in enumerate(zip(self.parents, self.before @ placed, strict=True)):
            np.matmul(found[parent], local, out=found[own])
        return found

    def twists(self, worlds: Array) -> tuple[Array, Array]:
        """(n, k, 3) angular velocities, and velocities at the joint's own centre, by each of the rates alone."""
        n = len(self.reads)
        omega, v = np.zeros((n, worlds.shape[1], 3)), np.zeros((n, worlds.shape[1], 3))
        omega[self.at[self.hinges]] = worlds[self.hinges, :, :3, 2]
        v[self.at[self.sliders]] = worlds[self.sliders, :, :3, 2]
        if len(self.vectors):
            axes = worlds[np.array(self.parents)] @ self.before
            axes[self.inverted] = -worlds[:-1][self.inverted]
            by_rate = np.moveaxis(axes[..., :3, :3], -1, 1)
            omega[self.angles] = by_rate[self.vectors]
            v[self.travels] = by_rate[self.free]
        return omega, v


class CutEquations(JointFrames):
    """The cuts of a mechanism: arrays of the entries of all their rows of J, one loop after another."""

    def __init__(self, m: MechanismParameters) -> None:
        super().__init__(m)
        sizes = [CUT_ROWS[cut.kind] for cut in m.cuts]
        starts = np.cumsum([0, *sizes])[:-1]
        self.rows = starts[:, None] + np.arange(3)  # of points
        places = [place for cut in m.cuts for place in (cut.a, cut.b)]
        self.carriers = np.array([place.joint_frame for place in places], int)
        self.on_carriers = _homogeneous([place.displacement for place in places])
        self.in_axes = [(rows, cut.axes) for rows, cut in zip(self.rows, m.cuts, strict=True) if cut.axes != GROUND]
        entries = [
            (2 * number + (side.sign < 0), rate, side.sign)
            for number, cut in enumerate(m.cuts)
            for side in sides(m.frames, cut)
            for k in side.path
            for rate in m.frames[k].span
        ]
        self.sides, self.rates = np.array([entry[:2] for entry in entries], int).reshape(-1, 2).T
        self.signs = np.array([sign for _, _, sign in entries]).reshape(-1, 1, 1)
        turning = [(cut, axis) for cut, size in enumerate(sizes) for axis in range(size - 3)]
        self.turning, self.about = np.array(turning, int).reshape(-1, 2).T  # for each row of turning: its cut, its axis
        self.turning_rows = starts[self.turning] + 3 + self.about
        # For each entry of such rows: which of them it is in, and that of the points' entries with the same rate.
        self.turned, self.same = np.nonzero(self.turning[:, None] == self.sides // 2)

    def fill(self, J: Array, gaps: Array, x: Array) -> None:
        """Writes the rows of the cuts into J and gaps."""
        worlds = self.worlds(x)
        omega, v = (self.signs * of_rates[self.rates] for of_rates in self.twists(worlds))
        ends = worlds[self.carriers] @ self.on_carriers
        points = ends[..., :3, 3]
        arms = points[self.sides] - worlds[self.frame_of_rate[self.rates], :, :3, 3]
        J[:, self.rows[self.sides // 2], self.rates[:, None]] = (v + np.cross(omega, arms)).swapaxes(0, 1)
        gaps[:, self.rows] = (points[::2] - points[1::2]).swapaxes(0, 1)
        for rows, axes in self.in_axes:
            turn = worlds[axes, :, :3, :3].swapaxes(1, 2)
            J[:, rows] = turn @ J[:, rows]
            gaps[:, rows] = (turn @ gaps[:, rows, None])[..., 0]
        if not len(turning := self.turning):
            return
        a, b = ends[::2, :, :3, :3], ends[1::2, :, :3, :3]
        axes = a[turning, :, :, self.about][self.turned]
        J[:, self.turning_rows[self.turned], self.rates[self.same]] = (axes * omega[self.same]).sum(axis=-1).T
        # For a small turn (x, y, z) of b beside a the columns are (1, z, -y), (-z, 1, x), (y, -x, 1).
        one, other, sign = np.array([(1, 2, 1), (0, 2, -1), (1, 0, -1)])[self.about].T
        gaps[:, self.turning_rows] = sign * (a[turning, :, :, one] * b[turning, :, :, other]).sum(axis=-1).T


class LoopEquations:
    """The loops of a mechanism: its cuts and its ties. J has all of its entries, those in `zeros`, too.

    scale:     (n,) units of the tree's rates: the mechanism's size for lengths, 1 for angles
    row_scale: (rows,) the same of the rows of J
    """

    def __init__(self, m: MechanismParameters) -> None:
        self.parameters, self.reads = m, list(m.reads)
        self.scale = np.array(m.scales)
        lengths = [x for cut in m.cuts for x in [m.size] * 3 + [1.0] * (CUT_ROWS[cut.kind] - 3)]
        self.row_scale = np.array(lengths + [self.scale[tie.follower] for tie in m.ties])
        self.rows = len(self.row_scale)
        self.cuts = CutEquations(m) if m.cuts else None
        self.followers, self.leaders = np.array([tie[:2] for tie in m.ties], int).reshape(-1, 2).T
        self.factors, self.offsets = np.array([tie[2:] for tie in m.ties], float).reshape(-1, 2).T

    def matrix_and_gaps(self, x: Array) -> tuple[Array, Array]:
        """J (k, rows, n), and by how much loops are open, (k, rows), at x (k, N); NaN where x is not finite."""
        J, gaps = np.zeros((len(x), self.rows, len(self.reads))), np.zeros((len(x), self.rows))
        with np.errstate(all="ignore"):
            for start in range(0, len(x) if self.rows else 0, POSITIONS_AT_ONCE):
                block = slice(start, start + POSITIONS_AT_ONCE)
                self._fill(J[block], gaps[block], x[block])
        return J, gaps

    def scaled(self, x: Array) -> tuple[Array, Array]:
        """The same with lengths as shares of the mechanism's size."""
        J, gaps = self.matrix_and_gaps(x)
        return J * self.scale / self.row_scale[:, None], gaps / self.row_scale

    def _fill(self, J: Array, gaps: Array, x: Array) -> None:
        if self.cuts is not None:
            self.cuts.fill(J, gaps, x)
        if len(self.followers):
            q, rows = x[:, self.reads], np.arange(self.rows)[-len(self.followers) :]
            J[:, rows, self.followers] = 1.0
            J[:, rows, self.leaders] = -self.factors
            gaps[:, rows] = q[:, self.followers] - (self.factors * q[:, self.leaders] + self.offsets)
        spoilt = ~(np.isfinite(x).all(axis=-1) & np.isfinite(gaps).all(axis=-1))
        J[spoilt], gaps[spoilt] = np.nan, np.nan


def _homogeneous(transforms: list[Transform]) -> Array:
    """(count, 1, 4, 4): one for all positions."""
    found = np.zeros((len(transforms), 1, 4, 4))
    found[:] = np.eye(4)
    for own, (rotation, translation) in zip(found, transforms, strict=True):
        own[0, :3] = [[*row, shift] for row, shift in zip(rotation.rows, translation, strict=True)]
    return found
