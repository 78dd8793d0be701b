"""Inverse dynamics on several processors: which operations run at the same time, and how many steps are left.

A processor does one multiplication, division, addition or subtraction a step; sines, cosines and roots are given.
Source: Turney, Mudge & Lee 1980, sections 5 and 6, Table 5.
"""

from __future__ import annotations

import linecache
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

from tauforge.analysis.complexity import ROBOT, check_formulation, general_arm
from tauforge.analysis.costs_by_line import files_of, recorded_by_line, robots_formula
from tauforge.class_tools import with_field_docs
from tauforge.errors import ModelError
from tauforge.formulations.serial import DEFAULT_FORMULATION, INVERSE_DYNAMICS
from tauforge.robots.robot import Robot, check_robot
from tauforge.robots.summary import Summary, SummaryTable, summarised
from tauforge.tracing.counting import is_negation, varying
from tauforge.tracing.graph import Recorder
from tauforge.validation import check_known, counted, whole

MULTIPLIES, ADDS = ("mul", "div"), ("add", "sub")
Work = Literal["operations", "lines"]
WORKS: tuple[Work, ...] = ("operations", "lines")
KNOWN_LENGTH = 60  # characters of a line of the source in a summary


@with_field_docs
class Task(NamedTuple):
    """Work that one processor does without a pause, an operation a step.

    name:            what it forms, or its line of the source
    multiplications: and divisions
    additions:       and subtractions
    needs:           places of the tasks that it waits for, all before it in the list
    """

    name: str
    multiplications: int
    additions: int
    needs: tuple[int, ...]

    @property
    def steps(self) -> int:
        return self.multiplications + self.additions


@summarised
@with_field_docs
class Schedule(NamedTuple):
    """The steps in which tasks run, and on which processor.

    tasks:      in an order in which they can be worked
    begin:      of each task, the steps that are over when it begins
    processor:  of each task, from 0; of one without operations that of no work, -1
    processors: the largest number that work at the same time
    steps:      until everything is known
    """

    tasks: tuple[Task, ...]
    begin: tuple[int, ...]
    processor: tuple[int, ...]
    processors: int
    steps: int

    @property
    def end(self) -> tuple[int, ...]:
        """Of each task, the steps that are over when its result is known."""
        return tuple(begin + task.steps for begin, task in zip(self.begin, self.tasks, strict=True))

    @property
    def work(self) -> int:
        """Operations of all tasks, which are the steps of a single processor."""
        return sum(task.steps for task in self.tasks)

    @property
    def speed_up(self) -> float:
        """Steps of a single processor over those of the schedule."""
        return self.work / self.steps if self.steps else 1.0

    def running(self, step: int) -> list[Task]:
        """The tasks that are worked on in a step, from 0."""
        return [task for task, begin, end in zip(self.tasks, self.begin, self.end, strict=True) if begin <= step < end]

    def longest_chain(self) -> list[Task]:
        """Tasks that wait for one another up to the last result, the first first.

        Identity: without a limit on the processors their steps add up to `steps`.
        """
        chain, end = [], self.end
        place: int | None = max(range(len(end)), key=end.__getitem__, default=None)
        while place is not None:
            chain.append(self.tasks[place])
            place = max(self.tasks[place].needs, key=end.__getitem__, default=None)
        return chain[::-1]

    def summary(self) -> Summary:
        """The longest chain as a table."""
        rows = tuple((task.name[:KNOWN_LENGTH], task.multiplications, task.additions) for task in self.longest_chain())
        table = SummaryTable("longest chain", ("task", "multiplications", "additions"), rows)
        sizes = f"{counted(self.steps, 'step')} of {counted(self.processors, 'processor')}"
        return Summary(f"{sizes} for {counted(self.work, 'operation')}, {self.speed_up:.1f} times as fast", (table,))


