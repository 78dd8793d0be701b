"""Units and their spellings."""

from __future__ import annotations

import numpy as np
import pytest

from support.tolerances import ROUNDING
from tauforge.units import SPELLINGS, UNITS, in_si, known_spelling


@pytest.mark.parametrize(
    ("unit", "kind", "one"),
    [
        ("deg", "rad", np.pi / 180),
        ("in", "m", 0.0254),
        ("rpm", "rad/s", 2 * np.pi / 60),
        ("N mm", "N m", 1e-3),
        ("rev", "rad", 2 * np.pi),
        ("min", "s", 60.0),
    ],
)
def test_units_are_what_they_are(unit, kind, one):
    assert UNITS[unit] == (kind, pytest.approx(one, rel=ROUNDING))


def test_every_unit_leads_to_one_that_is_its_own():
    assert {UNITS[si] for si, _ in UNITS.values()} == {(si, 1.0) for si, _ in UNITS.values()}
    assert set(SPELLINGS.values()) <= set(UNITS)


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("rad/s²", "rad/s^2"),
        ("m/s2", "m/s^2"),
        ("m/s**2", "m/s^2"),
        ("N.m", "N m"),
        ("N·mm", "N mm"),
        ("kN*m", "kN m"),
        ("N  m", "N m"),
        ("Nm", "N m"),
        ("°", "deg"),
        ("µm", "um"),
        ("furlong", "furlong"),
        ("N. furlong", "N. furlong"),
    ],
)
def test_spellings(written, known):
    assert known_spelling(written) == known


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [("3", 3.0, ""), (" -2.5e1 ", -25.0, ""), ("20mm", 0.02, "m"), ("1.5 Nm", 1.5, "N m"), (".5rad/s", 0.5, "rad/s")],
)
def test_numbers_with_units(text, number, unit):
    assert in_si(text) == (pytest.approx(number, rel=ROUNDING), unit)


@pytest.mark.parametrize("text", ["", "m", "1 furlong", "nan", "1e999", "1,5", "leg 2"])
def test_texts_that_are_no_numbers(text):
    assert in_si(text) is None
