"""The viewer in a reader's browser: it loads, its sliders move the robot, it plays, and several tabs do no harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.browser import PATIENCE_MS, chromium
from support.cart_pendulum import CartPendulum
from support.viewer_page import (
    DESKTOP,
    PHONE,
    becomes,
    dragged,
    hidden,
    in_sight,
    opened,
    part_under,
    pixel,
    slider,
    wait_for,
)
from tauforge.viewer.panel import HANDLE_SCALE
from tauforge.viewer.scene import VisibleParts
from tauforge.viewer.surroundings import surroundings

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def arm() -> Iterator[tf.Viewer]:
    robot = tf.load("puma560")
    move = tf.motion.JointMove(np.zeros(6), np.linspace(0.3, 1.2, 6), duration=4.0)
    plain = robot.without_friction()
    run = tf.simulate(
        plain, tf.control.ComputedTorque(plain, 20.0, 9.0), move, initial=([0.1] * 6, [0.0] * 6), step=0.01
    )
    with tf.view(robot, {"run": run, "move": move}, port=0) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def platform() -> Iterator[tf.Viewer]:
    with tf.view(tf.load("dasgupta1998"), port=0) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def rig() -> Iterator[tf.Viewer]:
    with tf.view(tf.load("motion-rig"), port=0) as viewer:
        yield viewer


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["arm", "platform", "rig"])
def test_it_loads_without_complaints(browser: Any, request: Any, name: str, viewport: dict[str, int]) -> None:
    viewer = request.getfixturevalue(name)
    page, wrong = opened(browser, viewer, viewport)
    robot = viewer.session.robot
    page.wait_for_selector("canvas", timeout=PATIENCE_MS)
    keys = page.locator("[data-key^=force-]")
    assert keys.count() == len(robot.actuators)
    places = np.array([point.place for point in robot.drawing(viewer.session.state.position).points])
    assert becomes(lambda: in_sight(viewer, places))
    page.wait_for_timeout(1000)
    assert in_sight(viewer, places)  # and stays there
    width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window
    if viewport is DESKTOP:
        box = keys.last.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
    assert wrong == []
    page.close()


@pytest.mark.parametrize("robot", [CartPendulum(), tf.load("mathworks-hexapod")], ids=["own kind", "no masses"])
def test_robots_that_say_little_are_shown_too(browser: Any, robot: Any) -> None:
    with tf.view(robot, port=0) as viewer:
        page, wrong = opened(browser, viewer)
        viewer.session.show(VisibleParts(*[True] * len(VisibleParts())))
        viewer.session.change("position", 0, 0.1)
        viewer.session.change("velocity", 1, 0.2)
        assert becomes(lambda: viewer.session.updates > 1)  # all three may be shown at once
        page.wait_for_timeout(1000)
        assert "Traceback" not in viewer.session.panel.readings.content
        assert wrong == []
        page.close()


def test_a_slider_moves_the_robot_to_the_librarys_numbers(browser: Any, arm: tf.Viewer) -> None:
    session = arm.session
    session.rest(home=True)
    page, wrong = opened(browser, arm)
    before = session.state.position
    thumb = slider(page, "joint2 (rad)")
    thumb.focus()
    for _ in range(5):
        thumb.press("ArrowRight")
    assert becomes(lambda: session.state.position[1] > before[1] + 0.003)
    page.wait_for_timeout(300)
    state = session.state
    np.testing.assert_array_equal(np.delete(state.position, 1), np.delete(before, 1))
    force = session.robot.inverse_dynamics(state.position, state.velocity, state.acceleration)
    wait_for(page, "force-1", float(force[1]))
    assert wrong == []
    page.close()


def test_payload_gravity_and_formulation(browser: Any, platform: tf.Viewer) -> None:
    session, robot = platform.session, platform.session.robot
    session.rest(home=True)
    page, wrong = opened(browser, platform)
    page.get_by_role("tab", name="Loads").click()
    thumb = slider(page, "Payload (kg)")
    thumb.focus()
    thumb.press("End")
    assert becomes(lambda: session.state.payload > 0)
    state = session.state
    still = np.zeros(6)
    carried = tf.Payload(state.payload)
    wait_for(page, "force-0", float(robot.inverse_dynamics(state.position, still, still, payload=carried)[0]))
    page.get_by_label("Formulation").click()
    page.get_by_role("option", name="massless-legs").click()
    model = robot.inverse_dynamics(state.position, still, still, payload=carried, model="massless-legs")
    exact = robot.inverse_dynamics(state.position, still, still, payload=carried)
    page.wait_for_selector("[data-key=difference-0]", timeout=PATIENCE_MS)
    wait_for(page, "force-0", float(model[0]))
    wait_for(page, "difference-0", float(model[0] - exact[0]))
    thumb = slider(page, "Gravity")
    thumb.focus()
    thumb.press("Home")
    assert becomes(lambda: session.state.gravity == 0.0)
    wait_for(page, "force-0", 0.0)
    session.load(payload=0.0, gravity=9.81, formulation=robot.formulations.default)
    assert wrong == []
    page.close()


def test_everything_can_be_shown(browser: Any, platform: tf.Viewer) -> None:
    session = platform.session
    page, wrong = opened(browser, platform)
    page.get_by_role("tab", name="Show").click()
    for name, label in (
        ("reactions", "Reactions of joints"),
        ("ellipsoids", "Ellipsoids"),
        ("names", "Names of joints"),
    ):
        page.get_by_label(label).check()
        assert becomes(lambda name=name: getattr(session._shown, name))
    assert becomes(lambda: session.scene._reactions is not None and session.scene._reactions.visible)
    assert becomes(lambda: len(session.scene._labels) == 12)
    page.wait_for_timeout(500)
    for label in ("Reactions of joints", "Ellipsoids", "Names of joints"):
        page.get_by_label(label).uncheck()
    assert becomes(lambda: not session.scene._labels)
    assert wrong == []
    page.close()


def test_it_plays_scrubs_and_pauses(browser: Any, platform: tf.Viewer) -> None:
    session = platform.session
    page, wrong = opened(browser, platform)
    page.get_by_role("tab", name="Play").click()
    page.get_by_role("button", name="Play").click()
    assert becomes(lambda: session.clock.playing and session.clock.time > 0.3)
    page.wait_for_function("document.querySelector('[data-key=time]').textContent > '0.2'", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Pause").click()
    assert becomes(lambda: not session.clock.playing)
    at = session.clock.time
    page.wait_for_timeout(200)
    assert session.clock.time == at
    thumb = slider(page, "Time (s)")
    thumb.focus()
    thumb.press("End")
    assert becomes(lambda: session.clock.time == pytest.approx(6.0))
    motion = session.clip.shown
    force = session.robot.inverse_dynamics(*motion.sample(6.0))
    wait_for(page, "force-2", float(force[2]))
    assert page.locator(".uplot").count() == 1
    assert wrong == []
    page.close()


@pytest.mark.parametrize(
    ("kind", "begins"), [("PNG", b"\x89PNG"), ("CSV", b"time [s],x [m]"), ("HTML", b"<!DOCTYPE html>")]
)
def test_it_saves_files(browser: Any, platform: tf.Viewer, kind: str, begins: bytes) -> None:
    page, wrong = opened(browser, platform)
    page.get_by_role("tab", name="Play").click()
    page.get_by_text("Save as").click()
    with page.expect_download(timeout=PATIENCE_MS) as saved:
        page.get_by_role("button", name=kind).click()
    assert saved.value.suggested_filename == f"dasgupta1998.{kind.lower()}"
    assert saved.value.path().read_bytes().startswith(begins)
    assert wrong == []
    page.close()


def test_a_recording_shows_its_own_forces_and_a_ghost(arm: tf.Viewer) -> None:
    session = arm.session
    session.go(2.0)
    clip = session.clip
    assert clip.is_recorded
    k = clip.frame_at(2.0)
    assert becomes(lambda: session.scene._ghost.visible)
    text = f"{clip.frames.force[k][1]:.2f}"[:-1]
    assert becomes(lambda: text in session.panel.readings.content)
    session.rest(home=True)
    assert becomes(lambda: not session.scene._ghost.visible)


def test_dragging_moves_the_tool(arm: tf.Viewer) -> None:
    session, robot = arm.session, arm.session.robot
    session.rest(home=True)
    position = session.state.position
    pose = np.asarray(robot.forward_kinematics(position)).copy()
    pose[2, 3] -= 0.05
    session.drag(pose)
    assert becomes(lambda: bool(np.allclose(robot.forward_kinematics(session.state.position), pose, atol=1e-6)))
    gizmo = session.gizmo._controls
    assert becomes(lambda: bool(np.allclose(gizmo.position, pose[:3, 3], atol=1e-6)))


def test_a_mouse_drags_the_platform_by_its_handle(browser: Any) -> None:
    """The blue arrow of the handle is pulled up: the platform rises, and hardly goes anywhere else."""
    rig = tf.load("motion-rig")
    with tf.view(rig, port=0) as viewer:
        page, wrong = opened(browser, viewer)
        session = viewer.session
        assert becomes(lambda: len(viewer.server.viser.get_clients()) == 1)
        page.wait_for_timeout(2000)
        before = session.state.position
        origin = np.asarray(session.gizmo._controls.position)
        arrow = np.array([0, 0, HANDLE_SCALE * surroundings(rig).size])
        start, end = (pixel(page, viewer, origin + share * arrow) for share in (0.6, 1.0))
        dragged(page, start, end)
        rise = 0.4 * arrow[2]
        assert becomes(lambda: bool(session.state.position[2] - before[2] > rise / 2)), session.state.position
        moved = session.state.position - before
        assert moved[2] < 1.5 * rise
        assert np.abs(np.delete(moved, 2)).max() < 0.1 * rise
        force = rig.inverse_dynamics(session.state.position, np.zeros(6), np.zeros(6))
        wait_for(page, "force-0", float(force[0]))
        assert wrong == []
        page.close()


def test_frame_all_brings_a_long_way_into_sight(browser: Any) -> None:
    arm = tf.load("planar-2r")
    move = tf.motion.JointMove([0.1, 0.0], [3.0, 0.0], duration=1.0)
    with tf.view(arm, {"move": move}, port=0) as viewer:
        page, wrong = opened(browser, viewer)
        assert becomes(lambda: len(viewer.server.viser.get_clients()) == 1)
        (client,) = viewer.server.viser.get_clients().values()
        path = viewer.session.clip.path
        assert becomes(lambda: in_sight(viewer, path))  # from the start
        client.camera.look_at, client.camera.position = path[0], path[0] + [0.0, 0.0, 0.5]
        page.wait_for_timeout(1000)
        assert not in_sight(viewer, path)
        page.get_by_role("tab", name="Play").click()
        page.get_by_role("button", name="Frame all").click()
        assert becomes(lambda: in_sight(viewer, path))
        page.wait_for_timeout(1000)
        assert in_sight(viewer, path)  # and stays there
        np.testing.assert_allclose(client.camera.look_at, np.mean(viewer.session.clip.extent, axis=0), atol=1e-6)
        assert wrong == []
        page.close()


def test_the_mouse_is_told_the_name_of_the_part_under_it(browser: Any) -> None:
    """Every leg in front of the others by its own name, also where another leg's middle is nearer to the mouse."""
    rig = tf.load("motion-rig")
    with tf.view(rig, port=0) as viewer:
        session = viewer.session
        session.show(session._shown._replace(handle=False))
        page, wrong = opened(browser, viewer)
        drawing = rig.drawing(session.state.position)
        assert becomes(lambda: in_sight(viewer, np.array(drawing.extent)))
        page.wait_for_timeout(2000)
        (client,) = viewer.server.viser.get_clients().values()
        found = []
        for segment in drawing.segments:
            for share in (0.3, 0.7) if segment.part == "leg" else ():
                place = segment.start + share * (segment.end - segment.start)
                if hidden(place, segment.name, session, client.camera):
                    continue
                found.append((segment.name, share))
                assert part_under(page, pixel(page, viewer, place)) == segment.name, (segment.name, share)
        assert len(found) >= 6
        joint = next(point for point in drawing.points if point.name == "base joint 1")
        assert part_under(page, pixel(page, viewer, joint.place)) == "base joint 1"
        assert part_under(page, np.array([30.0, 700.0])) is None
        page.mouse.click(*pixel(page, viewer, joint.place))
        assert becomes(lambda: list(session.scene._labels) == ["base joint 1"])
        page.mouse.click(*pixel(page, viewer, joint.place))
        assert becomes(lambda: not session.scene._labels)
        assert wrong == []
        page.close()


