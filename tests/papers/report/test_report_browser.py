"""The report as a reader's browser shows it: everything drawn and found, nothing fetched, nothing cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from support.browser import DESKTOP, PHONE, WINDOWS, Seen, opened
from support.made_up_studies import study

pytest_plugins = ["support.shown_report"]

LEAST_TRACE = 20  # pixels: a curve that is less wide and high is not to be seen
LEAST_POINT = 5  # pixels, of the points of a sketch
A4_TOP = 842 - 70  # points above the bottom of a sheet: what begins above this begins the sheet
SHEET = {"width": 680, "height": 1001}  # px: what the margins leave of A4


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


def test_the_head_of_a_long_table_stays(seen: Seen) -> None:
    page, _ = seen(**DESKTOP)
    region = page.locator("#dasgupta1998-table-contents .scroll")
    assert region.evaluate("one => one.scrollHeight > one.clientHeight")
    places = region.evaluate(
        """one => { one.scrollTop = 400; const head = one.querySelector('thead th').getBoundingClientRect();
                    return [head.top, one.getBoundingClientRect().top]; }"""
    )
    assert abs(places[0] - places[1]) < 2


SHOWN = """() => ['.claim', '.figure', 'section.table', '.study', 'section.table tbody tr'].map((kind) =>
    [...document.querySelectorAll(kind)].filter((one) => one.checkVisibility()).length)"""


def test_the_search_shows_what_is_asked_for(browser: Any, address: str) -> None:
    """Claims, figures, tables, papers and rows of tables that are seen, of two papers alike."""
    page, wrong = opened(browser, address, viewport=DESKTOP)
    one = study()
    claims, figures, tables = (2 * len(things) for things in (one.claims, one.figures, one.tables))
    rows = 2 * sum(len(table.rows) for table in one.tables)
    everything = [claims, figures, tables, 2, rows]
    assert page.evaluate(SHOWN) == everything
    page.locator("select[name=paper]").select_option("Turney 1980")
    assert page.evaluate(SHOWN) == [number // 2 for number in everything]
    page.locator("select[name=kind]").select_option("figures")
    assert page.evaluate(SHOWN) == [0, figures // 2, 0, 1, 0]
    page.locator("select[name=kind]").select_option("all")
    page.locator("select[name=verdict]").select_option("mixed")
    assert (
        page.locator(".again").first.text_content().startswith("The inertia shift is right: ")
    )  # whose row may be hidden
    mixed = sum(row[4] == "mixed" or "; mixed" in str(row[4]) or "mixed;" in str(row[4]) for row in one.tables[-1].rows)
    assert page.evaluate(SHOWN) == [1, 0, 1, 1, mixed]
    assert page.locator("output").text_content() == f"{1 + mixed} found"
    page.locator("select[name=verdict]").select_option("not evaluated")  # which only rows of tables say
    assert page.evaluate(SHOWN) == [0, 0, 1, 1, sum(row[4] == "not evaluated" for row in one.tables[-1].rows)]
    page.locator("select[name=verdict]").select_option("all")
    page.locator("select[name=paper]").select_option("all")
    page.get_by_role("searchbox").fill("  TEN times  significantly ")  # words in any order, upper or lower case
    shown = page.evaluate(SHOWN)
    assert shown[0] == 2
    assert shown[1] == 0
    page.get_by_role("searchbox").fill("no such words")
    assert page.evaluate(SHOWN) == [0, 0, 0, 0, 0]
    assert page.locator("output").text_content() == "0 found"
    page.get_by_role("searchbox").fill("")
    assert page.evaluate(SHOWN) == everything
    assert page.locator(".again").first.text_content() == "as above"
    assert wrong == []
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
    assert len({sheet for sheet, _ in papers}) == 2


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
