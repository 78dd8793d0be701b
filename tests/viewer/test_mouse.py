"""The mouse in the scene: it finds the bodies that are seen and no others, and the handle before all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.browser import chromium
from support.viewer_page import becomes, dragged, hidden, in_sight, opened, part_under, pixel
from tauforge.viewer.figure import Bar, named_parts, rotation
from tauforge.viewer.panel import HANDLE_SCALE
from tauforge.viewer.session import Session
from tauforge.viewer.surroundings import surroundings

pytest.importorskip("viser")

CLEAR = 30.0  # pixels from a part's axis; the thickest part is a drum of 17
ALONG = np.linspace(0.0, 1.0, 20)[:, None]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture
def shown(browser: Any, request: pytest.FixtureRequest) -> Iterator[tuple[Any, tf.Viewer]]:
    """A tab that shows a robot, whole and at rest."""
    with tf.view(tf.load(request.param), port=0) as viewer:
        page, wrong = opened(browser, viewer)
        drawing = viewer.session.robot.drawing(viewer.session.state.position)
        assert becomes(lambda: in_sight(viewer, np.array(drawing.extent)))
        page.wait_for_timeout(2000)
        yield page, viewer
        assert wrong == []
        page.close()


def parts_of(session: Session) -> list[Bar]:
    return named_parts(session.robot.drawing(session.state.position), session.scene.size)


@pytest.mark.parametrize("shown", ["puma560", "dasgupta1998", "delta", "five-bar"], indirect=True)
def test_only_bodies_that_are_seen_have_names(shown: tuple[Any, tf.Viewer]) -> None:
    """Nothing of the background, though viser has every shape once more, unseen and as large as it was made."""
    page, viewer = shown
    session = viewer.session
    session.show(session._shown._replace(handle=False))
    (client,) = viewer.server.viser.get_clients().values()
    parts = parts_of(session)
    axes = np.array([pixel(page, viewer, place) for p in parts for place in p.start + ALONG * (p.end - p.start)])
    grid = [np.array([x, y]) for x in np.linspace(100.0, 900.0, 7) for y in np.linspace(80.0, 720.0, 6)]
    background = [one for one in grid if np.linalg.norm(axes - one, axis=1).min() > CLEAR]
    assert len(background) > len(grid) / 2
    assert {tuple(one): part_under(page, one) for one in background} == {tuple(one): None for one in background}
    page.mouse.click(*background[0])
    seen = [p for p in parts if not hidden((p.start + p.end) / 2, p.name, session, client.camera)]
    assert seen
    for part in seen[:3]:
        assert part_under(page, pixel(page, viewer, (part.start + part.end) / 2)) == part.name
    assert not session.scene._labels  # that click was on nothing


@pytest.mark.parametrize("instance", [None, 7])
def test_a_click_that_hits_no_body_picks_none(instance: int | None) -> None:
    with tf.view(tf.load("planar-2r"), port=0) as viewer:
        scene = viewer.session.scene
        clicked = scene._picker(["shoulder", "elbow"])
        for k in (instance, 1):
            with pytest.raises(StopIteration):
                clicked(type("Click", (), {"instance_index": k})).send(None)
            assert scene._picked == ("elbow" if k == 1 else "")


@pytest.mark.parametrize("shown", ["delta", "palletiser"], indirect=True)
def test_a_mouse_drags_a_mechanism_by_its_handle(shown: tuple[Any, tf.Viewer]) -> None:
    """By the arrow along z, from its middle: on the palletiser it is inside a link."""
    page, viewer = shown
    session, robot = viewer.session, viewer.session.robot
    controls, before = session.gizmo._controls, session.state.position
    origin, way = np.array(controls.position), rotation(np.asarray(controls.wxyz, float))[:, 2]
    arrow = HANDLE_SCALE * surroundings(robot).size * way
    start, end = (pixel(page, viewer, origin + share * arrow) for share in (0.5, 0.8))
    dragged(page, start, end)

    def moved() -> np.ndarray:
        frames = {frame.name: frame.transform for frame in robot.drawing(session.state.position).frames}
        return np.asarray(frames[robot.moved_body.name][:3, 3] - origin)

    wanted = 0.3 * float(np.linalg.norm(arrow))
    assert becomes(lambda: bool(moved() @ way > wanted / 2)), (before, session.state.position)
    assert moved() @ way < 1.5 * wanted
    assert not session.scene._labels
