"""The formulations by which inverse dynamics of a robot can be computed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tauforge.algebra.scalars import Scalars
from tauforge.arrays import Array
from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.arguments import ON_SINGULAR
from tauforge.evaluation.functions import choices, flat, results_of
from tauforge.evaluation.unmodified import ours
from tauforge.robots.capabilities import Capability
from tauforge.tracing.graph import trace

FORMULATION, INVERSE, WRENCH = "formulation", "inverse_dynamics", "external_wrench"


class Simplification(NamedTuple):
    """A published model of a robot with one thing wrong and everything else right.

    name:        what is wrong in it
    source:      where it is printed
    model:       the formulation that has it
    corrections: what is put right in that formulation
    """

    name: str
    source: str
    model: str
    corrections: tuple[str, ...]


class CountedFormula(NamedTuple):
    """The formula of inverse dynamics whose operations are counted.

    formula: formula(*lists of scalars), nested sequences of scalars
    sizes:   how many numbers each of its arguments has, by name
    """

    formula: Callable[..., Any]
    sizes: dict[str, int]


@ours
class Formulations(Capability):
    """The names by which inverse dynamics can be computed, in the order of tables: it is a collection of them.

    option: the option of the table's entry that chooses; methods, kernels and specifications take formulation=, too
    """

    names: tuple[str, ...] = ("own",)
    option = FORMULATION

    def __init__(self, robot: Any) -> None:
        super().__init__(robot)
        self._spellings: dict[str, dict[str, str]] = {}  # by function: common keywords and those of its entry

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def default(self) -> str:
        """The one of a plain call."""
        return self.names[0]

    def taking(self, loads: Collection[str]) -> tuple[str, ...]:
        """Those that take all of these loads, such as "base_motion"."""
        return self.names

    def check(self, name: object) -> None:
        """UnsupportedFeatureError unless it is one of the names."""
        if name not in self.names:
            remedy = f"Use one of {', '.join(self.names)}"
            raise UnsupportedFeatureError(f"unknown {self.option} {name!r}", field=self.option, remedy=remedy)

    @property
    def take_wrench(self) -> bool:
        """True if inverse dynamics takes an external wrench."""
        return any(WRENCH in (load.name, load.also) for load in self.robot.functions[INVERSE].optional)

    def in_own_words(self, function: str, named: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords of a call in the words of the table's entry; a formulation that cannot be chosen is only checked."""
        found, spellings = dict(named), self._spellings.get(function)
        if spellings is None:
            optional = self.robot.functions[function].optional
            spellings = self._spellings[function] = {load.also: load.name for load in optional if load.also}
            if self.option != FORMULATION:
                spellings[FORMULATION] = self.option
        for common, own in spellings.items():
            if (value := found.pop(common, None)) is not None:
                if found.get(own) is not None:
                    raise UnsupportedFeatureError(
                        f"{common}= and {own}= are one argument of {function}", field=common, remedy="Give one of them"
                    )
                found[own] = value
        if self.option in found and found[self.option] is None:  # as in a plain call
            del found[self.option]
        elif self.option in found:
            self.check(found[self.option])
            if function == INVERSE and self.option not in self.robot.functions[function].options:
                del found[self.option]
        return found

    # ------------------------------------------------------------------------------------ what papers say about them

    @property
    def simplifications(self) -> tuple[Simplification, ...]:
        """Published models of the robot that have one thing wrong and everything else right."""
        return ()

    @property
    def general_arm(self) -> int | None:
        """n where they are those of the general serial arm with n joints, whose costs papers give."""
        return None

    def check_counted(self, unknown: Collection[str]) -> None:
        """UnsupportedFeatureError where options are given that operation counts do not know, such as loads."""
        if unknown:
            problem = f"operations of {self.robot.name} are counted without {', '.join(sorted(unknown))}"
            raise UnsupportedFeatureError(problem, field="options", remedy="Leave them out")

    def counted(self, name: str | None = None, **options: Any) -> CountedFormula:
        """The formula of inverse dynamics, with the robot's own parameters, for operation counts.

        name:    default that of a plain call
        options: further options of inverse dynamics
        """
        robot = self.robot
        robot.check_function(INVERSE)
        function = robot.functions[INVERSE]
        chosen = {**function.options, **robot._check_options(INVERSE, {**options, FORMULATION: name})}
        self.check_counted(chosen.keys() - function.options.keys())
        sizes = {argument.name: argument.numbers for argument in function.arguments}

        def formula_with(way: dict[str, Any], *state: Scalars) -> Any:
            return results_of(function.formula(robot.model, **dict(zip(sizes, state, strict=True)), **way))

        def operations(formula: Callable[..., Any]) -> int:
            return sum(1 for node in trace(lambda *state: flat(formula(*state)), sizes).nodes if node.args)

        ways = [partial(formula_with, way) for way in choices(chosen)]  # the kernels take the best of them, too
        return CountedFormula(min(ways, key=operations) if len(ways) > 1 else ways[0], sizes)


def forces_by_rows(robot: Any, position: Array, velocity: Array, acceleration: Array, **loads: Any) -> Array:
    """inverse_dynamics; in a batch a row without an answer is NaN and does not stop the others."""
    guarded = robot.functions[INVERSE].guard is not None
    rows = {ON_SINGULAR: "nan"} if guarded and np.ndim(position) > 1 else {}
    found: Array = robot.inverse_dynamics(position, velocity, acceleration, **rows, **loads)
    return found
