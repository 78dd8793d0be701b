"""Mechanisms in the viewer: sliders of the independent coordinates, loops closed, and what cannot be closed."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from html import unescape
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.browser import chromium
from support.catalogue import names_of
from support.viewer_page import becomes, dragged, in_sight, opened, pixel, slider, wait_for
from tauforge.robots.mechanism.capabilities import MechanismPositions
from tauforge.viewer.evaluation import Evaluation, not_unique
from tauforge.viewer.panel import HANDLE_SCALE
from tauforge.viewer.scene import VisibleParts
from tauforge.viewer.session import Session
from tauforge.viewer.surroundings import surroundings

pytest.importorskip("viser")

MECHANISMS = names_of("mechanism")
WAITS = 60.0  # s, on a busy machine
STAYS = "The robot stays where it was. five-bar: the loops do not close at [2.7, 0]"
HAND = """<robot name="hand">
  <link name="palm"/>
  {fingers}
</robot>"""
FINGER = """
  <joint name="knuckle {k}" type="revolute">
    <parent link="palm"/><child link="proximal {k}"/><origin xyz="0 {y} 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/>
  </joint>
  <link name="proximal {k}">
    <inertial><mass value="0.1"/><origin xyz="0 0 0.02"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-5" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="tip {k}" type="revolute">
    <parent link="proximal {k}"/><child link="distal {k}"/><origin xyz="0 0 0.04"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/>
  </joint>
  <link name="distal {k}">
    <inertial><mass value="0.05"/><origin xyz="0 0 0.02"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-5" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>"""


def free_five_bar() -> tf.Mechanism:
    m = tf.load("five-bar")
    return m.replace(joints=[dataclasses.replace(joint, limits=None) for joint in m.joints])


def settled(session: Session) -> str:
    """What the panel says once nothing is left to show: an answer that began after the last one ended."""
    for _ in range(2):
        before = session.updates
        session._wake()
        assert becomes(lambda before=before: session.updates > before)
    return unescape(session.panel.readings.content)


def stays(session: Session) -> bool:
    """Whether the position is the same after two more answers."""
    seen = []
    for _ in range(2):
        settled(session)
        seen.append(session.state.position)
    return np.array_equal(*seen)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_shown_and_moved(name: str) -> None:
    m = tf.load(name)
    with tf.view(m, port=0) as viewer:
        session = viewer.session
        session.show(VisibleParts(*[True] * len(VisibleParts())))
        assert [len(group) for group in session.panel.sliders.values()] == [m.n] * 3
        start = m.positions.coordinates(session.state.position)
        session.change("position", m.n - 1, float(start[-1]) - 0.02)
        session.change("velocity", 0, 0.1)
        text = settled(session)
        assert "Traceback" not in text
        state = session.state
        np.testing.assert_allclose(m.positions.coordinates(state.position), [*start[:-1], start[-1] - 0.02], atol=1e-12)
        assert m.loop_gap(state.position) < 1e-12
        if len(m.actuators):
            forces = m.inverse_dynamics(state.position, state.velocity, state.acceleration)
            np.testing.assert_array_equal(session.evaluation.read(state).forces, forces)
            assert "data-problem" not in text
        else:
            assert "0 actuators, which cannot give every acceleration" in text
        assert "potential" in text


def test_a_hand_of_two_fingers_has_a_slider_for_each_joint(tmp_path: Any) -> None:
    path = tmp_path / "hand.urdf"
    path.write_text(HAND.format(fingers="".join(FINGER.format(k=k, y=0.05 * k) for k in (1, 2))))
    hand = tf.load(path)
    assert isinstance(hand, tf.Mechanism)
    with tf.view(hand, port=0) as viewer:
        session = viewer.session
        session.change("position", 2, 0.4)
        assert "Traceback" not in settled(session)
        np.testing.assert_array_equal(session.state.position, [0, 0, 0.4, 0])
        pose = hand.moved_body.frames(np.array([0.0, 0.0, 0.5, 0.2]))
        session.drag(pose)
        settled(session)
        np.testing.assert_allclose(hand.moved_body.frames(session.state.position), pose, atol=1e-8)
        assert session.workspace is not None
        assert len(session.workspace.show().points)


def test_coordinates_without_a_position_leave_the_robot_where_it_was() -> None:
    with tf.view(free_five_bar(), port=0) as viewer:
        session = viewer.session
        session.change("position", 1, 0.5)
        settled(session)
        session.change("position", 0, 2.7)
        settled(session)
        session.change("position", 1, 0.0)
        text = settled(session)
        assert STAYS in text
        np.testing.assert_allclose(session.robot.positions.coordinates(session.state.position), [2.7, 0.5])
        before = session.state.position
        session.load(payload=1.0)  # it is asked again, and says so again
        assert STAYS in settled(session)
        np.testing.assert_array_equal(session.state.position, before)
        session.change("position", 0, 2.4)  # the other slider still is where the hand put it
        assert "stays where it was" not in settled(session)
        np.testing.assert_allclose(session.robot.positions.coordinates(session.state.position), [2.4, 0.0])
        session.change("position", 0, 2.7)
        assert STAYS in settled(session)
        session.rest(home=True)
        assert "stays where it was" not in settled(session)
        assert [slider.value for slider in session.panel.sliders["position"]] == pytest.approx([2.2, 0.9])


