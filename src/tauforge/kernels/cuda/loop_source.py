"""Many steps in one CUDA kernel: the state of a thread stays in registers from the first step to the last.

A step is a graph from a state, what is prescribed at that instant and what is fixed for the thread, to the next state
and a result that is recorded. Between two such steps another graph may advance the state with that result held.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tauforge.kernels.c_common import Statements, literal, number_type
from tauforge.kernels.cuda.dialect import BLOCK_THREADS, DIALECT, kernel_text
from tauforge.kernels.specification import Specification, inputs_of


class Loop(NamedTuple):
    """The steps that are repeated.

    step:       results are the next state and memory, argument by argument, and what is recorded beside it
    held:       further steps until the next one, whose arguments are the state, the first of what is recorded and what
                is fixed
    state:      how many of the arguments of the step are the state
    memory:     how many arguments after them the step renews, and `held` does not know
    prescribed: how many arguments after them are read anew for every step, the same for all threads
    added:      whether the argument after them is read anew for every step and thread; it is 0 after the last step
    """

    step: Specification
    held: Specification
    state: int
    memory: int
    prescribed: int
    added: bool

    @property
    def identity(self) -> str:
        """A text that determines the kernel."""
        return f"{self.step.identity} {self.held.identity}"

    @property
    def states(self) -> list[str]:
        """The inputs of the step's graph that are the state."""
        return inputs_of(self.step.arguments[: self.state])

    @property
    def recorded(self) -> int:
        """Numbers that are recorded beside the state."""
        return sum(map(math.prod, self.step.results[self.state + self.memory :]))

    @property
    def _instant(self) -> int:
        """The place of the first argument that is prescribed."""
        return self.state + self.memory

    @property
    def targets(self) -> list[str]:
        """The inputs that are prescribed."""
        return inputs_of(self.step.arguments[self._instant : self._instant + self.prescribed])

    @property
    def fixed(self) -> list[str]:
        """The inputs that are the same in all steps."""
        return inputs_of(self.step.arguments[self._instant + self.prescribed + self.added :])

    def places(self, count: str, own: str) -> dict[str, str]:
        """An expression for each input that is no state. count: threads; own: the number of this one"""
        place = self._instant + self.prescribed
        added = inputs_of(self.step.arguments[place : place + self.added])
        return (
            {name: f"target[{k}]" for k, name in enumerate(self.targets)}
            | {name: f"(k < steps ? {_added(k, own)} : 0)" for k, name in enumerate(added)}
            | {name: f"given[{k} * {count}]" for k, name in enumerate(self.fixed)}
        )


def _added(place: int, own: str) -> str:
    return f"added[{own} * added_row + k * added_period + {place} * added_step]"


def given_again(number: str) -> list[str]:
    """Lines that read the fixed numbers of the thread, for one step.

    The compiler must not keep an address for each of many numbers.
    """
    return [
        "long long own_again = own;",
        "#ifdef __CUDA_ARCH__",
        'asm volatile("" : "+l"(own_again));',
        "#endif",
        f"const {number} *__restrict__ given = fixed + own_again;",
    ]


def added_parameters(loop: Loop, number: str) -> str:
    if not loop.added:
        return ""
    strides = ", ".join(f"const long long added_{name}" for name in ("row", "period", "step"))
    return f", const {number} *__restrict__ added, {strides}"


def loop_source(loop: Loop, bits: int, far: float, *, every_step: bool = False) -> str:
    """The source of `extern "C" __global__ loop(count, steps, every, substeps, prescribed, fixed, records, ...)`.

    What is prescribed is (steps + 1, numbers), what is fixed (numbers, count), records are (kept, numbers, count); what
    is added has strides between threads, steps and numbers, state and memory between threads and numbers. The state is
    recorded before every `every`-th step and at the end. A thread whose state is beyond `far` or NaN records NaN from
    then on.
    every_step: whether the state is recorded before the steps in between as well; `every` must be 1 then
    """
    number, states = number_type(bits), loop.states
    renewed = inputs_of(loop.step.arguments[: loop.state + loop.memory])
    first = loop.step.arguments[: loop.state + loop.memory]
    forces = [f"f{k}" for k in range(loop.recorded)]
    inputs = {name: name for name in renewed} | loop.places("count", "own")
    step = Statements(loop.step.graph, inputs, DIALECT, bits)
    held_names = inputs_of(loop.held.arguments[loop.state : loop.state + 1]) if forces else []
    held = Statements(loop.held.graph, inputs | dict(zip(held_names, forces, strict=False)), DIALECT, bits)
    results = step.outputs()
    record = [
        f"const long long place = (long long)kept * {len(states) + loop.recorded} * count + own;",
        *(f"lost = lost || !({DIALECT.calls[bits]['fabs']}({name}) <= {literal(far, bits)});" for name in states),
        *(
            f"records[place + {k} * count] = lost ? {DIALECT.nan[bits]} : {name};"
            for k, name in enumerate([*states, *forces])
        ),
        "++kept;",
    ]
    lines = [
        f"const long long own = (long long)blockIdx.x * {BLOCK_THREADS} + threadIdx.x;",
        "if (own >= count) return;",
        *(
            f"{number} {name}{k} = state{place}[own * state{place}_row + {k} * state{place}_step];"
            for place, (name, core) in enumerate(first)
            for k in range(math.prod(core))
        ),
        "bool lost = false;",
        "#pragma unroll 1",
        "for (int k = 0, kept = 0; k <= steps; ++k) {",
        f"    const {number} *__restrict__ target = prescribed + (long long)k * {len(loop.targets)};",
        f"    const {number} *__restrict__ given = fixed + own;",
        *indented(step.lines, 1),
        *(f"    const {number} {f} = {x};" for f, x in zip(forces, results[len(renewed) :], strict=True)),
        "    if (k % every == 0 || k == steps) {",
        *indented(record, 2),
        "    }",
        "    if (k == steps) break;",
        *indented(_assigned(renewed, results[: len(renewed)], number), 1),
        "    #pragma unroll 1",
        "    for (int i = 1; i < substeps; ++i) {",
        *(["        {", *indented(record, 3), "        }"] if every_step else []),
        *indented(held.lines, 2),
        *indented(_assigned(states, held.outputs(), number), 2),
        "    }",
        "}",
    ]
    parameters = (
        "const long long count, const int steps, const int every, const int substeps, "
        f"const {number} *__restrict__ prescribed, const {number} *__restrict__ fixed, {number} *__restrict__ records"
        + added_parameters(loop, number)
    ) + "".join(
        f", const {number} *__restrict__ state{k}, const long long state{k}_row, const long long state{k}_step"
        for k in range(len(first))
    )
    return kernel_text("loop", parameters, lines, step.called | held.called, bits)


def _assigned(names: list[str], values: list[str], number: str) -> list[str]:
    """All at once: a value may depend on the state before."""
    new = [f"const {number} new_{name} = {value};" for name, value in zip(names, values, strict=True)]
    return [*new, *(f"{name} = new_{name};" for name in names)]


def indented(lines: Iterable[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
