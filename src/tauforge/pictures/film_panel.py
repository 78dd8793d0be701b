"""The side of a film that says how large the forces are: a bar for each actuator, and curves over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tauforge.charts.line_styles import PALETTE
from tauforge.pictures.animation_frames import AnimationFrames

LEFT, WIDTH = 0.675, 0.3  # of the figure
BARS = (0.45, 0.52)  # bottom and height of the figure
CHARTS = (0.11, 0.27)
TROUGH, INK, SOFT = "#d9dee5", "#1d2026", "#565c66"
THICK = 0.26  # of a row


class FilmPanel:
    """Still parts are drawn with the figure, moving ones by `draw`."""

    def __init__(self, figure: Any, actuators: Sequence[dict[str, Any]], frames: AnimationFrames) -> None:
        self.actuators, self.frames = actuators, frames
        self.full = [_full(actuator) for actuator in actuators]
        self.bars, self.numbers = self._rows(figure)
        self.cursors = self._charts(figure)

    def draw(self, k: int) -> None:
        """Bars, numbers and the instant of frame k."""
        for j, (bar, number) in enumerate(zip(self.bars, self.numbers, strict=True)):
            force = float(self.frames.force[k, j])
            known = np.isfinite(force)
            share = force / self.full[j] if known else 0.0
            bar.set_x(min(share, 0.0))
            bar.set_width(abs(share))
            number.set_text(
                f"{_text(force, self.actuators[j]['decimals']) if known else 'none'} {self.actuators[j]['unit']}"
            )
            for artist in (bar, number):
                artist.axes.draw_artist(artist)
        for cursor in self.cursors:
            cursor.set_xdata([self.frames.times[k]] * 2)
            cursor.axes.draw_artist(cursor)

    def _rows(self, figure: Any) -> tuple[list[Any], list[Any]]:
        """A row for each actuator: name and number above a bar that begins in the middle."""
        from matplotlib.patches import Rectangle

        bottom, height = BARS
        axes = figure.add_axes((LEFT, bottom, WIDTH, height))
        axes.set(xlim=(-1.0, 1.0), ylim=(len(self.actuators), 0.0))
        axes.set_axis_off()
        letters = min(10.0, 60.0 / len(self.actuators) + 2.0)  # points
        bars, numbers = [], []
        for j, actuator in enumerate(self.actuators):
            top = j + 0.62
            axes.add_patch(Rectangle((-1.0, top), 2.0, THICK, color=TROUGH, linewidth=0))
            bar = Rectangle((0.0, top), 0.0, THICK, color=PALETTE[j % len(PALETTE)], linewidth=0, animated=True)
            bars.append(axes.add_patch(bar))
            marks = [0.0] if actuator["limit"] is None else [0.0, *np.array([-1, 1]) * actuator["limit"] / self.full[j]]
            axes.vlines(marks, top, top + THICK, color=INK, linewidth=1.0, zorder=3)
            words = {"y": top - 0.08, "va": "bottom", "fontsize": letters, "color": INK}
            axes.text(x=-1.0, s=actuator["name"], ha="left", parse_math=False, **words)
            numbers.append(axes.text(x=1.0, s="", ha="right", animated=True, **words))
        return bars, numbers

    def _charts(self, figure: Any) -> list[Any]:
        """The forces over time, a chart for each unit, and the line in it that marks the instant."""
        units = list(dict.fromkeys(actuator["unit"] for actuator in self.actuators))
        bottom, height = CHARTS
        gap = 0.25 * WIDTH if len(units) > 1 else 0.0
        wide = (WIDTH - gap * (len(units) - 1)) / len(units)
        cursors = []
        for i, unit in enumerate(units):
            axes = figure.add_axes((LEFT + i * (wide + gap), bottom, wide, height))
            for j, actuator in enumerate(self.actuators):
                if actuator["unit"] == unit:
                    colour = PALETTE[j % len(PALETTE)]
                    axes.plot(self.frames.times, self.frames.force[:, j], color=colour, linewidth=1.4)
            words = {"fontsize": 9, "color": SOFT}
            axes.set_title(f"{'Force' if unit == 'N' else 'Torque'} ({unit})", loc="left", **words)
            axes.set_xlabel("time (s)", labelpad=1.0, **words)
            axes.tick_params(labelsize=8, colors=SOFT)
            axes.spines[["top", "right"]].set_visible(False)
            axes.locator_params(nbins=4)
            axes.grid(color=TROUGH, linewidth=0.7)
            cursors.append(axes.axvline(self.frames.times[0], color=INK, linewidth=1.2, animated=True))
        return cursors


def _text(force: float, decimals: int) -> str:
    """With a sign as long as a digit; adding zero takes the sign from a number that rounds to zero."""
    return f"{round(force, decimals) + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _full(actuator: dict[str, Any]) -> float:
    """The force of a full bar: the limit if there is one and it holds, else the largest of the run with this unit."""
    whole = actuator["scale"] if actuator["limit"] is None else max(actuator["limit"], actuator["largest"])
    return float(whole) or 1.0
