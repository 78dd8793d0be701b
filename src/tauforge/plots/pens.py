"""How the lines of a figure look, the same for everyone who draws: colours, and who shares a legend."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from tauforge.plots.figure import Figure, Line, Panel

# Okabe and Ito's colours, told apart with any colour vision, on white and on black; their yellow is too faint.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
LINE_WIDTH = 1.6  # points in matplotlib, pixels in plotly
MARK_COLOUR = "#7A7A7A"
CROWD = 200  # points that are drawn smaller and let each other through
CROWD_OPACITY = 0.45

Key = tuple[str, str]  # label and style: lines of several panels with the same key are one entry of the legend


def key(line: Line) -> Key:
    return line.label, line.style


def has_one_legend(figure: Figure) -> bool:
    """Whether one panel names the lines of all panels."""
    panels = [{key(line) for line in panel.lines} for panel in figure.panels]
    return set().union(*panels) in panels


def legend_lines(figure: Figure, where: Iterable[int]) -> list[Line]:
    """Those of these panels that deserve an entry: named, each name once, and not alone with a name given elsewhere."""
    panels = [figure.panels[k] for k in where]
    entries: dict[Key, Line] = {}
    for line in (line for panel in panels for line in panel.lines if line.label):
        entries.setdefault(key(line), line)
    said = " ".join([figure.title, *(f"{panel.title} {panel.y_label}" for panel in panels)]).lower()
    if len(entries) == 1 and all(line.label.lower() in said for line in entries.values()):
        return []
    return list(entries.values())


def colours(figure: Figure) -> list[dict[Key, str]]:
    """For each panel the colour of each line; a name keeps its colour through the panels while there are enough."""
    everything = [line for panel in figure.panels for line in panel.lines]
    if has_one_legend(figure) or len({line.like or line.label for line in everything}) <= len(PALETTE):
        return [_assigned(everything)] * len(figure.panels)
    return [_assigned(panel.lines) for panel in figure.panels]


def _assigned(lines: Sequence[Line]) -> dict[Key, str]:
    """By label. Where curves come in sets by style (six solid, six dashed), the sets go through the same colours."""
    colour_of = {key(line): line.like or line.label for line in lines}
    keys, labels = list(colour_of), list(dict.fromkeys(colour_of.values()))
    sets = Counter(style for _, style in keys)
    in_sets = len(sets) > 1 and len(set(sets.values())) == 1 and len(keys) > len(sets)
    if len(labels) > len(PALETTE) or (in_sets and len(labels) == len(keys)):
        places: dict[Key, int] = {}
        for label, style in keys:
            places[label, style] = sum(other == style for _, other in places)
    else:
        places = {one: labels.index(label) for one, label in colour_of.items()}
    return {one: PALETTE[place % len(PALETTE)] for one, place in places.items()}


def wrapped(label: str, width: int) -> list[str]:
    """A label in lines of about `width` characters, so that it is not cut at the edge."""
    return textwrap.wrap(label, width, break_long_words=False) or [""]


def categories(panel: Panel) -> list[str] | None:
    """The labels along x, in order of appearance; None where x are numbers."""
    named = [x for line in panel.lines if isinstance(line.x, list) for x in line.x]
    return list(dict.fromkeys(named)) or None


def description(figure: Figure) -> str:
    """The figure in words, for those who do not see it."""
    parts = []
    for panel in figure.panels:
        lines = ", ".join(dict.fromkeys(line.label for line in panel.lines if line.label))
        title = f"{panel.title}: " if panel.title else ""
        parts.append(f"{title}{panel.y_label} against {panel.x_label}" + (f" for {lines}" if lines else ""))
    return f"{figure.title}. " + "; ".join(parts) + "."
