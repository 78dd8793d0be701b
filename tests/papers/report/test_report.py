"""The report of the studies: its files hold the studies' numbers, its page is whole, and nothing is half written."""

from __future__ import annotations

import csv
import errno
import math
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from support.made_up_studies import NASTY, bars_figure, study
from tauforge.charts.figure import ChartPanel
from tauforge.errors import ModelError
from tauforge_papers import registry
from tauforge_papers.citations import places
from tauforge_papers.portraits import portraits
from tauforge_papers.report.csv_files import bracketed
from tauforge_papers.report.environment import environment
from tauforge_papers.report.files import panel_stems, stem
from tauforge_papers.report.study import Study
from tauforge_papers.report.table import Table
from tauforge_papers.report.table_html import cell_text, table_html
from tauforge_papers.report.verdicts import MEANING
from tauforge_papers.reproduce import reproduce

MOST_BYTES = 6_000_000  # of a page
Old = tuple[Path, dict[str, bytes]]
Made = Callable[[Callable[[str], None]], Study]


class Reader(HTMLParser):
    """Checks the nesting of tags and gathers links, ids, headings and the text outside scripts and styles."""

    EMPTY = frozenset({"meta", "link", "img", "br", "hr", "input", "col", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.resources: list[str] = []
        self.ids: list[str] = []
        self.headings: list[int] = []
        self.alternatives: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag == "a":
            self.links.append(found["href"] or "")
        self.resources += [found[key] or "" for key in ("src", "srcset") if key in found]
        self.resources += [found["href"] or ""] if tag == "link" else []
        self.ids += [found["id"] or ""] if "id" in found else []
        self.alternatives += [found["alt"] or ""] if tag == "img" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Made]:
    """Studies by name, in place of the real ones; a test may change them."""
    studies: dict[str, Made] = {
        "dasgupta1998": lambda progress: study("dasgupta1998"),
        "turney1980": lambda progress: study("turney1980"),
    }
    monkeypatch.setattr(registry, "STUDIES", dict.fromkeys(studies, ""))
    monkeypatch.setattr("tauforge_papers.reproduce.run", lambda name, progress: studies[name](progress))
    return studies


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Study]]:
    """One report for all tests that only read it."""
    out = tmp_path_factory.mktemp("report") / "made-up"
    studies = [study("dasgupta1998"), study("turney1980")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "STUDIES", {one.name: "" for one in studies})
        patch.setattr("tauforge_papers.reproduce.run", lambda name, _: next(one for one in studies if one.name == name))
        reproduce(None, out)
    return out, studies


def rows(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *body = csv.reader(file)
    return header, body


def read_column(body: list[list[str]], place: int, like: np.ndarray | list[str]) -> np.ndarray | list[str]:
    cells = [row[place] for row in body if row[place] != ""]
    return cells if isinstance(like, list) else np.array([float(cell) for cell in cells])


# --- data ---------------------------------------------------------------------------------------------------------


def test_every_number_of_the_figures_comes_back_from_the_files(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    for one in studies:
        for figure in one.figures:
            for panel, name in zip(figure.panels, panel_stems(one, figure), strict=True):
                header, body = rows(out / "data" / f"{name}.csv")
                if panel.sketch:
                    assert_sketch_comes_back(panel, header, body)
                    continue
                shared = len(header) == len(panel.lines) + 1
                for k, line in enumerate(panel.lines):
                    x_place, y_place = (0, k + 1) if shared else (2 * k, 2 * k + 1)
                    assert np.array_equal(read_column(body, x_place, line.x), line.x)
                    assert np.array_equal(read_column(body, y_place, line.y), line.y, equal_nan=True)
                    assert header[x_place].endswith(bracketed(panel.x_label))
                    y_label = bracketed(panel.y_label)
                    assert header[y_place] == (f"{line.label}: {y_label}" if line.label else y_label)


def assert_sketch_comes_back(panel: ChartPanel, header: list[str], body: list[list[str]]) -> None:
    """Point by point, piece by piece, then the words."""
    assert header == ["part", "piece", "drawn as", bracketed(panel.x_label), bracketed(panel.y_label)]
    for k, line in enumerate(panel.lines, 1):
        own = [row for row in body if row[1] == str(k)]
        assert {tuple(row[::2][:2]) for row in own} == {(line.label, line.style)}
        assert [float(row[3]) for row in own] == list(line.x)
        assert [float(row[4]) for row in own] == list(line.y)
    words = [(row[0], float(row[3]), float(row[4])) for row in body if row[2] == "words"]
    assert words == [(note.text, note.x, note.y) for note in panel.notes]


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("time (s)", "time [s]"),
        ("leg 1: leg force (N)", "leg 1: leg force [N]"),
        ("rate (rad/(s m))", "rate [rad/(s m)]"),
        ("F_d / F", "F_d / F"),
        ("f(x) of it", "f(x) of it"),
    ],
)
def test_units_in_files_stand_in_brackets(label: str, wanted: str) -> None:
    assert bracketed(label) == wanted


