"""The robots at the beginning of a report: pictures in the page, with names and links to the studies."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import tauforge as tf
from support.made_up_studies import NASTY, study
from tauforge_papers.portraits import ROBOTS, portraits
from tauforge_papers.registry import STUDIES
from tauforge_papers.report.portrait import Portrait, portraits_html
from tauforge_papers.report.texts import escaped

pytest.importorskip("matplotlib")
MOST_BYTES = 100_000  # of all five studies together, as the page has them


def images(text: str) -> list[bytes]:
    return [base64.b64decode(one) for one in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', text)]


def test_every_study_has_its_robots() -> None:
    assert set(ROBOTS) == set(STUDIES)
    assert {name for names in ROBOTS.values() for name in names} <= set(tf.catalogue())


def test_each_robot_is_shown_once_with_all_of_its_studies() -> None:
    one = study()
    text = portraits_html(portraits(list(ROBOTS)), [replace(one, name=name) for name in ROBOTS])
    assert len(text) < MOST_BYTES
    names = re.findall(r"<strong>(.*?)</strong>", text)
    assert names == ["dasgupta1998", "pedrammehr2012", "puma560", "stanford", "scara"]
    puma = text.split("<li>")[1 + names.index("puma560")]
    assert re.findall(r'href="#(\w+)"', puma) == ["turney1980", "lee1982", "angeles"]
    found = images(text)
    assert len(found) == 5
    assert len(set(found)) == 4  # two papers have platforms of one shape
    for image in found:
        assert ElementTree.fromstring(image).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_report_of_one_study_has_its_robot_only_and_the_same_each_time() -> None:
    (one,), (again,) = portraits(["lee1982"]), portraits(["lee1982"])
    assert (one.name, one.studies) == ("puma560", ("lee1982",))
    assert one.image == again.image


def test_names_may_contain_anything() -> None:
    text = portraits_html([Portrait(NASTY, NASTY, b"<svg/>", ("lee1982",))], [study("lee1982")])
    assert f"<strong>{escaped(NASTY)}</strong>" in text
    assert f'alt="{escaped(NASTY)}"' in text
    assert "<b>" not in text


def test_without_robots_there_is_no_list() -> None:
    assert portraits_html([], [study()]) == ""
