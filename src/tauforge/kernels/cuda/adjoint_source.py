"""The way back through many steps in one CUDA kernel: gradients by initial states and by everything that a step takes.

The records of the steps (`loop_source`) are the checkpoints. A thread walks from the last to the first. Where there is
a checkpoint for every step of the integrator it reads the states from there; otherwise it computes the states between
two checkpoints again and keeps them in a scratch array. Within a step it computes the four stages of Runge-Kutta, and
then pulls the gradient back through them in a loop, so that the code of each function occurs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.kernels.c_source.numbers import literal, number_type
from tauforge.kernels.c_source.statements import Statements, functions
from tauforge.kernels.cuda.loop_source import BLOCK, Loop, added_parameters, indented, inputs_of
from tauforge.kernels.cuda.source import DIALECT, ESTIMATES, PREFIX
from tauforge.kernels.specification import Specification

STAGES = 4


class Adjoint(NamedTuple):
    """The functions of a step and of the way back. The state is a position and a velocity with as many numbers.

    loop:                what was repeated
    law:                 state, prescribed, added, fixed -> forces; the forces are what is recorded beside the state
    law_pulled_back:     the same and the gradient by the forces -> gradients by state and some of what is fixed
    acceleration:        state, forces, fixed -> rates of the velocity
    acceleration_pulled_back: state, forces, fixed, acceleration, gradient by it -> gradients by state, forces and some
                         of what is fixed
    steered:             names of what is fixed by which the law has a gradient
    moved:               names of what is fixed by which the acceleration has a gradient
    """

    loop: Loop
    law: Specification
    law_pulled_back: Specification
    acceleration: Specification
    acceleration_pulled_back: Specification
    steered: tuple[str, ...]
    moved: tuple[str, ...]

    @property
    def identity(self) -> str:
        """A text that determines the kernel."""
        parts = (self.loop, self.law, self.law_pulled_back, self.acceleration, self.acceleration_pulled_back)
        return " ".join(part.identity for part in parts)


def adjoint_source(adjoint: Adjoint, bits: int, h: float, *, again: bool) -> str:
    """The source of `extern "C" __global__ way_back(count, first, width, steps, spacing, every, substeps, ...)`.

    again: whether states between checkpoints are computed again; without, spacing and substeps must be 1
    Threads first to first + width of count run. Checkpoints come every `spacing` steps, gradients by records every
    `every`; both are (k, numbers, count). Gradients by the state are (numbers, count), by what is fixed likewise, by
    what is added (steps, numbers, count); the scratch is (spacing * substeps, numbers, width).
    """
    return _Writer(adjoint, bits, h, again).source()


class _Writer:
    def __init__(self, adjoint: Adjoint, bits: int, h: float, again: bool) -> None:
        self.adjoint, self.loop, self.bits, self.h, self.again = adjoint, adjoint.loop, bits, h, again
        self.number = number_type(bits)
        self.size, self.forces = len(self.loop.states), self.loop.recorded
        self.half = self.size // 2
        self.width = self.size + self.forces  # of a record
        self.called: set[str] = set()
        self.places = self.loop.places("count", "own")

    def source(self) -> str:
        fixed, number = self.loop.fixed, self.number
        lines = [
            f"const long long local = (long long)blockIdx.x * {BLOCK} + threadIdx.x;",
            "if (local >= width) return;",
            "const long long own = first + local;",
            f"{number} bar[{self.size}], force_bar[{self.forces}];",
            *(f"bar[{k}] = {self._zero};" for k in range(self.size)),
            *(f"{number} fixed_bar{k} = {self._zero};" for k in range(len(fixed))),
            "int kept = (steps + every - 1) / every;",
            "#pragma unroll 1",
            "for (int k = steps; k >= 0; --k) {",
            *indented(self._instant(), 1),
            "}",
            *(f"state_bars[{k} * count + own] = bar[{k}];" for k in range(self.size)),
            *(f"fixed_bars[{k} * count + own] = fixed_bar{k};" for k in range(len(fixed))),
        ]
        head = f'extern "C" __global__ void __launch_bounds__({BLOCK}) way_back({self._parameters()})'
        body = "".join(f"    {line}\n" for line in lines)
        return ESTIMATES + functions(self.called, DIALECT, self.bits, PREFIX) + f"\n{head}\n{{\n{body}}}\n"

    def _parameters(self) -> str:
        number = self.number
        integers = ", ".join(f"const int {name}" for name in ("width", "steps", "spacing", "every", "substeps"))
        read = ", ".join(f"const {number} *__restrict__ {x}" for x in ("prescribed", "fixed", "records", "record_bars"))
        written = ", ".join(f"{number} *__restrict__ {x}" for x in ("state_bars", "fixed_bars", "added_bars"))
        scratch = f", {number} *scratch" if self.again else ""
        added = added_parameters(self.loop, number)
        return f"const long long count, const long long first, {integers}, {read}, {written}{scratch}{added}"

    @property
    def _zero(self) -> str:
        return literal(0.0, self.bits)

    def _instant(self) -> list[str]:
        """The step that begins at instant k, then the law and the records there."""
        number, n = self.number, self.size
        lines = [
            f"const {number} *__restrict__ target = prescribed + (long long)k * {len(self.loop.targets)};",
            *(f"force_bar[{j}] = {self._zero};" for j in range(self.forces)),
            f"{number} start[{n}], force[{self.forces}];",
        ]
        if self.again:
            lines += [
                "if (k < steps && (k == steps - 1 || (k + 1) % spacing == 0)) {",
                *indented(self._states_again(), 1),
                "}",
                "const int slot = k % spacing * substeps;",
                "#pragma unroll 1",
                "for (int i = k < steps ? substeps - 1 : -1; i >= 0; --i) {",
                *indented(self._loaded("scratch", "(long long)(slot + i)", "width", "local"), 1),
                *indented(self._step_back(), 1),
                "}",
                "if (k == steps) {",
                *indented(self._loaded("records", "(long long)((steps + spacing - 1) / spacing)", "count", "own"), 1),
                "}",
            ]
        else:
            lines += [
                *self._loaded("records", "(long long)k", "count", "own"),
                "if (k < steps) {",
                *indented(self._step_back(), 1),
                "}",
            ]
        lines += [
            "const bool is_kept = k % every == 0 || k == steps;",
            f"const long long place = (long long)kept * {self.width} * count + own;",
            "if (is_kept) {",
            *(f"    force_bar[{j}] += record_bars[place + {n + j} * count];" for j in range(self.forces)),
            "}",
        ]
        if self.loop.added:
            element = f"added_bars[((long long)k * {self.forces} + {{}}) * count + own]"
            lines += [f"if (k < steps) {element.format(j)} = force_bar[{j}];" for j in range(self.forces)]
        lines += [
            *self._law_back(),
            "if (is_kept) {",
            *(f"    bar[{j}] += record_bars[place + {j} * count];" for j in range(n)),
            "    --kept;",
            "}",
        ]
        return lines

    def _loaded(self, array: str, place: str, count: str, own: str) -> list[str]:
        """A record into start and force."""
        names = [f"start[{j}]" for j in range(self.size)] + [f"force[{j}]" for j in range(self.forces)]
        return [f"{x} = {array}[({place} * {self.width} + {j}) * {count} + {own}];" for j, x in enumerate(names)]

    def _states_again(self) -> list[str]:
        """From the checkpoint before k to the last state that begins a step of the integrator in its segment."""
        number = self.number
        law = self._statements(self.adjoint.law, self.loop.states, [f"now[{j}]" for j in range(self.size)])
        return [
            "const int checkpoint = k / spacing, last = k;",
            f"{number} now[{self.size}];",
            *(
                f"now[{j}] = records[((long long)checkpoint * {self.width} + {j}) * count + own];"
                for j in range(self.size)
            ),
            "#pragma unroll 1",
            "for (int k = checkpoint * spacing; k <= last; ++k) {",
            f"    const {number} *__restrict__ target = prescribed + (long long)k * {len(self.loop.targets)};",
            f"    {number} f[{self.forces}];",
            "    {",
            *indented(law.lines, 2),
            *indented((f"f[{j}] = {x};" for j, x in enumerate(law.outputs())), 2),
            "    }",
            "    #pragma unroll 1",
            "    for (int i = 0; i < substeps; ++i) {",
            "        const long long slot = (long long)(k % spacing) * substeps + i;",
            *(
                f"        scratch[(slot * {self.width} + {j}) * width + local] = {x};"
                for j, x in enumerate(
                    [*(f"now[{j}]" for j in range(self.size)), *(f"f[{j}]" for j in range(self.forces))]
                )
            ),
            *indented(self._stages("now", "f", keep=False), 2),
            "    }",
            "}",
        ]

    def _stages(self, start: str, force: str, *, keep: bool) -> list[str]:
        """The stages of Runge-Kutta from `start`; kept with their accelerations, or added up to the state after it."""
        n, half, number = self.size, self.half, self.number
        acceleration = self._statements(
            self.adjoint.acceleration,
            [*self.loop.states, *inputs_of(self.adjoint.acceleration.arguments[self.loop.state : self.loop.state + 1])],
            [*(f"stage[{j}]" for j in range(n)), *(f"{force}[{j}]" for j in range(self.forces))],
        )
        lines = [
            f"{number} stage[{n}], rate[{half}];",
            *(f"stage[{j}] = {start}[{j}];" for j in range(n)),
            *([] if keep else [f"{number} total[{n}];", *(f"total[{j}] = {start}[{j}];" for j in range(n))]),
            "#pragma unroll 1",
            f"for (int s = 0; s < {STAGES}; ++s) {{",
            "    {",
            *indented(acceleration.lines, 2),
            *indented((f"rate[{j}] = {x};" for j, x in enumerate(acceleration.outputs())), 2),
            "    }",
        ]
        if keep:
            lines += [f"    stages[s][{j}] = stage[{j}];" for j in range(n)]
            lines += [f"    rates[s][{j}] = rate[{j}];" for j in range(half)]
        else:
            lines += [f"    const {number} weight = {self._weight};"]
            for j in range(half):
                lines += [
                    f"    total[{j}] += weight * stage[{half + j}];",
                    f"    total[{half + j}] += weight * rate[{j}];",
                ]
        lines += [f"    const {number} ahead = {self._ahead};"]
        for j in range(half):
            lines += [f"    stage[{j}] = {start}[{j}] + ahead * stage[{half + j}];"]
            lines += [f"    stage[{half + j}] = {start}[{half + j}] + ahead * rate[{j}];"]
        lines += ["}"]
        return lines if keep else [*lines, *(f"{start}[{j}] = total[{j}];" for j in range(n))]

    @property
    def _weight(self) -> str:
        """The share of stage s in the sum."""
        return f"s == 0 || s == 3 ? {literal(self.h / 6, self.bits)} : {literal(self.h / 3, self.bits)}"

    @property
    def _ahead(self) -> str:
        """From the start to stage s + 1; meaningless for the last."""
        return f"s < 2 ? {literal(self.h / 2, self.bits)} : {literal(self.h, self.bits)}"

    def _step_back(self) -> list[str]:
        """From the gradient by the state after a step to that by the state before it."""
        n, half, number, loop = self.size, self.half, self.number, self.loop
        pulled = self.adjoint.acceleration_pulled_back
        own_inputs = [inputs_of([argument]) for argument in pulled.arguments]
        force_names, rate_names, bar_names = own_inputs[loop.state], own_inputs[-2], own_inputs[-1]
        back = self._statements(
            pulled,
            [*loop.states, *force_names, *rate_names, *bar_names],
            [
                *(f"stages[s][{j}]" for j in range(n)),
                *(f"force[{j}]" for j in range(self.forces)),
                *(f"rates[s][{j}]" for j in range(half)),
                *(f"stage_bar[{half + j}]" for j in range(half)),
            ],
        )
        outputs = back.outputs()
        fixed_places = [loop.fixed.index(name) for name in self.adjoint.moved]
        return [
            f"{number} stages[{STAGES}][{n}], rates[{STAGES}][{half}], later[{n}], before[{n}];",
            "{",
            *indented(self._stages("start", "force", keep=True), 1),
            "}",
            *(f"later[{j}] = {self._zero}; before[{j}] = bar[{j}];" for j in range(n)),
            "#pragma unroll 1",
            f"for (int s = {STAGES - 1}; s >= 0; --s) {{",
            f"    const {number} weight = {self._weight}, ahead = {self._ahead};",
            f"    {number} stage_bar[{n}];",
            *(f"    stage_bar[{j}] = weight * bar[{j}] + ahead * later[{j}];" for j in range(n)),
            *indented(back.lines, 1),
            *(f"    later[{j}] = {outputs[j]};" for j in range(half)),
            *(f"    later[{half + j}] = stage_bar[{j}] + {outputs[half + j]};" for j in range(half)),
            *(f"    before[{j}] += later[{j}];" for j in range(n)),
            *(f"    force_bar[{j}] += {outputs[n + j]};" for j in range(self.forces)),
            *(f"    fixed_bar{k} += {outputs[n + self.forces + j]};" for j, k in enumerate(fixed_places)),
            "}",
            *(f"bar[{j}] = before[{j}];" for j in range(n)),
        ]

    def _law_back(self) -> list[str]:
        pulled = self.adjoint.law_pulled_back
        bar_names = inputs_of(pulled.arguments[-1:])
        back = self._statements(
            pulled,
            [*self.loop.states, *bar_names],
            [*(f"start[{j}]" for j in range(self.size)), *(f"force_bar[{j}]" for j in range(self.forces))],
        )
        outputs = back.outputs()
        places = [self.loop.fixed.index(name) for name in self.adjoint.steered]
        return [
            "{",
            *indented(back.lines, 1),
            *(f"    bar[{j}] += {outputs[j]};" for j in range(self.size)),
            *(f"    fixed_bar{k} += {outputs[self.size + j]};" for j, k in enumerate(places)),
            "}",
        ]

    def _statements(self, specification: Specification, names: Sequence[str], values: Sequence[str]) -> Statements:
        inputs = self.places | dict(zip(names, values, strict=True))
        made = Statements(specification.graph, inputs, DIALECT, self.bits, PREFIX)
        self.called |= made.called
        return made
