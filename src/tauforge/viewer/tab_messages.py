"""What tabs may say to viser: values within the range of a control, finite places, and nothing that we do not offer.

A tab can send anything. viser stores and passes on to all tabs whatever it is told, even a slider's limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

# A page could open the server to the world through a tunnel, put files in the place of values, and submit forms.
NOT_OFFERED = (
    "ShareUrlRequest",
    "ShareUrlDisconnect",
    "FileTransferStartUpload",
    "FileTransferPart",
    "GuiFormSubmitMessage",
    "GuiFormDirtyMessage",
    "GuiButtonHoldMessage",
    "CommandTriggerMessage",
)
LARGEST = 1e4  # m: farther away nothing is meant


def keep_to_offers(module: Any, server: Any) -> None:
    """From now on a viser server ignores all other messages, without a word."""
    messages, socket = module._messages, server._websock_server
    for name in NOT_OFFERED:
        socket.unregister_handler(getattr(messages, name))
    checks: dict[Any, Callable[[Any], bool]] = {
        messages.GuiUpdateMessage: lambda message: _is_sound_update(server.gui, message),
        messages.TransformControlsUpdateMessage: _is_sound_place,
        messages.SceneNodeClickMessage: _is_sound_click,
    }
    for kind, is_sound in checks.items():
        handlers = socket._incoming_handlers
        handlers[kind] = [_only_if(is_sound, handler) for handler in handlers[kind]]


def is_sound_value(control: Any, value: object) -> bool:
    """Whether a tab may give this value to a slider, a choice, a checkbox or a button."""
    if hasattr(control, "options"):
        return isinstance(value, str) and value in control.options
    if hasattr(control, "min"):
        return _is_number(value) and control.min <= value <= control.max
    return isinstance(value, bool)


def _only_if(is_sound: Callable[[Any], bool], handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    async def checked(client: Any, message: Any) -> None:
        if is_sound(message):
            await handler(client, message)

    return checked


def _is_sound_update(gui: Any, message: Any) -> bool:
    updates = message.updates
    if not isinstance(message.uuid, str) or not isinstance(updates, dict) or list(updates) != ["value"]:
        return False
    control = gui._gui_input_handle_from_uuid.get(message.uuid)
    return control is not None and is_sound_value(control, updates["value"])


def _is_sound_place(message: Any) -> bool:
    return (
        isinstance(message.name, str)
        and _are_numbers(message.position, 3)
        and _are_numbers(message.wxyz, 4)
        and any(message.wxyz)
    )


def _is_sound_click(message: Any) -> bool:
    index = message.instance_index
    return (
        isinstance(message.name, str)
        and (index is None or (isinstance(index, int) and not isinstance(index, bool)))
        and _are_numbers(message.ray_origin, 3)
        and _are_numbers(message.ray_direction, 3)
    )


def _are_numbers(values: object, count: int) -> bool:
    return (
        isinstance(values, tuple | list)
        and len(values) == count
        and all(_is_number(x) and abs(x) <= LARGEST for x in values)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
