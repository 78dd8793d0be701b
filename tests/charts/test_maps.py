"""Maps: the colours of codes."""

from __future__ import annotations

import numpy as np
import pytest

from tauforge.charts.maps import MapPanel, Maps, drawn_maps

pytest.importorskip("matplotlib", reason="maps are drawn: pip install tauforge[plots]")


def drawn(values, known):
    """Legend texts with their colours, and the colour of every place."""
    shape = np.shape(values)
    one = MapPanel("", np.arange(shape[0]), np.arange(shape[1]), np.array(values, float))
    figure = drawn_maps(Maps("title", "x", "y", "code", (one,), {k: f"limit {k}" for k in range(known)}))
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    patches = [patch.get_facecolor() for patch in legend.get_patches()]
    (mesh,) = figure.axes[0].collections
    figure.canvas.draw()
    return dict(zip(texts, patches, strict=True)), mesh.to_rgba(mesh.get_array()).transpose(1, 0, 2)


@pytest.mark.parametrize("known", [1, 3, 7, 30])
def test_every_place_has_the_colour_of_its_code(known):
    values = np.arange(4 * 5).reshape(4, 5) % known
    legend, places = drawn(values, known)
    assert set(legend) == {f"limit {code}" for code in np.unique(values)}
    assert len(set(legend.values())) == len(legend)
    for place, code in zip(places.reshape(-1, 4), values.ravel(), strict=True):
        np.testing.assert_allclose(place, legend[f"limit {code}"])


def test_a_code_keeps_its_colour_in_other_pictures():
    one, _ = drawn([[0, 2], [2, 2]], 5)
    other, _ = drawn([[2, 3], [4, 2]], 5)
    assert one["limit 2"] == other["limit 2"]


def test_codes_without_words_and_places_without_codes():
    legend, _ = drawn([[0, 9], [np.nan, 1]], 2)
    assert list(legend) == ["limit 0", "limit 1", "code 9", "no value"]
