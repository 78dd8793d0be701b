"""What a tab that says anything it likes can do to the others: nothing."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from tauforge.viewer.tab_messages import NOT_OFFERED, is_sound_value

pytest.importorskip("viser")
import msgspec
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

PATIENCE = 20.0  # s
SLIDER = SimpleNamespace(min=-1.0, max=2.0)
CHOICE = SimpleNamespace(options=("a", "b"))
BOX = SimpleNamespace()


@pytest.fixture(scope="module")
def viewer() -> Iterator[tf.Viewer]:
    with tf.view(tf.load("planar-2r"), port=0) as one:
        yield one


class Tab:
    """A tab of our own making: it sends what it likes."""

    def __init__(self, viewer: tf.Viewer) -> None:
        import viser

        protocol: Any = f"viser-v{viser.__version__}"
        url = f"ws://127.0.0.1:{viewer.server.guard.port}"
        self.connection = connect(url, subprotocols=[protocol], max_size=None)
        # viser takes a tab for connected when it says where its eye is
        self.say(
            "ViewerCameraMessage",
            wxyz=(1.0, 0.0, 0.0, 0.0),
            position=(1.0, 0.0, 0.0),
            fov=1.0,
            near=0.1,
            far=10.0,
            image_height=10,
            image_width=10,
            look_at=(0.0, 0.0, 0.0),
            up_direction=(0.0, 0.0, 1.0),
        )

    def say(self, kind: str, **content: Any) -> None:
        self.connection.send(msgspec.msgpack.encode({"type": kind, **content}))

    def update(self, control: Any, **updates: Any) -> None:
        self.say("GuiUpdateMessage", uuid=control._impl.uuid, updates=updates)


@pytest.fixture
def tab(viewer: tf.Viewer) -> Iterator[Tab]:
    one = Tab(viewer)
    yield one
    one.connection.close()


def heard(viewer: tf.Viewer, tab: Tab) -> None:
    """Until the viewer has taken what the tab said before: messages are taken in order."""
    slider = viewer.session.panel.sliders["velocity"][0]
    value = 0.5 if slider.value != 0.5 else 0.25
    tab.update(slider, value=value)
    end = time.monotonic() + PATIENCE
    while viewer.session.state.velocity[0] != value:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("control", "sound", "unsound"),
    [
        (SLIDER, (-1, 0.5, 2.0), (-1.1, 2.1, float("nan"), float("inf"), "0", None, True, [0.5], 10**400)),
        (CHOICE, ("a", "b"), ("c", "", 0, None, ["a"], True)),
        (BOX, (True, False), (0, 1, "true", None, [])),
    ],
)
def test_values_are_of_the_kind_and_in_the_range(
    control: Any, sound: tuple[Any, ...], unsound: tuple[Any, ...]
) -> None:
    assert all(is_sound_value(control, value) for value in sound)
    assert not any(is_sound_value(control, value) for value in unsound)


@pytest.mark.fault(17)
def test_a_tab_may_set_values_and_nothing_else(viewer: tf.Viewer, tab: Tab, capfd: pytest.CaptureFixture[str]) -> None:
    slider, box = viewer.session.panel.sliders["position"][0], viewer.session.panel.checkboxes["names"]
    before = viewer.session.state.position
    handlers = list(slider._impl.update_cb)
    for updates in (
        {"update_cb": []},
        {"max": 99.0},
        {"props": {}},
        {"nothing": 1},
        {"value": 0.1, "max": 99.0},
        {"value": "text"},
        {"value": slider.max + 1.0},
        {"value": float("nan")},
        {},
    ):
        tab.update(slider, **updates)
    tab.update(box, value="yes")
    tab.say("GuiUpdateMessage", uuid=["no", "text"], updates={"value": 0.1})
    tab.say("GuiUpdateMessage", uuid="nobody", updates={"value": 0.1})
    tab.say("GuiUpdateMessage", uuid=slider._impl.uuid, updates=["value"])
    heard(viewer, tab)
    np.testing.assert_array_equal(viewer.session.state.position, before)
    assert slider._impl.update_cb == handlers
    assert slider.max == viewer.session.panel.ranges["position"][0].upper
    assert slider.value == viewer.session.panel.ranges["position"][0].stepped(before[0])
    assert box.value is False
    tab.update(slider, value=1)  # JavaScript has no whole numbers of its own
    heard(viewer, tab)
    assert viewer.session.state.position[0] == 1.0
    assert capfd.readouterr() == ("", "")


@pytest.mark.fault(17)
def test_handles_and_clicks_are_somewhere(viewer: tf.Viewer, tab: Tab, capfd: pytest.CaptureFixture[str]) -> None:
    gizmo = viewer.session.gizmo._controls
    before = np.array(gizmo.position)
    name, nan = gizmo.name, float("nan")
    for position, wxyz in (
        ((nan, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 1e30), (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
    ):
        tab.say("TransformControlsUpdateMessage", name=name, position=position, wxyz=wxyz, owner="")
    here = (1.0, 0.0, 0.0)
    for index, ray in (
        (0, (nan, 0.0, 0.0)),
        (0, (float("inf"), 0.0, 0.0)),
        ("0", here),
        (-1, here),
        (10**6, here),
    ):
        tab.say(
            "SceneNodeClickMessage",
            name="/robot/bars",
            instance_index=index,
            ray_origin=ray,
            ray_direction=ray,
            screen_pos=(0.0, 0.0),
            modifier=None,
            owner="",
        )
    heard(viewer, tab)
    np.testing.assert_array_equal(gizmo.position, before)
    assert not viewer.session.scene._labels
    assert capfd.readouterr() == ("", "")


@pytest.mark.fault(17)
def test_no_tab_can_open_a_tunnel_or_send_files(viewer: tf.Viewer) -> None:
    """viser would let any page share the server with the world, and put a file in the place of a slider's number."""
    names = [message.__name__ for message in viewer.server.viser._websock_server._incoming_handlers]
    assert "GuiUpdateMessage" in names
    assert not set(names) & set(NOT_OFFERED)


@pytest.mark.fault(17)
def test_nonsense_ends_only_the_tab_that_says_it(
    viewer: tf.Viewer, tab: Tab, capfd: pytest.CaptureFixture[str]
) -> None:
    other = Tab(viewer)
    other.connection.send(b"\xc1 no message")
    with pytest.raises(ConnectionClosedError, match="1011"):
        deque(iter(partial(other.connection.recv, timeout=PATIENCE), None))  # all that is sent, until it ends
    heard(viewer, tab)
    assert capfd.readouterr() == ("", "")
