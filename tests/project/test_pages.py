"""Generated pages hold on every processor: which differences the check forgives, and which digits are printed."""

from __future__ import annotations

import numpy as np
import pytest

from generated_docs import held
from pages import alike, difference, settle


@pytest.mark.parametrize(
    ("stored", "today"),
    [
        ("| 10 um | 6.0e-05 |", "| 10 um | 6.1e-05 |"),  # of 6.05e-05, a bit more or less
        ("at most 9.9e-05 m", "at most 1.0e-04 m"),
        ("6e-05 m", "6.2e-05 m"),  # as many digits as hold, one or two
        ("force -0.05 N.", "force -0.04 N."),
        ("  1.999  |  3.5", "  2.000 |  3.5"),
    ],
)
def test_the_last_digit_may_differ_by_one(stored, today):
    assert alike(stored, today)


@pytest.mark.parametrize(
    ("stored", "today"),
    [
        ("| 10 um | 6.5e-05 |", "| 10 um | 6.1e-05 |"),
        ("1434.1 N", "1434.3 N"),
        ("0.5 N", "-0.5 N"),
        ("375 / 307", "376 / 307"),  # counts are exact
        ("1434 N", "1435 N"),
        ("tauforge 0.1.0", "tauforge 0.1.1"),
        ("within 1e-12", "within 1e-11"),
        ("1.0e-11 rad", "1.0e-12 rad"),
        ("2.2 ms", "2.2 us"),
        ("holds. 2.2", "does not hold. 2.2"),
        ("1.0, 2.0", "1.0"),
    ],
)
def test_nothing_else_may(stored, today):
    assert not alike(stored, today)


def test_the_first_line_that_differs_is_told():
    assert difference("a\n1.0\n", "a\n1.1\n") == ""
    assert difference("a\n1.0\n", "a\n1.2\n") == "stored: 1.0\ntoday:  1.2"
    assert difference("a\nb\n", "a\n") == "stored: 2 lines\ntoday:  1 lines"


def test_a_check_fails_and_says_why(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    monkeypatch.setattr("sys.argv", ["tool"])
    assert settle({page: "25 µm: 3.1\n"}) == 0
    monkeypatch.setattr("sys.argv", ["tool", "--check"])
    assert settle({page: "25 µm: 3.2\n"}) == 0
    assert settle({page: "25 µm: 3.3\n", tmp_path / "missing.md": "text"}) == 1
    assert capsys.readouterr().err == (
        "page.md is not today's\nstored: 25 µm: 3.1\ntoday:  25 µm: 3.3\n"
        "missing.md is not today's\nstored: 0 lines\ntoday:  1 lines\n"
    )
    assert page.read_text(encoding="utf-8") == "25 µm: 3.1\n"


def test_two_samples_print_the_same_digits():
    """Samples of one distribution, as two processors draw them: equal but for one unit in the last digit."""
    rng = np.random.default_rng(0)
    for spread in (1e-9, 0.02, 0.1, 0.2):
        shown = [held(6.05e-5 * (1 + spread * rng.standard_normal(128))) for _ in range(300)]
        assert all(alike(shown[0], other) for other in shown)
        assert len(shown[0]) == len("6.1e-05" if spread < 0.05 else "6e-05")


def test_a_sample_that_holds_no_digit_is_refused():
    with pytest.raises(ValueError, match=r"holds no digit: expected more than 4 values"):
        held(np.array([1e-3, 5e-3, 1e-2, 2e-5]))