def schedule(
    robot: Robot | int,
    formulation: str | None = None,
    processors: int | None = None,
    *,
    work: Work = "operations",
    **options: Any,
) -> Schedule:
    """Simultaneous steps of the inverse dynamics of a robot, or of the general arm of so many revolute joints.

    formulation: one of `robot.formulations`; default that of a plain call
    processors:  how many there are; None as many as can work
    work:        what a processor takes at once: "operations" one multiplication or addition, so that the parts of a
                 vector and of a line run beside one another; "lines" a whole line of the source, whose operations
                 follow one another, as the terms of Turney's Table 5. No line is split: who waits for a part waits for
                 the line
    options:     as `operation_count` takes them
    Identity: with operations and no limit, `steps` is `operation_count(robot, formulation).critical_path.steps`.
    Values are formed once, sums and products in the order of the source.
    """
    check_known(work, WORKS, f"unknown work {work!r}", "work")
    if isinstance(robot, int):
        return scheduled(_tasks_of_general_arm(robot, formulation, work, options), processors)
    function, files = robots_formula(check_robot("robot", robot), formulation, options)
    return scheduled(_tasks(lambda recorder: function(recorder.input), files, "", work), processors)


def _tasks_of_general_arm(n: int, formulation: str | None, work: Work, options: Collection[str]) -> list[Task]:
    if isinstance(n, bool) or n < 1:
        raise ModelError(f"expected a robot or a number of joints >= 1, got {n!r}", field="robot")
    check_formulation(chosen := DEFAULT_FORMULATION if formulation is None else formulation, options)

    def function(recorder: Recorder) -> Any:
        arm = general_arm(n, lambda name: recorder.input(ROBOT + name), chosen == DEFAULT_FORMULATION)
        return INVERSE_DYNAMICS[chosen](
            arm, *([recorder.input(f"{x}{i}") for i in range(n)] for x in ("q", "qd", "qdd"))
        )

    return _tasks(function, files_of(chosen), ROBOT, work)


def _tasks(function: Any, files: Sequence[str], constants: str, work: Work) -> list[Task]:
    """constants: prefix of the inputs that are parameters of the robot"""
    graph, places = recorded_by_line(function, files)
    task_of: dict[int, int] = {}  # node -> its task
    names: list[str] = []
    multiplications, additions, needs = Counter[int](), Counter[int](), defaultdict[int, set[int]](set)
    run: object = None
    for k, (node, varies, place) in enumerate(zip(graph.nodes, varying(graph, constants), places, strict=True)):
        if not varies or place is None:
            continue
        if work == "operations" or place.run != run:
            names.append(linecache.getline(place.file, place.line).strip())
        run, own = place.run, len(names) - 1
        task_of[k] = own
        works = not is_negation(graph, node)
        multiplications[own] += works and node.op in MULTIPLIES
        additions[own] += works and node.op in ADDS
        needs[own] |= {task_of[a] for a in node.args if a in task_of} - {own}
    return [Task(name, multiplications[k], additions[k], tuple(sorted(needs[k]))) for k, name in enumerate(names)]


def scheduled(tasks: Sequence[Task], processors: int | None = None) -> Schedule:
    """A schedule of tasks: each begins as soon as what it needs is known and a processor is free.

    processors: how many there are; None as many as can work
    Where more tasks are ready than processors, the one with the longest chain behind it is first.
    """
    if processors is not None:
        processors = whole(processors, "processors")
    waiting, followers, behind = [], defaultdict[int, list[int]](list), [0] * len(tasks)
    for k, task in enumerate(tasks):
        if any(not 0 <= need < k for need in task.needs):
            raise ModelError(f"task {k} needs {task.needs}; a task needs earlier ones", field="tasks")
        waiting.append(len(task.needs))
        for need in task.needs:
            followers[need].append(k)
    for k in reversed(range(len(tasks))):
        behind[k] = tasks[k].steps + max((behind[f] for f in followers[k]), default=0)
    ready = sorted((-behind[k], k) for k, number in enumerate(waiting) if not number)
    busy: list[tuple[int, int]] = []  # ends and places of the tasks that run
    free: list[int] = []
    begin, processor, now, most = [0] * len(tasks), [-1] * len(tasks), 0, 0
    while ready or busy:
        held = []
        while ready:
            rank, k = heappop(ready)
            if tasks[k].steps and not free and most == processors:
                held.append((rank, k))
                continue
            if tasks[k].steps:
                most += not free
                processor[k] = heappop(free) if free else most - 1
            begin[k] = now
            heappush(busy, (now + tasks[k].steps, k))
        ready, now = held, busy[0][0]
        while busy and busy[0][0] == now:
            _, k = heappop(busy)
            if tasks[k].steps:
                heappush(free, processor[k])
            for follower in followers[k]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    heappush(ready, (-behind[follower], follower))
    return Schedule(tuple(tasks), tuple(begin), tuple(processor), most, now)
