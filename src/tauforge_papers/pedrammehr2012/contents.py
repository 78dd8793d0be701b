"""Everything that Pedrammehr, Mahboubkhah & Khani 2012 number, and the unnumbered equations of appendix 1."""

from __future__ import annotations

from tauforge_papers.contents import SCHEMATIC, equations
from tauforge_papers.report.study import Item

SECOND_WAY = "The second way to the angular acceleration: computed in the study, beside eqs 22-25."
MARKS = "Read with the dots of accelerations that our text has lost; see the table of slips."
FORM = "Its form is right; Q_i and V_i of eqs 42 and 43 in it are not."
INDEX = "Read with omega_t for the spin, where our text has other indices; see the table of slips."

CONTENTS = (
    *equations("1 2 3 4 5 6 7", "vector, length and direction of a pod", ("lengths",)),
    Item("equation", "8", "rate of a pod's length", ("lengths",)),
    Item("equation", "9", "acceleration of a pod's length", ("lengths",), remark=MARKS),
    Item("equation", "10", "velocity of a platform connection point by the pod's motion", ("spin", "not-full-rank")),
    Item("equation", "11", "acceleration of a platform connection point", ("lengths", "acceleration-by-components")),
    *equations("12 13 14", "angular velocity of a pod along the joint's axes", ("spin",)),
    Item("equation", "15", "angular velocity of a pod across and along the pod", ("spin",), remark=INDEX),
    Item("equation", "16", "its part across the pod", ("spin",)),
    Item("equation", "17", "the spin", ("spin",), remark=INDEX),
    *equations(
        "18 19 20 21", "angular acceleration along the joint's axes", ("acceleration-by-components",), SECOND_WAY
    ),
    *equations("22 23", "angular acceleration across and along the pod", ("acceleration-by-components",)),
    Item(
        "equation",
        "24",
        "alpha_u by the two parts",
        ("acceleration-by-components",),
        remark="A step from eqs 18 and 22 to eq. 25; computed in the study.",
    ),
    Item("equation", "25", "rate of the spin", ("spin-rate",)),
    *equations("26 27 28", "mass centres of both parts, and the axes of the pod", ("vector-equations",)),
    Item("equation", "29", "acceleration of the lower mass centre", ("vector-equations",)),
    Item("equation", "30", "acceleration of the upper mass centre", ("vector-equations",), remark=MARKS),
    Item("equation", "31", "moments on a pod about its base joint", ("vector-equations",)),
    *equations("32 33", "inertia tensors of both parts of a pod", ("parallel-axes",)),
    Item("equation", "34", "direction of the universal joint's moment", ("moment-along-c",)),
    Item("equation", "35", "moments on a pod, with the joint's moment", ("moment-along-c", "vector-equations")),
    Item("equation", "36", "the moment that moves a pod", ("vector-equations",), remark=MARKS),
    Item("equation", "37", "magnitude of the joint's moment", ("moment-along-c", "vector-equations")),
    *equations("38 39", "force on a pod, and of its actuator", ("vector-equations",)),
    Item("equation", "40", "force on a pod by that of its actuator", ("vector-equations",), remark=MARKS),
    Item("equation", "41", "force on a pod in closed form", ("closed-form",), remark=FORM),
    Item(
        "equation", "42", "Q_i of eq. 41", ("closed-form",), remark="Read with I_ui for L_ui; see the table of slips."
    ),
    Item(
        "equation",
        "43",
        "V_i of eq. 41",
        ("closed-form", "spin-rate"),
        remark="Read with L_di in the m_d term; see the table of slips.",
    ),
    Item("equation", "44", "cross products as matrices", remark="Notation for eqs 42 and 43.", standing="definition"),
    Item("equation", "45", "forces on the platform", ("vector-equations",)),
    Item("equation", "46", "acceleration of its mass centre", ("vector-equations",), remark=MARKS),
    Item("equation", "47", "place of its mass centre", ("vector-equations",)),
    Item("equation", "48", "forces on the platform in closed form", ("closed-form",), remark=FORM),
    Item("equation", "49", "moments on the platform", ("vector-equations",)),
    Item("equation", "50", "inertia tensor of the platform", ("parallel-axes",)),
    Item("equation", "51", "moments on the platform in closed form", ("closed-form", "parallel-axes"), remark=FORM),
    Item(
        "equation",
        "R",
        "rotation matrix of the platform (appendix 1, no number)",
        remark="Equal to Rz Ry Rx of algebra/rotations.py, rotation_of.",
        standing="definition",
    ),
    *equations(
        "S_i S_di S_ui",
        "abbreviations in eq. 43 (appendix 1, no number)",
        remark="In formulations/stewart/pedrammehr2012_closed.py, reaction.",
        standing="definition",
    ),
    Item("figure", "1", "Stewart platform and the vectors of a pod", shown_as="fig-1", remark=SCHEMATIC),
    Item("figure", "2", "kinematic model of the universal joint", shown_as="fig-2", remark=SCHEMATIC),
    Item("figure", "3", "free body diagram of a pod", shown_as="fig-3", remark=SCHEMATIC),
    Item("figure", "4", "free body diagram of the platform", shown_as="fig-4", remark=SCHEMATIC),
    Item("figure", "5", "path 1, angular velocities", ("consistent-pods", "other-pods", "perpendicular-pods"), "fig-5"),
    Item(
        "figure", "6", "path 1, angular accelerations", ("consistent-pods", "other-pods", "perpendicular-pods"), "fig-6"
    ),
    Item("figure", "7", "path 2, angular velocities", ("no-spin-no-difference",), "fig-7"),
    Item("figure", "8", "path 2, angular accelerations", ("no-spin-no-difference",), "fig-8"),
    Item("figure", "9", "path 2, pod forces", ("similar-trends", "accuracy-path-2"), "fig-9"),
    Item("figure", "10", "path 3, pod forces", ("similar-trends", "accuracy-path-3"), "fig-10"),
)
