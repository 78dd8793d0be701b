"""Lines of the chapter that do not give the right forces as printed, each run in our code as it is printed."""

from __future__ import annotations

from tauforge.formulations.serial import outward_inward
from tauforge_papers.misprints import Misprint, on_random_arms

MIXED = "RPRRPR"

# Pieces of our code, and how they read with the chapter's lines in their place.
BACKWARD = (
    (
        "        phi, nu = Q(f), Q(n)\n",
        "        C = joint.constant.rotation\n        phi, nu = (turn @ Vector(w.x, w.y, (C @ w).z) for w in (f, n))\n",
    ),
)
TURNED_BEFORE_ADDING = (
    (
        "        f = c_ddot * body.mass",
        "        if i < arm.n - 1:\n            phi, nu = Q(phi), Q(nu)\n        f = c_ddot * body.mass",
    ),
    ("phi, nu = Q(f), Q(n)", "phi, nu = f, n"),
)
SLIDE_NOT_TURNED = (
    ("Q_T(d + joint_travel(joint, q[i])) + rho", "Q_T(d) + rho + joint_travel(joint, q[i])"),
    (
        "Q_T(c_ddot + cross(omega, w + w) + E_Z * qdd[i])",
        "Q_T(c_ddot) + cross(Q_T(omega), w + w) + E_Z * qdd[i]",
    ),
)
NO_MOMENT_OF_TRAVEL = (("nu = nu + cross(joint_travel(joint, q[i]), phi)", "pass"),)

MISPRINTS = (
    Misprint(
        "eq. 7.24a",
        "the first two rows of a backward transformation",
        "v_1 cos - v_2 sin, v_1 sin + v_2 cos",
        "v_1 cos - v sin, v_1 sin + v cos, with v of 7.24b",
        "backward-transformation",
        on_random_arms(outward_inward, *BACKWARD),
        reading="Our text of the chapter was read by a machine. It may have read v as v_2: eq. 7.24b, in the next "
        "line, defines v for these two rows.",
    ),
    Misprint(
        "algorithm 7.4.2",
        "forces and moments of neighbouring links",
        "f_i = m_i c''_i + Q_i f_{i+1}",
        "f_i = Q_i (m_i c''_i + f_{i+1}), and n_i likewise: turned after adding, as m_i c''_i is held in F_{i+1} too",
        "inward-turn",
        on_random_arms(outward_inward, *TURNED_BEFORE_ADDING),
    ),
    Misprint(
        "algorithm 7.4.1",
        "prismatic branch: what is turned into the link's frame",
        "Q' delta + rho + b e; b' e and b'' e not turned",
        "Q' (delta + b e) + rho, and Q' of b' e and b'' e",
        "prismatic-branch",
        on_random_arms(outward_inward, *SLIDE_NOT_TURNED, kinds=MIXED),
    ),
    Misprint(
        "eq. 7.38d",
        "moment across a prismatic joint",
        "delta_i x f_{i+1} + rho_i x f_i",
        "the same plus b_i e_i x f_i: by 7.32d the point where rho_i begins is b_i e_i away from O_i",
        "prismatic-moment",
        on_random_arms(outward_inward, *NO_MOMENT_OF_TRAVEL, kinds=MIXED),
    ),
)
