"""Sections 2 and 4: identities, derivatives, and the steps from the recursion with 4.4 in it to the law on Lagrange's
equations.

They are those of Turney, Mudge & Lee 1980, sections 1 and 4, with the corrected acceleration in the place of the
joints' own; whatever number stands there, the steps are the same. The same code runs them for both papers.
"""

from __future__ import annotations

from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts, true_or_mended
from tauforge_papers.turney1980.derivation import slips, steps
from tauforge_papers.turney1980.notation import LINKS, SLOPE, derivatives, identities
from tauforge_papers.wording import ROUNDING, within

RULES = {"1.1": "2.3", "1.2": "2.4", "1.3": "2.5", "1.8": "2.8", "1.10": "2.1", "1.16": "2.12"}  # Turney's -> Lee's
RULES |= {"1.20": "2.15", "1.21": "2.16", "1.22": "2.17"}
SLOPES = {"1.11": "2.6", "1.12": "2.10", "1.18": "2.13", "1.19": "2.14"}
NUMBERS = {
    "4.1": "4.5",
    "4.2": "4.6",
    "4.3": "4.7",
    "4.4": "4.8",
    "4.5": "4.9",
    "4.7": "4.11",
    "4.8": "4.12",
    "4.9": "4.13",
    "4.11": "4.15",
    "4.16": "4.20",
    "4.17": "4.21",
    "4.21": "4.25",
    "4.24": "4.28",
    "4.25": "4.29",
    "4.26": "4.33",
    "4.27": "4.34",
    "4.34": "4.41",
}
STEPS = true_in_parts(
    f"Every equation is a part. It is true if its sides agree within {ROUNDING:g} of the larger.",
    lambda differences, rounding: [difference < rounding for difference in differences],
    rounding=ROUNDING,
)
IS_SLOPE = true_in_parts(
    f"Every equation is a part. It is true if it gives the derivatives of the transformations within {SLOPE:g}.",
    lambda differences, slope: [difference < slope for difference in differences],
    slope=SLOPE,
)
SLIPS = true_or_mended(
    f"It holds if the sides agree within {ROUNDING:g} of the larger as printed, and with a correction if they do with "
    "a single sum, with m_i once, with each acceleration beside its own derivative and without A_i^0.",
    holds=lambda printed, mended, rounding: max(printed) < rounding,
    corrected=lambda printed, mended, rounding: max(mended) < rounding,
    rounding=ROUNDING,
)


def _in_order(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def claims() -> list[Claim]:
    same = {RULES[number]: error for number, error in identities().items() if number in RULES}
    slopes = {SLOPES[number]: error for number, error in derivatives().items()}
    found = {NUMBERS[number]: error for number, error in steps().items()}
    printed = {NUMBERS[number]: error for number, error in slips().items()}
    mended = {number: found.pop(number) for number in printed}
    return [
        Claim(
            name="identities",
            where="section 2",
            claim="The rules of rotations and of Q, of chained transformations, and the vector identities are right",
            printed="equal",
            measured=f"{within(max(same.values()))}, {len(same)} equations",
            reason=f"Eqs {', '.join(sorted(same, key=_in_order))}, on random vectors and chains. What the reading "
            "machine may have lost in 2.4 is put back.",
            rule=STEPS,
            evidence={"differences": list(same.values())},
        ),
        Claim(
            name="derivatives",
            where="section 2",
            claim="Derivatives of rotations and displacements are products of matrices",
            printed="equal",
            measured=f"{within(max(slopes.values()), SLOPE)} of the derivatives",
            reason=f"Eqs {', '.join(slopes)} of a random chain of {LINKS} links, against differences of the "
            "transformations. Indices that the reading machine may have confused are put back.",
            rule=IS_SLOPE,
            evidence={"differences": list(slopes.values())},
        ),
        Claim(
            name="derivation",
            where="section 4, eqs 4.5-4.41",
            claim="The recursion with 4.4 in it is expanded, step by step, into the law on Lagrange's equations",
            printed="equal",
            measured=f"{within(max(found.values()))}, {len(found)} equations",
            reason=f"Eqs {', '.join(found)} of a random arm with full inertias, all links, against the recursion. "
            "What the reading machine may have lost in them is put back.",
            rule=STEPS,
            evidence={"differences": list(found.values())},
        ),
        Claim(
            name="derivation-slips",
            where=f"eqs {', '.join(printed)}",
            claim="The steps expand the acceleration of an origin and the terms with the mass centre",
            printed="a double sum in 4.11, no m_i in two terms of 4.15, m_i twice in the last of 4.21, an acceleration "
            "as the factor of all terms of 4.25, A_i^0 in 4.29",
            measured=", ".join(f"{number} is wrong by {error:.2g} (relative)" for number, error in printed.items())
            + f" as printed, {within(max(mended.values()))} mended",
            reason="The same arm. Eq. 4.13 has the single sum, and eqs 4.33 and 4.34 share none of the slips. The "
            "first line of eq. 4.30 has m_i twice as well; eqs 4.37, 4.38 and 4.40 have slips of the same kind.",
            rule=SLIPS,
            evidence={"printed": list(printed.values()), "mended": list(mended.values())},
        ),
    ]