def test_every_cell_of_the_tables_comes_back(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    for one in studies:
        for table in one.tables:
            header, body = rows(out / "data" / f"{stem(one, table)}.csv")
            assert header == [bracketed(name) for name in table.columns]
            for cells, wanted in zip(body, table.rows, strict=True):
                for text, cell in zip(cells, wanted, strict=True):
                    assert text == ("" if cell is None else cell if isinstance(cell, str) else repr(cell))


def test_claims_are_all_in_one_file(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    header, body = rows(out / "data" / "claims.csv")
    columns = "study, name, where, claim, printed, measured, exact model, verdict, reason, rule"
    assert header == [*columns.split(", "), "at half and twice the threshold", "timed here"]
    wanted = [
        [one.name, c.name, c.where, c.claim, c.printed, c.measured, c.exact_words, c.verdict, c.reason]
        + [c.rule.words, c.threshold_words, c.timed]
        for one in studies
        for c in one.claims
    ]
    assert body == wanted


# --- the page -----------------------------------------------------------------------------------------------------


PAGES = pytest.mark.parametrize("name", ["index.html", "everything.html"])


def read(out: Path, name: str) -> Reader:
    return Reader((out / name).read_text(encoding="utf-8"))


@PAGES
def test_a_page_is_well_formed_and_needs_nothing_but_the_folder(report: tuple[Path, list[Study]], name: str) -> None:
    out, _ = report
    text = (out / name).read_text(encoding="utf-8")
    page = Reader(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert all(one.startswith("data:") or (out / one).is_file() for one in page.resources)
    assert len(text) < MOST_BYTES
    styles = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    assert text.startswith("<!DOCTYPE html>")
    assert '<html lang="en">' in text


def test_links_lead_somewhere(report: tuple[Path, list[Study]]) -> None:
    out, _ = report
    pages = {name: read(out, name) for name in ("index.html", "everything.html")}
    linked = set()
    for name, page in pages.items():
        for link in page.links:
            path, _, place = link.partition("#")
            assert not place or place in pages[path or name].ids, link
            linked.add(path or name)
    assert linked == {str(path.relative_to(out)) for path in out.rglob("*.*") if path.is_file()}


@PAGES
def test_headings_are_in_order(report: tuple[Path, list[Study]], name: str) -> None:
    headings = read(report[0], name).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


def test_images_are_described(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    assert len(read(out, "index.html").alternatives) == len(portraits([one.name for one in studies]))
    words = read(out, "everything.html").alternatives
    assert len(words) == sum(len(one.figures) for one in studies)
    assert "A tripod: a drawing of ground, legs, joints" in words[0]
    assert "leg force (N) against time (s) for leg 1, leg 2" in words[1]


def test_texts_arrive_as_they_are(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    text = (out / "everything.html").read_text(encoding="utf-8")
    page = Reader(text)
    one = studies[0]
    for claim in one.claims:
        for said in (claim.where, claim.claim, claim.printed, claim.measured, claim.verdict):
            assert said in page.text
        head = "Why there is no verdict" if claim.verdict == "not judged" else "Rule"
        assert f"{head}: {claim.rule.words}" in page.text
    assert page.text.count("27.7 N; on this machine 0.25 s") == len(studies)
    for thing in (*one.figures, *one.tables):
        assert thing.title in page.text
        assert thing.caption in page.text
    assert one.paper in page.text
    assert one.summary in page.text
    assert NASTY not in text


def test_the_page_explains_its_verdicts_and_its_sources(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    page = Reader((out / "index.html").read_text(encoding="utf-8"))
    found = [claim.verdict for one in studies for claim in one.claims]
    assert set(found) == set(MEANING)
    before = page.text.split("What was at hand")[0]
    for verdict, meaning in MEANING.items():
        assert re.search(rf"{found.count(verdict)}\s+\S+ {verdict}{re.escape(meaning)}", before)
    for one in studies:  # and each paper begins with its own counts
        verdicts = [claim.verdict for claim in one.claims]
        head = re.split("Where|All 5 claims", page.text.split(one.summary.split()[-1])[studies.index(one) + 1])[0]
        assert re.findall(r"(\d+)\s+\S+ (\w[\w ]*)", head) == [(str(verdicts.count(x)), x) for x in MEANING]
    said = " ".join(page.text.split())
    assert "read by a machine (OCR)" in said
    assert "not held against the paper" in said
    assert "Only the captions of the papers' figures were at hand" in said


def test_everything_in_the_paper_has_a_row(report: tuple[Path, list[Study]]) -> None:
    out, (one, _) = report
    text = (out / "everything.html").read_text(encoding="utf-8")
    table = text.split('id="dasgupta1998-table-contents"')[1].split("</table>")[0]
    cells = [Reader(row).text for row in re.findall(r"<tr>.*?</tr>", table)]
    for k, row in enumerate(cells):  # a rule that stands above is not said twice
        cells[k] = row.replace("as above", one.tables[-1].rows[k - 1][-1])
    assert sum("as above" in row for row in re.findall(r"<tr>.*?</tr>", table)) >= 5
    assert len(cells) == 1 + len(one.contents) + len(one.claims)
    for item, row in zip(one.contents, cells[1:], strict=False):
        assert row.startswith(f"{item.kind}{item.number}{item.what}")
        assert item.remark in row
        judges = [claim for claim in one.claims if claim.name in item.judged_by]
        assert all(claim.verdict in row and claim.rule.words in row for claim in judges)
        assert judges or ("not evaluated" if item.kind in ("equation", "algorithm") else "not judged") in row
    assert "formulations/stewart/kinematics.py, LegVector" in cells[1]
    for item, row in zip(one.contents, one.tables[-1].rows, strict=False):  # each file once, with all names in it
        where = [place.split(", ") for place in places(one.name).get(item.number, []) if item.kind == "equation"]
        assert re.findall(r"[\w/]+\.py", str(row[3])) == list(dict.fromkeys(path for path, *_ in where))
        assert {name for _, *names in where for name in names} <= set(re.split("[,;] ", str(row[3])))
    assert Reader(table).text.count("holds with a correction") == sum("shift" in i.judged_by for i in one.contents) + 1
    widths = [float(width) for width in re.findall(r"width: ([\d.]+)%", table)]
    assert len(widths) == 6
    assert abs(sum(widths) - 100) < 0.5
    assert widths[-1] == max(widths)


def test_long_texts_are_said_once() -> None:
    """Where a text stands already, the row names the one that has it, if only one has that name."""
    first, second = (
        f"{word} text that is too long to be said in every row of a table of everything in a paper"
        for word in ("A", "B")
    )
    named = [("equation", "1", first), ("equation", "2", second), ("equation", "3", first), ("equation", "4", first)]
    unnamed = [
        ("claim", "5", "C" + first),
        ("claim", "5", second),
        ("claim", "6", "C" + first),
        ("claim", "7", "short"),
    ]
    table = Table("everything", "Everything", "", ("kind", "number", "rule"), (*named, *unnamed, unnamed[-1]))
    rows = re.findall(r"<tr>(.*?)</tr>", table_html(study("dasgupta1998"), table))[1:]
    shown = [Reader(row).text.removeprefix("".join(cells[:2])) for row, cells in zip(rows, table.rows, strict=True)]
    said = [
        first,
        second,
        "as for equation 1",
        "as above",
        "C" + first,
        "as for equation 2",
        "C" + first,
        "short",
        "short",
    ]
    assert shown == said


def test_the_page_says_what_made_it(report: tuple[Path, list[Study]]) -> None:
    page = Reader((report[0] / "index.html").read_text(encoding="utf-8"))
    assert {"tauforge", "numpy", "scipy", "llvmlite", "Python", "processor"} <= {name for name, _ in environment()}
    assert all(value in page.text for _, value in environment())
    assert "tauforge reproduce dasgupta1998 turney1980" in page.text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "\N{EN DASH}"),
        ("as it is", "as it is"),
        (0.0, "0"),
        (1998, "1998"),
        (101348, "101,348"),
        (27.6827, "27.683"),
        (1434.07, "1434.1"),
        (200472.4, "200,472"),
        (99999.9, "100,000"),
        (-0.5, "-0.5"),
        (5.39303e7, "5.393 \N{MULTIPLICATION SIGN} 10⁷"),
        (1e-300, "1 \N{MULTIPLICATION SIGN} 10⁻³⁰⁰"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_cells_are_readable(cell: str | float | None, text: str) -> None:
    assert cell_text(cell) == text


# --- drawing ------------------------------------------------------------------------------------------------------


def test_images_are_written_and_the_same_each_time(report: tuple[Path, list[Study]]) -> None:
    out, studies = report
    first, second = studies
    for figure in first.figures:
        png, svg = ((out / "figures" / f"{stem(first, figure)}.{end}").read_bytes() for end in ("png", "svg"))
        assert png.startswith(b"\x89PNG")
        assert svg == (out / "figures" / f"{stem(second, figure)}.svg").read_bytes()


# --- whole or not at all ------------------------------------------------------------------------------------------


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def small() -> Study:
    one = study()
    return Study(one.name, one.paper, one.summary, one.claims, (bars_figure(),), one.tables[:1], ())


@pytest.fixture
def old(made: dict[str, Made], tmp_path: Path) -> Old:
    """An earlier report and all that is in it."""
    made["dasgupta1998"] = lambda progress: small()
    out = tmp_path / "report"
    reproduce(["dasgupta1998"], out)
    return out, everything(out)


def test_a_new_report_replaces_the_old_one_whole(made: dict[str, Made], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report"
    made["turney1980"] = made["dasgupta1998"] = lambda progress: small()
    said: list[str] = []
    assert reproduce(["turney1980"], out, said.append) == out / "index.html"
    assert said[0] == "turney1980: computing"
    assert said[-1] == "writing the pages"
    assert "figures/dasgupta1998-counts.png" in everything(out)
    made["dasgupta1998"] = lambda progress: Study("dasgupta1998", "p", "s", (), (), small().tables, ())
    reproduce(["dasgupta1998"], out)
    data = {"data/claims.csv", "data/dasgupta1998-table-counts-table.csv"}
    assert set(everything(out)) == {"index.html", "everything.html", *data}
    assert os.listdir(out.parent) == ["report"]


def test_a_study_that_fails_leaves_the_old_report(made: dict[str, Made], old: Old, tmp_path: Path) -> None:
    out, before = old

    def fails(progress: Callable[[str], None]) -> Study:
        raise ArithmeticError("no answer")

    made["turney1980"] = fails
    with pytest.raises(ArithmeticError, match="no answer"):
        reproduce(None, out)
    assert everything(out) == before
    assert os.listdir(tmp_path) == ["report"]


def test_a_full_disk_leaves_the_old_report(old: Old, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, before = old

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tauforge_papers.report.writing.page", full)
    with pytest.raises(ModelError, match=r"report: the folder cannot be written: No space left on device\. Make room"):
        reproduce(["dasgupta1998"], out)
    assert everything(out) == before
    assert os.listdir(tmp_path) == ["report"]


def test_a_report_that_cannot_be_put_in_place_gives_way_to_the_old_one(
    old: Old, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, before = old
    rename = os.rename

    def refuses(source: Path, target: Path) -> None:
        if source.suffix == ".tmp":
            raise OSError(13, "Permission denied")
        rename(source, target)

    monkeypatch.setattr("os.rename", refuses)
    with pytest.raises(ModelError, match="cannot be written: Permission denied"):
        reproduce(["dasgupta1998"], out)
    assert everything(out) == before
    assert os.listdir(tmp_path) == ["report"]


def test_what_is_no_report_is_never_replaced(made: dict[str, Made], tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(
        ModelError, match=r"mine: the folder holds thesis.txt and is not replaced\. Name a new folder, or empty it"
    ):
        reproduce(None, mine)
    (mine / "thesis.txt").rename(mine / "index.html")
    with pytest.raises(ModelError, match="holds files that are not ours and is not replaced"):
        reproduce(None, mine)
    assert (mine / "index.html").read_text() == "years of work"


def test_targets_that_cannot_be(made: dict[str, Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ModelError, match=r"file: the path is not a folder\. Name a folder"):
        reproduce(None, file)
    with pytest.raises(ModelError, match=r"file: the folder cannot be written: Not a directory\. .* Name a folder"):
        reproduce(None, file / "below")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="the folder is the current one"):
        reproduce(None, Path("."))


def test_a_folder_without_permission(made: dict[str, Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system would refuse it; not by the folder's mode, which binds nobody who runs as root."""

    def refuse(path: object, *_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(ModelError, match="cannot be written: Permission denied"):
        reproduce(None, tmp_path / "report")


def test_names_that_are_no_files(made: dict[str, Made], tmp_path: Path) -> None:
    bad = Table("../../etc/passwd", "t", "c", ("a",), ((1,),))
    made["dasgupta1998"] = lambda progress: Study("dasgupta1998", "p", "s", (), (), (bad,), ())
    with pytest.raises(ModelError, match=r"dasgupta1998-table-\.\./\.\./etc/passwd' is not a valid file name"):
        reproduce(["dasgupta1998"], tmp_path / "report")
    made["dasgupta1998"] = lambda progress: Study("dasgupta1998", "p", "s", (), (bars_figure(), bars_figure()), (), ())
    with pytest.raises(ModelError, match="'dasgupta1998-counts' would be written twice"):
        reproduce(["dasgupta1998"], tmp_path / "report")
    assert os.listdir(tmp_path) == []


def test_an_unknown_paper_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"no study is called 'newton1687'\. The studies are dasgupta1998, pedrammehr2012"
    ):
        reproduce(["newton1687"], tmp_path / "report")
    assert registry.chosen(["lee1982", "dasgupta1998", "lee1982"]) == ["dasgupta1998", "lee1982"]
    assert registry.chosen(None) == list(registry.STUDIES)
