"""Angeles, chapter 7: what the recursions cost, prismatic joints, and the natural orthogonal complement."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauforge.algebra.vectors import Vector
from tauforge.analysis import published_counts as published
from tauforge.analysis.comparison import random_states, relative_error
from tauforge.analysis.complexity import general_cost_of, general_operation_count
from tauforge.analysis.line_costs import LineCost, line_costs
from tauforge.analysis.polynomial import added
from tauforge.formulations.serial import DEFAULT_FORMULATION, FORMULATIONS, lagrange_euler, outward_inward
from tauforge.formulations.serial.kinematics import joint_rotation
from tauforge.formulations.serial.orthogonal_complement import (
    constraint_matrix,
    generalized_inertia,
    twist_shaping_matrix,
)
from tauforge.formulations.serial.parameters import ArmParameters
from tauforge.studies.angeles.prismatic import MISPRINTS, NAME, handled, slides_are_cheaper
from tauforge.studies.count_tables import COLUMNS, SIX, adds_up, against_joints, breakdown, cells, lines_of, our_row
from tauforge.studies.lee1982.control import puma
from tauforge.studies.misprints import misprint_results
from tauforge.studies.random_arms import random_arm, random_kinds
from tauforge.studies.study import (
    ROUNDING,
    Cell,
    Claim,
    Progress,
    Study,
    Table,
    corrected_unless,
    holds_if,
    less_or_more,
    nothing,
    within,
)
from tauforge.studies.timing import BATCH, nanoseconds

Array = NDArray[Any]
ARMS, POSES = 25, 4
A_FEW = 10  # us


def study(progress: Progress = nothing) -> Study:
    """Everything of the chapter that can be computed."""
    progress("operation counts")
    claims, tables = counts()
    figure = against_joints(
        "operations",
        "Table 7.3: operations against the number of joints",
        "Solid: as printed; dashed: our texts, traced.",
        published.ANGELES_7_3,
        (NAME, "orthogonal-complement", DEFAULT_FORMULATION),
    )
    progress("prismatic joints")
    for claim, table in (handled(), slides_are_cheaper()):
        claims, tables = [*claims, claim], [*tables, table]
    progress("natural orthogonal complement")
    more, table = complement()
    claims, tables = claims + more, [*tables, table]
    progress("misprints")
    more, table = misprint_results(MISPRINTS, "misprints", "Misprints of the chapter")
    return Study(
        "angeles",
        "J. Angeles, Fundamentals of Robotic Mechanical Systems, chapter 7: Dynamics of serial robotic manipulators",
        "The natural orthogonal complement is right as printed, and K T vanishes to rounding. The recursions need four "
        "corrections, two of them for prismatic joints. Two tables have slips, and base parameters in well placed "
        "frames go below every count of Table 7.4.",
        tuple(claims + more),
        (figure,),
        (*tables, table),
    )


def our_halves() -> tuple[published.Row, published.Row]:
    """What our text of algorithms 7.4.1 and 7.4.2 costs, line by line as written, outward and inward."""
    lines = inspect.getsource(outward_inward).splitlines()
    border = next(i for i, line in enumerate(lines, 1) if "# Algorithm 7.4.2" in line)
    outward: list[LineCost] = []
    inward: list[LineCost] = []
    for cost in line_costs(NAME):
        backward = cost.line > border or cost.text.startswith("return turns[i] @")  # Q turns f and n alone
        (inward if backward else outward).append(cost)
    rows = [
        published.Row(
            f"tauforge, {NAME}, {half}, as written",
            added([cost.multiplications for cost in costs]),
            added([cost.additions for cost in costs]),
        )
        for half, costs in (("outward", outward), ("inward", inward))
    ]
    return rows[0], rows[1]


def counts() -> tuple[list[Claim], list[Table]]:
    outward, inward = our_halves()
    tables = [
        breakdown("table-7-1", published.ANGELES_7_1, [outward]),
        breakdown("table-7-2", published.ANGELES_7_2, [inward]),
        table_7_3(),
        table_7_4(),
        lines_of(NAME),
        lines_of("orthogonal-complement"),
    ]
    claims = [
        adds_up("Table 7.1", published.ANGELES_7_1),
        adds_up("Table 7.2", published.ANGELES_7_2),
        whole_cost(),
        same_in_both_tables(),
        least_cost(),
        transformation_cost(),
        speed(),
    ]
    return claims, tables


def table_7_3() -> Table:
    rows = [cells(row) for row in published.ANGELES_7_3]
    rows.append(cells(published.ANGELES_7_43, "this chapter, eq. 7.43"))
    rows += [cells(our_row(name)) for name in FORMULATIONS]
    title = "Table 7.3: complexity of different algorithms for inverse dynamics"
    return Table("table-7-3", title, "As printed, and our six texts for the general arm.", COLUMNS, tuple(rows))


def table_7_4() -> Table:
    formulas = {row.item: row for row in published.ANGELES_7_3}
    rows: list[tuple[Cell, ...]] = []
    for item, numbers in published.ANGELES_7_4.items():
        row = formulas.get(item)
        by_formula = (None, None) if row is None else (int(row.multiplications(SIX)), int(row.additions(SIX)))
        rows.append((item, *numbers, *by_formula))
    for name in FORMULATIONS:
        cost = general_operation_count(SIX, name)
        rows.append((f"tauforge, {name}, traced", None, None, cost.multiplications, cost.additions))
    return Table(
        "table-7-4",
        f"Table 7.4: complexity of different algorithms for inverse dynamics, n = {SIX}",
        f"{published.ANGELES_7_4_ERRATUM} Two entries have no formula in Table 7.3. Ours are counted.",
        (
            "author(s), method",
            "multiplications, printed",
            "additions, printed",
            "multiplications, by formula or counted",
            "additions, by formula or counted",
        ),
        tuple(rows),
    )


def whole_cost() -> Claim:
    total, ours = published.ANGELES_7_43, general_operation_count(SIX, NAME)
    pair = (int(total.multiplications(SIX)), int(total.additions(SIX)))
    return Claim(
        "eq. 7.43",
        f"Both recursions for {SIX} revolute joints",
        "800 / 646",
        f"{pair[0]} / {pair[1]} by the formula; {ours.multiplications} / {ours.additions} counted",
        holds_if(pair == (800, 646)),
        "Multiplications / additions. Our text leaves out the positions and velocities of the mass centres, which the "
        "torques do not need.",
    )


def same_in_both_tables() -> Claim:
    """Table 7.4 beside the formulas of Table 7.3."""
    slips = []
    for row in published.ANGELES_7_3:
        formula = (int(row.multiplications(SIX)), int(row.additions(SIX)))
        if formula != published.ANGELES_7_4[row.item]:
            slips.append((row.item, formula, published.ANGELES_7_4[row.item]))
    named = "; ".join(f"{item}: {formula[0]} / {formula[1]}" for item, formula, _ in slips)
    printed = "; ".join(f"{item}: {pair[0]} / {pair[1]}" for item, _, pair in slips)
    return Claim(
        "Table 7.4",
        f"The numbers for n = {SIX} follow from Table 7.3",
        printed or "equal",
        named or "equal",
        corrected_unless(not slips),
        f"{len(published.ANGELES_7_3) - len(slips)} of {len(published.ANGELES_7_3)} entries do.",
    )


def least_cost() -> Claim:
    best = published.ANGELES_7_4["Li & Sankar (1992), E-L"]
    least = tuple(min(column) for column in zip(*published.ANGELES_7_4.values(), strict=True))
    ours = general_operation_count(SIX)
    return Claim(
        "Table 7.4",
        "The least count tabulated is Li & Sankar's (our reading: the chapter only tabulates)",
        f"{best[0]} / {best[1]}",
        f"least of the table {least[0]} / {least[1]}; ours {ours.multiplications} / {ours.additions}",
        holds_if(best == least),
        f"Ours beside it, {DEFAULT_FORMULATION}: base parameters, with frames placed along their axes. Gravity along "
        "the first axis, base at rest.",
    )


def transformation_cost() -> Claim:
    def turned(arm: ArmParameters, q: Any, qd: Any, qdd: Any) -> Any:
        joint = arm.joints[0]
        return list(joint.constant.rotation.T @ (joint_rotation(joint, q[0]).T @ Vector(*qd[:3])))

    cost = general_cost_of(turned)
    return Claim(
        "section 7.4",
        "A transformation between successive frames",
        "8 multiplications, 4 additions",
        f"{cost.multiplications} multiplications, {cost.additions} additions",
        holds_if((cost.multiplications, cost.additions) == (8, 4)),
        "Two planar turns, general twist, sine and cosine given.",
    )


def speed() -> Claim:
    microseconds = nanoseconds(puma(), NAME) / 1000
    return Claim(
        "section 7.4",
        "A modern processor computes it in a few microseconds",
        "a few us",
        f"{less_or_more(microseconds, A_FEW, 'us')} a state",
        holds_if(microseconds < A_FEW),
        f"Our compiled text of the algorithms, PUMA 560, in batches of {BATCH} states.",
        timed=f"{microseconds:.3f} us a state",
    )


def shaping_matrix(arm: ArmParameters, q: list[float]) -> Array:
    """T (7.54), (6 n, n)."""
    T = np.zeros((6 * arm.n, arm.n))
    for i, row in enumerate(twist_shaping_matrix(arm, q)):
        for j, twist in enumerate(row):
            T[6 * i : 6 * i + 6, j] = [*twist.angular, *twist.linear]
    return T


def complement() -> tuple[list[Claim], Table]:
    random = np.random.default_rng(7)
    rows, residual, inertia, nullities = [], 0.0, 0.0, []
    for _ in range(ARMS):
        arm = random_arm(random, random_kinds(random))
        parameters, own = arm.model.parameters, 0.0
        kinds = "".join(joint.kind for joint in arm.joints)
        for q in random_states(arm, POSES, seed=arm.n)[0].tolist():
            K, T = np.array(constraint_matrix(parameters, q), float), shaping_matrix(parameters, q)
            own = max(own, float(np.abs(K @ T).max() / (np.abs(K).max() * np.abs(T).max())))
            nullities.append(6 * arm.n - int(np.linalg.matrix_rank(K)) - arm.n)
            ours, other = (
                np.array(matrix(parameters, q), float).reshape(1, -1)
                for matrix in (generalized_inertia, lagrange_euler.mass_matrix)
            )
            inertia = max(inertia, relative_error(ours, other))
        rows.append((kinds, arm.n, own, nullities[-1] + arm.n))
        residual = max(residual, own)
    where = f"{ARMS} random arms with revolute and prismatic joints, {POSES} poses each."
    claims = [
        Claim(
            "eq. 7.55b",
            "K T = 0: T is an orthogonal complement of K",
            "0",
            f"{within(residual)} of the largest entries",
            holds_if(residual < ROUNDING),
            where,
        ),
        Claim(
            "section 7.5",
            "The nullity of K is the degree of freedom n",
            "n",
            f"n in {nullities.count(0)} of {len(nullities)} poses",
            holds_if(not any(nullities)),
            f"6 n less the numerical rank of K. {where}",
        ),
        Claim(
            "eq. 7.58",
            "T' M T is the generalized inertia matrix",
            "equal",
            within(inertia),
            holds_if(inertia < ROUNDING),
            f"Against Lagrange's equations. {where}",
        ),
    ]
    table = Table(
        "complement",
        "K T and the nullity of K",
        "The largest entry of K T over those of K and T, in all poses of an arm.",
        ("joints", "n", "K T (-)", "nullity of K"),
        tuple(rows),
    )
    return claims, table
