"""Studies of the Stewart platform: what the tests of both papers share."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import numpy as np

import tauforge as tf
from tauforge_papers.citations import places
from tauforge_papers.contents_table import CODED, contents_table
from tauforge_papers.derivation import derivation_steps
from tauforge_papers.random_arms import random_arm

DATA = json.loads((Path(__file__).parents[1] / "data" / "stewart_dasgupta.json").read_text())
REFERENCE = 1e-9  # the data's own digits
NEAR_SINGULARITY = 1e-6  # path III within 0.2 s of it: condition numbers up to 1e5
SAMPLES = 601
LEAST_POINTS = {  # of a curve; joints and links are whole numbers, groups of terms are names
    "time (s)": 400,
    "joints n": 9,
    "link": 6,
    "left out": 4,
    "step (s)": 5,
}
ARM = random_arm(np.random.default_rng(4), "R" * 6)
ROBOT, OTHER = tf.load("dasgupta1998"), tf.load("pedrammehr2012")


def states(name):
    path = DATA["paths"][name]
    start, end = ([*path[t], *path[theta]] for t, theta in (("t0", "th0"), ("t1", "th1")))
    motion = tf.motion.StraightLine(start, end, path["tf"], path["V"], path["Om"], orientation="angles")
    return motion.sample(np.linspace(0, motion.duration, SAMPLES))


def forces(robot, name, model):
    return robot.inverse_dynamics(*states(name), model=model)


def claim(study, text):
    """The only claim that has this text."""
    (found,) = [c for c in study.claims if text in c.claim]
    return found


def has_verdicts(study, expected):
    """Each claim, found by a piece of its text, has the verdict expected; and there is no other claim."""
    assert len(study.claims) == len(expected)
    assert {text: claim(study, text).verdict for text in expected} == expected


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def figure(study, name):
    (found,) = [f for f in study.figures if f.name == name]
    return found


def named(study, name):
    """The claim of this name."""
    (found,) = [claim for claim in study.claims if claim.name == name]
    return found


def table(study, name):
    (found,) = [t for t in study.tables if t.name == name]
    return found


def printed(text, *values):
    """Whether each value stands in the text, to the text's own digits."""
    shown = re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)
    for value in values:
        digits = [x for x in shown if abs(float(x) - value) <= half_a_digit(x)]
        assert digits, f"{value} is not in {text!r}"


def half_a_digit(text):
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.501 * 10.0 ** (int(exponent or 0) - decimals)


def assert_whole_and_finite(study):
    """Names, captions, labels, curves without holes but at poles, tables, claims of all three verdicts."""
    names = [f.name for f in study.figures] + [f"table {t.name}" for t in study.tables]
    assert len(set(names)) == len(names)
    for drawn in study.figures:
        assert re.fullmatch(r"[a-z0-9-]+", drawn.name)
        assert drawn.caption.endswith(".")
        for panel in drawn.panels:
            if panel.sketch:
                assert_sketch_is_finite(panel)
                continue
            assert panel.x_label
            assert panel.y_label
            for line in panel.lines:
                x, y = np.asarray(line.x), np.asarray(line.y)
                assert x.shape == y.shape
                sampled = panel.x_label != "time (s)" or line.style != "points"  # points may be a paper's own steps
                assert len(y) >= (LEAST_POINTS.get(panel.x_label, 50) if sampled else 50)
                assert x.dtype.kind == "U" or np.isfinite(x).all()
                gaps = ~np.isfinite(y)
                assert np.isnan(y[gaps]).all()
                assert gaps.sum() <= (1 if panel.y_range is not None else 0)
                assert not panel.log_x or (x > 0).all()
                assert not panel.log_y or (y > 0).all()
    for made in study.tables:
        assert made.rows
        assert all(len(row) == len(made.columns) for row in made.rows)
    texts = [text for c in study.claims for text in (c.where, c.claim, c.printed, c.measured, c.reason)]
    assert all(texts)
    assert not any(re.search(r"\b(nan|inf)\b", text) for text in [*texts, study.summary])
    assert all(c.rule.words.endswith(".") for c in study.claims)
    names = [c.name for c in study.claims]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def assert_sketch_is_finite(panel):
    """What is drawn has places, and no word is empty."""
    for line in panel.lines:
        assert line.x.shape == line.y.shape
        assert np.isfinite([line.x, line.y]).all()
    assert all(note.text and np.isfinite([note.x, note.y]).all() for note in panel.notes)


