"""The base parameters: the combinations of the 10 n inertial parameters on which torques depend.

Measured torques can identify these combinations and no others; how well depends on the motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from tauforge.analysis.comparison import random_states
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.formulations.serial.regressor import PARAMETER_NAMES
from tauforge.robots.summary import Rows, Summary, SummaryTable, summarised
from tauforge.units import number

if TYPE_CHECKING:
    from tauforge.robots.serial.serial_arm import SerialArm

MOST_TERMS = 6  # of a combination that are printed
RANK_TOLERANCE = 1e-9  # relative to the largest diagonal entry of R, columns scaled to one length


@summarised
@with_field_docs
class BaseParameters(NamedTuple):
    """Y pi = Y[:, columns] (combination pi) for every motion.

    columns:     (b,)        which of the 10 n parameters lead a combination
    combination: (b, 10 n)   the base parameters are combination @ inertial_parameters
    names:       of the leading parameters, such as "m cx of joint2"
    """

    columns: Array
    combination: Array
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.columns)

    def summary(self) -> Summary:
        """Every combination of `inertial_parameters`, which are called pi; long ones with their largest terms."""
        leaders = zip(self.names, self.columns, self.combination, strict=True)
        rows: Rows = tuple((name, _sum(row, lead)) for name, lead, row in leaders)
        table = SummaryTable("", ("led by", "combination of the inertial parameters pi"), rows, texts=2)
        return Summary(f"{self.size} base parameters of {self.combination.shape[1]} inertial parameters", (table,))


def base_parameters(arm: SerialArm, samples: int = 0, seed: int = 0) -> BaseParameters:
    """The base parameters, by a rank-revealing QR of the regressor over random motions (Gautier 1991).

    Identity: the regressor's chosen columns times `combination @ inertial_parameters` is the torque.
    """
    count = samples or 20 * arm.n
    q, qd, qdd = random_states(arm, count, seed)
    Y = arm.regressor(q, qd, qdd).reshape(-1, 10 * arm.n)
    length = np.linalg.norm(Y, axis=0)
    present = np.flatnonzero(length > RANK_TOLERANCE * length.max())
    _, R, order = qr(Y[:, present] / length[present], mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > RANK_TOLERANCE * abs(R[0, 0])).sum())
    lead, rest = present[order[:rank]], present[order[rank:]]
    dependence = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    combination = np.zeros((rank, 10 * arm.n))
    combination[np.arange(rank), lead] = 1.0
    combination[:, rest] = dependence * length[rest] / length[lead][:, None]
    names = tuple(f"{PARAMETER_NAMES[k % 10]} of {arm.joints[k // 10].name}" for k in lead)
    return BaseParameters(lead, combination, names)


def _sum(factors: Array, lead: int) -> str:
    """Such as "pi[19] + 0.1864 pi[20] - pi[26]", the leading parameter first and the largest factors next."""
    order = np.argsort(-np.abs(factors), kind="stable").tolist()
    others = [k for k in order if k != lead and abs(factors[k]) > RANK_TOLERANCE]
    shown, more = others[: MOST_TERMS - 1], len(others) - (MOST_TERMS - 1)
    terms = [f" {'-' if factors[k] < 0 else '+'} {_factor(abs(float(factors[k])))}pi[{k}]" for k in shown]
    return f"pi[{lead}]{''.join(terms)}" + (f" and {more} more" if more > 0 else "")


def _factor(size: float) -> str:
    text = number(size)
    return "" if text == "1" else f"{text} "
