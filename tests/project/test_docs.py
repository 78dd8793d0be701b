"""The documentation: it builds without warnings, its links lead somewhere, and it says what the code says."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pydoc
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import tauforge as tf
from support.browser import chromium
from tauforge.formulations import drives, serial, stewart
from tauforge.robots.stewart.functions import JointReactions
from tauforge.simulation.integrators import INTEGRATORS

ROOT = Path(__file__).parents[2]
NAMESPACES = ("analysis", "control", "designs", "errors", "motion", "sweeps", "symbolic", "workspace")
PAPERS = ("tauforge_papers.published_comparison.", "tauforge_papers.derivation.")
NEEDED = ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_gallery")
PHONE, DESKTOP = (390, 844), (1280, 900)
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
needs_sphinx = pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)}: pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages, built with every warning an error; the examples are run by their own tests, not here."""
    import matplotlib

    source = tmp_path_factory.mktemp("docs")
    for folder in ("docs", "examples", "benchmarks/results"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("gallery", "__pycache__"))
    for page in ("README.md", "CONTRIBUTING.md"):  # parts of which are included
        shutil.copy(ROOT / page, source)
    built = source / "site"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "--quiet", "-W", "--keep-going", "-n", "-b", "html", source / "docs", built],
        # where a user has no home, Matplotlib would complain of that among the warnings
        env={**os.environ, "TAUFORGE_GALLERY": "0", "MPLCONFIGDIR": matplotlib.get_cachedir()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return built


class Links(HTMLParser):
    """What a page refers to, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.targets.append(given["href"])
        if tag in ("img", "script") and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical" and given.get("href"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {
        path.resolve(): Links(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
        if "_static" not in path.parts
    }


@needs_sphinx
def test_links_lead_to_pages_and_places(site, pages):
    for page, links in pages.items():
        for target in (*links.targets, *links.loaded):
            parts = urlsplit(target)
            if parts.scheme:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert path.exists(), f"{page.name}: {target}"
            if parts.fragment and path in pages:
                assert unquote(parts.fragment) in pages[path].places, f"{page.name}: {target}"


@needs_sphinx
def test_pages_load_nothing_from_the_network(pages):
    loaded = [target for links in pages.values() for target in links.loaded]
    assert loaded
    assert not [target for target in loaded if urlsplit(target).scheme not in ("", "data")]


@needs_sphinx
def test_every_public_name_is_in_the_reference(pages):
    places = set().union(*(links.places for links in pages.values()))
    wanted = {f"tauforge.{name}" for name in tf.__all__ if name not in NAMESPACES}
    for module in (tf.motion, tf.control, tf.workspace, tf.designs):
        wanted |= {f"{module.__name__}.{name}" for name in module.__all__}
    wanted |= {f"tauforge.analysis.{name}" for name in tf.analysis.__all__ if name not in tf.__all__}
    wanted |= {f"tauforge.sweeps.{name}" for name in tf.sweeps.__all__}
    wanted |= {f"tauforge.symbolic.{name}" for name in tf.symbolic.__all__}
    for robot in (tf.SerialArm, tf.StewartPlatform):
        methods = (name for name, _ in inspect.getmembers(robot, inspect.isfunction) if not name.startswith("_"))
        wanted |= {f"tauforge.{robot.__name__}.{name}" for name in methods}
    assert sorted(wanted - places) == []


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings; Sphinx agrees (myst_heading_anchors)."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *sorted(ROOT.glob("docs/*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere_in_a_checkout(page):
    """Whoever reads the files has no Sphinx: roles such as {doc} are dead there."""
    text = re.sub(r"^```.*?^```|(?<!\})`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"\{(?:doc|ref|any|class|func|meth)\}", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        parts = urlsplit(target)
        if parts.scheme:
            continue
        path = page.parent / unquote(parts.path) if parts.path else page
        assert path.exists(), target
        if parts.fragment:
            assert parts.fragment in anchors(path), target


def test_lists_of_names_are_complete():
    lists = {
        "api-arm": tf.FORMULATIONS,
        "api-platform": tf.STEWART_MODELS,
        "api-motion": tf.motion.PROFILES,
        "simulation": (*INTEGRATORS, *tf.motion.PROFILES),
        "control": set(tf.control.__all__) - {"Controller"},
    }
    for name, wanted in lists.items():
        page = (ROOT / f"docs/{name}.md").read_text()
        assert not [word for word in wanted if word not in page]


def test_smoothed_friction_is_told_with_both_magnitudes():
    """(T+ + T-)/2 s + (T+ - T-)/2 s^2 with s = tanh(qd / v), as `drives.friction_forces` has it; not T tanh(qd / v)."""
    texts = [
        (ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("conventions", "model-file", "simulation")
    ]
    texts += [inspect.getdoc(kind) for kind in (tf.SerialArm, tf.Mechanism, drives.friction_forces)]
    for text in texts:
        (place,) = (match.start() for match in re.finditer(r"tanh *\(.*?(?:/ v|coulomb_speed)(?!\)\$ where)", text))
        assert re.search(r"s(?:\^2|²)", text[max(place - 250, 0) : place + 250]), text[place - 50 : place + 50]
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("src/tauforge/robots/**/*.py")]
    assert not [
        path.name for path in pages if re.search(r"friction to \S*tanh|smooths? it to \S*tanh", path.read_text())
    ]


def test_fields_of_results_say_what_they_are():
    """help() of a result has a line for each field: "Alias for field number 0" tells nobody anything."""
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("api-*.md")))
    found = []
    for name in re.findall(r"autoclass:: (\S+)", pages):
        places = [
            pydoc.locate(f"{module}{name}")
            for module in ("", *(f"tauforge.{part}" for part in ("", *(f"{name}." for name in NAMESPACES))), *PAPERS)
        ]
        documented = next(place for place in places if place is not None)
        if issubclass(documented, tuple):
            found.append(documented.__name__)
            texts = [getattr(documented, field).__doc__ for field in documented._fields]
            assert not [text for text in texts if text.startswith("Alias for")], name
    assert {"JointReactions", "LegMotions", "Limits", "RolloutGradient"} <= set(found)
    assert "of the base on the lower part" in JointReactions.universal.__doc__


def test_results_need_no_docstrings():
    code = "import tauforge as tf\nprint(tf.load('box').leg_motion([0, 0, 1, 0, 0, 0]).lengths.shape)"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(6,)\n"


@needs_sphinx
def test_every_formula_is_drawn(site):
    for name in ("formulations", "stewart", "conventions", "simulation"):
        source = re.sub(r"```.*?```|`[^`]*`", "", (ROOT / f"docs/{name}.md").read_text(), flags=re.DOTALL)
        formulas = len(re.findall(r"\$\$.*?\$\$|\$[^$]+\$", source, flags=re.DOTALL))
        assert formulas
        built = (site / f"{name}.html").read_text(encoding="utf-8")
        assert built.count("<math") == formulas


@needs_sphinx
def test_pages_read_well_in_a_browser(site):
    troubles: list[str] = []

    def heard(message):
        if message.type == "error":
            troubles.append(message.text)

    with chromium() as browser:
        for scheme, (width, height) in (("light", DESKTOP), ("dark", PHONE)):
            size = {"width": width, "height": height}
            context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
            page = context.new_page()
            page.on("console", heard)
            page.on("requestfailed", lambda request: troubles.append(request.url))
            for name in ("index", "formulations", "stewart", "conventions", "api-platform", "gallery/index"):
                page.goto((site / f"{name}.html").as_uri())
                page.wait_for_load_state()
                assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is too wide"
                assert page.evaluate("document.documentElement.dataset.theme") == scheme
                flat = "[...document.querySelectorAll('math')].filter(m => m.getBoundingClientRect().width < 3).length"
                assert page.evaluate(flat) == 0
            context.close()
    assert not troubles


@pytest.fixture
def extension(monkeypatch):
    """The site's own extensions, by name."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    return importlib.import_module


@needs_sphinx
def test_docstrings_become_lists(extension):
    text = """Summary with |bars|, a star * and `code`.

    q, qd:   (..., n) rad, over
             two lines
    lengths: m; guess: a pose
    Identity: M is symmetric,
    everywhere.
    """
    lines = extension("plain_docstrings").structured(text)
    assert lines[0] == r"Summary with \|bars\|, a star \* and ``code``."
    assert [line for line in lines if line.startswith("   ``")] == [
        "   ``q``, ``qd``",
        "   ``lengths``",
        "   ``guess``",
    ]
    assert "       (..., n) rad, over two lines" in lines
    assert "*Identity:* M is symmetric, everywhere." in lines


@needs_sphinx
def test_indices_stand_beside_accented_letters(extension):
    converted = extension("mathml").converted
    for tex, outer in ((r"{\dot q}_i", "msub"), (r"{\bar r}_i^\top", "msubsup")):
        assert f"<{outer}>" in converted(tex)
        assert "munderover" not in converted(tex)
    assert "<munder>" in converted(r"\sum_i x", as_block=True)


def names_in_tables(text: str) -> list[str]:
    """Identifiers in backticks of the last column of the tables of equations."""
    rows = [line for line in text.splitlines() if line.startswith("|") and "$" in line]
    found = [code for row in rows for code in re.findall(r"`([^`]+)`", row.split("|")[-2])]
    return [word for code in found for word in re.findall(r"[A-Za-z_]\w*", code)]


def sources(package, *stems: str) -> str:
    folder = Path(package.__file__).parent
    shared = [folder.parent.parent / "algebra" / "inertias.py"]
    shared += [folder.parent / "trees" / f"{stem}.py" for stem in ("frames", "recursion", "economical_frames")]
    return "\n".join(path.read_text() for path in (*(folder / f"{stem}.py" for stem in stems), *shared))


@pytest.mark.parametrize("formulation", tf.FORMULATIONS)
def test_names_beside_the_equations_are_those_of_the_code(formulation):
    page = (ROOT / "docs" / "formulations.md").read_text()
    section = page.split(f"### {formulation}\n")[1].split("\n##")[0]
    names = names_in_tables(section)
    assert len(names) > 5
    code = sources(serial, formulation.replace("-", "_"), "kinematics", "modified_newton_euler", "frame_choice")
    assert not [name for name in names if not re.search(rf"\b{name}\b", code)]


def test_names_beside_the_equations_of_platforms():
    page = (ROOT / "docs" / "stewart.md").read_text()
    names = names_in_tables(page.split("## What is in the exact model")[1].split("\n## ")[0])
    assert len(names) > 20
    code = sources(stewart, "exact", "kinematics", "parameters")
    assert not [name for name in names if not re.search(rf"\b{name}\b", code)]
