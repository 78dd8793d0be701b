"""The colours of a GIF: common ones are exact, the others are near."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("PIL")

from tauforge.pictures.film import GIF_COLOURS, GifColours

NEAR_WHITES = [(255, 255, 255), (254, 255, 255), (252, 253, 254), (217, 222, 229)]


def picture() -> np.ndarray:
    """Flat stripes of colours that are nearly the same, and below them noise of far more colours than there may be."""
    stripes = np.repeat(np.array(NEAR_WHITES, np.uint8), 25, axis=0)
    noise = np.random.default_rng(1).integers(200, 256, (400, 100, 3)).astype(np.uint8)
    return np.concatenate([np.tile(stripes, (60, 1, 1)), noise])


def test_common_colours_stay_as_they_are() -> None:
    given = picture()
    colours = GifColours([given])
    shown = np.array(colours.image(given).convert("RGB"))
    np.testing.assert_array_equal(shown[:60], given[:60])
    assert len(colours.palette) <= GIF_COLOURS


def test_every_pixel_has_the_nearest_colour() -> None:
    given = picture()
    colours = GifColours([given[:, :50]])  # other pictures have colours that were not sampled
    shown = np.array(colours.image(given).convert("RGB")).reshape(-1, 3).astype(int)
    wanted = given.reshape(-1, 1, 3).astype(int)
    distances = np.square(wanted - colours.palette.astype(int)).sum(axis=-1)
    np.testing.assert_array_equal(np.square(wanted[:, 0] - shown).sum(axis=-1), distances.min(axis=-1))
