"""The page of an animation in a reader's browser: it plays, scrubs and turns, and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tauforge as tf
from support.browser import chromium, opened

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
STILL = {"reduced_motion": "reduce"}  # the page does not play by itself
WAITING = {"bypass_csp": True}  # to wait for a condition playwright evaluates texts, which the page itself forbids
SHARE = 0.005  # of the picture's pixels, that a robot covers at least
COVERED = """canvas => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let covered = 0;
  for (let k = 3; k < data.length; k += 4) covered += data[k] === 255;
  return covered / (canvas.width * canvas.height);
}"""
SCRUB = """(slider, value) => {
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
  return new Promise(requestAnimationFrame);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


def motion_of(name: str) -> tf.motion.Motion:
    if name == "motion-rig":
        return tf.motion.PoseMotion(
            tf.motion.JointMove([0, 0, 0.9, 0, 0, 0], [0.1, 0.1, 1.1, 0, 0.1, 0.3], duration=0.4)
        )
    n = tf.load(name).n
    return tf.motion.JointMove(np.zeros(n), np.linspace(0.3, 1.2, n), duration=0.5)


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("animations")
    pages = {
        name: tf.animate(tf.load(name), motion_of(name), folder / f"{name}.html").as_uri()
        for name in ("puma560", "scara", "motion-rig")
    }
    arm = tf.load("planar-2r")
    law = tf.control.GravityPD(arm, 60.0, 3.0)
    run = tf.simulate(arm, law, motion_of("planar-2r"), control_period=0.01, step=0.01)
    long = "a robot with a very long name_that_cannot_be_broken_anywhere_at_all_and_so_must_be_cut <b>"
    return pages | {"recording": tf.animate(arm, run, folder / "run.html", title=long).as_uri()}


ROBOTS = pytest.mark.parametrize("name", ["puma560", "scara", "motion-rig", "recording"])


@ROBOTS
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_is_drawn_without_requests_or_complaints(
    browser: Any, addresses: dict[str, str], name: str, scheme: str, viewport: dict[str, int]
) -> None:
    page, wrong = opened(browser, addresses[name], viewport=viewport, color_scheme=scheme, **STILL)
    assert page.locator("#picture").evaluate(COVERED) > SHARE
    assert all(chart.evaluate(COVERED) > SHARE for chart in page.locator(".chart").all())
    width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window
    for part in ("#play", "#scrub", "#speed", "#picture", ".actuator >> nth=-1"):
        box = page.locator(part).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
    assert wrong == []
    page.close()


@pytest.mark.parametrize("name", ["puma560", "scara", "motion-rig"])
def test_scrubbing_shows_the_forces_of_the_library(browser: Any, addresses: dict[str, str], name: str) -> None:
    robot, motion = tf.load(name), motion_of(name)
    page, wrong = opened(browser, addresses[name], viewport=DESKTOP, **STILL)
    last = int(page.locator("#scrub").get_attribute("max"))
    for frame in (0, 5, last):
        page.locator("#scrub").evaluate(SCRUB, frame)
        time = motion.duration * frame / last
        assert page.locator("#time").text_content() == f"{time:.2f} / {motion.duration:.2f} s"
        forces = robot.inverse_dynamics(*motion.sample(time))
        numbers = page.locator(".number").all_text_contents()
        for text, force, actuator in zip(numbers, forces, robot.actuators, strict=True):
            decimals = len(text.partition(".")[2])
            assert float(text.replace("\u2212", "-")) == pytest.approx(force, abs=0.501 * 10.0**-decimals), (
                actuator.name
            )
        units = page.locator(".unit").all_text_contents()
        assert [unit.strip() for unit in units] == [actuator.unit for actuator in robot.actuators]
    assert wrong == []
    page.close()


def test_it_plays_and_pauses(browser: Any, addresses: dict[str, str]) -> None:
    page, wrong = opened(browser, addresses["puma560"], viewport=DESKTOP, **STILL, **WAITING)
    time, play = page.locator("#time"), page.locator("#play")
    start = time.text_content()
    page.wait_for_timeout(200)
    assert time.text_content() == start  # who prefers reduced motion starts it
    page.select_option("#speed", "0.25")
    play.click()
    page.wait_for_function("start => document.getElementById('time').textContent !== start", arg=start)
    assert play.get_attribute("aria-label") == "Pause"
    page.locator("#picture").press(" ")
    assert play.get_attribute("aria-label") == "Play"
    page.wait_for_timeout(100)
    stopped = time.text_content()
    page.wait_for_timeout(200)
    assert time.text_content() == stopped
    page.uncheck("#repeat")
    page.select_option("#speed", "4")
    page.locator("#picture").press(" ")
    page.wait_for_function("document.getElementById('play').getAttribute('aria-label') === 'Play'")
    page.wait_for_function("document.getElementById('time').textContent.startsWith('0.50 /')")
    assert wrong == []
    page.close()


def test_it_plays_by_itself_and_again(browser: Any, addresses: dict[str, str]) -> None:
    page, wrong = opened(browser, addresses["puma560"], viewport=DESKTOP, reduced_motion="no-preference", **WAITING)
    page.wait_for_function(
        """() => {
             window.before = window.now ?? 0;
             window.now = Number(document.getElementById("scrub").value);
             return window.now < window.before;
           }"""
    )
    assert wrong == []
    page.close()


def picture(page: Any) -> str:
    page.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")
    return str(page.locator("#picture").evaluate("canvas => canvas.toDataURL()"))


def test_the_picture_turns_zooms_and_comes_back(browser: Any, addresses: dict[str, str]) -> None:
    page, wrong = opened(browser, addresses["motion-rig"], viewport=DESKTOP, **STILL)
    first = picture(page)
    page.mouse.move(400, 300)
    page.mouse.down()
    page.mouse.move(460, 330)
    page.mouse.up()
    turned = picture(page)
    page.mouse.wheel(0, 300)
    zoomed = picture(page)
    page.locator("#picture").press("ArrowLeft")
    keyed = picture(page)
    assert len({first, turned, zoomed, keyed}) == 4
    page.locator("#picture").dblclick()
    assert picture(page) == first
    page.locator("#picture").press("+")
    assert picture(page) != first
    page.locator("#reset").click()
    assert picture(page) == first
    for box in page.locator("#layers input").all():
        before = picture(page)
        box.click()
        assert picture(page) != before
    assert wrong == []
    page.close()


def test_two_fingers_zoom(browser: Any, addresses: dict[str, str]) -> None:
    page, wrong = opened(browser, addresses["puma560"], viewport=PHONE, has_touch=True, **STILL)
    first = picture(page)
    touch = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 20), ("touchMove", 60), ("touchMove", 90)):
        points = [{"x": 190 - apart, "y": 300, "id": 0}, {"x": 190 + apart, "y": 300, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert picture(page) != first
    assert wrong == []
    page.close()


def test_a_chart_scrubs(browser: Any, addresses: dict[str, str]) -> None:
    page, _ = opened(browser, addresses["scara"], viewport=DESKTOP, **STILL)
    assert page.locator(".chart").count() == 2  # N m and N
    box = page.locator(".chart").first.bounding_box()
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    picture(page)
    assert 0 < int(page.locator("#scrub").input_value()) < int(page.locator("#scrub").get_attribute("max"))
    page.close()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_robot_without_motors_has_the_whole_width(browser: Any, tmp_path: Any, viewport: dict[str, int]) -> None:
    robot = tf.load("bricard")
    run = tf.simulate(robot, None, initial=(robot.home, [1.0]), duration=0.1, step=0.01)
    address = tf.animate(robot, run, tmp_path / "free.html").as_uri()
    page, wrong = opened(browser, address, viewport=viewport, **STILL)
    assert "Actuators" not in page.locator("main").inner_text()
    assert page.locator(".stage").bounding_box()["width"] == viewport["width"]
    assert page.locator("#picture").evaluate(COVERED) > SHARE
    assert wrong == []
    page.close()


def test_forces_beyond_their_limits_are_marked(browser: Any, tmp_path: Any) -> None:
    arm = tf.load("puma560-armstrong")
    fast = tf.motion.JointMove(np.zeros(6), np.full(6, 1.5), duration=0.25)
    page, _ = opened(browser, tf.animate(arm, fast, tmp_path / "fast.html").as_uri(), viewport=DESKTOP, **STILL)
    page.locator("#scrub").evaluate(SCRUB, 1)
    forces = arm.inverse_dynamics(*fast.sample(fast.duration / int(page.locator("#scrub").get_attribute("max"))))
    beyond = page.locator(".actuator").evaluate_all("rows => rows.map((row) => row.classList.contains('beyond'))")
    assert beyond == list(np.abs(forces) > arm.max_forces)
    assert any(beyond)
    assert not all(beyond)
    page.close()
