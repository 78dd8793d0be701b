"""Operation counts of the formulations, from their own source.

Convention: sums and differences are additions; negations and products with 0, 1 and -1 are free; what follows from the
robot's parameters alone is precomputed; sines and cosines are counted apart. Only rigid bodies are counted: friction
and rotors cost 1 to 3 operations a joint more. The base is at rest, and gravity is along the axis of joint 1 unless the
robot says otherwise.

There are two counts. *As written* counts every operation that the source performs, with nothing shared. *Traced* counts
common subexpressions once and dead code not at all. There are two kinds of arm: a given robot, whose zeros and right
angles cost nothing, and the general arm of n revolute joints, whose every DH parameter, mass, mass centre and inertia
is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.algebra.vectors import NO_DISPLACEMENT, Matrix, Transform, Vector, rotation_x
from tauforge.class_tools import with_field_docs
from tauforge.control.controller import Controller
from tauforge.control.law_graph import LawGraph
from tauforge.control.traceable_robot import why_not_compiled
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.functions import flat
from tauforge.formulations.bodies import BodyParameters
from tauforge.formulations.serial import DEFAULT_FORMULATION, INVERSE_DYNAMICS
from tauforge.formulations.serial.parameters import ArmParameters, JointParameters
from tauforge.kernels.backends import NoKernelError
from tauforge.robots.robot import Robot
from tauforge.tracing.counting import Counted, CriticalPath, Operations, count, critical_path, operations
from tauforge.tracing.graph import Graph, Output, Recorder, trace, without_dead_code
from tauforge.validation import check_known

ROBOT = "robot."  # prefix of the inputs that are parameters of the robot


class Polynomial(NamedTuple):
    """c0 + c1 n + c2 n^2 + ..., exactly."""

    coefficients: tuple[Fraction, ...]

    def __call__(self, n: int) -> Fraction:
        return sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __str__(self) -> str:
        text = ""
        for k, c in reversed(list(enumerate(self.coefficients))):
            if c:
                factor = "" if abs(c) == 1 and k else str(abs(c))
                power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
                sign = " - " if c < 0 and text else "-" if c < 0 else " + " if text else ""
                text += sign + " ".join(part for part in (factor, power) if part)
        return text or "0"


def poly(*coefficients: int | str) -> Polynomial:
    """Coefficients of 1, n, n^2, ...; "32/3" is a fraction."""
    return Polynomial(tuple(Fraction(c) for c in coefficients))


def added(terms: Sequence[Polynomial]) -> Polynomial:
    length = max(len(term.coefficients) for term in terms)
    sums = [sum((t.coefficients[k] for t in terms if k < len(t.coefficients)), Fraction(0)) for k in range(length)]
    while len(sums) > 1 and not sums[-1]:
        sums.pop()
    return Polynomial(tuple(sums))


def interpolated(points: list[int], values: list[int]) -> Polynomial:
    """The polynomial of lowest degree through all points, exactly (Newton's divided differences)."""
    table = [Fraction(v) for v in values]
    differences = [table[0]]
    for order in range(1, len(points)):
        table = [(table[i + 1] - table[i]) / (points[i + order] - points[i]) for i in range(len(points) - order)]
        differences.append(table[0])
    result: list[Fraction] = []
    for point, difference in reversed(list(zip(points, differences, strict=True))):  # times (n - point), and onwards
        by_n = [difference, *result]
        result = [a - point * b for a, b in zip_longest(by_n, result, fillvalue=Fraction(0))]
    return added([Polynomial(tuple(result))])


@with_field_docs
class OperationCount(NamedTuple):
    """Operations of one evaluation of inverse dynamics.

    multiplications: traced
    additions:       and subtractions, traced
    sincos:          pairs of a sine and a cosine
    as_written:      the counts of the source without simplification
    critical_path:   those of the longest chain of dependent operations
    divisions:       traced
    roots:           square roots, traced
    """

    multiplications: int
    additions: int
    sincos: int
    as_written: Operations
    critical_path: CriticalPath
    divisions: int = 0
    roots: int = 0

    @property
    def flops(self) -> int:
        """Multiplications, additions, divisions and roots; sines and cosines apart."""
        return self.multiplications + self.additions + self.divisions + self.roots

    def seconds(
        self,
        multiply: float,
        add: float,
        divide: float = 0.0,
        root: float = 0.0,
        sincos: float = 0.0,
        *,
        fetch: float = 0.0,
        as_written: bool = False,
    ) -> float:
        """Time (s) on a processor that does one operation after another, from the times of its instructions.

        multiply, add, divide, root, sincos: s, each
        fetch:      s, added to every operation (Lee sec. 5)
        as_written: of the source as it is written, and not of the traced operations
        """
        done = self.as_written if as_written else self
        times = (multiply, add, sincos, divide, root)
        counts = (done.multiplications, done.additions, done.sincos, done.divisions, done.roots)
        return sum(count * (time + fetch) for count, time in zip(counts, times, strict=True))


def operation_count(robot: Robot | Controller, formulation: str | None = None, **options: Any) -> OperationCount:
    """Operations of the inverse dynamics of a given robot: only the rigid bodies of an arm, everything of a platform.

    robot:       or a control law that can be traced, for all that it does at an instant, its model's friction and
                 rotors included
    formulation: one of tauforge.FORMULATIONS, or of tauforge.STEWART_MODELS; default the one that runs by default
    options:     further options of inverse dynamics, such as corrections= of a published model of a platform
    """
    if isinstance(robot, Controller) and formulation is None and not options:
        return _of_law(robot)
    if not isinstance(robot, Robot):
        remedy = "Give the law's own formulation=" if isinstance(robot, Controller) else "Use tauforge.load"
        raise UnsupportedFeatureError(
            f"expected a robot such as a SerialArm, got {robot!r}", field="robot", remedy=remedy
        )
    return counted_formula(*robot.formulations.counted(formulation, **options))


def _of_law(law: Controller) -> OperationCount:
    plant, name = getattr(law, "robot", None), type(law).__name__
    if not isinstance(plant, Robot):
        raise UnsupportedFeatureError(f"{name} has no robot of its own, whose states it sees", field="robot")
    if (why := why_not_compiled(law, plant)) is not None:
        raise UnsupportedFeatureError(f"operations of {name} cannot be counted: {why}", field="robot")
    try:
        return counted_formula(*LawGraph(law, plant).formula())
    except NoKernelError as error:
        raise UnsupportedFeatureError(f"operations of {name} cannot be counted: {error}", field="robot") from None


def counted_formula(formula: Callable[..., Any], sizes: Mapping[str, int]) -> OperationCount:
    """Operations of a formula of columns of so many scalars, by names, with known numbers for the robot's parameters.

    Its results are nested sequences of scalars; plain numbers among them cost nothing.
    """

    def results(*columns: Sequence[Scalar]) -> list[Scalar]:
        return [x for x in flat(formula(*columns)) if not isinstance(x, float)]

    tally: Counter[str] = Counter()
    results(*([Counted(tally) for _ in range(size)] for size in sizes.values()))
    return _counts(trace(results, dict(sizes)), tally)


@cache
def general_operation_count(n: int, formulation: str = DEFAULT_FORMULATION) -> OperationCount:
    """Operations of the inverse dynamics of the general arm of n revolute joints."""
    check_formulation(formulation)
    frames_are_chosen = formulation == DEFAULT_FORMULATION
    return counted(formulation, n, lambda number: general_arm(n, number, frames_are_chosen))


def check_formulation(formulation: str, options: Collection[str] = ()) -> None:
    """UnsupportedFeatureError for a name that no formulation of arms has, and for options, which need a robot."""
    if options:
        problem = f"the general arm takes no {', '.join(options)}"
        raise UnsupportedFeatureError(problem, field="options", remedy="Give a robot")
    check_known(formulation, INVERSE_DYNAMICS, f"unknown formulation {formulation!r}", "formulation")


def recorded(function: Callable[..., Any], n: int, arm: Callable[[Callable[[str], Scalar]], ArmParameters]) -> Graph:
    """function(arm, q, qd, qdd), nested lists of scalars, as a graph; arm as in `counted`."""
    recorder = Recorder()
    state = [[recorder.input(f"{name}{i}") for i in range(n)] for name in ("q", "qd", "qdd")]
    results = flat(function(arm(lambda name: recorder.input(ROBOT + name)), *state))
    return without_dead_code(recorder.nodes, [Output(r.index, r.negative) for r in results if not isinstance(r, float)])


def counted(formulation: str, n: int, arm: Callable[[Callable[[str], Scalar]], ArmParameters]) -> OperationCount:
    """arm(number) builds the parameters; number(name) is an unknown parameter of the robot."""
    inverse_dynamics = INVERSE_DYNAMICS[formulation]
    graph = recorded(inverse_dynamics, n, arm)
    tally: Counter[str] = Counter()
    ticking = [[Counted(tally) for _ in range(n)] for _ in range(3)]
    inverse_dynamics(arm(lambda name: Counted(tally, constant=True)), *ticking)
    return _counts(graph, tally, ROBOT)


def _counts(graph: Graph, tally: Counter[str], constants: str = "") -> OperationCount:
    """constants: prefix of the inputs that are parameters of the robot"""
    path = critical_path(graph, constants)
    return OperationCount(**count(graph, constants)._asdict(), as_written=operations(tally), critical_path=path)


def general_cost_of(function: Callable[..., Any], n: int = 6) -> Operations:
    """Traced operations of any function (arm, q, qd, qdd) of the general arm of n revolute joints, standard DH."""
    return count(recorded(function, n, lambda number: general_arm(n, number, False)), ROBOT)


def general_arm(n: int, number: Callable[[str], Scalar], frames_are_chosen: bool) -> ArmParameters:
    """Parameters that are all unknown, in standard DH frames or in those that `frame_choice` gives any revolute arm."""
    joints, bodies = [], []
    for i in range(n):

        def unknown(name: str, i: int = i) -> Scalar:
            return number(f"{name}{i + 1}")

        last = frames_are_chosen and i == n - 1
        twist = rotation_x(unknown("cos_alpha"), unknown("sin_alpha"))
        if frames_are_chosen:
            # the origin of the last joint slides to meet the last common normal, the others follow inward
            along = 0.0 if i == n - 2 else unknown("y")
            constant = NO_DISPLACEMENT if last else Transform(twist, Vector(unknown("a"), along, 0.0))
        else:
            constant = Transform(twist, Vector(unknown("a"), 0.0, unknown("d")))
        joints.append(JointParameters(True, unknown("offset") if last else 0.0, constant))
        com = Vector(unknown("cx"), 0.0 if last else unknown("cy"), unknown("cz"))
        xx, xy, xz, yy, yz, zz = (unknown(f"I{axes}") for axes in ("xx", "xy", "xz", "yy", "yz", "zz"))
        bodies.append(BodyParameters(unknown("m"), com, Matrix.of(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))))
    return ArmParameters(tuple(joints), tuple(bodies), Vector(0.0, 0.0, -number("g")))


def general_cost(formulation: str, *, as_written: bool = False) -> tuple[Polynomial, Polynomial]:
    """Multiplications and additions of the general arm as polynomials in n, for n >= 4.

    The cost is a polynomial of degree 3 at most, so six arms determine it and check it.
    """
    joints = list(range(4, 10))
    every = [general_operation_count(n, formulation) for n in joints]
    counts = [count.as_written if as_written else count for count in every]
    multiplications, additions = [c.multiplications for c in counts], [c.additions for c in counts]
    return interpolated(joints, multiplications), interpolated(joints, additions)
