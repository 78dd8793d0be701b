"""Turney, Mudge & Lee 1980, section 4: the lines of each equation, and what the print has wrong in it.

Eq. 4.34 summed over all links is eq. 2.11, where the expansion ends.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tauforge.arrays import Array
from tauforge_papers.derivation import Equation
from tauforge_papers.expansion import Z, cross
from tauforge_papers.expansion_lines import Lines


def equations(x: Lines) -> dict[str, Equation]:
    """Number -> equation, of the arm and the state of x; T4.11 and T4.28 are sums of lines."""
    torque = partial(Equation, torque=True)
    outer = partial(Equation, torque=True, outer=True)

    def three_sums(i: int, start: int | None = None) -> Any:
        """4.5. start: of k in the third sum, if not j."""
        Q, r = x.Q, x.r[i]
        found = x.single(i, lambda j: Q(i, j) @ r)
        found = found + x.double(i, lambda j, k: Q(i, k) @ Q(i, j) @ r, lambda j: range(1, j))
        third = x.double(i, lambda j, k: Q(i, j) @ Q(i, k) @ r, lambda j: range(start or j, i + 1))
        return found + third + x.carried(i)

    def every(i: int) -> Any:
        """The bracket of 4.21: derivatives of p_0^i, without the accelerations of their joints."""
        return sum(x.dp(i, j) for j in range(1, i + 1)) + x.double(i, lambda j, k: x.d2p(i, j, k))

    def exchanged(i: int) -> Array:
        """R_{i-1}^i z_{i-1}, where R_i^{i-1} z_{i-1} is meant."""
        return np.asarray(x.R(i - 1, i) @ Z)

    def in_base(i: int) -> Array:
        """R_0^{i-1} Q_i^{i-1} r_i, where R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^i r_i is meant."""
        return np.asarray(x.R(0, i - 1) @ x.Q(i, i) @ x.r[i])

    def beyond(i: int) -> Array:
        """R_0^{i-1} Q_{i-1}^{i-1} R_i^{i+1} r_{i+1}, where R_{i-1}^{i+1} is meant."""
        return np.asarray(x.R(0, i - 1) @ x.Q(i - 1, i) @ x.R(i, i + 1) @ x.r[i + 1])

    return {
        "4.1": Equation(lambda i: x.omega[i], (x.axes,)),
        "4.2": Equation(lambda i: x.alpha[i], (x.turns,)),
        "4.3": Equation(
            x.centripetal,
            (x.centripetal_by_axes, x.centripetal_by_Q),
            (partial(x.centripetal_by_axes, last=x.n), x.centripetal_by_Q),
            "k ends at n in the first line; at i in the second",
            reading=True,
        ),
        "4.4": Equation(x.tangential, (x.tangential_by_axes, x.tangential_by_Q)),
        "4.5": Equation(
            lambda i: x.a[i],
            (three_sums, x.acceleration_by_joints),
            (partial(three_sums, start=1), x.acceleration_by_joints),
            "k starts at 1 in the third sum; it starts at j",
            reading=True,
        ),
        "4.6": Equation(lambda i: x.a[i], (x.acceleration_by_links,)),
        "4.7": Equation(
            lambda i: x.a[i],
            (x.acceleration_by_derivatives,),
            (x.with_a_double_sum,),
            "the accelerations of the joints are under the sum over k",
        ),
        "4.8": Equation(lambda i: x.a_bar[i], (x.centre_by_Q,)),
        "4.9": Equation(
            lambda i: x.a_bar[i],
            (x.centre_by_derivatives,),
            (lambda i: x.centre_by_derivatives(i, x.R(0, i)),),
            "R_0^i g z_0; R_i^0 g z_0 in 4.7",
            reading=True,
        ),
        "4.10": torque(x.own_torque, (x.by_inertia,)),
        "4.11": torque(
            x.own_torque,
            (lambda i: x.about_origin(i) + x.of_the_centre(i),),
            (lambda i: x.about_origin(i) + x.of_the_centre(i, 1.0),),
            "no m_i in the terms with r-bar alone; section 5 has it",
        ),
        "4.12": torque(x.about_origin, (x.as_integrals,)),
        "4.13": torque(x.about_origin, (x.of_one_arm,)),
        "4.14": torque(
            x.about_origin,
            (x.integrated,),
            (partial(x.integrated, ordered=False),),
            "Q^{k-1} stands before Q^{j-1} where k > j too; 4.6 and 4.8 have the smaller index first",
        ),
        "4.15": torque(
            x.about_origin,
            (x.turned_trace,),
            (lambda i: x.turned_trace(i, x.R(i, 0)),),
            "the last factor is R_i^0; it is R_0^i",
            reading=True,
        ),
        "4.16": torque(x.about_origin, (x.trace_of_turning,)),
        "4.17": torque(
            x.of_the_centre,
            (x.centre_terms,),
            (lambda i: x.centre_terms(i, x.r[i], float(x.m[i])),),
            "r_i for r-bar_i in the second derivatives (perhaps a lost bar), and m_i twice beside g",
        ),
        "4.18": torque(x.first_of_recursion, (x.first,)),
        "4.19": torque(
            x.first_of_recursion,
            (x.first_traced, x.first_by_Q),
            (lambda i: x.first_traced(i, exchanged(i)), x.first_by_Q),
            "R_{i-1}^i z_{i-1} in the first line; it is R_i^{i-1} z_{i-1}, as in 4.18",
            reading=True,
        ),
        "4.20": Equation(lambda i: x.Q(i, i), (x.Q_by_turns, lambda i: x.R(i, 0) @ x.dR(i, i))),
        "4.21": torque(
            x.first_of_recursion,
            (x.first_by_derivatives,),
            (lambda i: x.first_by_derivatives(i, every(i) * x.qdd[i]),),
            "the acceleration of joint i is a factor of all terms, and the joints' own are not there",
        ),
        "4.22": torque(
            x.middle_of_recursion,
            (lambda i: x.middle(i, x.r[i]),),
            (lambda i: x.middle(i, x.r_bar[i]),),
            "r-bar_i; 4.17 has r_i",
            reading=True,
        ),
        "4.23": torque(
            x.middle_of_recursion,
            (lambda i: x.middle_traced(i, x.r[i]),),
            (lambda i: x.middle_traced(i, x.r_bar[i], exchanged(i)),),
            "r-bar_i for r_i, and the indices of R exchanged",
            reading=True,
        ),
        "4.24": Equation(
            lambda i: cross(x.axis(i), x.r[i]),
            (lambda i: x.Q(i, i) @ x.r[i], lambda i: x.Q_by_turns(i) @ x.r[i], lambda i: x.R(i, 0) @ x.dp(i, i)),
            (
                lambda i: cross(exchanged(i), x.r_bar[i]),
                lambda i: x.Q(i, i) @ x.r_bar[i],
                lambda i: x.Q_by_turns(i) @ x.r_bar[i],
                lambda i: x.R(i, 0) @ x.dp(i, i),
            ),
            "r-bar_i for r_i, and the indices of R exchanged; the last line has r_i",
            reading=True,
        ),
        "4.25": torque(
            x.middle_of_recursion,
            (x.middle_by_derivatives,),
            (lambda i: x.middle_by_derivatives(i, x.R(i, 0)),),
            "R_i^0 before the bracket; it cancels with that of 4.24",
        ),
        "4.26": torque(x.own_torque, (lambda i: x.in_submatrices(i, i, x.dp(i, i)),)),
        "4.27": torque(
            x.own_torque,
            (lambda i: x.lagrange(i, i),),
            (lambda i: x.lagrange(i, i, first=True),),
            "the second derivative is by i and k; by j and k in 4.26 and 4.34",
            reading=True,
        ),
        "4.28": outer(x.outer, (lambda i: x.outer_force(i) + x.outer_moment(i),)),
        "4.29": outer(
            x.outer_force,
            (x.outer_force_traced, lambda i: x.outer_force_in_base(i, x.in_base(i))),
            (x.outer_force_traced, lambda i: x.outer_force_in_base(i, in_base(i))),
            "R_0^{i-1} Q_i^{i-1} r_i; the axes fit with R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^i r_i",
        ),
        "4.30": outer(
            x.outer_force,
            (lambda i: x.outer_force_by_derivatives(i, x.in_base(i)),),
            (lambda i: x.outer_force_by_derivatives(i, in_base(i), 1.0),),
            "no m_{i+1} before the sums, and the axes of 4.29",
        ),
        "4.31": outer(
            x.outer_moment,
            (lambda i: x.in_submatrices(i + 1, i, x.beyond(i)),),
            (lambda i: x.in_submatrices(i + 1, i, beyond(i), (i, i), lift_in_sum=True),),
            "gravity beside every acceleration, sums that end at i, R_i^{i+1} for R_{i-1}^{i+1}; run with the r-bar' "
            "that its first m g z_0 lacks",
        ),
        "4.32": outer(
            lambda i: x.dp(i + 1, i),
            (lambda i: x.in_base(i) + x.beyond(i),),
            (lambda i: x.R(0, i - 1) @ x.Q(i - 1, i) @ x.r[i] + beyond(i),),
            "no R_{i-1}^i before r_i, and R_i^{i+1} for R_{i-1}^{i+1}",
        ),
        "4.33": outer(
            x.outer,
            (lambda i: x.in_submatrices(i + 1, i, x.dp(i + 1, i)),),
            (lambda i: x.in_submatrices(i + 1, i, x.dp(i + 1, i), (i + 1, i)),),
            "k ends at i; run with the r-bar that its gravity term lacks",
        ),
        "4.34": outer(x.of_two, (x.of_two_by_lagrange,)),
        "2.11": torque(lambda i: x.tau[i], (x.by_lagrange,)),
    }
