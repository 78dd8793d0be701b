"""The 256 colours of a GIF, the same for all of its frames: what stands still keeps its colour and costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tauforge.arrays import Array

COLOURS = 256


class GifColours:
    """Chosen from sample pictures, (height, width, 3) bytes each.

    Pillow chooses them. Its search for the nearest one ignores the last bits of each channel, and white would be grey:
    ours does not.
    """

    def __init__(self, samples: Sequence[Array]) -> None:
        from PIL import Image

        chosen = Image.fromarray(np.concatenate(samples)).quantize(COLOURS).getpalette() or []
        self.palette = np.reshape(chosen, (-1, 3)).astype(np.uint8)
        self._nearest = np.full(1 << 24, -1, np.int16)  # by packed colour; -1 where nobody has asked yet

    def image(self, picture: Array) -> Any:
        """A picture with the nearest of the colours, as an image of Pillow's."""
        from PIL import Image

        packed = _packed(picture)
        new = np.unique(packed[self._nearest[packed] < 0])
        away = _channels(new)[:, None] - self.palette.astype(int)
        self._nearest[new] = np.square(away).sum(axis=-1).argmin(axis=-1)
        image = Image.fromarray(self._nearest[packed].astype(np.uint8))
        image.putpalette(self.palette.tobytes())
        return image


def _packed(picture: Array) -> Array:
    """Colours (..., 3) as one number each."""
    channels = picture.astype(np.int32)
    return channels[..., 0] << 16 | channels[..., 1] << 8 | channels[..., 2]


def _channels(packed: Array) -> Array:
    return np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=-1)
