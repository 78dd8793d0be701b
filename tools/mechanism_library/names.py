"""The mechanisms of the catalogue by name, and the modules that build them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from tauforge.robots.mechanism.mechanism import Mechanism

MODULES = {
    "3-rps": "three_rps",
    "andrews": "andrews",
    "bricard": "bricard",
    "delta": "delta",
    "delta-parallelograms": "delta_parallelograms",
    "five-bar": "five_bar",
    "flyball-governor": "flyball_governor",
    "four-bar": "four_bar",
    "gripper": "gripper",
    "hexapod-6rus": "hexapod_rus",
    "palletiser": "palletiser",
    "planar-3rrr": "planar_three_rrr",
    "slider-crank": "slider_crank",
}


def module_of(name: str) -> ModuleType:
    return import_module(f"mechanism_library.{MODULES[name]}")


def built(name: str) -> Mechanism:
    mechanism: Mechanism = module_of(name).mechanism()
    return mechanism
