"""How wrong each published simplification of a Stewart platform is, for a platform and a motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauforge.arrays import Array
from tauforge.errors import ShapeError
from tauforge.field_docs import with_field_docs
from tauforge.robots.stewart.stewart_platform import StewartPlatform


class Simplification(NamedTuple):
    """A published model that has one thing wrong and everything else right."""

    name: str
    source: str
    model: str
    corrections: tuple[str, ...]


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


@with_field_docs
class SimplificationErrors(NamedTuple):
    """Errors of one simplification along a motion, for each leg.

    simplification: the published model
    largest:        (6,) N
    rms:            (6,) N
    percent:        (6,) the largest, of the leg's largest exact force
    """

    simplification: Simplification
    largest: Array
    rms: Array
    percent: Array

    @property
    def worst(self) -> float:
        """The largest error of any leg at any time, N."""
        return float(self.largest.max())


def assess(
    platform: StewartPlatform,
    pose: ArrayLike,
    twist: ArrayLike,
    acceleration: ArrayLike,
    external_wrench: ArrayLike | None = None,
) -> list[SimplificationErrors]:
    """Errors of every simplification that the platform's joints allow, at the states (..., 6) of a motion.

    At least one state is needed.
    """
    state = (pose, twist, acceleration)
    exact = platform.inverse_dynamics(*state, external_wrench=external_wrench).reshape(-1, 6)
    if not len(exact):
        raise ShapeError("pose", expected="at least one state", got=str(np.shape(pose)))
    peak = np.abs(exact).max(axis=0)
    verdicts = []
    for simplification in SIMPLIFICATIONS:
        if simplification.model not in platform.models:
            continue
        forces = platform.inverse_dynamics(
            *state,
            external_wrench=external_wrench,
            model=simplification.model,
            corrections=simplification.corrections,
        )
        error = forces.reshape(-1, 6) - exact
        largest, rms = np.abs(error).max(axis=0), np.sqrt((error**2).mean(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            verdicts.append(SimplificationErrors(simplification, largest, rms, 100 * largest / peak))
    return verdicts
