"""The bodies and meshes of a robot's file in the viewer, without and with a browser."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.browser import PATIENCE_MS, chromium
from support.tolerances import PLACED
from support.urdf_visuals import meshed_arm
from tauforge.errors import TauforgeWarning
from tauforge.viewer.figure import rotation
from tauforge.viewer.scene import FADED, TRANSLUCENT, VisibleParts
from tauforge.viewer.surroundings import surroundings

pytest.importorskip("viser")

PATIENCE = PATIENCE_MS / 1000
BESIDE = 2_000  # orange pixels of viser's own, as in its remark on drawing by software


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tf.Viewer]:
    with tf.view(tf.load(meshed_arm(tmp_path_factory.mktemp("model"))), port=0) as one:
        yield one


def becomes(condition: Callable[[], bool]) -> bool:
    """Whether something is so before long."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_the_nodes_are_where_the_drawing_says(viewer: tf.Viewer) -> None:
    session, robot = viewer.session, viewer.session.robot
    before = session.updates
    session.change("position", 0, 0.7)
    session.change("position", 1, -0.4)
    assert becomes(lambda: session.updates > before and not session._asked)
    solids = robot.drawing([0.7, -0.4]).solids
    nodes = session.scene.shapes._nodes
    assert len(nodes) == len(solids) == 4

    def placed() -> bool:
        return all(
            np.allclose(node.position, solid.transform[:3, 3], atol=PLACED)
            and np.allclose(rotation(np.array(node.wxyz)), solid.transform[:3, :3], atol=PLACED)
            for node, solid in zip(nodes, solids, strict=True)
        )

    assert becomes(placed)
    assert [node.color for node in nodes][1:3] == [(255, 128, 0), (51, 102, 204)]
    assert [node.opacity for node in nodes] == [None, None, 0.5, None]


def test_shapes_can_be_hidden_and_looked_through(viewer: tf.Viewer) -> None:
    scene, nodes = viewer.session.scene, viewer.session.scene.shapes._nodes
    scene.show(VisibleParts())
    assert all(node.visible for node in nodes)
    assert scene._bars.opacity == FADED
    scene.show(VisibleParts(ellipsoids=True))
    assert [node.opacity for node in nodes] == [TRANSLUCENT, TRANSLUCENT, 0.5 * TRANSLUCENT, TRANSLUCENT]
    scene.show(VisibleParts(shapes=False))
    assert not any(node.visible for node in nodes)
    assert scene._bars.opacity is None
    scene.show(VisibleParts())


def test_hidden_shapes_come_back_where_the_robot_is(viewer: tf.Viewer) -> None:
    session = viewer.session
    session.show(VisibleParts(shapes=False))
    session.change("position", 0, -1.1)
    session.show(VisibleParts())
    wanted = session.robot.drawing([-1.1, session.state.position[1]]).solids[1].transform[:3, 3]
    node = session.scene.shapes._nodes[1]
    assert becomes(lambda: node.visible and bool(np.allclose(node.position, wanted, atol=PLACED)))


def test_only_robots_with_shapes_have_the_checkbox(viewer: tf.Viewer, tmp_path: Path) -> None:
    assert "shapes" in viewer.session.panel.checkboxes
    with tf.view(tf.load("planar-2r"), port=0) as other:
        assert "shapes" not in other.session.panel.checkboxes
        assert len(other.session.scene.shapes) == 0
        assert other.session.scene._bars.opacity is None
    robot = tf.load(meshed_arm(tmp_path))
    (tmp_path / "meshes" / "link.stl").unlink()
    bare = robot.replace(visuals=robot.visuals[1:2])
    with pytest.warns(TauforgeWarning, match=r"meshed is drawn without some of its meshes: .*link\.stl"):
        other = tf.view(bare, port=0)
    with other:
        assert "shapes" not in other.session.panel.checkboxes
        assert other.session.scene._bars.opacity is None


def test_the_eye_sees_all_of_the_shapes(viewer: tf.Viewer) -> None:
    """The fore link reaches beyond the last joint, and the drawing ends there: without a tip the tool is in it."""
    robot = viewer.session.robot
    drawn, seen = surroundings(robot), surroundings(robot, viewer.session.scene.shapes.extent)
    assert seen.size > 1.3 * drawn.size
    np.testing.assert_allclose(seen.ground[2], drawn.ground[2], atol=PLACED)
    assert viewer.session.scene.size == drawn.size


def orange(page: Any) -> int:
    """How many pixels of the page have the colour of the mesh, lit or in the shade."""
    from PIL import Image

    red, green, blue = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int).reshape(-1, 3).T
    return int(((red > 110) & (red > 1.35 * green) & (green > 1.5 * blue)).sum())


def test_the_browser_shows_the_mesh_and_hides_it(viewer: tf.Viewer) -> None:
    session = viewer.session
    session.show(VisibleParts(forces=False, handle=False))
    session.rest(home=True)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        wrong: list[str] = []
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(viewer.url)
        page.wait_for_selector("[data-key=force-0]", timeout=PATIENCE_MS, state="attached")
        assert becomes(lambda: orange(page) > 2 * BESIDE)
        page.get_by_role("tab", name="Show").click()
        box = page.get_by_role("checkbox", name="Shapes")
        assert box.is_checked()
        box.uncheck()
        assert becomes(lambda: orange(page) < BESIDE)
        box.check()
        assert becomes(lambda: orange(page) > 2 * BESIDE)
        assert wrong == []
        page.close()