@pytest.mark.parametrize("asked_again", [False, True])
def test_home_wins_over_a_slider_that_is_still_followed(monkeypatch: pytest.MonkeyPatch, asked_again: bool) -> None:
    """Closing loops may take a while. What the hand did before Home is late then, what it does after is not."""
    m = free_five_bar()
    begun, go_on = threading.Event(), threading.Event()
    closed = MechanismPositions.at

    def slowly(self: MechanismPositions, coordinates: Any, *args: Any, **options: Any) -> Any:
        if coordinates.shape == (2,) and coordinates[0] == 2.4:
            begun.set()
            assert go_on.wait(WAITS)
        return closed(self, coordinates, *args, **options)

    with tf.view(m, port=0) as viewer:
        session = viewer.session
        settled(session)
        monkeypatch.setattr(MechanismPositions, "at", slowly)
        session.change("position", 0, 2.4)
        assert begun.wait(WAITS)
        session.rest(home=True)
        if asked_again:
            session.change("position", 1, 0.8)
        go_on.set()
        settled(session)
        found = m.positions.coordinates(session.state.position)
        np.testing.assert_allclose(found, [2.2, 0.8] if asked_again else [2.2, 0.9], atol=1e-12)


def test_a_singular_position_says_why_it_has_no_forces() -> None:
    m = tf.load("five-bar")
    A, B, C, D, E = (0, 0, 0), (0, 0, 1), (1, 0, 1), (2, 0, 1), (2.5, 0, 0)  # the rods in line
    places = {"left crank": (A, B), "left rod": (B, C), "right crank": (E, D), "right rod": (D, C)}
    bodies = [
        tf.Body(name, 1.0, com=tuple(np.add(a, b) / 2), inertia=(0.1, 0.1, 0.1)) for name, (a, b) in places.items()
    ]
    at = dict(zip([joint.name for joint in m.joints], (A, B, E, D, C), strict=True))
    joints = [dataclasses.replace(joint, at=at[joint.name], home=0.0, limits=None) for joint in m.joints]
    line = m.replace(bodies=bodies, joints=joints)
    evaluation = Evaluation(line)
    reading = evaluation.read(evaluation.start())
    assert reading.problem == (
        "singular: left, right do not determine the motion here: the actuators lose control, and tip, left elbow, "
        "right elbow can move while they stand still"
    )
    assert np.isnan(reading.forces).all()
    assert np.isnan(reading.energy).all()
    assert evaluation.reactions(evaluation.start()) == ()


def test_reactions_are_drawn_as_far_as_they_are_unique() -> None:
    m = tf.load("five-bar")
    evaluation = Evaluation(m)
    state = evaluation.start()
    found = evaluation.reactions(state)
    assert [one.name for one in found] == [joint.name for joint in m.joints]
    wrenches = m.joint_wrenches(state.position, state.velocity, state.acceleration)
    np.testing.assert_array_equal([one.force for one in found], wrenches[:, :3])
    # the ground carries the whole weight, whatever the redundant components are
    ground = found[0].force + found[2].force
    weight = 9.81 * sum(body.mass for body in m.bodies)
    np.testing.assert_allclose(ground[[0, 2]], [0.0, weight], atol=1e-9)
    assert not_unique(found) == (
        "Redundant constraints leave components of the reactions of left, left elbow, right and 2 more joints open: "
        "these are not drawn."
    )
    hexapod = Evaluation(tf.load("hexapod-6rus"))
    assert not_unique(hexapod.reactions(hexapod.start())) == ""
    with tf.view(m, port=0) as viewer:
        session = viewer.session
        session.show(VisibleParts(reactions=True))
        assert "these are not drawn" in settled(session)
        shafts = session.scene._reactions
        assert shafts is not None
        assert shafts.visible


def test_energy_of_springs_stays_with_another_gravity() -> None:
    governor = tf.load("flyball-governor")
    evaluation = Evaluation(governor)
    state = evaluation.start()._replace(gravity=1.62)
    moon = governor.replace(gravity=(0, 0, -1.62))
    assert governor.springs
    expected = moon.energy(state.position, state.velocity)
    assert evaluation.read(state).energy == pytest.approx(tuple(map(float, expected)), rel=1e-12)


def test_what_lies_flat_is_seen_from_above() -> None:
    flat, upright = (surroundings(tf.load(name)) for name in ("planar-3rrr", "five-bar"))
    assert flat.eye @ flat.up == pytest.approx(np.sin(np.radians(60)))
    assert upright.eye @ upright.up < 0.5


