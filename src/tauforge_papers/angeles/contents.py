"""Every numbered equation, algorithm, figure and table of the chapter, from eq. 7.23b, where our text of it begins."""

from __future__ import annotations

from tauforge_papers.contents import SCHEMATIC, equations
from tauforge_papers.report.study import Item

CONTENTS = (
    *equations(
        "7.23b",
        "forward transformation: an abbreviation; our text begins after eq. 7.23a",
        judged_by=("transformation",),
    ),
    *equations("7.24a", "backward transformation", judged_by=("transformation", "backward-transformation")),
    *equations("7.24b", "its abbreviation", judged_by=("transformation",)),
    *equations(
        "7.25a 7.25b",
        "angular velocity and acceleration of a link, in any frame",
        judged_by=("link-motions",),
        remark="Our code has them in the links' frames, as eqs 7.26a and 7.26b.",
    ),
    *equations("7.26a 7.26b", "the same in the link's frame", judged_by=("link-motions", "outward-count")),
    *equations("7.27", "a base that does not turn", remark="A base in motion is judged.", standing="definition"),
    Item("figure", "7.2", "a revolute joint", shown_as="fig-7-2", remark=SCHEMATIC),
    *equations("7.28 7.29 7.30 7.31", "components along the joint's axis", judged_by=("products", "outward-count")),
    *equations("7.32a", "from the mass centre to the next revolute joint", judged_by=("link-motions",)),
    *equations("7.32b", "mass centre, revolute joint", judged_by=("link-motions", "outward-count")),
    *equations("7.32c", "from the mass centre to the next prismatic joint", judged_by=("link-motions", "free-point")),
    *equations(
        "7.32d", "mass centre, prismatic joint", judged_by=("link-motions", "prismatic-joints", "prismatic-count")
    ),
    *equations(
        "7.33a 7.33b",
        "velocity and acceleration of the mass centre, revolute joint",
        judged_by=("link-motions", "outward-count"),
    ),
    Item("figure", "7.3", "a prismatic joint", shown_as="fig-7-3", remark=SCHEMATIC),
    *equations("7.34a 7.34b", "angular motion, prismatic joint", judged_by=("link-motions", "prismatic-joints")),
    *equations(
        "7.34c 7.34d 7.34e 7.34f",
        "velocity and acceleration of the mass centre, prismatic joint",
        judged_by=("link-motions", "prismatic-joints", "prismatic-count"),
    ),
    *equations("7.35", "a base at rest", remark="A base in motion is judged.", standing="definition"),
    Item(
        "algorithm",
        "7.4.1",
        "outward recursions",
        ("link-motions", "outward-count", "prismatic-branch", "prismatic-joints"),
    ),
    Item("table", "7.1", "complexity of the kinematics", ("table-7-1-sum", "outward-count"), "table-7-1"),
    *equations("7.36", "wrench of a revolute joint", judged_by=("joint-wrenches",)),
    Item("figure", "7.4", "free-body diagram of a link", shown_as="fig-7-4", remark=SCHEMATIC),
    *equations("7.37", "wrench of a prismatic joint", judged_by=("joint-wrenches",)),
    *equations("7.38a 7.38b", "Newton and Euler for the last link", judged_by=("joint-wrenches", "inward-turn")),
    *equations("7.38c", "Newton for the other links", judged_by=("joint-wrenches", "inward-turn")),
    *equations("7.38d", "Euler for the other links", judged_by=("joint-wrenches", "prismatic-moment")),
    Item("figure", "7.5", "free-body diagram of the end-effector", shown_as="fig-7-5", remark=SCHEMATIC),
    *equations("7.39 7.40", "the actuator's torque or force", judged_by=("joint-wrenches", "inward-count")),
    Item("table", "7.2", "complexity of the dynamics", ("table-7-2-sum", "inward-count"), "table-7-2"),
    Item("algorithm", "7.4.2", "inward recursions", ("inward-turn", "inward-count")),
    *equations("7.41 7.42", "operations of the inward recursions, and for n = 6", judged_by=("inward-count",)),
    Item(
        "table",
        "7.3",
        "complexity of different algorithms",
        ("walker-and-orin", "table-7-4-from-7-3"),
        "table-7-3",
        "What other authors counted is not in the chapter.",
    ),
    *equations("7.43", "operations of both recursions", judged_by=("whole-count", "walker-and-orin")),
    *equations("7.44", "gravity as an acceleration of the base", judged_by=("gravity", "gravity-cost")),
    Item("table", "7.4", "the same for n = 6", ("table-7-4-from-7-3",), "table-7-4"),
    *equations(
        "7.45 7.46",
        "the mathematical model and its state",
        remark="The simulations of this package integrate theta and theta' so.",
        standing="definition",
    ),
    *equations("7.47 7.48", "uncoupled Newton-Euler equations", judged_by=("euler-lagrange",)),
    *equations("7.49", "gravity wrench", judged_by=("gravity",)),
    *equations("7.50", "kinematic constraints K t = 0", judged_by=("orthogonal-complement", "nullity")),
    *equations("7.51", "the constraint wrench does no work", judged_by=("no-work",)),
    *equations("7.52 7.53", "the constraint wrench by multipliers", judged_by=("range", "joint-wrenches")),
    *equations("7.54", "twists by the twist-shaping matrix", judged_by=("link-motions", "orthogonal-complement")),
    *equations("7.55a 7.55b", "K T = 0", judged_by=("orthogonal-complement",)),
    *equations("7.56", "rate of the twists", judged_by=("link-motions", "euler-lagrange")),
    *equations("7.57", "Euler-Lagrange equations", judged_by=("euler-lagrange", "state-equation")),
    *equations("7.58", "generalized inertia matrix", judged_by=("generalized-inertia",)),
)
