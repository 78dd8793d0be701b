"""A call of a robot's function as a user writes it, sorted by the entry of the table: state, loads, options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.functions import Function
from tauforge.validation import did_you_mean

ON_SINGULAR = "on_singular"


class Call(NamedTuple):
    """What a call gives.

    arguments:   by name: the state and the loads
    options:     of the formula
    on_singular: what happens to singular rows, "raise" or "nan"
    """

    arguments: dict[str, Any]
    options: dict[str, Any]
    on_singular: str


def sorted_call(robot: str, name: str, function: Function, given: Sequence[Any], named: Mapping[str, Any]) -> Call:
    """The arguments may be given by position or by name, the rest by name; on_singular= where there is a guard.

    TypeError as Python words it where an argument is missing, or given twice. UnsupportedFeatureError for a keyword
    that the function does not have.
    """
    state = [argument.name for argument in function.arguments]
    loads = [argument.name for argument in function.optional]
    guarded = [ON_SINGULAR] if function.guard is not None else []
    keywords = [*loads, *function.options, *guarded]
    if unknown := sorted(set(named) - {*state, *keywords}):
        raise UnsupportedFeatureError(
            f"{name} of {robot} takes no {unknown[0]}=",
            field=unknown[0],
            remedy=f"{did_you_mean(unknown[0], keywords)}Known: {', '.join(keywords) or 'none'}",
        )
    taken = f"{name} takes {len(state)} arguments ({', '.join(state)})"
    if len(given) > len(state):
        raise TypeError(f"{taken}, got {len(given)}")
    if twice := [argument for argument in state[: len(given)] if argument in named]:
        raise TypeError(f"{taken}, got {twice[0]} twice")
    arguments = {
        **dict(zip(state, given, strict=False)),
        **{key: named[key] for key in [*state, *loads] if key in named},
    }
    if missing := [argument for argument in state if argument not in arguments]:
        raise TypeError(f"{taken}, got {len(state) - len(missing)}: {missing[0]} is missing")
    options = {key: named[key] for key in function.options if key in named}
    return Call(arguments, options, named.get(ON_SINGULAR, "raise"))
