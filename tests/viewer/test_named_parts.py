"""The names of parts: labels, what the page knows of them, and the script that shows them."""

from __future__ import annotations

import gzip
import html
import json
import re

import numpy as np
import pytest

import tauforge as tf
from tauforge.robots.drawing import Drawing, Point
from tauforge.viewer import colours, figure
from tauforge.viewer.figure import PAGE_DIGITS, joint_labels, label_places, named_parts, parts_html
from tauforge.viewer.viewer import with_scripts

PAGE = b"<html><body><div></div></body></html>"


@pytest.mark.parametrize("name", tf.catalogue())
def test_whatever_can_be_clicked_has_a_place_for_its_label(name: str) -> None:
    robot = tf.load(name)
    drawing = robot.drawing(robot.positions.default)
    places = label_places(drawing)
    clicked = figure.bars(drawing, 1.0).names + figure.ellipsoids(drawing, 1.0).names
    for part in (figure.JOINT, "centre of mass"):
        clicked += figure.points(drawing, 1.0, part, 0.1, colours.JOINT).names
    assert set(clicked) <= set(places)
    assert np.isfinite(list(places.values())).all()


def test_labels_are_where_the_parts_are() -> None:
    rig = tf.load("motion-rig")
    drawing = rig.drawing(rig.positions.default)
    places = label_places(drawing)
    leg = next(segment for segment in drawing.segments if segment.name == "leg 3")
    np.testing.assert_allclose(places["leg 3"], (leg.start + leg.end) / 2)
    corners = [segment.start for segment in drawing.segments if segment.part == "base"]
    np.testing.assert_allclose(places["base"], np.mean(corners, axis=0), atol=1e-12)
    (centre,) = [point for point in drawing.points if point.part != "joint" and point.name == "platform"]
    np.testing.assert_array_equal(places["centre of mass of platform"], centre.place)


def test_joints_at_one_place_share_a_label() -> None:
    arm = tf.load("puma560")
    labels = joint_labels(arm.drawing(arm.positions.default), 1.0)
    assert list(labels) == ["joint1, joint2", "joint3", "joint4", "joint5, joint6"]
    two = Drawing((Point("a", np.zeros(3)), Point("b", np.array([0.02, 0, 0])), Point("c", np.zeros(3), "centre")))
    assert list(joint_labels(two, 1.0)) == ["a", "b"]
    assert list(joint_labels(two, 10.0)) == ["a, b"]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
def test_the_page_has_the_parts_to_digits_of_the_robots_size(scale: float) -> None:
    rig = tf.load("motion-rig")
    drawing = rig.drawing(rig.positions.default)
    parts = [
        part._replace(name='<b>"&', start=scale * part.start, end=scale * part.end, radius=scale * part.radius)
        for part in named_parts(drawing, 1.0)
    ]
    text = parts_html(parts, scale)
    assert "<b>" not in text
    data = re.fullmatch('<div hidden data-parts="([^"]*)"></div>', text)
    assert data is not None
    rows = json.loads(html.unescape(data[1]))
    assert {row[0] for row in rows} == {'<b>"&'}
    wanted = [[*part.start, *part.end, part.radius] for part in parts]
    np.testing.assert_allclose([row[1:] for row in rows], wanted, rtol=0, atol=10.0**-PAGE_DIGITS * scale)


def test_parts_that_are_nowhere_are_left_out() -> None:
    arm = tf.load("planar-2r")
    first, *others = named_parts(arm.drawing([0.0, 0.5]), 1.0)
    lost = first._replace(end=np.array([0.0, np.nan, 0.0]))
    assert parts_html([lost, *others], 1.0) == parts_html(others, 1.0)


def test_the_script_is_at_the_end_of_the_page() -> None:
    page = with_scripts(PAGE, packed=False)
    assert page.startswith(b"<html><body><div></div><script>// The name of the part")
    assert page.endswith(b"</script></body></html>")
    assert gzip.decompress(with_scripts(gzip.compress(PAGE), packed=True)) == page
    assert with_scripts(b"nothing", packed=False) == b"nothing"