def test_forces_that_are_rounding_alone_are_nothing() -> None:
    """Andrews' squeezer stands at home in a toggle: its motor feels nothing of the spring."""
    with tf.view(tf.load("andrews"), port=0) as viewer:
        assert 'data-key="force-0">0 N m<' in settled(viewer.session)


# -------------------------------------------------------------------------------------------------- in the browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.mark.parametrize(("name", "label", "k"), [("five-bar", "left (rad)", 0), ("delta", "motor 2 (rad)", 1)])
def test_a_slider_changes_the_force_to_the_librarys(browser: Any, name: str, label: str, k: int) -> None:
    m = tf.load(name)
    with tf.view(m, port=0) as viewer:
        session = viewer.session
        page, wrong = opened(browser, viewer)
        thumb = slider(page, label)
        thumb.focus()
        for _ in range(10):
            thumb.press("ArrowRight")
        start, step = m.positions.coordinates(m.home), session.panel.ranges["position"][k].step
        assert becomes(
            lambda: m.positions.coordinates(session.state.position)[k] > start[k] + 9.5 * step
        )  # the last has come
        coordinates = m.positions.coordinates(session.state.position)
        np.testing.assert_allclose(np.delete(coordinates, k), np.delete(start, k), atol=1e-12)
        force = m.inverse_dynamics(m.configuration(coordinates), np.zeros(m.n), np.zeros(m.n))
        for i, value in enumerate(force):
            wait_for(page, f"force-{i}", float(value))
        assert wrong == []
        page.close()


def test_a_slider_beyond_the_loops_says_so(browser: Any) -> None:
    m = free_five_bar()
    with tf.view(m, port=0) as viewer:
        session = viewer.session
        session.change("position", 1, 0.0)
        page, wrong = opened(browser, viewer)
        thumb = slider(page, "left (rad)")
        thumb.focus()
        thumb.press("End")
        page.wait_for_selector("[data-unreached]", timeout=60_000)
        assert "the loops do not close" in page.locator("[data-unreached]").text_content()
        assert m.loop_gap(session.state.position) < 1e-12
        force = m.inverse_dynamics(session.state.position, np.zeros(2), np.zeros(2))
        wait_for(page, "force-0", float(force[0]))  # of the position that is shown
        other = slider(page, "right (rad)")
        other.focus()
        other.press("Home")
        page.wait_for_selector("[data-unreached]", state="detached", timeout=60_000)
        assert m.positions.coordinates(session.state.position) == pytest.approx([np.pi, -np.pi], abs=1e-3)
        assert wrong == []
        page.close()


def test_dragging_a_delta_moves_its_platform() -> None:
    m = tf.load("delta")
    with tf.view(m, port=0) as viewer:
        pose = m.moved_body.frames(m.home).copy()
        pose[:3, 3] += [0.05, -0.03, 0.04]
        viewer.session.drag(pose)
        settled(viewer.session)
        np.testing.assert_allclose(m.moved_body.frames(viewer.session.state.position), pose, atol=1e-8)
        sliders = [one.value for one in viewer.session.panel.sliders["position"]]
        np.testing.assert_allclose(sliders, m.positions.coordinates(viewer.session.state.position), atol=1e-3)


def test_a_mouse_drags_the_tip_of_a_five_bar(browser: Any) -> None:
    """The blue arrow of the handle is pulled up: the tip rises, and hardly goes anywhere else."""
    m = tf.load("five-bar")
    with tf.view(m, port=0) as viewer:
        page, wrong = opened(browser, viewer)
        session = viewer.session
        assert becomes(lambda: len(viewer.server.viser.get_clients()) == 1)
        assert becomes(lambda: in_sight(viewer, np.array(m.drawing(m.home).extent)))
        page.wait_for_timeout(2000)
        before = m.moved_body.frames(session.state.position)
        arrow = np.array([0, 0, HANDLE_SCALE * surroundings(m).size])
        start, end = (pixel(page, viewer, before[:3, 3] + share * arrow) for share in (0.6, 1.0))
        dragged(page, start, end)
        rise = 0.4 * arrow[2]
        assert becomes(lambda: m.moved_body.frames(session.state.position)[2, 3] - before[2, 3] > rise / 2)
        assert becomes(lambda: stays(session))  # moves of the mouse may still be on their way
        moved = (m.moved_body.frames(session.state.position) - before)[:3, 3]
        assert moved[2] < 1.5 * rise
        assert np.abs(moved[:2]).max() < 0.1 * rise
        assert m.loop_gap(session.state.position) < 1e-12
        force = m.inverse_dynamics(session.state.position, np.zeros(2), np.zeros(2))
        wait_for(page, "force-0", float(force[0]))
        assert wrong == []
        page.close()
