"""Andrews' squeezing mechanism: seven planar bodies, a motor and a spring, the standard test of closed loops."""

from __future__ import annotations

import numpy as np

from mechanism_library.shapes import diagonal, triple
from tauforge.arrays import Array
from tauforge.robots.mechanism.mechanism import Mechanism
from tauforge.robots.mechanism.parts import Body, Hinge, Spring
from tauforge.robots.records import Source

SOURCES = (
    Source(
        ("at", "axis", "home", "mass", "com", "inertia", "spring", "gravity"),
        "Schiehlen (ed.), Multibody Systems Handbook, Springer 1990, as in Hairer & Wanner, Solving Ordinary "
        "Differential Equations II, 2nd ed. 1996, section VII.7, and in the Test Set for IVP Solvers (andrews)",
        "Printings differ in x_B. With x_B = -0.03635 m and m_3 = 0.02373 kg the published start closes, and the crank "
        "accelerates at 14222.44 rad/s^2 under the motor's 0.033 N m, as published. Only moments about z are given, "
        "and only they matter; those about x and y are by choice half of them, as of plates. No gravity.",
    ),
)
# angles of the start, rad, in the order of the joints
BETA, THETA = -0.0617138900142764496358948458001, 0.0
GAMMA = 0.455279819163070380255912382449
PHI, DELTA = 0.222668390165885884674473185609, 0.487364979543842550225598953530
OMEGA, EPSILON = -0.222668390165885884674473185609, 1.23054744454982119249735015568
XA, YA, XB, YB, XC, YC = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
D, DA, E, EA, RR, RA = 28e-3, 115e-4, 2e-2, 1421e-5, 7e-3, 92e-5
SA, SB, SC, SD = 1874e-5, 1043e-5, 18e-3, 2e-2
TA, TB, U, UA, UB, ZF, ZT, FA = 2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5
SS = 35e-3  # m, K3 from B to E. As E is found from K1 and K2, it follows from the start's angles
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
STIFFNESS, LENGTH = 4530.0, 0.07785


def mechanism() -> Mechanism:
    O, A, B, C = np.zeros(3), np.array([XA, YA, 0.0]), np.array([XB, YB, 0.0]), np.array([XC, YC, 0.0])
    F = O + _turned(BETA, RR, 0.0)
    G = A + _turned(DELTA, ZT, 0.0)
    H = A + _turned(EPSILON, 0.0, -U)
    meet = F + _turned(BETA + THETA, -D, 0.0)
    spring = B + _turned(GAMMA, SD, -SC)
    centres = (
        O + _turned(BETA, RA, 0.0),
        F + _turned(BETA + THETA, -DA, 0.0),
        B + _turned(GAMMA, SB, -SA),
        G + _turned(PHI + DELTA, 0.0, EA - E),
        A + _turned(DELTA, TA, TB),
        H + _turned(OMEGA + EPSILON, ZF - FA, 0.0),
        A + _turned(EPSILON, -UB, -UA),
    )
    return Mechanism(
        name="andrews",
        bodies=[
            Body(f"K{k}", mass, triple(com), diagonal(inertia / 2, inertia / 2, inertia))
            for k, (mass, com, inertia) in enumerate(zip(MASSES, centres, INERTIAS, strict=True), 1)
        ],
        joints=[
            Hinge("beta", "ground", "K1", at=triple(O), actuated=True, home=BETA),
            Hinge("Theta", "K1", "K2", at=triple(F), home=THETA),
            Hinge("gamma", "ground", "K3", at=triple(B), home=GAMMA),
            Hinge("Phi", "K5", "K4", at=triple(G), home=PHI),
            Hinge("delta", "ground", "K5", at=triple(A), home=DELTA),
            Hinge("Omega", "K7", "K6", at=triple(H), home=OMEGA),
            Hinge("epsilon", "ground", "K7", at=triple(A), home=EPSILON),
            *(Hinge(f"E{k}", "K2", f"K{k}", at=triple(meet)) for k in (3, 4, 6)),
        ],
        springs=[Spring("ground", triple(C), "K3", triple(spring), STIFFNESS, LENGTH)],
        gravity=(0.0, 0.0, 0.0),
        tool="K3",
        sources=SOURCES,
    )


def _turned(angle: float, x: float, y: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y, 0.0])
