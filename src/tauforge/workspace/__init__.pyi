from .explaining import Explanation, Finding, HoldingForce, explain
from .maps import Map, map
from .reaching import End, Reach, reach
from .surfaces import Polar, Surface, polar, surface
from .volumes import CaseVolumes, Volume, compare, volume

__all__ = [
    "CaseVolumes",
    "End",
    "Explanation",
    "Finding",
    "HoldingForce",
    "Map",
    "Polar",
    "Reach",
    "Surface",
    "Volume",
    "compare",
    "explain",
    "map",
    "polar",
    "reach",
    "surface",
    "volume",
]
