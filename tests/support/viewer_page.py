"""The viewer's page in a browser: opening it, reading its numbers, moving its sliders, pointing at places."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.browser import PATIENCE_MS
from tauforge.viewer.figure import named_parts
from tauforge.viewer.session import Session

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
PIXELS = 0.25  # of the screen, to each of the page's: without a GPU nearly all of the time is for drawing them
PATIENCE = PATIENCE_MS / 1000
OURS = ("http://127.0.0.1:", "blob:http://127.0.0.1:", "data:")


def opened(
    browser: Any, viewer: tf.Viewer, viewport: dict[str, int] = DESKTOP, pixels: float = PIXELS
) -> tuple[Any, list[str]]:
    """A tab with the panel in it, and what went wrong: errors on the console, requests to anywhere else.

    pixels: of the screen, to each of the page's
    """
    page = browser.new_page(viewport=viewport, device_scale_factor=pixels)
    wrong: list[str] = []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: one.url.startswith(OURS) or wrong.append(one.url))
    page.goto(viewer.url)
    page.wait_for_selector("[data-key=force-0]", timeout=PATIENCE_MS, state="attached")
    return page, wrong


def on_screen(viewer: tf.Viewer, place: np.ndarray) -> np.ndarray:
    """Where the only tab shows a place (3,) m: shares (2,) of the scene's width and height, from its upper left."""
    (client,) = viewer.server.viser.get_clients().values()
    camera = client.camera
    ahead = np.asarray(camera.look_at) - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, camera.up_direction)
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    way = place - camera.position
    scale = 1 / 2 / np.tan(camera.fov / 2) / (way @ ahead)
    return 0.5 + scale * np.array([way @ right * camera.image_height / camera.image_width, way @ down])


def pixel(page: Any, viewer: tf.Viewer, place: np.ndarray) -> np.ndarray:
    """Where a mouse points at a place (3,) m in the only tab, (2,)."""
    box = page.evaluate("window.__viserMutable.canvas.getBoundingClientRect().toJSON()")
    return np.array([box["x"], box["y"]]) + on_screen(viewer, place) * (box["width"], box["height"])


def in_sight(viewer: tf.Viewer, places: np.ndarray) -> bool:
    """Whether the only tab shows all places (k, 3) m: before its eye and within its picture."""
    clients = list(viewer.server.viser.get_clients().values())
    if len(clients) != 1:  # it connects, or the one before it has not yet gone
        return False
    camera = clients[0].camera
    shares = np.array([on_screen(viewer, place) for place in places])
    ahead = (places - camera.position) @ (np.asarray(camera.look_at) - camera.position)
    return bool((ahead > 0).all() and (shares > 0).all() and (shares < 1).all())


def part_under(page: Any, place: np.ndarray) -> str | None:
    """The name that the page shows once the mouse is at a pixel (2,)."""
    page.mouse.move(*place)
    page.wait_for_timeout(400)  # the page looks ten times a second
    label = page.locator("#part-name")
    return str(label.text_content()) if label.count() and label.is_visible() else None


def hidden(place: np.ndarray, name: str, session: Session, camera: Any) -> bool:
    """Whether another part, or the edge of one, is between the eye and a place (3,) m of the part of this name."""
    drawing, size = session.robot.drawing(session.state.position), session.scene.size
    steps = np.linspace(0.0, 1.0, 400)[:, None]
    ray = camera.position + steps * (place - camera.position)
    for part in named_parts(drawing, 1.3 * size):
        along = part.end - part.start
        share = np.clip((ray - part.start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
        off = np.linalg.norm(ray - part.start - share[:, None] * along, axis=1)
        if part.name != name and (off < part.radius).any():
            return True
    return False


def dragged(page: Any, start: np.ndarray, end: np.ndarray) -> None:
    """The mouse takes what is at one pixel to another, slowly enough for viser."""
    page.mouse.move(*start)
    page.wait_for_timeout(500)  # the handle must notice the mouse
    page.mouse.down()
    for share in np.linspace(0.1, 1.0, 10):
        page.mouse.move(*(start + share * (end - start)))
        page.wait_for_timeout(100)
    page.mouse.up()


def becomes(condition: Callable[[], bool]) -> bool:
    """Whether something is so before long."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def number(page: Any, key: str) -> float:
    return float(page.locator(f"[data-key={key}]").text_content().split()[0])


def wait_for(page: Any, key: str, value: float) -> None:
    """Until a number of the panel is this one, as far as its digits go."""

    def shown() -> bool:
        page.wait_for_timeout(20)
        return bool(number(page, key) == pytest.approx(value, rel=2e-4, abs=1e-9))

    assert becomes(shown), f"{key} is {number(page, key)}, not {value}"


def slider(page: Any, label: str) -> Any:
    row = page.locator("label", has_text=label).locator("xpath=ancestor::div[contains(@class, 'Flex-root')][1]")
    return row.get_by_role("slider")
