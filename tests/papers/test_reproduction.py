"""The five papers from the command line: the report's files hold the library's numbers, and the page shows them all."""

from __future__ import annotations

import csv
import html
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tauforge as tf
from conftest import SOAK
from pages import difference
from paper_verdicts import Judged, claims_table, contents_rows, history, missing
from support.browser import chromium, opened
from tauforge.analysis.complexity import general_operation_count
from tauforge.analysis.stewart_forces import crossings

ROOT = Path(__file__).parents[2]
PAPERS = ("dasgupta1998", "pedrammehr2012", "turney1980", "lee1982", "angeles")
ENDS = [0.1, 0.0, 0.4, 0.0, 0.0, -0.2], [0.3, 0.0, 0.6, 0.0, 0.0, 0.2]
PATH_II = tf.motion.StraightLine(*ENDS, 0.6, 0.8, 0.8, orientation="angles")
MOST_SHEETS, MOST_BYTES = 15, 6_000_000  # of the first page in print, of both pages
SAME = 1e-9  # relative: kernels there, the reference here


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, user_environment: dict[str, str]) -> Path:
    out = tmp_path_factory.mktemp("papers") / "report"
    done = subprocess.run(
        [sys.executable, "-m", "tauforge", "reproduce", "--out", str(out)],
        env={**os.environ, **user_environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(str(out / "index.html"))
    return out


def columns(report: Path, name: str) -> dict[str, np.ndarray]:
    """Numbers of a CSV by the words before the unit."""
    with (report / "data" / f"{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    return {title.split(":")[0]: np.array([float(row[k]) for row in rows]) for k, title in enumerate(header)}


def rows_of(report: Path, name: str) -> list[list[str]]:
    with (report / "data" / f"{name}.csv").open(newline="") as file:
        return list(csv.reader(file))


def test_forces_of_dasguptas_figures(report: Path) -> None:
    platform = tf.load("dasgupta1998")
    for leg in range(6):
        found = columns(report, f"dasgupta1998-fig-7-panel-{leg + 1}")
        states = PATH_II.sample(found["time [s]"])
        total = platform.inverse_dynamics(*states, model="dasgupta1998")[:, leg]
        static = platform.inverse_dynamics(*states, model="massless-legs")[:, leg]
        size = np.abs(total).max()
        assert np.abs(found["T, total"] - total).max() < SAME * size
        assert np.abs(found["S, massless legs"] - static).max() < SAME * size
        assert np.abs(found["D, difference"] - (total - static)).max() < SAME * size


def test_forces_of_pedrammehrs_figures(report: Path) -> None:
    platform = tf.load("pedrammehr2012")
    for leg in range(6):
        found = columns(report, f"pedrammehr2012-fig-10-panel-{leg + 1}")
        states = PATH_II.sample(found["time [s]"])
        improved = platform.inverse_dynamics(*states, model="pedrammehr2012")[:, leg]
        assert np.abs(found["improved"] - improved).max() < SAME * np.abs(improved).max()


@pytest.mark.parametrize(
    ("kernels", "duration"), [(True, 3.0), (False, min(3.0, 0.3 * SOAK))], ids=["whole", "reference"]
)
def test_errors_of_lees_figures(
    report: Path, as_installed: None, monkeypatch: pytest.MonkeyPatch, kernels: bool, duration: float
) -> None:
    """The paper's arm, which has no rotors, and the one with rotors. The reference is slow and does a part."""
    if not kernels:
        monkeypatch.setenv("TAUFORGE_KERNELS", "0")
    whole = tf.load("puma560").without_friction().replace(limits=[None] * 6, gravity=(0, 0, -9.8))  # as printed
    start, end = np.deg2rad([[-90, 180, 270, 180, 0, 0], [-135, 210, 180, 225, -60, 90]])
    move = tf.motion.JointMove(start, end, 3.0)
    for name, arm in (("the paper's arm", whole.without_rotors()), ("with rotors", whole)):
        law = tf.control.ComputedTorque(arm)
        run = tf.simulate(arm, law, move, step=2e-3, control_period=0.01, duration=duration)
        for joint in range(6):
            found = columns(report, f"lee1982-fig-{joint + 3}-panel-1")
            there = found["time [s]"] <= duration
            theirs = np.interp(found["time [s]"][there], run.time, run.error[:, joint])
            assert np.abs(found[name][there] - theirs).max() < SAME * np.abs(theirs).max()


def test_counts_in_angeles_table(report: Path) -> None:
    table = {row[0]: row[1:] for row in rows_of(report, "angeles-table-7-4")}
    own = next(cells for name, cells in table.items() if "joint-frames" in name)
    count = general_operation_count(6, "joint-frames")
    assert str(count.multiplications) in own
    assert str(count.additions) in own


def test_claims_say_what_the_library_says(report: Path) -> None:
    claims = rows_of(report, "claims")
    texts = [" ".join(row) for row in claims[1:]]
    assert {row[0] for row in claims[1:]} == set(PAPERS)
    platform = tf.load("dasgupta1998")
    path_III = tf.motion.StraightLine(
        [0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, 0.2, 0.08, orientation="angles"
    )
    crossing = crossings(platform, lambda t: path_III.sample(t).position, 3.0, 4.0)[0].time
    assert any(f"{crossing:.4f}"[:6] in text for text in texts)
    states = PATH_II.sample(np.linspace(0, 0.6, 601))
    off = np.abs(platform.inverse_dynamics(*states, model="dasgupta1998") - platform.inverse_dynamics(*states)).max()
    assert any(f"{off:.1f} N on path II" in text for text in texts)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_verdicts_is_todays(report: Path, paper: str) -> None:
    """On whatever machine this runs: the page has no times, and of rounding only its bound."""
    claims = [Judged(*row[1:]) for row in rows_of(report, "claims")[1:] if row[0] == paper]
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    section = page.split(f"## {paper}\n")[1].split("\n## ")[0]
    stored = "".join(line for line in section.splitlines(keepends=True) if line.startswith("|"))
    assert difference(stored, claims_table(claims)) == "", "run: make docs"


def test_the_history_ends_with_todays_rules(report: Path) -> None:
    claims = [(row[0], Judged(*row[1:])) for row in rows_of(report, "claims")[1:]]
    assert [row[1:5] for row in missing(history(), claims)] == [], "run: make docs, and write the reason"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_contents_is_todays(report: Path, paper: str) -> None:
    header, *rows = rows_of(report, f"{paper}-table-contents")
    page = (ROOT / "docs" / "paper-contents.md").read_text(encoding="utf-8")
    section = page.split(f"## {paper}\n")[1].split("\n## ")[0]
    stored = "".join(line for line in section.splitlines(keepends=True) if line.startswith("|"))
    assert difference(stored, contents_rows(header, rows)) == "", "run: make docs"


def test_the_findings_are_numbers_of_the_library(report: Path) -> None:
    """From the models and the counts themselves; and ranks and errors as the claims have them."""
    text = html.unescape((report / "index.html").read_text(encoding="utf-8"))
    stewart, agree, costs, condition, torque = text.split('<article class="finding">')[1:]
    off = []
    for name in ("dasgupta1998", "pedrammehr2012"):
        platform, states = tf.load(name), PATH_II.sample(np.linspace(0, 0.6, 601))
        exact = platform.inverse_dynamics(*states)
        off.append(np.abs(platform.inverse_dynamics(*states, model=name) - exact).max())
        assert f"{off[-1]:.1f} N" in stewart
        assert off[-1] > 0.01 * np.abs(exact).max()
    assert f"Off by up to {max(off):.0f} N" in stewart
    flops = {name: general_operation_count(6, name).flops for name in ("lagrange-euler", "joint-frames")}
    assert all(f">{count}</text>" in costs for count in flops.values())
    ours, printed = (float(number) for number in re.findall(r"([\d.]+) (?:times the|to)", costs)[:2])
    assert 1 < ours < printed / 2
    slips = int(re.findall(r"(\d+) printed lines are wrong", agree)[0])
    assert slips >= 6
    assert "mended within 1e-12" in agree
    measured = {(row[0], row[1]): row[5] for row in rows_of(report, "claims")}
    ranks = [float(number) for number in re.findall(r"(-?[\d.]+) along", measured["dasgupta1998", "direct-relation"])]
    assert [f"{rank:.2f}" for rank in ranks] == re.findall(r'class="value".*?>(.*?)<', condition)
    assert max(ranks[:2]) < 0.5 < 0.9 < ranks[2]
    errors = [float(number) for number in re.findall(r"([\d.e+-]+) rad", measured["lee1982", "compensation"])]
    shown = [float(number) / 1000 for number in re.findall(r'class="value".*?>([\d.]+) mrad<', torque)]
    assert shown == pytest.approx(errors, rel=0.06)  # two digits there
    assert min(errors[1:]) > 2 * errors[0]


def test_the_first_page_is_one_screen_of_findings_and_few_sheets(report: Path) -> None:
    with chromium() as browser:
        page, wrong = opened(browser, (report / "index.html").as_uri(), viewport={"width": 1440, "height": 900})
        assert wrong == []
        bottoms = page.locator("article.finding").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect().bottom)"
        )
        assert len(bottoms) == 5
        assert max(bottoms) < 900
        for paper in PAPERS:
            assert 10 <= page.locator(f"#{paper} .verdicts td:first-child").count() <= 15
        assert page.locator(".papers td a").count() == len(PAPERS)
        pdf = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type /Page\b", pdf)) <= MOST_SHEETS
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert sum((report / name).stat().st_size for name in ("index.html", "everything.html")) < MOST_BYTES


@pytest.mark.parametrize("viewport", [{"width": 1360, "height": 900}, {"width": 390, "height": 844}])
def test_the_page_draws_every_figure(report: Path, viewport: dict[str, int]) -> None:
    with chromium() as browser:
        page, wrong = opened(browser, (report / "everything.html").as_uri(), viewport=viewport)
        assert wrong == []
        drawn = page.evaluate(
            "[...document.querySelectorAll('.plot')].map((plot) => [plot.data.length,"
            " plot.querySelectorAll('.scatterlayer .trace, .barlayer .trace').length])"
        )
        assert len(drawn) > 100
        assert all(wanted == shown > 0 for wanted, shown in drawn)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("h2").count() >= len(PAPERS)
    images = {path.stem for path in (report / "figures").glob("*.png")}
    assert images == {path.stem for path in (report / "figures").glob("*.svg")}
    assert len(images) > 30
