"""What tabs may say to viser: values within the range of a control, finite places, and nothing that we do not offer.

A tab can send anything. viser stores and passes on to all tabs whatever it is told, even a slider's limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any

LARGEST = 1e4  # m: farther away nothing is meant
PROTOCOL_ERROR = 1002  # of WebSocket

Handler = Callable[[Any], Coroutine[Any, Any, None]]


def screened(module: Any, handler: Handler) -> Handler:
    """viser's handler of a connection, which sees only messages of a kind in OFFERED that make sense.

    viser prints the version that a tab claims to have, and warns with whatever text stands in the place of a vector: a
    tab could command the terminal. What is no message at all is passed on: viser ends the connection.
    """
    decode = module.infra._messages.msgspec.msgpack.decode

    async def handle(connection: Any) -> None:
        if connection.subprotocol != f"viser-v{module.__version__}":
            await connection.close(PROTOCOL_ERROR, f"Version mismatch. Server: {module.__version__}")
            return
        receive = connection.recv

        async def next_offered() -> Any:
            while not _is_offered(decode, raw := await receive()):
                pass
            return raw

        connection.recv = next_offered
        await handler(connection)

    return handle


def keep_to_controls(module: Any, server: Any) -> None:
    """From now on a viser server ignores values that its controls do not offer, without a word."""
    handlers = server._websock_server._incoming_handlers
    kind = module._messages.GuiUpdateMessage
    handlers[kind] = [_only_if_sound(server.gui, handler) for handler in handlers[kind]]


def is_sound_value(control: Any, value: object) -> bool:
    """Whether a tab may give this value to a slider, a choice, a checkbox or a button."""
    if hasattr(control, "options"):
        return isinstance(value, str) and value in control.options
    if hasattr(control, "min"):
        return _is_number(value) and control.min <= value <= control.max
    return isinstance(value, bool)


def _only_if_sound(gui: Any, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    async def checked(client: Any, message: Any) -> None:
        control = gui._gui_input_handle_from_uuid.get(message.uuid)
        if control is not None and is_sound_value(control, message.updates["value"]):
            await handler(client, message)

    return checked


def _is_offered(decode: Callable[[Any], Any], raw: object) -> bool:
    try:
        message = decode(raw)
        kind = message["type"]
    except (ValueError, TypeError, KeyError):
        return True
    return isinstance(kind, str) and kind in OFFERED and OFFERED[kind](message)


def _is_sound_update(message: dict[str, Any]) -> bool:
    updates = message.get("updates")
    return isinstance(message.get("uuid"), str) and isinstance(updates, dict) and list(updates) == ["value"]


def _is_sound_place(message: dict[str, Any]) -> bool:
    return _is_node(message) and _has_vectors(message, position=3, wxyz=4) and any(message["wxyz"])


def _is_sound_click(message: dict[str, Any]) -> bool:
    index = message.get("instance_index")
    return (
        _is_node(message)
        and (index is None or (isinstance(index, int) and not isinstance(index, bool)))
        and _has_vectors(message, ray_origin=3, ray_direction=3, screen_pos=2)
    )


def _is_sound_camera(message: dict[str, Any]) -> bool:
    return _has_vectors(message, position=3, wxyz=4, look_at=3, up_direction=3)


def _is_sound_picture(message: dict[str, Any]) -> bool:
    return isinstance(message.get("payload"), bytes)


# All that our page says. A page could otherwise open the server to the world through a tunnel, and put files in the
# place of values.
OFFERED: dict[str, Callable[[dict[str, Any]], bool]] = {
    "GuiUpdateMessage": _is_sound_update,
    "TransformControlsUpdateMessage": _is_sound_place,
    "SceneNodeClickMessage": _is_sound_click,
    "ViewerCameraMessage": _is_sound_camera,
    "GetRenderResponseMessage": _is_sound_picture,
}


def _is_node(message: dict[str, Any]) -> bool:
    return isinstance(message.get("name"), str) and isinstance(message.get("owner"), str)


def _has_vectors(message: dict[str, Any], **counts: int) -> bool:
    return all(_are_numbers(message.get(name), count) for name, count in counts.items())


def _are_numbers(values: object, count: int) -> bool:
    return (
        isinstance(values, list) and len(values) == count and all(_is_number(x) and abs(x) <= LARGEST for x in values)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
