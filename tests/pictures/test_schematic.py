"""`tf.plot(..., schematic=True)`: every axis is where the robot's frame has it, and its name can be read."""

from __future__ import annotations

import io
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import tauforge as tf
from support.tolerances import ROUNDING
from tauforge.pictures.schematic import ARROW, VIEW, LabelPlaces, coinciding_axes

pytest.importorskip("matplotlib")


def words_of(figure: Any) -> dict[str, np.ndarray]:
    """The words and the places that they stand beside; subscripts as the source has them."""
    found = {}
    for text in figure.axes[0].texts:
        if text.get_text():
            plain = text.get_text().replace("$_{\\mathrm{", "_{").replace("}}$", "}").replace("\\ ", " ")
            found[plain] = np.array(text.xy)
    return found


def arrows_of(figure: Any) -> list[np.ndarray]:
    """Ends (2, 2) of the arrows, foot and tip."""
    return [np.array([text.xyann, text.xy]) for text in figure.axes[0].texts if not text.get_text()]


@pytest.mark.parametrize("name", tf.catalogue())
def test_every_axis_is_an_arrow_with_its_name(name: str) -> None:
    robot = tf.load(name)
    drawing = robot.drawing(robot.positions.default)
    figure = tf.plot(robot, schematic=True)
    low, high = drawing.extent
    size = (high - low).max()
    arrows = coinciding_axes(drawing.frames, [frame.name for frame in drawing.frames], size)
    words = words_of(figure)
    for arrow, drawn in zip(arrows, arrows_of(figure), strict=True):
        tip = arrow.origin + ARROW * size * arrow.along
        np.testing.assert_allclose(drawn, VIEW(np.stack([arrow.origin, tip])), atol=ROUNDING)
        assert arrow.words in words
    shown = [one for arrow in arrows for one in arrow.names]
    letters = "xyz" if len(drawing.frames) == 2 else "xz"
    assert len(shown) == len(letters) * len(drawing.frames)
    for arrow in arrows:  # what shares an arrow has one origin and one direction
        for letter, number in arrow.names:
            frames = drawing.frames if number else [frame for frame in drawing.frames if _at(frame, arrow)]
            frame = frames[-1] if number == drawing.frames[-1].name else frames[int(number or 0)]
            np.testing.assert_allclose(frame.transform[:3, 3], arrow.origin, atol=1e-5 * size)
            np.testing.assert_allclose(frame.transform[:3, "xyz".index(letter)], arrow.along, atol=1e-5)


def _at(frame: Any, arrow: Any) -> bool:
    return bool(np.allclose(frame.transform[:3, 3], arrow.origin))


@pytest.mark.parametrize("name", tf.catalogue())
def test_words_do_not_cover_each_other(name: str) -> None:
    figure = tf.plot(tf.load(name), schematic=True)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    for one, other in combinations(boxes, 2):
        across = min(one.x1, other.x1) - max(one.x0, other.x0)
        up = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(across, up) < 2.0  # pixels, of 100 to an inch: edges may touch


def test_axes_of_the_puma_that_coincide_share_an_arrow() -> None:
    words = set(words_of(tf.plot(tf.load("puma560"), np.zeros(6), schematic=True)))
    assert words == {
        *("x_{0,1}", "z_{0}", "z_{1}", "x_{2}", "z_{2}", "x_{3}", "z_{3}"),
        *("z_{4}", "x_{4,5,6,tool}", "z_{5,6,tool}"),
    }


def test_legs_of_a_platform_are_numbered_at_both_ends() -> None:
    platform = tf.load("dasgupta1998")
    figure = tf.plot(platform, schematic=True)
    words = words_of(figure)
    drawing = platform.drawing(platform.positions.default)
    for i in range(6):
        leg = next(segment for segment in drawing.segments if segment.name == f"leg {i + 1}")
        np.testing.assert_allclose(words[f"b_{{{i + 1}}}"], VIEW(leg.start), atol=ROUNDING)
        np.testing.assert_allclose(words[f"p_{{{i + 1}}}"], VIEW(leg.end), atol=ROUNDING)
    assert {"base", "platform", "x", "y", "z"} <= set(words)


def test_chosen_frames_and_own_axes() -> None:
    arm = tf.load("puma560")
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    figure = tf.plot(arm, np.zeros(6), schematic=True, frames=["tool"], axes=axes)
    assert figure is axes.figure
    assert {"x_{tool}", "z_{tool}"} <= set(words_of(figure))
    assert not any("0" in words for words in words_of(figure))


def test_the_file_is_small_and_good_xml() -> None:
    file = io.BytesIO()
    tf.plot(tf.load("dasgupta1998"), schematic=True).savefig(file, format="svg")
    assert len(file.getvalue()) < 120_000
    assert ElementTree.fromstring(file.getvalue()).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize(
    ("given", "options", "match"),
    [
        ([[0.0, 0.0], [1.0, 1.0]], {}, r"position: expected \(2,\) for a schematic, got \(2, 2\)"),
        ([0.0, 0.0], {"forces": [1.0, 1.0]}, "forces: expected None for a schematic"),
        ([0.0, 0.0], {"axes": 3}, "axes: expected flat matplotlib axes for a schematic, got int"),
        ([0.0, 0.0], {"frames": "hand"}, "frames: expected names among base, .*tool, got 'hand'"),
    ],
)
def test_what_a_schematic_cannot_have(given: Any, options: dict[str, Any], match: str) -> None:
    with pytest.raises(tf.ShapeError, match=match):
        tf.plot(tf.load("planar-2r"), given, schematic=True, **options)


class TestLabelPlaces:
    RIGHT = np.array([1.0, 0.0])

    def test_words_stand_where_they_are_wanted(self) -> None:
        shift = LabelPlaces(72.0, []).place("z", np.zeros(2), self.RIGHT)
        assert shift[0] > 0
        assert shift[1] == 0

    def test_and_elsewhere_if_words_or_a_line_are_there(self) -> None:
        places = LabelPlaces(72.0, [])
        first, second = (places.place("z", np.zeros(2), self.RIGHT) for _ in range(2))
        assert np.abs(first - second).max() > 5
        line = np.array([[0.0, 0.0], [1.0, 0.0]])
        assert LabelPlaces(72.0, [line]).place("z", np.zeros(2), self.RIGHT)[1] != 0
