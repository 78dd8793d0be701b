"""What M, C and G cost: by strobing the modified Newton-Euler set, and from Lagrange's equations (sections 6 and 7)."""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

from tauforge.algebra.vectors import ZERO
from tauforge.analysis.complexity import Polynomial, general_arm, general_cost_of, interpolated
from tauforge.analysis.costs_by_line import Charged, Ledger
from tauforge.formulations.serial import lagrange_euler, modified_newton_euler, strobing
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.tracing.counting import operations
from tauforge_papers.count_tables import COLUMNS, SIX, our_row
from tauforge_papers.report.study import Claim
from tauforge_papers.report.table import Cell, Table
from tauforge_papers.report.verdicts import Rule
from tauforge_papers.rules import not_judged, true_in_parts, true_or_mended, true_or_not

MODIFIED = modified_newton_euler.inverse_dynamics
SIZES = range(4, 10)
Function = Callable[[ArmParameters, Any, Any, Any], Any]  # of arm, q, qd, qdd


def lagrange_explicit(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
    """M, C^i and G, every coefficient apart."""
    parts = (lagrange_euler.mass_matrix, lagrange_euler.coriolis_coefficients, lagrange_euler.gravity_forces)
    return [part(arm, q) for part in parts]


def strobed_for_simulation(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
    """M by strobing, and C + G in one run without acceleration."""
    return [strobing.mass_matrix(MODIFIED, arm, q), MODIFIED(arm, q, qd, [0.0] * arm.n)]


def lagrange_for_simulation(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
    """M and C + G of Lagrange's equations, the velocity terms summed in the order of the appendix."""
    return [lagrange_euler.mass_matrix(arm, q), lagrange_euler.inverse_dynamics(arm, q, qd, [0.0] * arm.n)]


STROBED: dict[str, Function] = {
    "M": lambda arm, q, qd, qdd: strobing.mass_matrix(MODIFIED, arm, q),
    "M, C and G": lambda arm, q, qd, qdd: strobing.explicit_model(MODIFIED, arm, q),
    "M and C + G": strobed_for_simulation,
}
LAGRANGE: dict[str, Function] = {
    "M": lambda arm, q, qd, qdd: lagrange_euler.mass_matrix(arm, q),
    "M, C and G": lagrange_explicit,
    "M and C + G": lagrange_for_simulation,
}


@cache
def cost(function: Function) -> tuple[Polynomial, Polynomial]:
    """Multiplications and additions, traced, of the general arm of n >= 4 joints."""
    counts = [general_cost_of(function, n) for n in SIZES]
    multiplications = interpolated(list(SIZES), [c.multiplications for c in counts])
    return multiplications, interpolated(list(SIZES), [c.additions for c in counts])


def degree(polynomial: Polynomial) -> int:
    return len(polynomial.coefficients) - 1


def strobed_velocities(arm: ArmParameters, q: Any) -> None:
    """Every run of the set that C needs: each pair of unit velocities once."""
    weightless = arm._replace(gravity=ZERO)
    for j in range(arm.n):
        for k in range(j + 1):
            MODIFIED(weightless, q, strobing.unit(arm.n, j, k), [0.0] * arm.n)


def pass_counts(function: Callable[[ArmParameters, Any], Any], n: int) -> tuple[int, int]:
    """Operations of the outward and of the inward pass in all runs of the set, as written: links at rest are free."""
    file = inspect.getfile(modified_newton_euler)
    lines, first = inspect.getsourcelines(modified_newton_euler.inverse_dynamics)
    inward = first + next(k for k, line in enumerate(lines) if "# Inward" in line)
    ledger: Ledger = defaultdict(Counter)
    arm = general_arm(n, lambda _: Charged(ledger, file, constant=True), False)
    function(arm, [Charged(ledger, file) for _ in range(n)])
    flops = {line: operations(tally).flops for (_, line), tally in ledger.items()}
    later = sum(flop for line, flop in flops.items() if line > inward)
    return sum(flops.values()) - later, later


def passes(function: Callable[[ArmParameters, Any], Any]) -> tuple[Polynomial, Polynomial]:
    """The same as polynomials in n."""
    found = [pass_counts(function, n) for n in SIZES]
    outward, inward = (interpolated(list(SIZES), [pair[k] for pair in found]) for k in (0, 1))
    return outward, inward


LESS = true_in_parts(
    f"Every number of joints from {SIZES[0]} to {SIZES[-1]} is a part. It is true if it takes fewer multiplications, "
    'and fewer operations in all ("less effort"): then it is less wherever a multiplication costs at least as much as '
    "an addition.",
    lambda multiplications, operations: [max(both) < 1 for both in zip(multiplications, operations, strict=True)],
)
FORM_M = true_in_parts(
    'The kinematic and the dynamic calculations are two parts. Each is "of the form" k n (n + 1) / 2 if its operations '
    "are a polynomial of degree 2 in n.",
    lambda kinematic, dynamic: [kinematic == 2, dynamic == 2],
)
FORM_C = true_or_mended(
    'It holds if the kinematic calculations are a polynomial of degree 3 in n and the dynamic ones of degree 2 ("of '
    'the form"). It holds with a correction if both are of degree 3.',
    holds=lambda kinematic, dynamic: (kinematic, dynamic) == (3, 2),
    corrected=lambda kinematic, dynamic: (kinematic, dynamic) == (3, 3),
)


def order(printed: int) -> Rule:
    return true_or_not(
        f'It holds if the operations are a polynomial of degree {printed} in n ("of order").',
        lambda degrees: all(degree == printed for degree in degrees),
    )


def effort(name: str, where: str, what: str, text: str) -> Claim:
    """Strobing over Lagrange, for every n in SIZES."""
    ours, theirs = cost(STROBED[what]), cost(LAGRANGE[what])
    multiplications = [float(ours[0](n) / theirs[0](n)) for n in SIZES]
    operations = [float((ours[0](n) + ours[1](n)) / (theirs[0](n) + theirs[1](n))) for n in SIZES]
    share = operations[SIZES.index(SIX)]
    more = [
        n for n, ratios in zip(SIZES, zip(multiplications, operations, strict=True), strict=True) if max(ratios) >= 1
    ]
    return Claim(
        name=name,
        where=where,
        claim=text,
        printed="less",
        measured=" against ".join(f"{int(pair[0](SIX))} / {int(pair[1](SIX))}" for pair in (ours, theirs))
        + f" multiplications / additions, n = {SIX}",
        reason=f"The general arm, traced, what the runs have in common shared: {100 * (1 - share):.0f} % fewer "
        f"operations in all for n = {SIX}"
        + (", yet more additions" if ours[1](SIX) > theirs[1](SIX) else "")
        + (f". For n = {' and '.join(map(str, more))} strobing takes more." if more else "."),
        rule=LESS,
        evidence={"multiplications": multiplications, "operations": operations},
    )


def forms() -> list[Claim]:
    """The formulas of section 6 for M and C^i, and that of section 7 for a simulation."""
    mass = passes(lambda arm, q: strobing.mass_matrix(MODIFIED, arm, q))
    velocity = passes(strobed_velocities)
    simulation = cost(STROBED["M and C + G"])
    return [
        Claim(
            name="form-mass-matrix",
            where="section 6",
            claim="Strobing M takes k1 n (n + 1) / 2 + d1 n (n + 1) / 2 calculations",
            printed="n^2 and n^2",
            measured=f"{mass[0]} operations outward, {mass[1]} inward",
            reason="The run with unit acceleration of joint j moves links j to n, and symmetry leaves the torques of "
            "joints j to n. Links at rest cost nothing here; torques known by symmetry are computed again.",
            rule=FORM_M,
            evidence={"kinematic": float(degree(mass[0])), "dynamic": float(degree(mass[1]))},
        ),
        Claim(
            name="form-coriolis",
            where="section 6",
            claim="Strobing the C^i takes k2 n (n + 1)(2 n + 1) / 6 + d2 n (n + 1) / 2 calculations",
            printed="n^3 and n^2",
            measured=f"{velocity[0]} operations outward, {velocity[1]} inward",
            reason="Every pair of velocities needs the torques of all joints: n^2 (n + 1) / 2 dynamic calculations, as "
            "many as the C^i have different entries. The whole is of order n^3 either way.",
            rule=FORM_C,
            evidence={"kinematic": float(degree(velocity[0])), "dynamic": float(degree(velocity[1]))},
        ),
        Claim(
            name="form-simulation",
            where="section 7",
            claim="M and C + G for a step of a simulation take operations of the order k1 n (n + 1) / 2 + "
            "d1 n (n + 1) / 2 + k2 n + d2 n",
            printed="n^2",
            measured=f"{simulation[0]} multiplications, {simulation[1]} additions",
            reason="The general arm of n >= 4 joints, traced.",
            rule=order(2),
            evidence={"degrees": [float(degree(p)) for p in simulation]},
        ),
    ]


def as_set_forth() -> list[Claim]:
    found = cost(lagrange_explicit)
    return [
        Claim(
            name="lagrange-as-set-forth",
            where="section 6",
            claim='Lagrange carried out "more or less as set forth" is of order n^4, as Hollerbach counted',
            printed="n^4",
            measured=f"{found[0]} multiplications, {found[1]} additions",
            reason="M, every C^i_jk and G of the general arm of n >= 4 joints, each coefficient apart, traced. The C^i "
            "have n^2 (n + 1) / 2 different entries, each a sum over up to n links. Summed in the order of the "
            "appendix, the torques are of order n^3.",
            rule=order(4),
            evidence={"degrees": [float(degree(p)) for p in found]},
        ),
        Claim(
            name="newton-euler-as-set-forth",
            where="section 6",
            claim="Hollerbach's 150 n for Newton-Euler comes from operations carried out as set forth",
            printed="150 n multiplications",
            measured=f"{our_row('newton-euler', as_written=True).multiplications} multiplications",
            reason="Ours is the general arm, every operation as eqs 3.15-3.21 write it, with what is zero left out.",
            rule=not_judged("The counts are those of another paper, of which we have no text."),
        ),
    ]


def explicit_claims() -> list[Claim]:
    said = "can be obtained with less effort from Newton-Euler, by strobing, than from Lagrange"
    return [
        effort("effort-explicit", "section 6", "M, C and G", f"M, C and G {said}"),
        effort("effort-mass-matrix", "section 6", "M", f"M alone {said}"),
        effort(
            "effort-simulation",
            "section 7",
            "M and C + G",
            "A simulation is more efficient with M and C + G from strobing than from Lagrange's equations",
        ),
        *forms(),
        *as_set_forth(),
    ]


def explicit_table() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for source, functions in (("strobing", STROBED), ("Lagrange", LAGRANGE)):
        for what, function in functions.items():
            pair = cost(function)
            rows.append((f"{what}, {source}", *map(str, pair), *(int(p(SIX)) for p in pair)))
    return Table(
        "explicit",
        "Sections 6 and 7: what M, C and G cost",
        "The general arm of n >= 4 joints, traced. M and C + G are what a simulation needs: the velocity terms of "
        "Lagrange's equations are then summed, in the order of the appendix.",
        COLUMNS,
        tuple(rows),
    )
