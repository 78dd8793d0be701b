"""What a reader takes from each of the five papers: what to use, to correct and to pay, and which claims matter."""

from __future__ import annotations

from tauforge_papers.report.page import Digest

DIGESTS = {  # by the name of the study
    "dasgupta1998": Digest(
        use="The elimination and the equations of the platform, eqs 15, 18, 22-28 and 30-37. "
        "platform.inverse_dynamics(...) has them with the legs corrected; condition numbers near singularities.",
        correct="The spin of the legs (eqs 6, 9), the direction of the universal joint's moment (17, 19-21, 29), the "
        "inertia of the upper part (16), the sign of eq. 33, and three inertias of the appendix.",
        cost="ratio",
        claims=(
            "all-effects",
            "general",
            "leg-lengths",
            "elimination",
            "reaction-forces",
            "massless-legs",
            "flops-by-part",
            "ratio",
            "reactions-cost",
            "joint-space",
            "steep-changes",
            "singular-force",
            "condition-predicts",
            "no-support",
            "spherical-legs",
        ),
    ),
    "pedrammehr2012": Digest(
        use="The rotation of the pods (eqs 10-24) and the direction of the universal joint's moment. "
        "platform.inverse_dynamics(...) and platform.leg_motion(...) have both.",
        correct="Leave out the parallel-axis terms (32, 33, 50) and the last term of eq. 25. Do not use the closed "
        "form (eqs 41-43, 48, 51); read L_uo as in the paper of 1998.",
        cost="complexity",
        claims=(
            "lengths",
            "spin",
            "acceleration-by-components",
            "consistent-pods",
            "no-spin-no-difference",
            "low-precision",
            "vector-equations",
            "all-effects",
            "moment-along-c",
            "complexity",
            "accuracy-path-2",
            "similar-trends",
            "path-1",
            "same-manipulator",
            "time",
        ),
    ),
    "turney1980": Digest(
        use='The modified Newton-Euler set, formulation="modified-newton-euler", and strobing, '
        "tf.analysis.explicit_model(arm, q).",
        correct="The frames of eq. 3.16, K_i and eq. 5.2 of the modified set, the indices of the Coriolis "
        "coefficients (sections 2 and 3), eqs 2.1, 2.6 and 2.7, and the sums of the appendix.",
        cost="modified-cheaper",
        claims=(
            "derivation",
            "derivation-slips",
            "symmetry",
            "base-acceleration",
            "equivalence",
            "wrist-forces",
            "orders",
            "recursion-most-efficient",
            "modified-cheaper",
            "effort-mass-matrix",
            "effort-simulation",
            "strobed-simulation",
            "no-pivoting",
            "misprint-k",
            "misprint-5-2-axial",
        ),
    ),
    "lee1982": Digest(
        use="Computed torque on Newton-Euler, tf.control.ComputedTorque(robot), with gains of critical damping.",
        correct="The sign of gravity (eq. 3.10), the missing mass (2.21, 4.15), the steps of section 4 that are listed "
        "below, and the gains: Kp = 100 is ten radians a second, not ten hertz.",
        cost="real-time",
        claims=(
            "time-delay",
            "same-law",
            "derivation",
            "derivation-slips",
            "error-dies-out",
            "d-non-singular",
            "compensation",
            "stability",
            "gains-by-criterion",
            "ten-hertz",
            "resolved-rate",
            "about-100",
            "three-milliseconds",
            "real-time",
            "gravity-sign",
        ),
    ),
    "angeles": Digest(
        use="The natural orthogonal complement as printed, tf.analysis.orthogonal_complement(arm, q), and the "
        'recursions with three corrections, formulation="joint-frames".',
        correct="Turn f_i and n_i after adding (algorithm 7.4.2), turn b e_i, its rate and its acceleration into the "
        "link's frame (7.4.1), add b_i e_i x f_i to eq. 7.38d, and a row for c_i to Table 7.1.",
        cost="whole-count",
        claims=(
            "outward-count",
            "whole-count",
            "walker-and-orin",
            "gravity-cost",
            "prismatic-is-cheaper",
            "link-motions",
            "moving-base",
            "prismatic-joints",
            "orthogonal-complement",
            "generalized-inertia",
            "no-work",
            "range",
            "euler-lagrange",
            "inward-turn",
            "prismatic-moment",
        ),
    ),
}
