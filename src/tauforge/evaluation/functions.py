"""Functions of a robot as entries of a table, which serve checking, tracing, compiling and calling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tauforge.algebra.scalars import FoldingScalar, Scalar
from tauforge.arrays import Array
from tauforge.kernels.specification import Shape

if TYPE_CHECKING:
    from tauforge.evaluation.with_functions import WithFunctions

Formula = Callable[..., Any]
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Argument(NamedTuple):
    """An argument of a function.

    name:    the keyword of the formula
    core:    the shape of one state's share; the formula takes it as a flat list of scalars
    meaning: what the numbers are, for the message about a wrong shape; {name} stands for the robot's name
    kind:    a class with `numbers()`, such as Payload, that users give instead of an array
    also:    another keyword of it, which every kind of robot takes
    """

    name: str
    core: Shape
    meaning: str
    kind: type | None = None
    also: str = ""

    @property
    def numbers(self) -> int:
        """Numbers of one state."""
        return math.prod(self.core)


class Doubtful(NamedTuple):
    """Results of the formula of a guarded function, and how doubtful they are.

    doubt: computes a scalar >= 0. A row with a doubt that is not below the guard's limit (or with NaN) is looked at
           closely. It is a function, so that operation counts are of the results alone
    """

    results: Any
    doubt: Callable[[], Scalar]


class Verdict(NamedTuple):
    """The guard's closer look at k doubtful rows.

    refused:   (k,) which rows have no answer
    reasons:   (k,) texts; only that of the first row that is refused is shown
    position:  (k, n) where the robot is
    condition: (k,) condition number of the matrix that has no inverse there; NaN where that is not the reason
    remedy:    what to do about the first row that is refused, or None
    """

    refused: Array
    reasons: list[str]
    position: Array
    condition: Array
    remedy: str | None = None


class Guard(NamedTuple):
    """A guard that keeps singular or absurd results of a function from being returned.

    limit:  of the doubt
    judge:  judge(robot, arguments, results, options) of the doubtful rows, (k, ...) each: those that it refuses raise
            or become NaN
    mend:   mend(robot, arguments) gives better results for the doubtful rows instead
    """

    limit: float
    judge: Callable[[Any, Mapping[str, Array], tuple[Array, ...], Mapping[str, Any]], Verdict] | None = None
    mend: Callable[[Any, Mapping[str, Array]], tuple[Array, ...]] | None = None


class Function(NamedTuple):
    """A public function of a robot.

    formula:   formula(model, **arguments, **options) over any scalar; it returns nested sequences of scalars, or
               `Doubtful` where there is a guard
    arguments: those that every call gives
    results:   core shapes
    optional:  further arguments that a call may give: wrenches, payloads, a moving base
    options:   what else changes the result, with the value of a plain call. A tuple offers values with the same
               outcome: the cheapest is compiled
    guard:     against singular or absurd results
    in_parts:  in_parts(evaluator, arguments) puts the results together from smaller functions, for robots for which one
               kernel would be too large
    quick:     whether the method's arguments and results are the kernel's own, so that a plain call may go straight
               to it
    public:    whether messages and pages offer it; the others serve in_parts and searches
    names:     of the results, for generated code; empty where the function's own name says it
    large:     whether it is compiled even where that takes seconds, for robots with very many joints
    whole:     False where one kernel is sure to be too large: then `in_parts` serves at once
    """

    formula: Formula
    arguments: tuple[Argument, ...]
    results: tuple[Shape, ...]
    optional: tuple[Argument, ...] = ()
    options: Mapping[str, Any] = NO_OPTIONS
    guard: Guard | None = None
    in_parts: Callable[..., tuple[Array, ...]] | None = None
    quick: bool = True
    public: bool = True
    names: tuple[str, ...] = ()
    large: bool = False
    whole: bool = True

    def result_names(self, own: str) -> tuple[str, ...]:
        """A name for every result; `own` is the function's."""
        if self.names:
            return self.names
        return (own,) if len(self.results) == 1 else tuple(f"{own}_{k}" for k in range(1, len(self.results) + 1))

    def argument(self, name: str) -> Argument:
        return next(argument for argument in (*self.arguments, *self.optional) if argument.name == name)


FunctionTable = Mapping[str, Function]


def choices(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the options that are tuples."""
    values = [value if isinstance(value, tuple) else (value,) for value in options.values()]
    return [dict(zip(options, combination, strict=True)) for combination in itertools.product(*values)]


def results_of(found: Any) -> Any:
    """The results of a formula, without the doubt."""
    return found.results if isinstance(found, Doubtful) else found


def flat(nested: Any) -> list[Scalar]:
    """Every scalar of nested sequences and vectors, in order, and after them the doubt where there is one."""
    if isinstance(nested, Doubtful):
        return [*flat(nested.results), nested.doubt()]
    if isinstance(nested, FoldingScalar) or not hasattr(nested, "__iter__"):
        return [nested]
    return [scalar for item in nested for scalar in flat(item)]


def has(robot: WithFunctions, *names: str) -> bool:
    """True if the robot has all of these functions."""
    return all(name in robot.functions for name in names)
