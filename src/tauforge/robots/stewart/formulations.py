"""By what a platform's inverse dynamics can be computed: published models, what fits them, what they have wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tauforge.errors import UnsupportedFeatureError
from tauforge.evaluation.unmodified import ours
from tauforge.robots.formulations import Formulations, Simplification
from tauforge.robots.stewart.functions import EXACT, FIXED_BASE_MODELS, MODELS
from tauforge.robots.stewart.spherical_legs import SPHERICAL, UNIVERSAL

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

STEWART_MODELS = (EXACT, *MODELS)


def fitting(platform: PlatformDescription) -> tuple[str, ...]:
    """Those that fit the base joints."""
    if platform.base_joint == UNIVERSAL:
        return STEWART_MODELS
    return tuple(name for name in STEWART_MODELS if name not in MODELS or not MODELS[name].universal_only)


def corrections(model: str, given: Any) -> tuple[str, ...]:
    """The names of the corrections, if the model has them."""
    known = MODELS[model].corrections if model in MODELS else ()
    iterable = isinstance(given, Iterable) and not isinstance(given, str)
    names = tuple(given) if iterable else (given,)
    unknown = [name for name in names if not iterable or name not in known]
    if unknown:
        if not known:
            raise UnsupportedFeatureError(
                f"the model {model} takes no corrections, got {unknown[0]!r}", field="corrections"
            )
        raise UnsupportedFeatureError(
            f"{model} has no correction {unknown[0]!r}",
            field="corrections",
            remedy=f"Give a sequence of names among {', '.join(known)}",
        )
    return names


def check_moving_base(platform: PlatformDescription, model: str = EXACT) -> None:
    """UnsupportedFeatureError where the model, or the friction of the platform, needs a base at rest."""
    if model in FIXED_BASE_MODELS:
        raise UnsupportedFeatureError(
            f"{model} does not take a moving base",
            field="base_motion",
            remedy=f"Use one of {', '.join(name for name in fitting(platform) if name not in FIXED_BASE_MODELS)}",
        )
    if platform.base_joint == SPHERICAL and platform.friction[0] != 0:
        raise UnsupportedFeatureError(
            f"on a base that turns, the friction of spherical base joints, {platform.friction[0]:g} N m s, would turn "
            "a leg about itself, and nothing holds its spin",
            field="base_motion",
            remedy="Give 0 as the first coefficient of friction. An acceleration alone is a change of gravity",
        )


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


@ours
class PlatformFormulations(Formulations):
    """Those of `tauforge.STEWART_MODELS` that fit the platform."""

    robot: StewartPlatform
    option = "model"

    def __init__(self, robot: StewartPlatform) -> None:
        super().__init__(robot)
        self.names = fitting(robot)

    def check(self, name: object) -> None:
        if name not in STEWART_MODELS:
            remedy = f"Use one of {', '.join(STEWART_MODELS)}"
            raise UnsupportedFeatureError(f"unknown model {name!r}", field="model", remedy=remedy)
        if name not in self.names:
            raise UnsupportedFeatureError(
                f"{name} has the equations of universal joints at the base; {self.robot.name} has"
                f" {self.robot.base_joint} ones",
                field="model",
                remedy=f"Use one of {', '.join(self.names)}",
            )

    @property
    def simplifications(self) -> tuple[Simplification, ...]:
        return tuple(entry for entry in SIMPLIFICATIONS if entry.model in self.names)
