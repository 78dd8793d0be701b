"""What a reader sees: colours as the panel's, names of limits that are whole, and a robot that no panel covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

import tauforge as tf
from support.browser import chromium
from support.viewer_page import DESKTOP, PHONE, becomes, in_sight, opened, pixel
from tauforge.viewer import colours

pytest.importorskip("viser")

NEAR = 20  # of 255 in each part of a colour: what viser's tone mapping changes
LIT = 40  # with light and shade, too
LEAST = 200  # pixels of the page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


def test_bytes_in_proportion_to_light() -> None:
    """The ends of the standard's curve, the end of its straight piece, and greys of 18 and 50 per cent."""
    given = np.array([[0, 10, 118], [255, 119, 188]], np.uint8)
    assert colours.linear(given).tolist() == [[0, 1, 46], [255, 47, 128]]
    assert colours.linear(given).dtype == np.uint8


@pytest.mark.parametrize(("name", "colour"), [("delta", colours.UNLIMITED), ("motion-rig", colours.LOW)])
def test_forces_have_the_colours_of_the_panel(browser: Any, name: str, colour: str) -> None:
    with tf.view(tf.load(name), port=0) as viewer:
        session = viewer.session
        session.show(session._shown._replace(handle=False))
        page, wrong = opened(browser, viewer, DESKTOP, pixels=1.0)
        drawing = session.robot.drawing(session.state.position)
        assert becomes(lambda: in_sight(viewer, np.array(drawing.extent)))
        page.wait_for_timeout(2000)
        picture = imageio.imread(page.screenshot(), extension=".png")[..., :3].astype(int)
        panel = page.locator("[data-key=force-0]").bounding_box()["x"]
        scene = picture[:, : int(panel) - 250]  # without the panel and its bars
        off = np.abs(scene - np.array(colours.rgb(colour))).max(axis=2)
        assert (off < NEAR).sum() > LEAST
        joint = next(point for point in drawing.points if point.part == "joint")
        x, y = pixel(page, viewer, joint.place).astype(int)
        np.testing.assert_allclose(scene[y, x], colours.rgb(colours.JOINT), rtol=0, atol=LIT)
        assert wrong == []
        page.close()


def test_names_of_limits_are_whole(browser: Any) -> None:
    """Several of the rig's differ at their ends alone."""
    with tf.view(tf.load("motion-rig"), port=0) as viewer:
        page, wrong = opened(browser, viewer)
        names = page.locator("tr:has([data-key=limit]) td:first-child")
        assert len({names.nth(k).text_content() for k in range(names.count())}) == names.count() == 4
        for k in range(names.count()):
            room, needed = names.nth(k).evaluate("cell => [cell.clientWidth, cell.scrollWidth]")
            assert needed <= room
        assert wrong == []
        page.close()


def test_on_a_phone_the_panel_begins_folded(browser: Any) -> None:
    with tf.view(tf.load("motion-rig"), port=0) as viewer:
        page, wrong = opened(browser, viewer, PHONE)
        force = page.locator("[data-key=force-0]")
        force.wait_for(state="hidden")
        page.wait_for_timeout(1000)
        assert not force.is_visible()  # and stays so
        page.get_by_text("motion-rig").click()
        force.wait_for(state="visible")
        page.wait_for_timeout(1000)
        assert force.is_visible()
        assert wrong == []
        page.close()
