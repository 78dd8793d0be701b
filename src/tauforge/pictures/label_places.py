"""Where words stand in a flat drawing, so that they cover neither each other nor lines if that can be had."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array

LETTER, SUBSCRIPT, HEIGHT = 6.2, 4.6, 11.0  # points: widths of letters, height of a row
GAPS = (4.0, 10.0)  # points, from the place to the near side of the words, the best first
TURNS = (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, math.pi)  # rad from the wanted direction, the best first
THICK = 2.5  # points, half of the thickest line
STEPS = 40  # points of a line that are looked at
# Costs of other words, of each point of a line under the words, of each rad, and of each point of the gap.
OVERLAP, CROSSED, TURNED, FARTHER = 100.0, 4.0, 1.0, 0.3


class LabelPlaces:
    """Remembers what is taken.

    scale: points in a unit of the drawing
    lines: (2, 2) each, the ends of what is drawn
    """

    def __init__(self, scale: float, lines: Sequence[Array]) -> None:
        self.scale = scale
        shares = np.linspace(0.0, 1.0, STEPS)[:, None]
        inked = [start + shares * (end - start) for start, end in lines]
        self.ink = self.scale * np.concatenate(inked) if inked else np.zeros((0, 2))
        self.taken: list[tuple[Array, Array]] = []  # middle and half the size, points

    def place(self, words: str, at: Array, away: Array) -> Array:
        """Shift of the words' middle from the place `at`, (2,) points. away: where they should stand if they can."""
        best, half, _ = self._best(words, at, away)
        self.taken.append((self.scale * at + best, half))
        return best

    def has_room(self, words: str, at: Array, away: Array) -> bool:
        """Whether they can stand there without covering other words."""
        return self._best(words, at, away)[2] < OVERLAP

    def _best(self, words: str, at: Array, away: Array) -> tuple[Array, Array, float]:
        """Shift, half the size, and what it costs."""
        half = np.array([_width(words), HEIGHT]) / 2
        begin = math.atan2(away[1], away[0])
        ways = [(turn, gap) for gap in GAPS for turn in TURNS]
        choices = [_beside(half, begin + turn, gap) for turn, gap in ways]
        costs = [
            self._cost(self.scale * at + shift, half) + TURNED * abs(turn) + FARTHER * gap
            for shift, (turn, gap) in zip(choices, ways, strict=True)
        ]
        k = int(np.argmin(costs))
        return choices[k], half, costs[k]

    def _cost(self, middle: Array, half: Array) -> float:
        others = sum(bool((np.abs(middle - other) < half + size).all()) for other, size in self.taken)
        crossed = int((np.abs(self.ink - middle) < half + THICK).all(axis=-1).sum())
        return OVERLAP * others + CROSSED * crossed


def _beside(half: Array, angle: float, gap: float) -> Array:
    """The middle of a box that lies in this direction from a place and leaves the gap free."""
    along = np.array([math.cos(angle), math.sin(angle)])
    reach = float((half / np.maximum(np.abs(along), 1e-9)).min())
    return np.asarray((reach + gap) * along)


def _width(words: str) -> float:
    """Estimated, points."""
    low = sum(len(part) for part in re.findall(r"_\{([^{}]*)\}", words))
    plain = len(re.sub(r"_\{[^{}]*\}", "", words))
    return LETTER * plain + SUBSCRIPT * low
