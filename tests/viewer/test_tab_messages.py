"""What a tab that says anything it likes can do to the others: nothing."""

from __future__ import annotations

import gc
import time
import warnings
from collections import deque
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from tauforge.viewer.guard import is_sound_value

pytest.importorskip("viser")
import msgspec
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect

PATIENCE = 60.0  # s, on a busy machine
SLIDER = SimpleNamespace(min=-1.0, max=2.0)
CHOICE = SimpleNamespace(options=("a", "b"))
BOX = SimpleNamespace()
HERE = (1.0, 0.0, 0.0)
CLICK = {
    "instance_index": 0,
    "ray_origin": HERE,
    "ray_direction": HERE,
    "screen_pos": (0.0, 0.0),
    "modifier": None,
    "owner": "",
}


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
    for index, ray in (
        (0, (nan, 0.0, 0.0)),
        (0, (float("inf"), 0.0, 0.0)),
        ("0", HERE),
        (-1, HERE),
        (10**6, HERE),
    ):
        tab.say(
            "SceneNodeClickMessage",
            name="/robot/bars",
            **{**CLICK, "instance_index": index, "ray_origin": ray, "ray_direction": ray},
        )
    heard(viewer, tab)
    np.testing.assert_array_equal(gizmo.position, before)
    assert not viewer.session.scene._labels
    assert capfd.readouterr() == ("", "")


@pytest.mark.fault(17)
def test_no_tab_can_open_a_tunnel_or_send_files(viewer: tf.Viewer, tab: Tab) -> None:
    """viser would let any page share the server with the world, and put a file in the place of a slider's number."""
    import viser

    taken: list[str] = []
    socket, kinds = viewer.server.viser._websock_server, viser._messages
    fields = {"source_component_uuid": "a", "transfer_uuid": "b", "filename": "c", "mime_type": "d"}
    said = {
        "ShareUrlRequest": {},
        "ShareUrlDisconnect": {},
        "FileTransferStartUpload": {**fields, "part_count": 1, "size_bytes": 1},
        "CommandTriggerMessage": {"uuid": "a"},
        "SceneNodeClickMessage": {**CLICK, "name": "/nothing"},
    }
    for name in said:
        socket.register_handler(getattr(kinds, name), lambda _, message: taken.append(type(message).__name__))
    for name, content in said.items():
        tab.say(name, **content)
    heard(viewer, tab)
    assert taken == ["SceneNodeClickMessage"]


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


COMMAND = "\x1b]0;owned\x07\x1b[2J\u202e"  # a terminal would take a title from it and clear itself


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    "value", [COMMAND, [COMMAND] * 3, {COMMAND: COMMAND}, None], ids=["text", "list", "map", "none"]
)
def test_no_text_of_a_tab_reaches_the_terminal(
    viewer: tf.Viewer, tab: Tab, capfd: pytest.CaptureFixture[str], value: Any
) -> None:
    """Not in a message of any kind, be its fields of the right types or not; viser prints and warns with them as is."""
    from viser._messages import Message

    kinds = Message._subclass_from_type_string()
    assert len(kinds) > 100
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for name, kind in kinds.items():
            other = Tab(viewer)
            other.say(name, **dict.fromkeys(kind.__dataclass_fields__, value))
            other.connection.close()
        heard(viewer, tab)
        gc.collect()  # asyncio tells of a task that failed when it is collected
    assert [str(warning.message) for warning in warned] == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.fault(17)
def test_a_tab_of_another_version_is_sent_away_in_silence(
    viewer: tf.Viewer, tab: Tab, capfd: pytest.CaptureFixture[str]
) -> None:
    old: Any = "viser-v0.0.OWNED"
    for protocols in ([old], None):
        with connect(f"ws://127.0.0.1:{viewer.server.guard.port}", subprotocols=protocols) as other:
            with pytest.raises(ConnectionClosedError, match=r"1002.*Version mismatch") as caught:
                other.recv(timeout=PATIENCE)
            assert "OWNED" not in str(caught.value)
    heard(viewer, tab)
    assert capfd.readouterr() == ("", "")
