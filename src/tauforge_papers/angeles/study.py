"""Angeles, chapter 7: what the recursions cost, prismatic joints, and the natural orthogonal complement."""

from __future__ import annotations

from tauforge.formulations.serial import DEFAULT_FORMULATION
from tauforge_papers import published_counts as published
from tauforge_papers.angeles.algorithm_counts import NAME
from tauforge_papers.angeles.complement import complement
from tauforge_papers.angeles.contents import CONTENTS
from tauforge_papers.angeles.counts import count_claims
from tauforge_papers.angeles.misprints import MISPRINTS
from tauforge_papers.angeles.prismatic import free_points, handled
from tauforge_papers.angeles.recursions import gravity, link_motions, on_a_moving_base
from tauforge_papers.angeles.savings import gravity_cost, slides_are_cheaper, speed, tailored
from tauforge_papers.angeles.schematics import schematics
from tauforge_papers.angeles.tables import count_tables
from tauforge_papers.count_tables import against_joints
from tauforge_papers.misprints import misprint_results
from tauforge_papers.report.progress import Progress, nothing
from tauforge_papers.report.study import Study


def study(progress: Progress = nothing) -> Study:
    """Everything of the chapter that can be computed."""
    progress("operation counts")
    claims, tables = count_claims(), count_tables()
    figure = against_joints(
        "operations",
        "Table 7.3: operations against the number of joints",
        "Solid: as printed; dashed: our code, traced.",
        published.ANGELES_7_3,
        (NAME, "orthogonal-complement", DEFAULT_FORMULATION),
    )
    claims += [gravity_cost(), speed()]
    for claim, table in (slides_are_cheaper(), tailored()):
        claims, tables = [*claims, claim], [*tables, table]
    progress("recursions")
    slides, table = handled()
    claims += [link_motions(), gravity(), on_a_moving_base(), slides, free_points()]
    tables.append(table)
    progress("natural orthogonal complement")
    more, table = complement()
    claims, tables = claims + more, [*tables, table]
    progress("misprints")
    more, table = misprint_results(MISPRINTS, "misprints", "Misprints of the chapter")
    return Study(
        "angeles",
        "J. Angeles, Fundamentals of Robotic Mechanical Systems, chapter 7: Dynamics of serial robotic manipulators",
        "The natural orthogonal complement is right as printed: K T vanishes, and the constraint wrenches do no work. "
        "The recursions need three corrections, two of them for prismatic joints; a base in motion needs none. The "
        "outward recursions take 82n multiplications and 66n additions, as printed; the rows of Table 7.1 do not add "
        "up to that, because the one for c_i is missing.",
        tuple(claims + more),
        (*schematics(), figure),
        (*tables, table),
        CONTENTS,
    )
