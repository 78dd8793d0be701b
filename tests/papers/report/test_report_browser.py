"""The report as a reader's browser shows it: everything drawn, nothing fetched, nothing cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.browser import chromium, opened
from support.made_up_studies import study
from tauforge_papers.portraits import portraits
from tauforge_papers.report.verdicts import MEANING
from tauforge_papers.report.writing import write_report
from tauforge_papers.reproduce import FRONT

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1360, "height": 900}
LAPTOP, TABLET = {"width": 1100, "height": 900}, {"width": 900, "height": 900}
LEAST_TRACE = 20  # pixels: a curve that is less wide and high is not to be seen
LEAST_POINT = 5  # pixels, of the points of a sketch
READABLE = 4.5  # contrast of small text with its background, by the WCAG
A4_TOP = 842 - 70  # points above the bottom of a sheet: what begins above this begins the sheet
SHEET = {"width": 680, "height": 1001}  # px: what the margins leave of A4
Seen = Callable[..., tuple[Any, list[str]]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("shown")
    names = ["dasgupta1998", "turney1980"]
    write_report([study(name) for name in names], FRONT, folder, portraits=portraits(names))
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="module")
def seen(browser: Any, address: str) -> Seen:
    """The page in a window, opened once for all tests that only look at it, and what went wrong."""

    @cache
    def page(width: int, height: int, scheme: str, media: str | None) -> tuple[Any, list[str]]:
        window = {"width": width, "height": height}
        one, wrong = opened(browser, address, viewport=window, color_scheme=scheme)
        if media is not None:  # else it is printed as a reader prints it
            one.emulate_media(media=media)
        return one, wrong

    return lambda width, height, scheme="light", media=None: page(width, height, scheme, media)


WINDOWS = pytest.mark.parametrize(
    "viewport", [DESKTOP, LAPTOP, TABLET, PHONE], ids=["desktop", "laptop", "tablet", "phone"]
)


@WINDOWS
def test_every_figure_is_drawn_and_nothing_sticks_out(seen: Seen, viewport: dict[str, int]) -> None:
    page, wrong = seen(**viewport)
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
    panels = 2 * [panel for figure in study().figures for panel in figure.panels]
    assert len(plots) == len(panels)
    for plot, panel in zip(plots, panels, strict=True):
        assert plot["wanted"] == len(plot["sizes"]) == len(panel.lines)
        assert min(plot["sizes"]) > (LEAST_POINT if panel.sketch else LEAST_TRACE)
        assert plot["width"] > viewport["width"] / 4
        assert plot["height"] > viewport["height"] / (10 if panel.sketch else 5)
    width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window


@pytest.mark.parametrize(
    ("window", "media"), [(DESKTOP, None), (PHONE, None), (SHEET, "print")], ids=["desktop", "phone", "print"]
)
def test_the_page_begins_with_the_robots(seen: Seen, window: dict[str, int], media: str | None) -> None:
    page, _ = seen(**window, media=media)
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    boxes = page.locator(".robots img").evaluate_all(
        """all => all.map((one) => [one.complete && one.naturalWidth, one.getBoundingClientRect().toJSON()])"""
    )
    assert len(boxes) == 2
    for drawn, box in boxes:
        assert drawn > 0
        assert box["bottom"] < window["height"]  # seen at once
        assert 0 <= box["left"] < box["right"] <= window["width"]
        assert min(box["width"], box["height"]) > 80
    assert boxes[0][1]["top"] == boxes[1][1]["top"]
    assert page.locator("#summary").evaluate("one => one.getBoundingClientRect().top") > boxes[0][1]["bottom"]


@WINDOWS
def test_no_verdict_is_cut_off(seen: Seen, viewport: dict[str, int]) -> None:
    page, _ = seen(**viewport)
    boxes = page.evaluate(
        """[...document.querySelectorAll('.verdicts .badge')].map((badge) => {
             const box = badge.closest('.scroll').getBoundingClientRect();
             return [badge.getBoundingClientRect().right, Math.min(box.right, innerWidth)];
           })"""
    )
    assert len(boxes) == 2 * len(study().claims)
    assert all(right <= edge + 1 for right, edge in boxes)
    sideways = "all => all.map((one) => one.closest('.scroll').scrollWidth - one.closest('.scroll').clientWidth)"
    assert max(page.locator("table.verdicts").evaluate_all(sideways)) <= 0
    if viewport["width"] >= TABLET["width"]:
        assert max(page.locator("table.prose").evaluate_all(sideways)) <= 0
        broken = page.locator("table.prose tbody th").first.evaluate("cell => cell.getClientRects().length")
        assert broken == 1


def contrast(page: Any, badge: Any) -> float:
    """Contrast of the text with its background, by the WCAG's luminances."""
    colours = badge.evaluate("one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]")
    light = []
    for colour in colours:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return float((max(light) + 0.05) / (min(light) + 0.05))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_badges_are_readable_and_told_apart(seen: Seen, scheme: str) -> None:
    page, _ = seen(**DESKTOP, scheme=scheme)
    badges = page.locator(".counts .badge").all()
    assert [badge.text_content().split(maxsplit=1)[1] for badge in badges] == list(MEANING)
    assert all(contrast(page, badge) >= READABLE for badge in badges)
    looks = [
        badge.evaluate("one => [getComputedStyle(one).color, getComputedStyle(one).borderTopStyle].join()")
        for badge in badges
    ]
    assert len(set(looks)) == len(MEANING)


