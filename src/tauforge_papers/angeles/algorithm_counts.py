"""Operations of algorithms 7.4.1 and 7.4.2, row by row, counted from our code of them as it is written.

The arm is the general one, its base moves, and C_0 lies anywhere: every joint costs the same, as the chapter counts.
"""

from __future__ import annotations

import inspect
import linecache
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import ZERO, Matrix, Transform, Vector, rotation_x, rotation_z
from tauforge.analysis.complexity import general_arm, interpolated
from tauforge.analysis.costs_by_line import Charged, Ledger
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.serial import outward_inward
from tauforge.formulations.serial.kinematics import joint_rotation
from tauforge.formulations.serial.outward_inward import LinkMotion, MassCentre, outward
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.formulations.trees.recursion import BaseState
from tauforge.tracing.counting import Counted, Operations, operations
from tauforge_papers import published_counts as published
from tauforge_papers.angeles.misprints import TURNED_BEFORE_ADDING
from tauforge_papers.misprints import as_printed

NAME = "outward-inward"
SIZES = (1, 2, 3, 4, 5, 6)
# The row of the chapter's list that each variable of our code belongs to.
REVOLUTE = {
    "c": "c_i",
    "omega": "omega_i",
    "u": "c'_i",
    "v": "c'_i",
    "c_dot": "c'_i",
    "omega_dot": "omega'_i",
    "carried": "c''_i",
    "c_ddot": "c''_i",
}
PRISMATIC = {
    "u": "c_i",
    "c": "c_i",
    "omega": "omega_i",
    "v": "c'_i",
    "c_dot": "c'_i",
    "omega_dot": "omega'_i",
    "sliding": "c''_i",
    "c_ddot": "c''_i",
}


class TwoTurns(Matrix):
    """Rot(z) Rot(x) of unknown constant angles, made one after the other: 8 multiplications and 4 additions."""

    __slots__ = ("first", "second")

    def __init__(self, first: Matrix, second: Matrix) -> None:
        super().__init__(first.times(second).rows)
        self.first, self.second = first, second

    @property
    def T(self) -> Matrix:
        return TwoTurns(self.second.T, self.first.T)

    def __matmul__(self, other: Vector) -> Vector:
        return self.first @ (self.second @ other)


def arm_with(kinds: str, number: Callable[[str], Scalar]) -> ArmParameters:
    """The general arm with the prismatic joints that the letters ask for, each with an unknown angle theta."""
    arm = general_arm(len(kinds), number, False)
    joints = []
    for i, (kind, joint) in enumerate(zip(kinds, arm.joints, strict=True)):
        if kind == "P":
            theta, alpha = ([number(f"{f}_{angle}{i}") for f in ("cos", "sin")] for angle in ("theta", "alpha"))
            place = Vector(*(number(f"{axis}{i}") for axis in "xyz"))
            joint = joint._replace(
                revolute=False, constant=Transform(TwoTurns(rotation_z(*theta), rotation_x(*alpha)), place)
            )
        joints.append(joint)
    return arm._replace(joints=tuple(joints))


def outward_rows(kinds: str) -> dict[str, Operations]:
    """Operations of algorithm 7.4.1 for an arm whose joints are all of one kind, by row of the chapter's list."""
    file = inspect.getfile(outward_inward)
    ledger: Ledger = defaultdict(Counter)
    arm = arm_with(kinds, lambda _: Charged(ledger, file, constant=True))

    def unknown() -> Vector:
        return Vector(*(Charged(ledger, file) for _ in range(3)))

    q, qd, qdd = ([Charged(ledger, file) for _ in kinds] for _ in range(3))
    delta_0 = Vector(*(Charged(ledger, file, constant=True) for _ in range(3)))
    outward(arm, q, qd, qdd, BaseState(unknown(), unknown(), unknown()), MassCentre(unknown(), unknown()), delta_0)
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for (_, line), spent in ledger.items():
        if any(operations(spent)[:2]):
            name = linecache.getline(file, line).split(" = ")[0].strip()
            rows[(REVOLUTE if kinds[0] == "R" else PRISMATIC)[name]] += spent
    rows["Q_i"] = updated(kinds)
    return {name: operations(spent) for name, spent in rows.items()}


def updated(kinds: str) -> Counter[str]:
    """What the entries of every Q_i take ("update Q_i")."""
    tally: Counter[str] = Counter()
    for joint in arm_with(kinds, lambda _: Counted(tally, constant=True)).joints:
        joint_rotation(joint, Counted(tally)).times(joint.constant.rotation)
    return tally


def inward_cost(n: int, as_the_chapter_has_it: bool = False) -> Operations:
    """Operations of algorithm 7.4.2 for n revolute joints, mended or as printed.

    As in the chapter, the force on the last link acts at its mass centre.
    """
    tally: Counter[str] = Counter()
    arm = arm_with("R" * n, lambda _: Counted(tally, constant=True))
    arm = arm._replace(bodies=(*arm.bodies[:-1], arm.bodies[-1]._replace(com=ZERO)))

    def unknown() -> Vector:
        return Vector(*(Counted(tally) for _ in range(3)))

    motions = [
        LinkMotion(rotation_z(Counted(tally), Counted(tally)), unknown(), unknown(), unknown(), None) for _ in range(n)
    ]
    names = as_printed(outward_inward, *(TURNED_BEFORE_ADDING if as_the_chapter_has_it else ()))
    names["inward"](arm, [Counted(tally) for _ in range(n)], motions, Wrench(unknown(), unknown()))
    return operations(tally)


def outward_cost(n: int) -> Operations:
    """Operations of algorithm 7.4.1 for n revolute joints, the entries of every Q_i included."""
    return added(outward_rows("R" * n).values())


def added(costs: Iterable[Operations]) -> Operations:
    return Operations(*(sum(column) for column in zip(*costs, strict=True)))


def as_row(name: str, cost: Callable[[int], Operations]) -> published.Row:
    """A count as polynomials in n."""
    counts = [cost(n) for n in SIZES]
    return published.Row(
        name,
        interpolated(list(SIZES), [c.multiplications for c in counts]),
        interpolated(list(SIZES), [c.additions for c in counts]),
    )
