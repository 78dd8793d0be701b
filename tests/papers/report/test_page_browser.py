"""The first page of a report as a reader's browser shows it: every finding at once, nothing cut, few sheets."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.browser import DESKTOP, TABLET, WINDOWS, Seen, opened
from support.made_up_studies import findings, study
from tauforge_papers.report.verdicts import MEANING

pytest_plugins = ["support.shown_report"]

SCREEN = {"width": 1440, "height": 900}
READABLE = 4.5  # contrast of small text with its background, by the WCAG


def test_the_first_screen_has_every_finding_with_its_number_and_picture(seen: Seen) -> None:
    page, wrong = seen(**SCREEN, first=True)
    assert wrong == []
    boxes = page.locator(".finding").evaluate_all("all => all.map((one) => one.getBoundingClientRect().toJSON())")
    assert len(boxes) == len(findings()) + 1  # and where to read on
    assert max(box["bottom"] for box in boxes) < SCREEN["height"]
    assert len({box["left"] for box in boxes}) == 3
    for part in (".outcome", ".bars rect", ".bars text"):
        sizes = page.locator(f".finding {part}").evaluate_all(
            "all => all.map((one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"
        )
        assert sizes
        assert all(min(size) > 0 for size in sizes)


@WINDOWS
def test_no_picture_of_a_finding_is_cut(seen: Seen, viewport: dict[str, int]) -> None:
    page, _ = seen(**viewport, first=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ends = page.locator(".bars .value").evaluate_all(
        "all => all.map((one) => one.ownerSVGElement.getBoundingClientRect().right - one.getBoundingClientRect().right)"
    )
    assert len(ends) == sum(len(one.bars) for one in findings())
    assert min(ends[:2]) > 0  # of words as long as values are


def test_the_first_page_leads_to_a_claim_on_the_second(browser: Any, front: str) -> None:
    page, wrong = opened(browser, front, viewport=SCREEN)
    page.locator(".finding a").first.click()
    page.wait_for_url("**/everything.html#dasgupta1998-claim-shift")
    claim = page.locator("#dasgupta1998-claim-shift")
    assert claim.evaluate("one => one.matches(':target')")
    page.wait_for_function("document.querySelector(':target').getBoundingClientRect().top < innerHeight / 2")
    page.get_by_role("link", name="what was found").click()
    page.wait_for_url("**/index.html")
    assert wrong == []
    page.close()


def test_the_first_page_has_no_script_and_few_sheets(seen: Seen) -> None:
    page, _ = seen(**DESKTOP, first=True)
    assert page.locator("script").count() == 0
    pdf = page.pdf(prefer_css_page_size=True)
    assert 2 <= len(re.findall(rb"/Type /Page\b", pdf)) <= 4


@WINDOWS
def test_no_verdict_is_cut_off(seen: Seen, viewport: dict[str, int]) -> None:
    page, _ = seen(**viewport, first=True)
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
        page, _ = seen(**viewport)
        assert max(page.locator("table.prose").evaluate_all(sideways)) <= 0
        broken = page.locator("table.prose tbody th").first.evaluate("cell => cell.getClientRects().length")
        assert broken == 1


def contrast(*colours: str) -> float:
    """Of text with its background, by the WCAG's luminances."""
    light = []
    for colour in colours:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return float((max(light) + 0.05) / (min(light) + 0.05))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_badges_are_readable_and_told_apart(seen: Seen, scheme: str) -> None:
    page, _ = seen(**DESKTOP, scheme=scheme, first=True)
    badges = page.locator(".counts .badge").all()
    assert [badge.text_content().split(maxsplit=1)[1] for badge in badges] == list(MEANING)
    colours = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
    assert all(contrast(*badge.evaluate(colours)) >= READABLE for badge in badges)
    looks = [
        badge.evaluate("one => [getComputedStyle(one).color, getComputedStyle(one).borderTopStyle].join()")
        for badge in badges
    ]
    assert len(set(looks)) == len(MEANING)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_outcomes_and_bars_are_readable(seen: Seen, scheme: str) -> None:
    page, _ = seen(**SCREEN, scheme=scheme, first=True)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for part, colour in ((".outcome", "color"), (".proof", "color"), (".bars text", "fill"), (".bars rect", "fill")):
        shade = page.locator(f".finding {part}").first.evaluate(f"one => getComputedStyle(one).{colour}")
        assert contrast(shade, ground) >= READABLE
