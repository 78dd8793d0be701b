"""The published models of a platform's inverse dynamics: which of them fit a platform, and what they take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tauforge.errors import UnsupportedFeatureError
from tauforge.robots.stewart.functions import EXACT, FIXED_BASE_ONLY, MODELS
from tauforge.robots.stewart.spherical_legs import SPHERICAL, UNIVERSAL

if TYPE_CHECKING:
    from tauforge.robots.stewart.description import PlatformDescription

STEWART_MODELS = (EXACT, *MODELS)


def fitting(platform: PlatformDescription) -> tuple[str, ...]:
    """Those that fit the base joints."""
    if platform.base_joint == UNIVERSAL:
        return STEWART_MODELS
    return tuple(name for name in STEWART_MODELS if name not in MODELS or not MODELS[name].universal_only)


def corrections(platform: PlatformDescription, model: str, given: Any) -> tuple[str, ...]:
    """The names of the corrections, if the model fits the platform and has them."""
    if model not in STEWART_MODELS:
        raise UnsupportedFeatureError(
            f"unknown model {model!r}", field="model", remedy=f"Use one of {', '.join(STEWART_MODELS)}"
        )
    if model not in fitting(platform):
        raise UnsupportedFeatureError(
            f"{model} has the equations of universal joints at the base; {platform.name} has"
            f" {platform.base_joint} ones",
            field="model",
            remedy=f"Use one of {', '.join(fitting(platform))}",
        )
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
    if model in FIXED_BASE_ONLY:
        raise UnsupportedFeatureError(
            f"{model} does not take a moving base",
            field="base_motion",
            remedy=f"Use one of {', '.join(name for name in fitting(platform) if name not in FIXED_BASE_ONLY)}",
        )
    if platform.base_joint == SPHERICAL and platform.friction[0] != 0:
        raise UnsupportedFeatureError(
            f"on a base that turns, the friction of spherical base joints, {platform.friction[0]:g} N m s, would turn "
            "a leg about itself, and nothing holds its spin",
            field="base_motion",
            remedy="Give 0 as the first coefficient of friction. An acceleration alone is a change of gravity",
        )
