"""Everything that Turney, Mudge & Lee 1980 number, in the order of the report. Equations of the appendix have none."""

from __future__ import annotations

from tauforge_papers.contents import SCHEMATIC, equations
from tauforge_papers.report.study import Item

ALGEBRA = "In our code the vector algebra has it."
SECTION_1 = (
    *equations("1.1 1.2 1.3 1.4", "rotations, chained and of vector products", ("identities",), ALGEBRA),
    *equations("1.5", "the matrix Q of a joint", standing="definition"),
    *equations("1.6 1.7 1.8 1.9", "vector products by Q and sigma", ("identities",), ALGEBRA),
    *equations("1.10", "rotation of a link", ("identities",)),
    *equations("1.11 1.12", "derivatives of rotations", ("derivatives", "misprint-1-11")),
    *equations("1.13 1.14", "transformation and displacement of a link", standing="definition"),
    *equations("1.15", "transformations of links, chained", ("identities",)),
    *equations("1.16 1.17", "positions in another frame", ("identities",), ALGEBRA),
    *equations("1.18 1.19", "derivatives of translations", ("derivatives",)),
    *equations("1.20 1.21 1.22 1.23", "identities of vectors and traces", ("identities",), ALGEBRA),
    *equations("1.24 1.25", "inertial matrix J of a link", standing="reference"),
    *equations("1.26", "the same from the inertia", ("inertial-matrix",)),
    *equations("1.27", "inertia from J", ("inertial-matrix",), "The inverse, J from the inertia, is the form used."),
    *equations("1.28", "augmented inertial matrix", standing="definition"),
)
SECTION_2 = (
    *equations(
        "2.1", "potential energy", ("potential-energy",), "Its number is not in our text. A step to 2.8, the form used."
    ),
    *equations("2.2", "position of a mass", ("identities",), "The case j = 0 of eq. 1.17."),
    *equations(
        "2.3", "the same, augmented", ("identities",), "Its number is not in our text. The case j = 0 of eq. 1.17."
    ),
    *equations("2.4 2.5", "velocity and kinetic energy of an element of mass", ("velocities",), "Steps to 2.9."),
    *equations("2.6", "kinetic energy", ("kinetic-energy",), "A step to 2.9."),
    *equations("2.7", "Lagrange's relation", ("potential-energy",), "A step to 2.8-2.10."),
    *equations("2.8", "torques of gravity", ("potential-energy",)),
    *equations("2.9", "slope of the kinetic energy by velocities", ("slopes-of-the-energy", "misprint-2-11")),
    *equations("2.10", "slope of the kinetic energy by angles", ("slopes-of-the-energy",)),
    *equations("2.11", "M, C and G", ("derivation", "equivalence", "symmetry", "misprint-2-11", "misprint-c-indices")),
)
SECTION_3 = (
    *equations("3.1 3.2", "derivatives in a rotating frame", ("base-axes",)),
    *equations("3.3 3.4", "angular velocity and acceleration", ("base-axes",)),
    *equations("3.5 3.6 3.7", "position and acceleration of a link's origin", ("base-axes",)),
    *equations("3.8", "acceleration of a mass centre", ("base-axes",)),
    *equations("3.9 3.10", "Newton's and Euler's laws", ("base-axes",)),
    *equations("3.11 3.12 3.13", "moments and torque of a joint", ("base-axes",)),
    *equations("3.14", "3.12 turned into the frame of the link", ("base-axes",)),
    *equations("3.15", "recursion of the angular velocities", ("equivalence",)),
    *equations("3.16", "recursion of the angular accelerations", ("angular-acceleration", "equivalence")),
    *equations("3.17", "recursion of the accelerations", ("equivalence",)),
    *equations("3.18", "accelerations of the mass centres", ("equivalence", "misprint-3-18")),
    *equations("3.19 3.20 3.21", "recursion of forces and moments, torques", ("equivalence", "wrist-forces")),
)
SECTION_4 = (
    *equations("4.1 4.2", "expanded angular velocity and acceleration", ("derivation",)),
    *equations("4.3", "expanded centripetal acceleration", ("derivation-readings",)),
    *equations("4.4", "expanded tangential acceleration", ("derivation",)),
    *equations("4.5", "expanded acceleration of an origin", ("derivation-readings",)),
    *equations("4.6", "the same with all links before it", ("derivation",)),
    *equations("4.7", "the same in derivatives of p", ("derivation-slips",)),
    *equations("4.8", "expanded acceleration of a mass centre", ("derivation",)),
    *equations("4.9", "the same in derivatives of R and p", ("derivation-readings",)),
    *equations("4.10", "torque of a link's own motion", ("derivation",)),
    *equations("4.11", "the same with J", ("derivation-slips",)),
    *equations("4.12 4.13", "the terms with J as integrals", ("derivation",)),
    *equations("4.14", "the same, expanded", ("derivation-slips",)),
    *equations("4.15", "the same in derivatives of R", ("derivation-readings",)),
    *equations("4.16", "the same as traces", ("derivation",)),
    *equations("4.17", "the terms of the mass centre", ("derivation-slips",)),
    *equations("4.18", "its first and third terms", ("derivation",)),
    *equations("4.19", "the same as a trace", ("derivation-readings",)),
    *equations("4.20", "Q as a derivative of R", ("derivation",)),
    *equations("4.21", "first and third terms in derivatives of p and R", ("derivation-slips",)),
    *equations("4.22 4.23", "its middle terms, and as a trace", ("derivation-readings",)),
    *equations("4.24", "a vector product as a derivative of p", ("derivation-readings",)),
    *equations("4.25", "middle terms in derivatives of p", ("derivation-slips",)),
    *equations("4.26", "torque of a link's own motion, in submatrices", ("derivation",)),
    *equations("4.27", "the same in T matrices", ("derivation-readings",)),
    *equations("4.28", "what the next link adds", ("derivation",)),
    *equations("4.29 4.30", "what its force adds", ("derivation-slips",)),
    *equations("4.31", "what its moment adds", ("derivation-slips",)),
    *equations("4.32", "derivative of its origin", ("derivation-slips",)),
    *equations("4.33", "what the next link adds, in submatrices", ("derivation-slips",)),
    *equations("4.34", "torque of a joint, in T matrices", ("derivation",)),
)
SECTION_5 = (
    *equations("5.1", "accelerations and forces of the modified set", ("equivalence", "misprint-a-32")),
    *equations(
        "5.2",
        "moments of the modified set",
        ("equivalence", "misprint-k", "misprint-5-2-axial", "misprint-5-2-last"),
    ),
)
FIGURES = (
    Item("figure", "1", "frames of the links and their angles", shown_as="fig-1", remark=SCHEMATIC),
    Item("figure", "2", "vectors between the origins", shown_as="fig-2", remark=SCHEMATIC),
    Item("figure", "3", "a mass of a link", shown_as="fig-3", remark=SCHEMATIC),
    Item("figure", "4", "forces and moments of a link", shown_as="fig-4", remark=SCHEMATIC),
)
TABLES = (
    Item("table", "1", "complexity of the formulations", ("orders", "modified-cheaper"), "table-1"),
    Item("table", "2", "Lagrange terms", ("table-2-sum", "appendix-total"), "table-2"),
    Item("table", "3", "Newton-Euler terms", ("table-3-sum", "table-3-rows"), "table-3"),
    Item("table", "4", "modified Newton-Euler terms", ("table-4-sum", "table-4-rows"), "table-4"),
    Item(
        "table",
        "5",
        "simultaneous steps",
        ("table-5-sum", "table-5-schedule", "table-5-required", "parallelism"),
        "table-5",
    ),
)
CONTENTS = (*SECTION_1, *SECTION_2, *SECTION_3, *SECTION_4, *SECTION_5, *FIGURES, *TABLES)
