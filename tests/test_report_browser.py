"""The report as a reader's browser shows it: everything drawn, nothing fetched, nothing cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import chromium, opened
from made_up_studies import study
from tauforge.studies.report.reproduce import write_report

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1360, "height": 900}
LEAST_TRACE = 20  # pixels: a curve that is less wide and high is not to be seen


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("shown")
    write_report([study()], folder)
    return (folder / "index.html").as_uri()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_figure_is_drawn_and_nothing_sticks_out(browser: Any, address: str, viewport: dict[str, int]) -> None:
    page, wrong = opened(browser, address, viewport=viewport)
    assert wrong == []
    plots = page.evaluate(
        """[...document.querySelectorAll('.plot')].map((plot) => {
             const seen = [...plot.querySelectorAll('.scatterlayer .trace, .barlayer .trace')].map(
               (trace) => trace.getBoundingClientRect());
             const svg = plot.querySelector('svg.main-svg').getBoundingClientRect();
             return {wanted: plot.data.length, sizes: seen.map((box) => Math.max(box.width, box.height)),
                     width: svg.width, height: svg.height};
           })"""
    )
    panels = [panel for figure in study().figures for panel in figure.panels]
    assert len(plots) == len(panels)
    for plot, panel in zip(plots, panels, strict=True):
        assert plot["wanted"] == len(plot["sizes"]) == len(panel.lines)
        assert min(plot["sizes"]) > LEAST_TRACE
        assert plot["width"] > viewport["width"] / 4
        assert plot["height"] > viewport["height"] / 5
    width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window
    page.close()


def test_the_legend_shows_and_hides_in_all_panels(browser: Any, address: str) -> None:
    page, _ = opened(browser, address, viewport=DESKTOP)
    figure = page.locator("#dasgupta1998-forces")
    button = figure.get_by_role("button", name="leg 3")
    visible = (
        "figure => [...figure.querySelectorAll('.plot')].map(plot => plot.data.map(trace => trace.visible !== false))"
    )
    shown = [True] * 6
    hidden = [True, True, False, True, True, True]
    for states in ([hidden, hidden], [shown, shown]):
        button.click()
        assert figure.evaluate(visible) == states
        assert button.get_attribute("aria-pressed") == str(states[0][2]).lower()
    page.close()


def test_fingers_get_no_mode_bar_over_the_curves(browser: Any, address: str) -> None:
    for touch in (True, False):
        page, _ = opened(browser, address, viewport=PHONE, has_touch=touch, is_mobile=touch)
        assert page.evaluate("matchMedia('(pointer: coarse)').matches") == touch
        assert (page.locator(".modebar-btn").count() == 0) == touch
        page.close()


def test_texts_are_no_markup(browser: Any, address: str) -> None:
    page, _ = opened(browser, address, viewport=DESKTOP)
    assert page.locator("b").count() == 0
    drawn = page.locator("#dasgupta1998-mixed .xtitle").nth(1).text_content()
    assert drawn == """x a < b & "c" > 'd' </script> $x^2$ <b>bold</b>"""
    page.close()


def test_dark_is_dark(browser: Any, address: str) -> None:
    page, _ = opened(browser, address, viewport=DESKTOP, color_scheme="dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    label = page.locator(".xtitle").first.evaluate("node => getComputedStyle(node).fill")
    dark, light = (sum(map(int, colour.strip("rgba()").split(",")[:3])) for colour in (background, label))
    assert dark < 3 * 50 < 3 * 200 < light
    page.emulate_media(color_scheme="light")
    page.wait_for_function("getComputedStyle(document.querySelector('.xtitle')).fill === 'rgb(29, 32, 38)'")
    page.close()


def test_print_shows_the_images(browser: Any, address: str, tmp_path: Path) -> None:
    page, _ = opened(browser, address, viewport=DESKTOP, color_scheme="dark")
    page.emulate_media(media="print")
    images = page.locator(".static")
    sizes = images.evaluate_all("all => all.map((one) => [one.offsetWidth, one.naturalWidth])")
    assert all(width > 300 and natural > 300 for width, natural in sizes)
    assert len(sizes) == 3
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3  # sheets
    page.close()


def test_without_scripts_the_images_stand_there(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    page.goto(address)
    assert all(
        box is not None and box["height"] > 100 for box in (one.bounding_box() for one in page.locator(".static").all())
    )
    assert page.locator(".drawing:visible").count() == 0
    context.close()
