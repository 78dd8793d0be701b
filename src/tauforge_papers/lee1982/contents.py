"""Every numbered equation, figure and table of Lee, Chung, Mudge & Turney 1982."""

from __future__ import annotations

from tauforge_papers.contents import SCHEMATIC, equations
from tauforge_papers.report.study import Item

LAW, BASE, IDENTITIES = ("same-law",), ("base-axes",), ("identities",)
STEPS, SLIPS, READINGS = ("derivation",), ("derivation-slips",), ("derivation-readings",)
WORDS = ("one", "two", "three", "four", "five", "six")

CONTENTS = (
    *equations("2.1 2.2", "transformation from link to link", ("identities", "same-law")),
    *equations("2.3", "the inverse of a rotation is its transpose", IDENTITIES, remark="Used wherever R' is R^-1."),
    *equations("2.4", "rotations as chain products", ("identities", "indices")),
    *equations("2.5", "a rotation of a cross product", IDENTITIES, remark="An identity that no code needs."),
    *equations("2.6", "derivative of a rotation", ("derivatives", "indices")),
    *equations("2.7", "Q of a revolute joint", standing="definition"),
    *equations("2.8", "Q as a cross product", IDENTITIES, remark="The form of 2.7 that the proof uses."),
    *equations("2.9", "2.6 by cross products", ("derivatives", "indices"), remark="Another form of 2.6."),
    *equations("2.10", "second derivative of a rotation", ("derivatives",)),
    *equations("2.11", "displacement of an origin", standing="definition"),
    *equations("2.12", "displacements of the origins", ("identities", "same-law")),
    *equations("2.13 2.14", "derivatives of the displacements", ("derivatives", "indices")),
    *equations("2.15 2.16 2.17", "vector identities", IDENTITIES, remark="The proof uses them, no code needs them."),
    *equations("2.18 2.19", "second moments of a link", standing="definition"),
    *equations("2.20", "second moments by the parallel axis theorem", ("second-moments",)),
    *equations("2.21", "inertia about the mass centre from the second moments", ("missing-mass",)),
    *equations("2.22", "4 x 4 pseudo-inertia", standing="definition"),
    *equations("3.1", "position of a mass element", remark="A step to 3.4.", standing="definition"),
    *equations("3.2", "velocity of a mass element", ("energies",), "A step to 3.4."),
    *equations("3.3", "kinetic energy of a mass element", ("dots",), "A step to 3.4."),
    *equations("3.4 3.5", "kinetic and potential energy", ("energies",)),
    *equations("3.6", "Lagrange-Euler equations of motion", ("same-law", "dots")),
    *equations(
        "3.7", "equations of motion in closed form", standing="definition", remark="3.6 with names for its three parts."
    ),
    *equations(
        "3.8",
        "inertia matrix D",
        ("same-law", "d-non-singular"),
        remark="Printed with the sum over j that multiplies it. Its sum from k = i is right, since terms with k < j "
        "are zero by 2.6.",
    ),
    *equations("3.9", "Coriolis and centrifugal vector H", LAW),
    *equations("3.10", "gravity loading G", ("gravity-sign",)),
    *equations("3.11 3.12 3.13 3.14", "kinematics of the links", BASE),
    *equations("3.15 3.16", "force and moment of a link", BASE),
    *equations("3.17 3.18 3.19", "forces and moments between links, torques", BASE),
    *equations("3.20", "3.18 turned into the frame of the link", BASE),
    *equations("3.21 3.22 3.23 3.24", "kinematics of the links in their own frames", LAW),
    *equations("3.25 3.26 3.27", "forces, moments and torques in the links' own frames", LAW),
    *equations("4.1", "computed torque", ("same-law", "compensation")),
    *equations("4.2", "law and equations of motion together", ("error-dies-out",), remark="The step from 4.1 to 4.3."),
    *equations("4.3", "equation of the error", ("error-dies-out", "stability", "joints-apart")),
    *equations("4.4", "what replaces the acceleration", ("same-law", "substituted-acceleration")),
    *equations("4.5 4.6 4.7 4.8 4.9", "accelerations of the proof", STEPS),
    *equations("4.10 4.11", "acceleration of an origin", SLIPS),
    *equations("4.12", "acceleration of a mass centre", ("derivation-slips", "dots")),
    *equations("4.13 4.14", "acceleration of the mass centre, torque of one link", STEPS),
    *equations("4.15", "4.14 with second moments", ("derivation-slips", "missing-mass")),
    *equations("4.16 4.17", "second moments in the torque, as integrals", STEPS),
    *equations("4.18", "the same, expanded", SLIPS),
    *equations("4.19 4.20", "second moments in the torque, as traces", STEPS),
    *equations("4.21", "mass centre in the torque", SLIPS),
    *equations("4.22 4.23 4.24", "its first and third terms, and Q as a derivative", STEPS),
    *equations("4.25", "first and third terms in derivatives", SLIPS),
    *equations("4.26", "its next terms", READINGS),
    *equations("4.27", "the same as a trace", STEPS),
    *equations("4.28", "a vector product as a derivative", READINGS),
    *equations("4.29", "next terms in derivatives", SLIPS),
    *equations("4.30", "gravity in the torque", SLIPS),
    *equations("4.31", "gravity in the torque, in derivatives", STEPS, remark="Read as 4.31x in our text."),
    *equations("4.32 4.33 4.34", "torque of one link", STEPS),
    *equations("4.35", "links further out", STEPS),
    *equations("4.36 4.37", "force of the next link", SLIPS),
    *equations("4.38", "moment of the next link", SLIPS),
    *equations("4.39", "derivative of the next origin", READINGS),
    *equations("4.40", "what the next link adds", SLIPS),
    *equations("4.41", "torque of all links", STEPS),
    Item("figure", "1", "parameters of a coordinate system", shown_as="fig-1", remark=SCHEMATIC),
    Item("figure", "2", "flow chart of the simulation", shown_as="fig-2", remark=SCHEMATIC),
    *(
        Item(
            "figure",
            str(3 + joint),
            f"position error for joint {word}",
            ("within-a-bit", "oscillation", *(("figure-number",) if joint == 5 else ())),
            shown_as=f"fig-{3 + joint}",
        )
        for joint, word in enumerate(WORDS)
    ),
    Item("table", "1", "operations on Lagrange-Euler", ("table-1-adds-up", "about-100", "other-papers"), "table-1"),
    Item("table", "2", "operations on Newton-Euler", ("table-2-adds-up", "about-100", "other-papers"), "table-2"),
)
