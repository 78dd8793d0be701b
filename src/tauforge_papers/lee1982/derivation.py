"""Sections 2 and 4: identities, derivatives, and the steps from the recursion with 4.4 in it to the law on Lagrange's
equations.

The identities and derivatives are those of Turney, Mudge & Lee 1980, section 1. The steps are run by Lee's own print.
"""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array
from tauforge_papers.base_axes import base_axes_claim
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import true_in_parts
from tauforge_papers.turney1980.derivation import EVERY_EQUATION, energies, step_claims
from tauforge_papers.turney1980.notation import E_Z, LINKS, SLOPE, Chain, derivatives, different, identities, slope
from tauforge_papers.wording import within

RULES = {"1.1": "2.3", "1.2": "2.4", "1.3": "2.5", "1.8": "2.8", "1.10": "2.1", "1.16": "2.12"}  # Turney's -> Lee's
RULES |= {"1.20": "2.15", "1.21": "2.16", "1.22": "2.17"}
SLOPES = {"1.11": "2.6", "1.12": "2.10", "1.18": "2.13", "1.19": "2.14"}
IS_SLOPE = true_in_parts(
    f"Every equation is a part. It is true if it gives the derivatives of the transformations within {SLOPE:g}.",
    lambda differences, slope: [difference < slope for difference in differences],
    slope=SLOPE,
)


def by_vector_products() -> float:
    """Eq. 2.9 with the z_{j-1} of eq. 2.10: largest difference from the slopes of A_0^i c."""
    chain, c = Chain(2), np.array([0.3, -0.2, 0.5])

    def turned(theta: Array) -> Array:
        return np.asarray(chain.R(0, LINKS, theta) @ c)

    return max(
        different(chain.R(0, j - 1) @ np.cross(E_Z, chain.R(j - 1, LINKS) @ c), slope(turned, j, chain.theta))
        for j in range(1, LINKS + 1)
    )


def _in_order(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def claims() -> list[Claim]:
    same = {RULES[number]: error for number, error in identities().items() if number in RULES}
    slopes = {SLOPES[number]: error for number, error in derivatives().items()} | {"2.9": by_vector_products()}
    found = energies()
    energy = {"3.2": found["2.4"], "3.4": found["2.6"], "3.5": found["m g h"]}
    return [
        Claim(
            name="identities",
            where="section 2",
            claim="The rules of rotations and of Q, of chained transformations, and the vector identities are right",
            printed="equal",
            measured=f"{within(max(same.values()))}, {len(same)} equations",
            reason=f"Eqs {', '.join(sorted(same, key=_in_order))}, on random vectors and chains. What the reading "
            "machine may have lost in 2.4 is put back.",
            rule=EVERY_EQUATION,
            evidence={"differences": list(same.values())},
            equations=same,
        ),
        Claim(
            name="derivatives",
            where="section 2",
            claim="Derivatives of rotations and displacements are products of matrices",
            printed="equal",
            measured=f"{within(max(slopes.values()), SLOPE)} of the derivatives",
            reason=f"Eqs {', '.join(sorted(slopes, key=_in_order))} of a random chain of {LINKS} links, against "
            "differences of the transformations. Indices that the reading machine may have confused are put back.",
            rule=IS_SLOPE,
            evidence={"differences": list(slopes.values())},
            equations=slopes,
        ),
        Claim(
            name="energies",
            where="section 3.1, eqs 3.2, 3.4, 3.5",
            claim="Velocities, kinetic and potential energy follow from the transformations and their derivatives",
            printed="equal",
            measured=f"{within(max(energy.values()))}, {len(energy)} equations",
            reason="Against the velocities of the mass centres and the energies of a random arm.",
            rule=EVERY_EQUATION,
            evidence={"differences": list(energy.values())},
            equations=energy,
        ),
        base_axes_claim(lees=True),
        *step_claims("lee1982"),
    ]
