"""Where a platform has no answer: the closer look at rows that a formula has doubts about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tauforge.arrays import Array
from tauforge.evaluation.condition import by_singular_values, condition_numbers
from tauforge.evaluation.functions import Verdict
from tauforge.formulations.stewart.universal_coordinates import ALONG_AXIS

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform

SINGULAR_FORCE_MATRIX = 1e12  # condition number of H above which there is no answer
SINGULAR_MASS = 1e15
Arguments = Mapping[str, Array]
Results = tuple[Array, ...]
MASSLESS = "massless-legs"


def judge_force_matrix(
    platform: StewartPlatform, arguments: Arguments, results: Results, options: Mapping[str, Any]
) -> Verdict:
    """Is H singular, or does a leg lie along the fixed axis of its universal joint, where it cannot turn?"""
    return _judged(platform, arguments, results, legs_turn=options.get("model") != MASSLESS)


def judge_rates(
    platform: StewartPlatform, arguments: Arguments, results: Results, options: Mapping[str, Any]
) -> Verdict:
    """Is H singular? Rates of the legs alone do not turn them."""
    return _judged(platform, arguments, results, legs_turn=False)


def _judged(platform: StewartPlatform, arguments: Arguments, results: Results, *, legs_turn: bool) -> Verdict:
    poses = arguments["pose"].astype(float)
    H = platform.force_matrix(poses)
    conditions = condition_numbers(H)
    sines = np.ones(H.shape[:-1])
    if legs_turn and platform.universal_axes is not None:
        axes = np.array(platform.universal_axes)
        sines = np.linalg.norm(np.cross(axes, np.swapaxes(H[..., :3, :], -1, -2)), axis=-1)
    along = sines < ALONG_AXIS
    lost = np.isnan(conditions) | (conditions > SINGULAR_FORCE_MATRIX)
    reasons = [
        f"leg {int(np.argmin(sine)) + 1} lies along the fixed axis of its universal joint"
        if (sine < ALONG_AXIS).any() and not singular
        else "the legs cannot hold the platform"
        for sine, singular in zip(sines, lost, strict=True)
    ]
    refused = lost | along.any(axis=-1) | _spoilt(results)
    return Verdict(refused, reasons, poses, np.where(np.isnan(conditions), np.inf, conditions))


def judge_mass_matrix(
    platform: StewartPlatform, arguments: Arguments, results: Results, options: Mapping[str, Any]
) -> Verdict:
    """Has the mass matrix an inverse?"""
    own = {name: arguments[name].astype(float) for name in ("pose", "payload") if name in arguments}
    conditions = condition_numbers(platform._evaluator("mass_matrix", own)[0])
    conditions = np.where(np.isnan(conditions), np.inf, conditions)
    refused = (conditions > SINGULAR_MASS) | _spoilt(results)
    return Verdict(refused, ["the mass matrix has no inverse"] * len(refused), own["pose"], conditions)


def _spoilt(results: Results) -> Array:
    """(k,) rows with a result that is not finite."""
    return np.asarray(
        ~np.all([np.isfinite(result).reshape(len(result), -1).all(axis=-1) for result in results], axis=0)
    )


def better_condition_numbers(platform: StewartPlatform, arguments: Mapping[str, Array]) -> tuple[Array, ...]:
    H = np.array(platform._evaluator("force_matrix", {"pose": arguments["pose"]})[0])
    if "characteristic_length" in arguments:
        H[:, 3:] /= arguments["characteristic_length"][:, :, None]
    return (by_singular_values(H),)