def test_loads_are_reset_by_their_button(browser: Any, platform: tf.Viewer) -> None:
    session = platform.session
    page, wrong = opened(browser, platform)
    page.get_by_role("tab", name="Loads").click()
    thumb = slider(page, "Payload (kg)")
    thumb.focus()
    thumb.press("End")
    assert becomes(lambda: session.state.payload > 0)
    page.get_by_role("button", name="Reset loads").click()
    assert becomes(lambda: session.state.payload == 0)
    assert becomes(lambda: thumb.get_attribute("aria-valuenow") == "0")
    assert wrong == []
    page.close()


@pytest.mark.fault(17)
def test_tabs_that_come_and_go_do_no_harm(browser: Any, arm: tf.Viewer) -> None:
    """Four tabs share one state; one is closed while it drags, one reloads, one loses its connection."""
    session = arm.session
    session.rest(home=True)
    tabs = [opened(browser, arm) for _ in range(4)]
    pages = [page for page, _ in tabs]
    gone = slider(pages[0], "joint2 (rad)")
    box = gone.bounding_box()
    pages[0].mouse.move(box["x"], box["y"])
    pages[0].mouse.down()
    pages[0].mouse.move(box["x"] + 20, box["y"])
    pages[0].close()
    pages[1].reload()
    arm.server.viser._websock_server.disconnect_all_clients()
    pages[1].wait_for_selector("[data-key=force-0]", timeout=PATIENCE_MS, state="attached")
    thumb = slider(pages[2], "joint3 (rad)")
    before = session.state.position[2]

    def moved() -> bool:
        thumb.focus()
        thumb.press("ArrowRight")
        pages[2].wait_for_timeout(200)
        return bool(session.state.position[2] > before)

    assert becomes(moved)
    pages[2].wait_for_timeout(300)
    state = session.state
    force = session.robot.inverse_dynamics(state.position, state.velocity, state.acceleration)
    for page in pages[1:]:
        wait_for(page, "force-1", float(force[1]))
        page.close()


def test_a_fault_in_one_state_does_not_end_the_viewer(arm: tf.Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    session = arm.session
    with monkeypatch.context() as broken:
        broken.setattr(session.evaluation, "read", lambda state: 1 / 0)
        session.rest(home=True)
        assert becomes(lambda: "ZeroDivisionError" in session.panel.readings.content)
    session.rest(home=True)
    assert becomes(lambda: "data-key" in session.panel.readings.content)
