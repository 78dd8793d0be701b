"""A colour for each limit, the same in all pictures of a figure, and their legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tauforge.robots.static_quantities import HOLDS

# Pairs of a strong and a pale hue: the limits of a robot often come in pairs, such as too short and too long.
COLOURS = (
    "#0072B2", "#8CC5E3", "#D55E00", "#F2B38C", "#009E73", "#8FD3BF", "#CC79A7", "#EBC7DB", "#B58900", "#EBD68C",
    "#5B4FA0", "#BDB6E0", "#7A3B12", "#CDA68C", "#4A4F58", "#B5B9C0",
)  # fmt: skip
FREE = "#E9F3EA"
NAMED = 16  # entries of a legend; what is beyond shares the last colour


def limit_colours(names: Iterable[str]) -> dict[str, str]:
    """By name, in order of appearance; what holds is pale."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        found[name] = FREE if name == HOLDS else COLOURS[min(len(set(found) - {HOLDS}), len(COLOURS) - 1)]
    return found


def legend(figure: Any, colours: Mapping[str, str]) -> None:
    """Beside the axes, a patch for each name."""
    from matplotlib.patches import Patch

    listed = list(colours.items())
    shown = (
        listed if len(listed) <= NAMED else [*listed[: NAMED - 1], (f"{len(listed) - NAMED + 1} more", listed[-1][1])]
    )
    handles = [Patch(facecolor=colour, edgecolor="#8a8f98", linewidth=0.5) for _, colour in shown]
    made = figure.legend(handles, [str(k) for k, _ in enumerate(shown)], loc="outside right center", frameon=False)
    for text, (name, _) in zip(made.get_texts(), shown, strict=True):  # afterwards: a name may begin with an underscore
        text.set(text=name, parse_math=False, fontsize="small")
