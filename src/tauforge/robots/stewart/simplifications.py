"""What published models of Stewart platforms simplify, or have wrong."""

from __future__ import annotations

from tauforge.robots.simplification import Simplification

SIMPLIFICATIONS = (
    Simplification(
        "massless legs, joints and drives without friction and rotors",
        "Fichter 1986; Dasgupta & Mruthyunjaya 1998 eq. 41",
        "massless-legs",
        (),
    ),
    Simplification(
        "no leg spin",
        "Dasgupta & Mruthyunjaya 1998 eqs 6, 8, 9",
        "dasgupta1998",
        ("moment_along_c", "parallel_axis_once"),
    ),
    Simplification(
        "moment along the leg",
        "Dasgupta & Mruthyunjaya 1998 eqs 17, 20, 21, 29",
        "dasgupta1998",
        ("leg_spin", "parallel_axis_once"),
    ),
    Simplification(
        "parallel axis counted twice, upper part along the leg",
        "Dasgupta & Mruthyunjaya 1998 eq. 16",
        "dasgupta1998",
        ("leg_spin", "moment_along_c"),
    ),
    Simplification(
        "parallel axis counted twice, both parts of the legs",
        "Pedrammehr et al. 2012 eqs 32, 33",
        "pedrammehr2012",
        ("platform_once",),
    ),
    Simplification(
        "parallel axis counted twice, platform", "Pedrammehr et al. 2012 eq. 50", "pedrammehr2012", ("legs_once",)
    ),
    Simplification("Dasgupta & Mruthyunjaya 1998 as published", "all of its own", "dasgupta1998", ()),
    Simplification("Pedrammehr et al. 2012 as published", "all of its own, vector form", "pedrammehr2012", ()),
    Simplification(
        "Pedrammehr et al. 2012, closed form as published", "eqs 41-43, 48, 51", "pedrammehr2012-closed", ()
    ),
)
