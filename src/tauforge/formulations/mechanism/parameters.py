"""Parameters of a mechanism for the formulations: plain tuples over any scalar, unvalidated."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import Transform, Vector
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.drives import DriveParameters
from tauforge.formulations.trees.frames import GROUND, LENGTHS, JointFrame

POINT, HINGE, WELD = "point", "hinge", "weld"
CUT_ROWS = {POINT: 3, HINGE: 5, WELD: 6}


class FixedFrame(NamedTuple):
    """A frame on a body: joint frame <- frame; on the ground where joint_frame is GROUND.

    body: number of the body that it is on; several welded bodies share a joint frame
    """

    joint_frame: int
    displacement: Transform
    body: int = GROUND


class Cut(NamedTuple):
    """A closed loop, opened: two frames that coincide, but for a turn about z of a hinge, or any turn of a point.

    a is on the parent of the joint that was cut, b on its child.
    axes:   the joint frame (or GROUND) in whose axes the three rows of the point are written
    reads:  place of the joint's first coordinate in x; None where the cut is through a body
    offset: of a hinge: its coordinate where the frames coincide
    """

    kind: str
    a: FixedFrame
    b: FixedFrame
    axes: int
    reads: int | None
    offset: Scalar = 0.0


class Tie(NamedTuple):
    """A coordinate that follows another: follower = factor leader + offset. Both are places among the tree's rates."""

    follower: int
    leader: int
    factor: Scalar
    offset: Scalar


class SpringParameters(NamedTuple):
    """Between two points: tension stiffness (distance - length) + damping times the rate of the distance."""

    a: FixedFrame
    b: FixedFrame
    stiffness: Scalar
    length: Scalar
    damping: Scalar


class BodyInTree(NamedTuple):
    """A body as it is given, for reactions and energies: regrouping keeps the motion, not what every joint carries."""

    place: FixedFrame
    parameters: BodyParameters  # in the frame of its place


class ReactionParameters(NamedTuple):
    """A joint, for what it carries.

    at:      its point, on its child, and its own axes, which the child carries
    beyond:  numbers of the bodies that are beyond it, seen from the base; none for a cut
    sign:    1 where the child is beyond it, -1 where the parent is
    cut:     number of the cut that the joint is, or None
    unknown: components (of six) that redundant constraints leave open, base axes
    unknown_in_own: the same, in its own axes
    """

    at: FixedFrame
    beyond: frozenset[int]
    sign: float
    cut: int | None
    unknown: frozenset[int] = frozenset()
    unknown_in_own: frozenset[int] = frozenset()


RADIUS, HEIGHT, DISTANCE, ACROSS_X, ACROSS_Y = "radius", "height", "distance", "across x", "across y"


class LegStep(NamedTuple):
    """A joint whose coordinate follows from known ones where a loop is closed (`legs`).

    joint:   the joint frame
    cut:     number of the loop
    without: other unknown joint frames of the loop, the inner one first
    kept:    what these cannot change of the point where the loop is closed; None where there are none
    centres: where the axes of two such joints meet, m: along the first's axis, and along the last's
    """

    joint: int
    cut: int
    without: tuple[int, ...] = ()
    kept: str | None = None
    centres: tuple[float, float] = (0.0, 0.0)


class TiedStep(NamedTuple):
    """A joint frame that follows another by a tie, of this number."""

    joint: int
    tie: int


class Reduction(NamedTuple):
    """A way to reduce the equations: all ways have the same outcome and differ in cost.

    rates: places of the rates z that the equations are reduced to
    axes:  of each cut, the joint frame in whose axes its point's rows are written
    zeros: entries of the loop matrix that are zero wherever the loops are closed
    zeros_at_home: further ones that are zero where the mechanism is assembled as at home
    """

    rates: tuple[int, ...]
    axes: tuple[int, ...]
    zeros: frozenset[tuple[int, int]]
    zeros_at_home: frozenset[tuple[int, int]] = frozenset()


class DoubtScales(NamedTuple):
    """Makes a doubt scale-free: what sums of reciprocals of pivots are multiplied by, 1 over a usual sum.

    loops, rates, inertia, actuation: of the loop matrix, of y = K z, of the mass matrix and of the actuators' matrix
    gap:                              of the squares of the gaps of the loops, m or rad
    """

    loops: float = 1.0
    rates: float = 1.0
    inertia: float = 1.0
    actuation: float = 1.0
    gap: float = 0.0


class MechanismParameters(NamedTuple):
    """All that the formulas need.

    The tree has n rates. Its coordinates stand in x, the list of all coordinates; `reads` are their places.
    """

    frames: tuple[JointFrame, ...]  # regrouped
    reads: tuple[int, ...]
    cuts: tuple[Cut, ...]
    ties: tuple[Tie, ...]
    drives: tuple[DriveParameters, ...]  # of every rate
    coulomb_speed: Scalar
    gravity: Vector
    bodies: tuple[BodyInTree, ...]
    springs: tuple[SpringParameters, ...]
    tool: FixedFrame
    joints: tuple[ReactionParameters, ...]
    size: float  # m, of the mechanism: what lengths are compared with
    zeros: frozenset[tuple[int, int]] = frozenset()  # entries of the loop matrix: zero wherever the loops are closed
    independent: tuple[int, ...] = ()  # rates that the caller gives
    reductions: tuple[Reduction, ...] = ()  # those of the independent rates come first
    actuated: tuple[int, ...] = ()  # rates that actuators act on
    working: tuple[int, ...] = ()  # those whose forces are independent, or all if they can give every acceleration
    doubts: tuple[DoubtScales, ...] = (DoubtScales(),)  # one for each of `reductions`, or one for all
    presumed: frozenset[tuple[int, int]] = frozenset()  # those of `zeros` that other assemblies do not have
    legs: tuple[LegStep | TiedStep, ...] = ()  # all other joints from the independent ones; none where that has no form

    @property
    def n(self) -> int:
        """Number of the tree's rates."""
        return len(self.reads)

    def reduced(self, number: int) -> tuple[MechanismParameters, tuple[int, ...]]:
        """The mechanism with its loop matrix as this reduction wants it, and the rates of the reduction."""
        rates, axes, zeros, _ = self.reductions[number]
        cuts = tuple(cut._replace(axes=own) for cut, own in zip(self.cuts, axes, strict=True))
        own = self.doubts[number] if len(self.doubts) > 1 else self.doubts[0]
        return self._replace(cuts=cuts, zeros=zeros, doubts=(own,)), rates

    @property
    def rows_of_cuts(self) -> list[slice]:
        """Rows of the loop matrix, of each cut."""
        ends = accumulate((CUT_ROWS[cut.kind] for cut in self.cuts), initial=0)
        return [slice(*pair) for pair in pairwise(ends)]

    @property
    def scales(self) -> list[float]:
        """(n,) 1 for angles among the tree's rates, the mechanism's size for lengths."""
        return [self.size if k < LENGTHS[frame.kind] else 1.0 for frame in self.frames for k in range(len(frame.span))]