def assert_every_verdict_can_change(study, others):
    """Every rule gives every outcome that it names, once other numbers are put in.

    others: claim's name -> {verdict: the evidence that differs}; the verdict as it is needs no entry.
    """
    judged = {c.name: c for c in study.claims if c.rule.outcomes != ("not judged",)}
    assert set(others) == set(judged)
    for name, claim_ in judged.items():
        for verdict, evidence in others[name].items():
            assert set(evidence) <= set(claim_.evidence), name
            assert claim_.rule.decide(**{**claim_.evidence, **evidence}) == verdict, name
        assert {claim_.verdict, *others[name]} == set(claim_.rule.outcomes), name


def assert_contents(study, expected):
    """expected: kind -> numbers, as the paper prints them. Nothing is missing, cited in vain or without a word."""
    found = {kind: [i.number for i in study.contents if i.kind == kind] for kind in expected}
    assert found == {kind: numbers.split() for kind, numbers in expected.items()}
    assert {i.kind for i in study.contents} <= set(expected)
    where = places(study.name)
    assert set(where) <= set(found["equation"]) | set(found.get("algorithm", ())), "cited, but not in the paper"
    claims = {c.name for c in study.claims}
    shown = {one.name for one in (*study.figures, *study.tables)}
    for item in study.contents:
        assert set(item.judged_by) <= claims, item
        assert not item.shown_as or item.shown_as in shown, item
        assert item.judged_by or item.remark or item.standing, item
        assert not (item.judged_by and item.standing), item
        assert where.get(item.number) or item.shown_as or item.remark, item
    for claim_ in study.claims:
        judged = {i.number for i in study.contents if i.kind in CODED and claim_.name in i.judged_by}
        assert not claim_.equations or set(claim_.equations) <= {i.number for i in study.contents}, claim_.name
        assert not claim_.equations or judged & set(claim_.equations), claim_.name
    assert without_evaluation(study) == []


def without_evaluation(study):
    """Equations that are said to hold, or to hold with a correction, and that nothing evaluates.

    An equation is evaluated by a claim that measures the difference of its sides, or by source that cites it and that a
    claim runs beside something independent.
    """
    claims, where = {c.name: c for c in study.claims}, places(study.name)
    return [
        item.number
        for item in study.contents
        if item.kind in CODED
        for judges in [[claims[name] for name in item.judged_by]]
        if any(judge.verdict.startswith("holds") for judge in judges)
        and not any(item.number in judge.equations for judge in judges)
        and not where.get(item.number)
    ]


def assert_steps_have_their_verdicts(study):
    """Each step of section 4 that is false as printed is named in the table of misprints, and none is said to hold."""
    rows = {row[1]: str(row[4]) for row in contents_table(study).rows if row[0] == "equation"}
    slips = " ".join(row[0] for row in table(study, "misprints").rows)
    state = np.random.default_rng(7).normal(size=(3, 6))
    for number, step in derivation_steps(ARM, *state, study.name).items():
        expected = "not judged" if step.reading else "holds with a correction" if step.slip else "holds"
        assert rows[number].split("; ")[0] == expected, number
        assert bool(step.slip) <= (number in slips), number


def papers_figures(study):
    """Numbers of the paper's own figures that are drawn."""
    return {int(f.title.split()[1].rstrip(":")) for f in study.figures if f.title.startswith("Fig. ")}


def judged_with(claims, measured, text, **numbers):
    """The verdict on a claim, had these been measured: what is set on a copy stands before what it would compute."""
    other = copy.copy(measured)
    for name, value in numbers.items():
        setattr(other, name, value)
    (found,) = [c for c in claims(other) if text in c.claim]
    return found.verdict


def scaled_costs(costs, factor):
    return costs._replace(errors={key: tuple(factor * x for x in row) for key, row in costs.errors.items()})
