"""What the studies found, in five sentences with numbers: the first screen of the report.

Every number is evidence of a claim. A finding is told where the studies have all claims that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tauforge_papers.lee1982.error_equation import GROUPS
from tauforge_papers.misprints import RULE
from tauforge_papers.report.finding import Bar, Finding
from tauforge_papers.report.study import Claim, Study
from tauforge_papers.report.texts import short
from tauforge_papers.wording import within

SHOWN = 6  # misprints, the costliest
Studies = dict[str, Study]
Names = tuple[tuple[str, str], ...]  # study and claim


def findings(studies: Sequence[Study]) -> list[Finding]:
    """Those of the five that these studies can tell."""
    by_name = {study.name: study for study in studies}
    there = {(study.name, claim.name) for study in studies for claim in study.claims}
    return [make(by_name, needed) for needed, make in FINDINGS if there.issuperset(needed)]


def evidence(studies: Studies, study: str, claim: str, name: str) -> np.ndarray:
    """(k,) the numbers that decided a claim."""
    (one,) = (one for one in studies[study].claims if one.name == claim)
    return np.atleast_1d(np.asarray(one.evidence[name], float))


def stewart_models(studies: Studies, claims: Names) -> Finding:
    errors = {name: evidence(studies, name, claim, "published") for name, claim in claims}
    mended = max(evidence(studies, *claim, "mended").max() for claim in claims)
    bars = [
        Bar(f"{short(studies[name])}, {path} path", error, f"{error:.1f} N")
        for name, found in errors.items()
        for path, error in zip(("slow", "fast"), found, strict=True)
    ]
    worst, peak = max((errors[name].max(), evidence(studies, name, claim, "peak")[0]) for name, claim in claims)
    return Finding(
        "Both published models of the Stewart platform give wrong leg forces",
        f"Off by up to {worst:.0f} N of {peak:.0f} N ({100 * worst / peak:.1f} %) on the fast path",
        "Use platform.inverse_dynamics(...): its default is the exact model. The newer paper mends one fault and adds "
        "another: parallel-axis terms that are counted twice.",
        (*bars, Bar("both, corrected", mended, f"{mended:.1f} N")),
        claims,
    )


def formulations_agree(studies: Studies, claims: Names) -> Finding:
    slips = {
        (name, claim.name): (short(studies[name]), claim)
        for name in SERIAL
        for claim in studies[name].claims
        if claim.rule.words == RULE.words
    }
    sizes = {key: evidence(studies, *key, "printed")[0] for key in slips}
    mended = max(evidence(studies, *key, "mended")[0] for key in slips)
    worst = sorted(slips, key=lambda key: -sizes[key])[:SHOWN]
    return Finding(
        "Newton-Euler and Lagrange-Euler give the same forces, once slips in print are mended",
        f"{len(slips)} printed lines are wrong, by up to {100 * max(sizes.values()):.0f} % of the largest force; "
        f"mended {within(mended)}",
        "Use any formulation= of arm.inverse_dynamics: all are mended. Do not copy these lines from the papers.",
        tuple(Bar(_named(*slips[key]), sizes[key], f"{100 * sizes[key]:.0f} %") for key in worst),
        (*claims, *worst),
    )


def _named(paper: str, claim: Claim) -> str:
    return f"{paper}, {claim.where.replace('section ', '§ ')}"


def costs(studies: Studies, claims: Names) -> Finding:
    names = {"lagrange": "Lagrange-Euler", "newton_euler": "Newton-Euler", "modified": "modified Newton-Euler"}
    totals = {key: evidence(studies, "turney1980", "modified-cheaper", key).sum() for key in names}
    least = evidence(studies, "turney1980", "recursion-most-efficient", "recursive").min()
    tables = evidence(studies, "lee1982", "about-100", "factors")
    bars = [Bar(name, totals[key], f"{totals[key]:.0f}") for key, name in names.items()]
    return Finding(
        "Lagrange-Euler costs more than Newton-Euler, but not the hundred times of the papers",
        f"{totals['lagrange'] / totals['newton_euler']:.1f} times the operations, six joints; {tables.min():.0f} to "
        f"{tables.max():.0f} times by the tables of 1982",
        "Use the default of arm.inverse_dynamics. The old tables multiply matrices that need not be multiplied.",
        (*bars, Bar("default of tauforge", least, f"{least:.0f}")),
        claims,
    )


def condition(studies: Studies, claims: Names) -> Finding:
    ranks = evidence(studies, "dasgupta1998", "direct-relation", "ranks")
    paths = ("path I, slow", "path II, fast", "path III, singular")
    return Finding(
        "A higher condition number does not mean higher leg forces, except near a singularity",
        f"Rank correlation {ranks[0]:.2f} and {ranks[1]:.2f} on ordinary paths, {ranks[2]:.2f} on the singular one",
        'Plan with the forces themselves: tf.workspace.map(robot, "force", axes).',
        tuple(Bar(path, rank, f"{rank:.2f}") for path, rank in zip(paths, ranks, strict=True)),
        claims,
    )


def compensation(studies: Studies, claims: Names) -> Finding:
    whole = evidence(studies, "lee1982", "compensation", "whole")[0]
    without = evidence(studies, "lee1982", "compensation", "without")
    names = ("all terms", *(f"without {group}" for group in GROUPS[1:]))
    return Finding(
        "Computed torque needs the whole model, gravity most of all",
        f"{1000 * whole:.1f} mrad off the path with all terms, {1000 * max(without):.0f} mrad without "
        f"{GROUPS[1 + int(np.argmax(without))]}",
        "Use tf.control.ComputedTorque(robot): it has all terms, and every formulation gives the same law.",
        tuple(
            Bar(name, error, f"{1000 * error:.1f} mrad") for name, error in zip(names, (whole, *without), strict=True)
        ),
        claims,
    )


STEWART, SERIAL = ("dasgupta1998", "pedrammehr2012"), ("turney1980", "lee1982", "angeles")
FINDINGS: tuple[tuple[Names, Callable[[Studies, Names], Finding]], ...] = (
    (tuple((name, "all-effects") for name in STEWART), stewart_models),
    (
        tuple(zip(SERIAL, ("equivalence", "same-law", "inward-turn"), strict=True)),
        formulations_agree,
    ),
    (
        (("turney1980", "modified-cheaper"), ("turney1980", "recursion-most-efficient"), ("lee1982", "about-100")),
        costs,
    ),
    ((("dasgupta1998", "direct-relation"), ("dasgupta1998", "near-singular")), condition),
    ((("lee1982", "compensation"), ("lee1982", "same-law")), compensation),
)
