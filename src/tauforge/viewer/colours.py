"""Colours of the viewer, and the scales of its bars and arrows.

The colours are those of the pages that `tf.animate` writes, in their light scheme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tauforge.arrays import Array

LINK, BASE, JOINT = "#5f88b4", "#7d8793", "#39424e"
SLEEVE, ROD, BODY = "#4d5b6c", "#b9c4d0", "#0b6fb8"
GHOST, CENTRE, REACTION, MOMENT, PATH = "#7a4fc0", "#ffd54a", "#8a3ffc", "#c88bff", "#0b5c96"
LOW, NEAR, OVER, UNLIMITED = "#0a8a5f", "#d98200", "#d3222a", "#0072b2"
CURVES = ("#0072b2", "#d55e00", "#009e73", "#c0609a", "#c98500", "#3a9ad9", "#6f6f6f")
NEAR_SHARE = 0.8  # of a limit, above which a colour warns
WARNING_CONDITION, RED_CONDITION = 1e2, 1e3  # where the bar turns amber and red
SINGULAR_CONDITION = 1e12  # above it double precision has no answer
IS_SINGULAR, NEARLY_SINGULAR = "singular", "near a singularity"
LEAST_FILL = 0.01  # of a usual force: what fills a bar at least

PARTS = {"link": LINK, "rod": LINK, "spring": ROD, "leg": ROD, "base": BASE, "platform": BODY}


def rgb(colour: str) -> tuple[int, int, int]:
    """Parts from 0 to 255 of a colour such as "#0a8a5f"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def rgb_rows(colours: list[str]) -> Array:
    """Bytes (k, 3) of colours."""
    return np.array([rgb(colour) for colour in colours], np.uint8).reshape(-1, 3)


def linear(rgb: Array) -> Array:
    """Bytes in proportion to light, of bytes as screens take them. viser takes those of bodies and of lines so.

    Source: IEC 61966-2-1.
    """
    share = np.asarray(rgb, float) / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.round(255 * light).astype(np.uint8))


def of_share(share: float) -> str:
    """The colour of something that takes this share of its limit; not finite where it has none."""
    if math.isnan(share):
        return UNLIMITED
    return OVER if share > 1.0 else NEAR if share > NEAR_SHARE else LOW


def condition_words(condition: float) -> str:
    """Words for a condition number: "singular", "near a singularity" in the red band, or nothing."""
    if condition >= SINGULAR_CONDITION:
        return IS_SINGULAR
    return NEARLY_SINGULAR if condition >= RED_CONDITION else ""


def condition_colour(condition: float) -> str:
    """The colour of the bar of the condition number."""
    if not condition < RED_CONDITION:
        return OVER
    return NEAR if condition > WARNING_CONDITION else LOW


class ForceScale:
    """Scale of the forces. largest: N m and N by unit, since it was made or forgotten

    usual: (m,) N m or N, of the actuators
    """

    def __init__(self, units: Sequence[str], usual: Array) -> None:
        self._units, self.largest = tuple(units), dict.fromkeys(units, 0.0)
        self._least = dict.fromkeys(units, 0.0)
        for unit, force in zip(units, usual, strict=True):
            self._least[unit] = max(self._least[unit], LEAST_FILL * float(force))

    def forget(self) -> None:
        """Forgets large forces of the past, such as those near a singular pose, which would make later arrows short."""
        self.largest = dict.fromkeys(self._units, 0.0)

    def of(self, forces: Array) -> Array:
        """Largest force (m,) so far of each actuator's unit, these among them, at least a hundredth of a usual one.

        It is 1 where all are 0.
        """
        for unit, force in zip(self._units, forces, strict=True):
            if math.isfinite(force):
                self.largest[unit] = max(self.largest[unit], abs(float(force)))
        return np.array([max(self.largest[unit], self._least[unit]) or 1.0 for unit in self._units])
