"""Many steps in one CUDA kernel: the state of a thread stays in registers from the first step to the last.

A step is a graph from a state, what is prescribed at that instant and what is fixed for the thread, to the next state
and a result that is recorded. Between two such steps another graph may advance the state with that result held.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tauforge.kernels.c_source.numbers import literal, number_type
from tauforge.kernels.c_source.statements import Statements, functions
from tauforge.kernels.cuda.source import DIALECT, ESTIMATES, PREFIX
from tauforge.kernels.specification import Specification

BLOCK = 64  # threads


class Loop(NamedTuple):
    """What is repeated.

    step:       results are the next state, argument by argument, and what is recorded beside it
    held:       further steps until the next one, whose arguments are the state, the recorded result and what is fixed
    state:      how many of the arguments of the step are the state
    prescribed: how many arguments after them are read anew for every step, the same for all threads
    """

    step: Specification
    held: Specification
    state: int
    prescribed: int

    def names(self, part: slice) -> list[str]:
        """The inputs of the step's graph that these arguments are."""
        return [f"{name}{k}" for name, core in self.step.arguments[part] for k in range(math.prod(core))]


def loop_source(loop: Loop, bits: int, far: float) -> str:
    """The source of `extern "C" __global__ loop(count, steps, every, substeps, prescribed, fixed, records, ...)`.

    What is prescribed is (steps + 1, numbers), what is fixed (numbers, count), records are (kept, numbers, count); the
    arguments that are the state have a stride between threads and one between numbers. The state is recorded before
    every `every`-th step and at the end. A thread whose state is beyond `far` or NaN records NaN from then on.
    """
    number = number_type(bits)
    states = loop.names(slice(0, loop.state))
    targets = loop.names(slice(loop.state, loop.state + loop.prescribed))
    fixed = loop.names(slice(loop.state + loop.prescribed, None))
    recorded = sum(map(math.prod, loop.step.results[loop.state :]))
    forces = [f"f{k}" for k in range(recorded)]
    inputs = {name: name for name in states} | {name: f"fixed[{k} * count + own]" for k, name in enumerate(fixed)}
    step = Statements(
        loop.step.graph, inputs | {name: f"target[{k}]" for k, name in enumerate(targets)}, DIALECT, bits, PREFIX
    )
    arguments = loop.held.arguments[loop.state :]
    held_names = [f"{name}{k}" for name, core in arguments[:1] for k in range(math.prod(core))]
    held = Statements(loop.held.graph, inputs | dict(zip(held_names, forces, strict=True)), DIALECT, bits, PREFIX)
    results = step.outputs()
    lines = [
        f"const long long own = (long long)blockIdx.x * {BLOCK} + threadIdx.x;",
        "if (own >= count) return;",
        *(
            f"{number} {name}{k} = state{place}[own * state{place}_row + {k} * state{place}_step];"
            for place, (name, core) in enumerate(loop.step.arguments[: loop.state])
            for k in range(math.prod(core))
        ),
        "bool lost = false;",
        "#pragma unroll 1",
        "for (int k = 0, kept = 0; k <= steps; ++k) {",
        f"    const {number} *__restrict__ target = prescribed + (long long)k * {len(targets)};",
        *_indented(step.lines, 1),
        f"    const {number} {', '.join(f'{f} = {x}' for f, x in zip(forces, results[len(states) :], strict=True))};",
        "    if (k % every == 0 || k == steps) {",
        f"        const long long place = (long long)kept * {len(states) + recorded} * count + own;",
        *(
            f"        lost = lost || !({DIALECT.calls[bits]['fabs']}({name}) <= {literal(far, bits)});"
            for name in states
        ),
        *(
            f"        records[place + {k} * count] = lost ? {DIALECT.nan[bits]} : {name};"
            for k, name in enumerate([*states, *forces])
        ),
        "        ++kept;",
        "    }",
        "    if (k == steps) break;",
        *_indented(_assigned(states, results[: len(states)], number), 1),
        "    #pragma unroll 1",
        "    for (int i = 1; i < substeps; ++i) {",
        *_indented(held.lines, 2),
        *_indented(_assigned(states, held.outputs(), number), 2),
        "    }",
        "}",
    ]
    parameters = (
        "const long long count, const int steps, const int every, const int substeps, "
        f"const {number} *__restrict__ prescribed, const {number} *__restrict__ fixed, {number} *__restrict__ records"
    ) + "".join(
        f", const {number} *__restrict__ state{k}, const long long state{k}_row, const long long state{k}_step"
        for k in range(loop.state)
    )
    head = f'extern "C" __global__ void __launch_bounds__({BLOCK}) loop({parameters})'
    body = "".join(f"    {line}\n" for line in lines)
    return ESTIMATES + functions(step.called | held.called, DIALECT, bits, PREFIX) + f"\n{head}\n{{\n{body}}}\n"


def _assigned(names: list[str], values: list[str], number: str) -> list[str]:
    """All at once: a value may depend on the state before."""
    new = [f"const {number} new_{name} = {value};" for name, value in zip(names, values, strict=True)]
    return [*new, *(f"{name} = new_{name};" for name in names)]


def _indented(lines: Iterable[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
