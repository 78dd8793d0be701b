"""Lee, Chung, Mudge & Turney 1982, section 4, eqs 4.5-4.41, by Lee's own print: lines, and what is wrong in them.

Eq. 4.41 summed over all links is the law of eq. 4.1, where the proof ends. What eq. 4.4 puts in the place of an
acceleration stands in the place of the acceleration. A_i^j is Turney's R_i^j.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge_papers.derivation import Equation
from tauforge_papers.expansion import Z, cross, skew
from tauforge_papers.expansion_lines import Lines


def equations(x: Lines) -> dict[str, Equation]:
    """Number -> equation, of the arm and the state of x; L4.15 and L4.35 are sums of lines."""
    torque = partial(Equation, torque=True)
    outer = partial(Equation, torque=True, outer=True)

    def second_derivative(i: int) -> Any:
        """A_i^0 d2p_0^i/dt2, without the acceleration of the base."""
        return x.R(i, 0) @ x.moving(i)

    def factor_of_all(i: int) -> Any:
        """The bracket of 4.25 times an acceleration that stands behind it, by the index j of both sums."""
        return x.single(i, lambda j: x.dp(i, j) + sum(x.d2p(i, j, k) * x.qd[j] * x.qd[k] for k in range(1, i + 1)))

    def exchanged(i: int) -> Array:
        """Q_{i-1}^i, where Q_i^{i-1} is meant."""
        return skew(x.R(i - 1, i) @ Z)

    def in_base(i: int) -> Array:
        """A_0^{i-1} Q_{i-1}^i r_i, where A_0^{i-1} Q_{i-1}^{i-1} A_{i-1}^i r_i is meant."""
        return np.asarray(x.R(0, i - 1) @ exchanged(i) @ x.r[i])

    def beyond(i: int) -> Array:
        """A_0^{i-1} Q_{i-1}^{i-1} r_{i+1}, where A_{i-1}^{i+1} r_{i+1} is meant."""
        return np.asarray(x.R(0, i - 1) @ x.Q(i - 1, i) @ x.r[i + 1])

    def weight(i: int, arm: Array, mass: float = 1.0) -> Any:
        return arm @ (x.R(i, 0) @ x.lift) * mass

    return {
        "4.5": Equation(lambda i: x.omega[i], (x.axes,)),
        "4.6": Equation(lambda i: x.alpha[i], (x.turns,)),
        "4.7": Equation(x.centripetal, (x.centripetal_by_axes, x.centripetal_by_Q)),
        "4.8": Equation(x.tangential, (x.tangential_by_axes, x.tangential_by_Q)),
        "4.9": Equation(lambda i: x.a[i], (x.acceleration_by_links,)),
        "4.10": Equation(
            lambda i: x.a[i],
            (x.acceleration_by_links,),
            (lambda i: x.acceleration_by_links(i, ordered=False, lifted=False),),
            "no A_i^0 g z_0, which 4.9 and 4.11 have, and Q_{k-1} before Q_{j-1} where k > j too",
        ),
        "4.11": Equation(
            lambda i: x.a[i],
            (x.acceleration_by_derivatives, lambda i: second_derivative(i) + x.R(i, 0) @ x.lift),
            (x.with_a_double_sum, second_derivative),
            "the accelerations of the joints are under the sum over k, and d2p/dt2 has no g z_0",
        ),
        "4.12": Equation(
            lambda i: x.a_bar[i],
            (x.centre_by_Q,),
            (partial(x.centre_by_Q, ordered=False),),
            "Q_{k-1} before Q_{j-1} where k > j too; run with the r-bar_i that its second sum lacks",
        ),
        "4.13": Equation(lambda i: x.a_bar[i], (x.centre_by_derivatives,)),
        "4.14": torque(x.own_torque, (x.by_inertia,)),
        "4.15": torque(
            x.own_torque,
            (lambda i: x.about_origin(i) + x.of_the_centre(i),),
            (lambda i: x.about_origin(i) + x.of_the_centre(i, 1.0),),
            "no m_i in the terms with r-bar alone",
        ),
        "4.16": torque(x.about_origin, (x.as_integrals,)),
        "4.17": torque(x.about_origin, (x.of_arms, x.exchanged, x.traced)),
        "4.18": torque(
            x.about_origin,
            (x.integrated,),
            (partial(x.integrated, ordered=False),),
            "Q_{k-1} before Q_{j-1} where k > j too; run with the rates and the r_i that its second sum lacks",
        ),
        "4.19": torque(x.about_origin, (x.turned_trace,)),
        "4.20": torque(x.about_origin, (x.trace_of_turning,)),
        "4.21": torque(
            x.of_the_centre,
            (x.centre_terms,),
            (lambda i: x.centre_terms(i, mass=float(x.m[i])),),
            "m_i twice beside g",
        ),
        "4.22": torque(x.first_of_recursion, (x.first,)),
        "4.23": torque(x.first_of_recursion, (x.first_traced, x.first_by_Q)),
        "4.24": Equation(lambda i: x.Q(i, i), (x.Q_by_turns, lambda i: x.R(i, 0) @ x.dR(i, i))),
        "4.25": torque(
            x.first_of_recursion,
            (x.first_by_derivatives,),
            (lambda i: x.first_by_derivatives(i, factor_of_all(i)),),
            "the acceleration of joint j is a factor of all terms",
        ),
        "4.26": torque(
            x.middle_of_recursion,
            (lambda i: x.middle(i, x.r[i]),),
            (lambda i: x.middle(i, x.r[i], x.r[i]),),
            "r_i for r-bar_i in the second derivatives, as in Turney's 4.17",
            reading=True,
        ),
        "4.27": torque(x.middle_of_recursion, (lambda i: x.middle_traced(i, x.r[i]),)),
        "4.28": Equation(
            lambda i: cross(x.axis(i), x.r[i]),
            (lambda i: x.Q(i, i) @ x.r[i], lambda i: x.Q_by_turns(i) @ x.r[i], lambda i: x.R(i, 0) @ x.dp(i, i)),
            (
                lambda i: cross(x.R(i - 1, i) @ Z, x.r[i]),
                lambda i: exchanged(i) @ x.r[i],
                lambda i: x.R(i, 0) @ x.dp(i, i),
            ),
            "the indices of A and of Q exchanged, A_{i-1}^i z_{i-1} and Q_{i-1}^i; 4.27 and 4.24 have them right",
            reading=True,
        ),
        "4.29": torque(
            x.middle_of_recursion,
            (x.middle_by_derivatives,),
            (lambda i: x.middle_by_derivatives(i, x.R(i, 0)),),
            "A_i^0 before the bracket; it cancels with that of 4.28",
        ),
        "4.30": torque(
            x.weight,
            (lambda i: weight(i, cross(x.axis(i), x.lever(i))), lambda i: weight(i, x.Q(i, i) @ x.lever(i))),
            (
                lambda i: weight(i, cross(x.axis(i), x.lever(i)), float(x.m[i])),
                lambda i: weight(i, exchanged(i) @ x.lever(i)),
            ),
            "m_i twice in the first line, and the indices of Q exchanged in the others",
        ),
        "4.31": torque(x.weight, (x.weight_by_derivatives,)),
        "4.32": torque(x.weight, (lambda i: x.lift_of(i, i),)),
        "4.33": torque(x.own_torque, (lambda i: x.in_submatrices(i, i, x.dp(i, i)),)),
        "4.34": torque(x.own_torque, (lambda i: x.lagrange(i, i),)),
        "4.35": outer(x.outer, (lambda i: x.outer_force(i) + x.outer_moment(i),)),
        "4.36": outer(
            x.outer_force,
            (x.outer_force_traced, lambda i: x.outer_force_in_base(i, x.in_base(i))),
            (x.outer_force_traced, lambda i: x.outer_force_in_base(i, in_base(i))),
            "A_0^{i-1} Q_{i-1}^i r_i; the axes fit with A_0^{i-1} Q_{i-1}^{i-1} A_{i-1}^i r_i",
        ),
        "4.37": outer(
            x.outer_force,
            (lambda i: x.outer_force_by_derivatives(i, x.in_base(i)),),
            (lambda i: x.outer_force_by_derivatives(i, in_base(i), 1.0),),
            "no m_{i+1} before the sums, and the axes of 4.36",
        ),
        "4.38": outer(
            x.outer_moment,
            (lambda i: x.in_submatrices(i + 1, i, x.beyond(i)),),
            (lambda i: x.in_submatrices(i + 1, i, beyond(i), (i, i), lift_in_sum=True),),
            "gravity beside every acceleration, sums that end at i, no A_{i-1}^{i+1} before r_{i+1}; run with the "
            "r-bar' that its first m g z_0 lacks",
        ),
        "4.39": outer(
            lambda i: x.dp(i + 1, i),
            (lambda i: x.in_base(i) + x.beyond(i),),
            (),
            "our text has c-bar for Q and r-bar_{i+1} in both terms",
            reading=True,
        ),
        "4.40": outer(
            x.outer,
            (lambda i: x.in_submatrices(i + 1, i, x.dp(i + 1, i)),),
            (),
            "a matrix and a vector are added in the gravity term: no r-bar_{i+1}, which 4.31 has",
        ),
        "4.41": outer(x.of_two, (x.of_two_by_lagrange,)),
        "4.1": torque(lambda i: x.tau[i], (x.by_lagrange,)),
    }
