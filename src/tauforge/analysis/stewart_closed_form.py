"""The closed form of a Stewart platform's dynamics by Pedrammehr et al. 2012, as matrices."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import ArrayLike

from tauforge.algebra.scalars import Scalars
from tauforge.analysis.stewart_curves import check_platform
from tauforge.arrays import Array
from tauforge.class_tools import with_field_docs
from tauforge.evaluation.arguments import checked, finite_rows
from tauforge.evaluation.reference import reference
from tauforge.formulations.stewart.parameters import motion
from tauforge.formulations.stewart.pedrammehr2012 import PedrammehrCorrections
from tauforge.formulations.stewart.pedrammehr2012_closed import Terms, closed_form
from tauforge.robots.summary import summarised

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

CLOSED = "pedrammehr2012-closed"
RESULTS = ((6, 3, 3), (6, 3), (6, 6), (6,))


@summarised
@with_field_docs
class ClosedFormTerms(NamedTuple):
    """Matrices of H F + w_ext = M (X'', alpha) + eta, F the actuator forces and H `force_matrix`; base axes.

    leg_masses:  (..., 6, 3, 3) Q_i: the force of the platform on leg i is -F_i n_i + Q_i (X'' + alpha x q_i) + V_i
    leg_forces:  (..., 6, 3)    V_i
    mass_matrix: (..., 6, 6)    M; its first three rows are the coefficients of eq. 48, the others those of eq. 51,
                                columns 0-2 of X'' and 3-5 of alpha
    bias_wrench: (..., 6)       eta, what is left of eqs 48 and 51
    """

    leg_masses: Array
    leg_forces: Array
    mass_matrix: Array
    bias_wrench: Array


def closed_form_terms(
    platform: StewartPlatform, pose: ArrayLike, twist: ArrayLike, *, corrections: Collection[str] = ()
) -> ClosedFormTerms:
    """Q_i, V_i and the coefficients of the closed form at poses and twists, (..., 6) each; reflected masses included.

    corrections: of the model "pedrammehr2012-closed", as `inverse_dynamics` takes them; none as printed
    As printed M is not symmetric and lacks terms. With all corrections but own_axes M and eta are `mass_matrix` and
    `bias_wrench` of the exact model.
    Identity: H F = M (X'', alpha) + eta with F of inverse_dynamics(model="pedrammehr2012-closed").
    Source: Pedrammehr et al. 2012, eqs 41-43, 48, 51; mended as `inverse_dynamics` is.
    """
    check_platform(platform, "Use explicit_model, which takes any robot")
    platform.formulations.counted(CLOSED, corrections=corrections)  # checks the masses, the joints and the corrections
    state = checked(platform.name, platform.functions["bias_wrench"], {"pose": pose, "twist": twist})
    terms = Terms(*(name in corrections for name in Terms._fields))
    tensors = PedrammehrCorrections(*(name in corrections for name in PedrammehrCorrections._fields))

    def formula(pose: Scalars, twist: Scalars) -> list[Any]:
        found = closed_form(platform.parameters, motion(pose, twist, [0.0] * 6), terms, tensors)
        M = [[*left, *right] for pair in found.M for left, right in zip(*(block.rows for block in pair), strict=True)]
        return [[Q.rows for Q in found.Q], found.V, M, found.eta]

    result = ClosedFormTerms(*reference(formula, state, RESULTS))
    for out in result:
        out[~finite_rows(state)] = float("nan")
    return result
