"""Formulations of the dynamics of Stewart platforms.

`MODELS` maps the public names to models of inverse dynamics. The exact model in its cheapest form,
`universal_coordinates`, is not among them: it takes lumped parameters and a base at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from tauforge.algebra.scalars import Scalar
from tauforge.formulations.bodies import Wrench
from tauforge.formulations.stewart import dasgupta1998, exact, massless_legs, pedrammehr2012, pedrammehr2012_closed
from tauforge.formulations.stewart.dasgupta1998 import DasguptaCorrections
from tauforge.formulations.stewart.parameters import MovingBase, PlatformMotion, PlatformParameters
from tauforge.formulations.stewart.pedrammehr2012 import PedrammehrCorrections


class Model(NamedTuple):
    """A model of inverse dynamics.

    inverse_dynamics: (parameters, motion, external, *switches), and base= where the base may move
    switches:         classes of these arguments: named tuples of corrections, False as published
    universal_only:   its equations are those of a universal joint's axes at the base
    moving_base:      it takes a base that moves
    """

    inverse_dynamics: Callable[..., list[Scalar]]
    switches: tuple[Any, ...] = ()
    universal_only: bool = False
    moving_base: bool = False

    @property
    def corrections(self) -> tuple[str, ...]:
        """Names of the switches."""
        return tuple(name for switches in self.switches for name in switches._fields)

    def forces(
        self, p: PlatformParameters, m: PlatformMotion, external: Wrench, corrections: Collection[str], base: MovingBase
    ) -> list[Scalar]:
        """Forces of the actuators with these corrections; a base that moves is for models that take it."""
        chosen = [switches(*(name in corrections for name in switches._fields)) for switches in self.switches]
        return self.inverse_dynamics(p, m, external, *chosen, **({"base": base} if self.moving_base else {}))


EXACT, MASSLESS, VECTORS = "exact", "massless-legs", "exact-vectors"
MODELS = {
    "dasgupta1998": Model(dasgupta1998.inverse_dynamics, (DasguptaCorrections,)),
    "pedrammehr2012": Model(pedrammehr2012.inverse_dynamics, (PedrammehrCorrections,), universal_only=True),
    "pedrammehr2012-closed": Model(
        pedrammehr2012_closed.inverse_dynamics,
        (pedrammehr2012_closed.Terms, PedrammehrCorrections),
        universal_only=True,
    ),
    MASSLESS: Model(massless_legs.inverse_dynamics, moving_base=True),
    VECTORS: Model(exact.inverse_dynamics, moving_base=True),
}
STEWART_MODELS = (EXACT, *MODELS)
FIXED_BASE_MODELS = frozenset(name for name, model in MODELS.items() if not model.moving_base)
