"""Operations of inverse dynamics line by line of the source that runs.

The count is that of `complexity`. An operation belongs to the innermost line of a formulation that is on the way to it:
products of vectors and rotations are charged to the line that asks for them.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, overload

from tauforge.algebra import scalars
from tauforge.algebra.scalars import Scalar
from tauforge.analysis.complexity import Polynomial, check_formulation, general_arm, interpolated
from tauforge.class_tools import with_field_docs
from tauforge.evaluation.functions import flat
from tauforge.formulations.serial import DEFAULT_FORMULATION, INVERSE_DYNAMICS
from tauforge.formulations.trees import frames, recursion
from tauforge.robots.robot import Robot, check_robot
from tauforge.tracing import graph as tracing
from tauforge.tracing.counting import COUNTED_AS, Counted, Operations, is_negation, operations, varying
from tauforge.tracing.graph import Graph, Output, Recorder, in_order, needed

SIZES = [4, 5, 6, 7, 8]  # numbers of joints that determine the cost of a line
ALGEBRA = tuple(str(Path(inspect.getfile(part)).parent) for part in (scalars, tracing))
Line = tuple[str, int]  # file and number
Ledger = dict[Line, Counter[str]]


@with_field_docs
class LineCost(NamedTuple):
    """Cost of one line of a formulation, as functions of the number of joints n.

    line:            its number in the file
    text:            its source
    multiplications: a polynomial in n
    additions:       a polynomial in n
    """

    line: int
    text: str
    multiplications: Polynomial
    additions: Polynomial


@with_field_docs
class RobotLineCost(NamedTuple):
    """Cost of one line of a formulation for a given robot.

    file:       where the line is
    line:       its number in the file
    text:       its source
    traced:     operations that no line before has done and that a result needs
    as_written: every operation of the line
    """

    file: str
    line: int
    text: str
    traced: Operations
    as_written: Operations


class Charged(Counted):
    """Charges every operation to a line of some files, the innermost of those that are on the way to it."""

    __slots__ = ("files", "ledger")

    def __init__(self, ledger: Ledger, *files: str, constant: bool = False) -> None:
        super().__init__(Counter(), constant)
        self.ledger, self.files = ledger, files

    def _tick(self, name: str, constant: bool) -> Charged:
        if not constant:
            frame, _ = asking(self.files)
            self.ledger[frame.f_code.co_filename, frame.f_lineno][name] += 1
        return Charged(self.ledger, *self.files, constant=constant)


def asking(files: Sequence[str]) -> tuple[FrameType, FrameType | None]:
    """The innermost frame that is in one of the files, or, without files, outside of the algebra; and its callee."""
    frame, callee = sys._getframe(2), None
    while (file := frame.f_code.co_filename).startswith(ALGEBRA) or (files and file not in files):
        if frame.f_back is None:
            raise LookupError(f"an operation was not called from {', '.join(files)}")
        frame, callee = frame.f_back, frame
    return frame, callee


class SourceLine(NamedTuple):
    """The line at which an operation was recorded first.

    run: counts the times that any line was begun; the turns of a loop are different runs of its lines
    """

    file: str
    line: int
    run: int


class LineRecorder(Recorder):
    """A recorder that knows the line of every operation. places: node -> its place"""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__()
        self.files = files
        self.places: dict[int, SourceLine] = {}
        self._last: tuple[Any, ...] = (None, 0, 0, None)
        self._run = -1

    def operation(self, op: str, args: tuple[int, ...]) -> int:
        index = super().operation(op, args)
        if index not in self.places:
            frame, callee = asking(self.files)
            known, line, instruction, called = self._last
            again = frame.f_lasti < instruction or (frame.f_lasti == instruction and callee is not called)
            self._run += frame is not known or frame.f_lineno != line or again
            self._last = frame, frame.f_lineno, frame.f_lasti, callee
            self.places[index] = SourceLine(frame.f_code.co_filename, frame.f_lineno, self._run)
        return index


def recorded_by_line(
    function: Callable[[Recorder], Any], files: Sequence[str] = ()
) -> tuple[Graph, list[SourceLine | None]]:
    """The graph of function(recorder), nested sequences of scalars, and the places of its nodes.

    Inputs and constants have no place.
    """
    recorder = LineRecorder(files)
    results = flat(function(recorder))
    outputs = [Output(x.index, x.negative) for x in results if not isinstance(x, float)]
    order = needed(recorder.nodes, outputs)
    return in_order(recorder.nodes, outputs, order), [recorder.places.get(k) for k in order]


def files_of(formulation: str) -> list[str]:
    """The files to whose lines the operations of a formulation of arms are charged."""
    return [inspect.getfile(where) for where in (INVERSE_DYNAMICS[formulation], frames, recursion)]


def ledger_of(formulation: str, n: int, *files: str) -> Ledger:
    """Operations by line, for the general arm of n joints."""
    ledger: Ledger = defaultdict(Counter)
    arm = general_arm(n, lambda _: Charged(ledger, *files, constant=True), formulation == DEFAULT_FORMULATION)
    INVERSE_DYNAMICS[formulation](arm, *([Charged(ledger, *files) for _ in range(n)] for _ in range(3)))
    return ledger


@overload
def line_costs(formulation: str, robot: None = None) -> list[LineCost]: ...
@overload
def line_costs(formulation: str | None, robot: Robot, **options: Any) -> list[RobotLineCost]: ...
def line_costs(
    formulation: str | None, robot: Robot | None = None, **options: Any
) -> list[LineCost] | list[RobotLineCost]:
    """Lines of the source that cost anything, with their cost: of a robot, or as written for the general arm.

    formulation: one of `robot.formulations`, None for that of a plain call; of tauforge.FORMULATIONS without a robot
    robot:       its zeros, right angles and kinds of joints cost what they cost; None for the general arm of n >= 4
                 revolute joints, whose costs are polynomials in n
    options:     as `operation_count` takes them
    Identity: the costs add up to `operation_count(robot, formulation)`, traced and as written; those of the general arm
    to `general_operation_count(n, formulation).as_written`.
    """
    if robot is not None:
        return _of_robot(check_robot("robot", robot), formulation, options)
    check_formulation(chosen := DEFAULT_FORMULATION if formulation is None else formulation, options)
    files = files_of(chosen)
    ledgers = [ledger_of(chosen, n, *files) for n in SIZES]
    result = []
    for file, line in sorted(set().union(*ledgers), key=lambda place: (files.index(place[0]), place[1])):
        counts = [operations(ledger[file, line]) for ledger in ledgers]
        multiplications = interpolated(SIZES, [c.multiplications for c in counts])
        additions = interpolated(SIZES, [c.additions for c in counts])
        if any(multiplications.coefficients) or any(additions.coefficients):
            result.append(LineCost(line, linecache.getline(file, line).strip(), multiplications, additions))
    return result


def robots_formula(
    robot: Robot, formulation: str | None, options: dict[str, Any]
) -> tuple[Callable[[Callable[[str], Scalar]], Any], list[str]]:
    """Inverse dynamics of a robot as a function of what makes a scalar from a name, and the files it is charged to."""
    formula, sizes = robot.formulations.counted(formulation, **options)
    of_arms = robot.formulations.general_arm is not None

    def function(scalar: Callable[[str], Scalar]) -> Any:
        return formula(*([scalar(f"{name}{k}") for k in range(size)] for name, size in sizes.items()))

    return function, files_of(robot.formulations.default if formulation is None else formulation) if of_arms else []


def _of_robot(robot: Robot, formulation: str | None, options: dict[str, Any]) -> list[RobotLineCost]:
    function, files = robots_formula(robot, formulation, options)
    written: Ledger = defaultdict(Counter)
    function(lambda _: Charged(written, *files))
    graph, places = recorded_by_line(lambda recorder: function(recorder.input), files)
    traced: Ledger = defaultdict(Counter)
    for node, varies, place in zip(graph.nodes, varying(graph, ""), places, strict=True):
        if place is not None:
            traced[place[:2]][node.op] += varies and not is_negation(graph, node)
    first = {file: k for k, file in enumerate(dict.fromkeys([*files, *(file for file, _ in written)]))}
    result = []
    for file, line in sorted(written, key=lambda place: (first[place[0]], place[1])):
        if COUNTED_AS.keys() & written[file, line].keys():
            text = linecache.getline(file, line).strip()
            costs = operations(traced[file, line]), operations(written[file, line])
            result.append(RobotLineCost(file, line, text, *costs))
    return result
