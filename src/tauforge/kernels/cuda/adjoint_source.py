"""The way back through many steps in one CUDA kernel: gradients by initial states and by what the dynamics take.

A thread reads the states that `loop_source` recorded before every step of the integrator, and walks from the last to
the first. For each step it computes the four stages of Runge-Kutta again, and then pulls the gradient back through them
in a loop, so that the code of each function occurs once. Gradients by the gains of the law come from a kernel of their
own (`gains_source`), because their sums would take the registers that this one needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tauforge.kernels.c_common import Statements, literal, number_type
from tauforge.kernels.cuda.dialect import BLOCK_THREADS, DIALECT, kernel_text
from tauforge.kernels.cuda.loop_source import Loop, given_again, indented
from tauforge.kernels.specification import Specification, inputs_of


class Adjoint(NamedTuple):
    """The functions of the way back. The state is a position and a velocity with as many numbers.

    loop:            what was repeated; the forces are what it records beside the state
    law:             state, prescribed, fixed, gradient by the forces -> gradient by the state
    gains:           state, prescribed, fixed, gradient by the forces -> gradient by `steering`
    acceleration:    state, forces, fixed -> rates of the velocity
    dynamics:        state, forces, fixed, acceleration, gradient by it -> gradients by state, forces and `moving`
    steering:        inputs among what is fixed by which the law has a gradient
    moving:          inputs among what is fixed by which the acceleration has a gradient
    ahead:           s, from the start of a step to each stage of Runge-Kutta but the first
    weights:         s, of each stage in the sum
    """

    loop: Loop
    law: Specification
    gains: Specification
    acceleration: Specification
    dynamics: Specification
    steering: tuple[str, ...]
    moving: tuple[str, ...]
    ahead: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def identity(self) -> str:
        """A text that determines the kernels."""
        parts = (self.loop, self.law, self.gains, self.acceleration, self.dynamics)
        return " ".join(part.identity for part in parts)


def adjoint_source(adjoint: Adjoint, bits: int) -> str:
    """The source of `extern "C" __global__ way_back(count, begin, end, steps, every, substeps, ...)`.

    It walks from instant `end`, of `steps` instants, to `begin`. What is prescribed and fixed is that of the loop; the
    states are its records from `begin` on, before every step of the integrator, (k, numbers, count). Gradients by the
    loop's own records, every `every` steps and at the end, are (k, numbers, count). Gradients by the state and by what
    is fixed are (numbers, count); they are added to, so that parts of a way can follow one another. Those by what is
    added in every step are (steps, numbers, count), those by the forces from `begin` on (k, numbers, count).
    """
    return _Writer(adjoint, bits).source()


class _Writer:
    def __init__(self, adjoint: Adjoint, bits: int) -> None:
        self.adjoint, self.loop, self.bits, self.number = adjoint, adjoint.loop, bits, number_type(bits)
        self.size, self.forces = len(self.loop.states), self.loop.recorded
        self.half, self.width = self.size // 2, self.size + self.forces
        self.zero, self.fma = literal(0.0, bits), DIALECT.calls[bits]["fma"]
        self.stages = len(adjoint.weights)
        self.weight = _chosen(adjoint.weights, bits)
        self.ahead = _chosen((*adjoint.ahead, 0.0), bits)  # from the start to the next stage
        self.reached = _chosen((0.0, *adjoint.ahead), bits)  # to this one
        self.reached_before = _chosen((0.0, 0.0, *adjoint.ahead[:-1]), bits)  # to the one before it
        self.called: set[str] = set()

    def source(self) -> str:
        number, fixed = self.number, [self.loop.fixed.index(name) for name in self.adjoint.moving]
        lines = [
            f"const long long own = (long long)blockIdx.x * {BLOCK_THREADS} + threadIdx.x;",
            "if (own >= count) return;",
            f"{number} bar[{self.size}], force_bar[{self.forces}];",
            *(f"bar[{j}] = state_bars[{j} * count + own];" for j in range(self.size)),
            *(f"{number} fixed_bar{j} = fixed_bars[{j} * count + own];" for j in fixed),
            f"{number} taint = {self.zero};",  # NaN from the first state on that is: a row that ran away
            "#pragma unroll 1",
            "for (int k = end == steps ? steps : end - 1; k >= begin; --k) {",
            *indented(self._instant(), 1),
            "}",
            *(f"state_bars[{j} * count + own] = bar[{j}];" for j in range(self.size)),
            *(f"fixed_bars[{j} * count + own] = fixed_bar{j} + taint;" for j in fixed),
        ]
        integers = ", ".join(f"const int {name}" for name in ("begin", "end", "steps", "every", "substeps"))
        read = ", ".join(f"const {number} *__restrict__ {x}" for x in ("prescribed", "fixed", "states", "record_bars"))
        bars = ("state_bars", "fixed_bars", "added_bars", "force_bars")
        written = ", ".join(f"{number} *__restrict__ {x}" for x in bars)
        parameters = f"const long long count, {integers}, {read}, {written}"
        return kernel_text("way_back", parameters, lines, self.called, self.bits)

    def _instant(self) -> list[str]:
        """The steps that begin at instant k, then the law and the records there."""
        lines = [
            f"const {self.number} *__restrict__ target = prescribed + (long long)k * {len(self.loop.targets)};",
            *given_again(self.number),
            *(f"force_bar[{j}] = {self.zero};" for j in range(self.forces)),
            f"{self.number} start[{self.size}], force[{self.forces}];",
            "#pragma unroll 1",
            "for (int i = k < steps ? substeps - 1 : 0; i >= 0; --i) {",
            f"    const long long state = ((long long)(k - begin) * substeps + i) * {self.width} * count + own;",
            *(f"    start[{j}] = states[state + {j} * count];" for j in range(self.size)),
            *(f"    force[{j}] = states[state + {self.size + j} * count];" for j in range(self.forces)),
            *(f"    taint = {self.fma}(start[{j}], {self.zero}, taint);" for j in range(self.size)),
            "    if (k < steps) {",
            *indented(self._step_back(), 2),
            "    }",
            "}",
            *(f"bar[{j}] += taint;" for j in range(self.size)),
            *(f"force_bar[{j}] += taint;" for j in range(self.forces)),
            "const bool is_kept = k % every == 0 || k == steps;",
            f"const long long record = (long long)((k + every - 1) / every) * {self.width} * count + own;",
            "if (is_kept) {",
            *(f"    force_bar[{j}] += record_bars[record + {self.size + j} * count];" for j in range(self.forces)),
            "}",
        ]
        if self.loop.added:
            place = f"added_bars[((long long)k * {self.forces} + {{}}) * count + own]"
            lines += [f"if (k < steps) {place.format(j)} = force_bar[{j}];" for j in range(self.forces)]
        if self.adjoint.steering:
            place = f"force_bars[((long long)(k - begin) * {self.forces} + {{}}) * count + own]"
            lines += [f"{place.format(j)} = force_bar[{j}];" for j in range(self.forces)]
        return [
            *lines,
            *self._law_back(),
            "if (is_kept) {",
            *(f"    bar[{j}] += record_bars[record + {j} * count];" for j in range(self.size)),
            "}",
        ]

    def _step_back(self) -> list[str]:
        """From the gradient by the state after a step to that by the state before it (`rk4_pulled_back`)."""
        n, half, number, loop = self.size, self.half, self.number, self.loop
        dynamics = self.adjoint.dynamics
        *_, rate_names, bar_names = (inputs_of([argument]) for argument in dynamics.arguments)
        back = self._statements(
            dynamics,
            [*loop.states, *self._force_names(dynamics), *rate_names, *bar_names],
            [
                *(f"stage[{j}]" for j in range(n)),
                *(f"force[{j}]" for j in range(self.forces)),
                *(f"rates[s][{j}]" for j in range(half)),
                *(f"stage_bar[{half + j}]" for j in range(half)),
            ],
        )
        outputs = back.outputs()
        places = [loop.fixed.index(name) for name in self.adjoint.moving]
        return [
            f"{number} rates[{self.stages}][{half}], later[{n}], before[{n}];",
            *self._stages(),
            *(f"later[{j}] = {self.zero}; before[{j}] = bar[{j}];" for j in range(n)),
            "#pragma unroll 1",
            f"for (int s = {self.stages - 1}; s >= 0; --s) {{",
            f"    const {number} weight = {self.weight}, ahead = {self.ahead};",
            *indented(self._stage_again(), 1),
            f"    {number} stage_bar[{n}];",
            *(f"    stage_bar[{j}] = weight * bar[{j}] + ahead * later[{j}];" for j in range(n)),
            *indented(back.lines, 1),
            *(f"    later[{j}] = {outputs[j]};" for j in range(half)),
            *(f"    later[{half + j}] = stage_bar[{j}] + {outputs[half + j]};" for j in range(half)),
            *(f"    before[{j}] += later[{j}];" for j in range(n)),
            *(f"    force_bar[{j}] += {outputs[n + j]};" for j in range(self.forces)),
            *(f"    fixed_bar{k} += {outputs[n + self.forces + j]};" for j, k in enumerate(places)),
            "}",
            *(f"bar[{j}] = before[{j}];" for j in range(n)),
        ]

    def _stage_again(self) -> list[str]:
        """The state of stage s from the accelerations of the stages before: less to keep than all states.

        Each stage starts from the acceleration of the one before it, as in the classical method.
        """
        half, number = self.half, self.number
        lines = [
            f"const {number} reached = {self.reached}, reached_before = {self.reached_before};",
            "const int last = s > 0 ? s - 1 : 0, last_but_one = s > 1 ? s - 2 : 0;",
            f"{number} stage[{self.size}];",
        ]
        for j in range(half):
            velocity = f"start[{half + j}]"
            lines += [
                f"stage[{j}] = start[{j}] + reached * ({velocity} + reached_before * rates[last_but_one][{j}]);",
                f"stage[{half + j}] = {velocity} + reached * rates[last][{j}];",
            ]
        return lines

    def _stages(self) -> list[str]:
        """The accelerations of the stages of Runge-Kutta."""
        n, half, number = self.size, self.half, self.number
        acceleration = self._statements(
            self.adjoint.acceleration,
            [*self.loop.states, *self._force_names(self.adjoint.acceleration)],
            [*(f"stage[{j}]" for j in range(n)), *(f"force[{j}]" for j in range(self.forces))],
        )
        lines = [
            f"{number} stage[{n}];",
            *(f"stage[{j}] = start[{j}];" for j in range(n)),
            "#pragma unroll 1",
            f"for (int s = 0; s < {self.stages}; ++s) {{",
            f"    const {number} ahead = {self.ahead};",
            *indented(acceleration.lines, 1),
        ]
        for j, rate in enumerate(acceleration.outputs()):
            lines += [
                f"    rates[s][{j}] = {rate};",
                f"    stage[{j}] = start[{j}] + ahead * stage[{half + j}];",
                f"    stage[{half + j}] = start[{half + j}] + ahead * {rate};",
            ]
        return ["{", *indented([*lines, "}"], 1), "}"]

    def _law_back(self) -> list[str]:
        law = self.adjoint.law
        back = self._statements(
            law,
            [*self.loop.states, *inputs_of(law.arguments[-1:])],
            [*(f"start[{j}]" for j in range(self.size)), *(f"force_bar[{j}]" for j in range(self.forces))],
        )
        added = [f"    bar[{j}] += {bar};" for j, bar in enumerate(back.outputs())]
        return ["{", *indented(back.lines, 1), *added, "}"]

    def _force_names(self, specification: Specification) -> list[str]:
        """The inputs after the state."""
        return inputs_of(specification.arguments[self.loop.state : self.loop.state + 1])

    def _statements(self, specification: Specification, names: Sequence[str], values: Sequence[str]) -> Statements:
        inputs = self.loop.places("count", "own") | dict(zip(names, values, strict=True))
        made = Statements(specification.graph, inputs, DIALECT, self.bits)
        self.called |= made.called
        return made


def _chosen(values: Sequence[float], bits: int) -> str:
    """The one of stage s."""
    *others, last = (literal(value, bits) for value in values)
    return " : ".join([*(f"s == {k} ? {value}" for k, value in enumerate(others)), last])


def gains_source(adjoint: Adjoint, bits: int) -> str:
    """The source of `extern "C" __global__ by_gains(count, begin, end, steps, substeps, ...)`: a sum over all instants.

    The way back has left the gradient by the forces of every instant. There are many gains: the sums take registers,
    which are free here. Operands are those of `way_back`; the gradients by gains are added to.
    """
    number, loop, law = number_type(bits), adjoint.loop, adjoint.gains
    size, forces = len(loop.states), loop.recorded
    places = [loop.fixed.index(name) for name in adjoint.steering]
    bars = inputs_of(law.arguments[-1:])
    inputs = loop.places("count", "own") | {name: name for name in (*loop.states, *bars)}
    back = Statements(law.graph, inputs, DIALECT, bits)
    sums = zip(places, back.outputs(), strict=True)
    fma, zero = DIALECT.calls[bits]["fma"], literal(0.0, bits)
    instant = [
        *given_again(number),
        f"const {number} *__restrict__ target = prescribed + (long long)k * {len(loop.targets)};",
        f"const long long state = (long long)(k - begin) * substeps * {size + forces} * count + own;",
        f"const long long force = (long long)(k - begin) * {forces} * count + own;",
        *(f"const {number} {name} = states[state + {j} * count];" for j, name in enumerate(loop.states)),
        *(f"const {number} {name} = force_bars[force + {j} * count];" for j, name in enumerate(bars)),
        *(f"taint = {fma}({name}, {zero}, taint);" for name in bars),
        *back.lines,
        *(f"fixed_bar{k} += {bar};" for k, bar in sums),
    ]
    lines = [
        f"const long long own = (long long)blockIdx.x * {BLOCK_THREADS} + threadIdx.x;",
        "if (own >= count) return;",
        *(f"{number} fixed_bar{j} = fixed_bars[{j} * count + own];" for j in places),
        f"{number} taint = {zero};",  # NaN for a row that ran away: the way back has left NaN
        "#pragma unroll 1",
        "for (int k = end == steps ? steps : end - 1; k >= begin; --k) {",
        *indented(instant, 1),
        "}",
        *(f"fixed_bars[{j} * count + own] = fixed_bar{j} + taint;" for j in places),
    ]
    integers = ", ".join(f"const int {name}" for name in ("begin", "end", "steps", "substeps"))
    read = ", ".join(f"const {number} *__restrict__ {x}" for x in ("prescribed", "fixed", "states", "force_bars"))
    parameters = f"const long long count, {integers}, {read}, {number} *__restrict__ fixed_bars"
    return kernel_text("by_gains", parameters, lines, back.called, bits)
