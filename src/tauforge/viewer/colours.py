"""The viewer's colours: those of the pages that `tf.animate` writes, in their light scheme."""

from __future__ import annotations

import math

import numpy as np

from tauforge.arrays import Array

LINK, BASE, JOINT = "#5f88b4", "#7d8793", "#39424e"
SLEEVE, ROD, BODY = "#4d5b6c", "#b9c4d0", "#0b6fb8"
GHOST, CENTRE, REACTION, MOMENT, PATH = "#7a4fc0", "#ffd54a", "#8a3ffc", "#c88bff", "#0b5c96"
LOW, NEAR, OVER, UNLIMITED = "#0a8a5f", "#d98200", "#d3222a", "#0072b2"
LINES = ("#0072b2", "#d55e00", "#009e73", "#c0609a", "#c98500", "#3a9ad9", "#6f6f6f")
NEAR_SHARE = 0.8  # of a limit, above which a colour warns

PARTS = {"link": LINK, "rod": LINK, "spring": ROD, "leg": ROD, "base": BASE, "platform": BODY}


def rgb(colour: str) -> tuple[int, int, int]:
    """0 to 255 each, of a text such as "#0a8a5f"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def rgb_rows(colours: list[str]) -> Array:
    """(k, 3) bytes."""
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
