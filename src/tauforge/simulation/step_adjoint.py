"""Formulas of the reverse pass through a rollout: gradients by what a step and its law were given."""

from __future__ import annotations

import math

from tauforge.algebra.scalars import Scalar
from tauforge.control.law_graph import Columns, named
from tauforge.evaluation.unmodified import is_unmodified
from tauforge.kernels.specification import Specification, inputs_of
from tauforge.robots.state_space import PlainFormulas, formula_results
from tauforge.simulation.step_formulas import FORCE, Formula, Scalars, Shapes, StepFormulas, traced
from tauforge.tracing.differentiation import pulled_back

ACCELERATION = "acceleration"
BAR = "_bar"  # ends the name of the gradient by a quantity


class StepAdjoint(StepFormulas):
    """The specifications of a step, and those that pull gradients back through it."""

    @property
    def _dynamics_arguments(self) -> Shapes:
        return self.state | {FORCE: self.forces_shape} | self.fields

    def law_pulled_back(self, wanted: Shapes) -> Specification:
        """State, memory, targets, gains, `bent`, limits, and the gradients by the forces and by the memory of the next
        instant -> gradients by what is wanted of all these.
        """
        arguments = self.state | self.memory | self.targets | self.gains | self.bent | self.limits
        name = f"law_pulled_back_to_{'_'.join(wanted)}"

        def formula(**given: Scalars) -> list[Scalar]:
            answer, memory = self._answered(given)
            return [*answer[: len(self._plant.actuators)], *memory]

        return self._pulled_back(name, formula, arguments, {FORCE: self.forces_shape, **self.memory}, wanted, law=True)

    @property
    def bent(self) -> Shapes:
        """Added forces where they do not simply add to the law's: limits and a memory see the sum."""
        return self.added if self.limits or self.memory else {}

    def acceleration(self) -> Specification:
        """State, forces, fields -> acceleration."""
        forward = self._dynamics("forward_dynamics", FORCE)
        return self._specified(ACCELERATION, forward, self._dynamics_arguments, (self.state["qd"],))

    def acceleration_pulled_back(self) -> Specification:
        """State, forces, fields, the acceleration and the gradient by it -> the gradients by state, forces and fields.

        The gradient by the forces is pulled back through forward dynamics. Because inverse_dynamics(q, qd, a) gives the
        same forces, the other gradients are -1 times that one, pulled back through inverse dynamics. This takes two
        thirds of the operations. Robots of other classes than ours, or with fewer actuators than coordinates, have all
        gradients pulled back through forward dynamics.
        """
        arguments = self._dynamics_arguments | dict.fromkeys((ACCELERATION, ACCELERATION + BAR), self.state["qd"])
        results = tuple(self._dynamics_arguments.values())
        return self._specified("acceleration_pulled_back", self._acceleration_bars, arguments, results)

    def rates_pulled_back(self) -> Specification:
        """State, forces, fields, the state's rates and the gradient by these -> gradients by state, forces and fields.

        The rates serve plain states (`acceleration_pulled_back`).
        """
        arguments = self.state | self.forces | self.fields
        bars = {name + BAR: core for name, core in self.state.items()}

        def formula(**given: Scalars) -> list[Scalar]:
            model, loads = self._model(given)
            return self._space.rates(model, self._y(given), given.get(FORCE, []), loads).values

        def back(**given: Scalars) -> list[Scalar]:
            slopes, by = ([given.pop(name) for name in names] for names in (self.slopes(), bars))
            if type(self._space) is PlainFormulas:
                found = self._acceleration_bars(slopes[1], by[1], **({FORCE: []} | given))
                n = self._plant.n
                return [*found[:n], *(x + bar for x, bar in zip(found[n : 2 * n], by[0], strict=True)), *found[2 * n :]]
            return gradients(formula, arguments, given, [x for part in by for x in part], arguments)

        return self._specified("rates_pulled_back", back, arguments | self.slopes() | bars, tuple(arguments.values()))

    def renewal_pulled_back(self) -> Specification:
        """State before it is renewed and the gradient by the one after it -> gradient by the state before."""

        def formula(**given: Scalars) -> list[Scalar]:
            return self._space.renewed(self._plant.model, self._y(given)).values

        return self._pulled_back("renewal_pulled_back", formula, self.state, self.state)

    def packed_pulled_back(self) -> Specification:
        """Position, velocity and the gradient by the state -> gradients by position and velocity."""
        return self._pulled_back("packed_pulled_back", self._packed, self._position_and_velocity, self.state)

    def unpacked_pulled_back(self) -> Specification:
        """State and the gradients by position and velocity -> gradient by the state."""
        return self._pulled_back("unpacked_pulled_back", self._unpacked, self.state, self._position_and_velocity)

    def _pulled_back(
        self,
        name: str,
        formula: Formula,
        arguments: Shapes,
        results_: Shapes,
        wanted: Shapes | None = None,
        *,
        law: bool = False,
    ) -> Specification:
        """Arguments and gradients by the results -> gradients by what is wanted of the arguments, by default all."""
        bars = {f"{result}{BAR}": core for result, core in results_.items()}
        found = arguments if wanted is None else wanted

        def back(**given: Scalars) -> list[Scalar]:
            by = [x for bar in bars for x in given.pop(bar)]
            return gradients(formula, arguments, given, by, found)

        return self._specified(name, back, arguments | bars, tuple(found.values()), law=law)

    def _dynamics(self, name: str, last: str) -> Formula:
        """Forward or inverse dynamics. last: its argument after the state"""

        def formula(**given: Scalars) -> list[Scalar]:
            model, loads = self._model(given)
            return formula_results(self._plant, name, model, given["q"], given["qd"], given[last], loads=loads)

        return formula

    def _acceleration_bars(self, acceleration: Scalars, acceleration_bar: Scalars, **given: Scalars) -> list[Scalar]:
        """By `acceleration_pulled_back`."""
        plant, arguments, forces = self._plant, self._dynamics_arguments, {FORCE: self.forces_shape}
        forward = self._dynamics("forward_dynamics", FORCE)
        # whether inverse dynamics gives the forces that forward dynamics takes
        if not (is_unmodified(plant) and "inverse_dynamics" in plant.functions and self.forces_shape == (plant.n,)):
            return gradients(forward, arguments, given, acceleration_bar, arguments)
        force_bar = gradients(forward, arguments, given, acceleration_bar, forces)
        others = self.state | self.fields
        known = self.state | {ACCELERATION: self.state["qd"]} | self.fields
        inverse = self._dynamics("inverse_dynamics", ACCELERATION)
        given = {name: given[name] for name in others} | {ACCELERATION: acceleration}
        bars = iter(gradients(inverse, known, given, [-x for x in force_bar], others))
        by = {name: [next(bars) for _ in range(math.prod(core))] for name, core in others.items()}
        return [bar for name in arguments for bar in (force_bar if name == FORCE else by[name])]


def gradients(formula: Formula, arguments: Shapes, given: Columns, bars: Scalars, wanted: Shapes) -> list[Scalar]:
    """By what is wanted of a formula's arguments, from those by its results."""
    return pulled_back(traced(formula, arguments), named(given), inputs_of(wanted.items()), bars)[1]