def test_the_head_of_a_long_table_stays(seen: Seen) -> None:
    page, _ = seen(**DESKTOP)
    region = page.locator("#dasgupta1998-table-contents .scroll")
    assert region.evaluate("one => one.scrollHeight > one.clientHeight")
    places = region.evaluate(
        """one => { one.scrollTop = 400; const head = one.querySelector('thead th').getBoundingClientRect();
                    return [head.top, one.getBoundingClientRect().top]; }"""
    )
    assert abs(places[0] - places[1]) < 2


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


def test_texts_are_no_markup(seen: Seen) -> None:
    page, _ = seen(**DESKTOP)
    assert page.locator("b").count() == 0
    assert page.locator("#dasgupta1998-sketch .annotation sub").count() == 0  # plotly makes SVG of it
    drawn = page.locator("#dasgupta1998-mixed .xtitle").nth(1).text_content()
    assert drawn == """x a < b & "c" > 'd' </script> $x^2$ <b>bold</b>"""


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
    assert len(sizes) == 8
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#dasgupta1998-table-contents .scroll").evaluate("one => one.scrollHeight <= one.clientHeight")
    page.close()


def test_each_paper_begins_a_sheet(seen: Seen) -> None:
    page, _ = seen(**DESKTOP)
    pdf = page.pdf(prefer_css_page_size=True, outline=True, tagged=True)
    assert pdf.startswith(b"%PDF")
    sheets = set(re.findall(rb"(\d+) 0 obj\s*<</Type /Page\b", pdf))
    found = {
        title.decode(): (sheet, float(y))
        for title, sheet, y in re.findall(rb"/Title \(([^)]*)\)\s*/Dest \[(\d+) 0 R /XYZ [\d.]+ ([\d.]+) 0\]", pdf)
    }
    papers = [found[name] for name in ("Dasgupta 1998", "Turney 1980")]
    assert all(sheet in sheets and y > A4_TOP for sheet, y in papers)
    assert len({sheet for sheet, _ in (found["Summary of verdicts"], *papers)}) == 3
    assert found["What was at hand"][0] == found["Summary of verdicts"][0]


def test_the_summary_of_a_paper_is_on_its_first_sheet(seen: Seen) -> None:
    page, _ = seen(**SHEET, media="print")
    heights = page.locator(".study").evaluate_all(
        "all => all.map((one) => one.querySelector('.tally').getBoundingClientRect().bottom - "
        "one.getBoundingClientRect().top)"
    )
    assert len(heights) == 2
    assert all(0 < height < SHEET["height"] for height in heights)


def test_without_scripts_the_images_stand_there(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    page.goto(address)
    assert all(
        box is not None and box["height"] > 100 for box in (one.bounding_box() for one in page.locator(".static").all())
    )
    assert page.locator(".drawing:visible").count() == 0
    context.close()
