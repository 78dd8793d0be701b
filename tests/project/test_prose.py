"""What may not be written in sources and pages: sentences without a subject, and words that mean something else."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "docs", "examples", "tools", "benchmarks")
SUFFIXES = (".py", ".md", ".toml", ".css", ".js")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES and path.name != Path(__file__).name
    ),
]
# What a study says of a paper that prints no value: a cell of a table, or a remark on an equation.
PRINTED = r"(?!(?<=printed=\"no number)\"|(?<=\| no number) \||(?<=, no number)\))"
FORBIDDEN = {
    "begins with its genitive: name the subject first": r"(?<!\w )(?<!\w)Of \S",
    "says number for NaN: write NaN, or not finite": rf"(?i)\b(?:not a number\b|no numbers?\b{PRINTED})",
    "says number for a mass or a length: write parameter": r"(?i)\bnumbers? of (?:the|an?) (?:robot|arm|platform)\b",
    "is quoted as bad in the rules of style": r"(?i)\bthat there (?:is|are) none of\b|\bever later\b|\bamong none\b",
}


def found(pattern: str, text: str) -> list[str]:
    """The lines in which the pattern begins, with their numbers."""
    lines = text.splitlines()
    starts = [text.count("\n", 0, match.start()) for match in re.finditer(pattern, text)]
    return [f"{k + 1}: {lines[k].strip()[:100]}" for k in starts]


@pytest.mark.parametrize("fault", FORBIDDEN)
def test_no_sentence(fault):
    assert len(PAGES) > 300
    bad = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in PAGES
        for line in found(FORBIDDEN[fault], path.read_text(encoding="utf-8"))
    ]
    assert not bad, f"a sentence {fault}\n" + "\n".join(bad)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ('"""Of a leg, in base axes."""', 1),
        ("It is known. Of these, two are new.", 1),
        ("# Of the rows", 1),
        ("| Of them |", 1),
        ('help="Of an arm"', 1),
        ("Kinematics Of Robots", 0),
        ("Often, and most of them", 0),
        ("such a row is no number", 1),
        ("not a number", 1),
        ("rows are no numbers", 1),
        ('printed="no number"', 0),
        ("| at once | no number | 3 N |", 0),
        ("(appendix 1, no number)", 0),
        ("expected a number, got 'x'", 0),
        ("Numbers of the robot are known", 1),
        ("as large as a number of a robot may be", 1),
        ("the number of the robots", 0),
        ("a value that there is none of", 1),
    ],
)
def test_what_is_found(text, faults):
    assert sum(len(found(pattern, text)) for pattern in FORBIDDEN.values()) == faults
