"""The page of an animation: one HTML file that needs nothing else."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

SCRIPTS = (
    "data",
    "camera",
    "shapes",
    "scene",
    "chart",
    "panel",
    "player",
)  # in the order in which they need each other


def animation_page(data: Mapping[str, Any], title: str) -> str:
    """The whole text. Title and names may contain anything."""
    return Template(_read("page.html")).substitute(
        title=html.escape(title),
        style=_read("page.css"),
        data=_script_text(data),
        script="\n".join(_read(f"{name}.js") for name in SCRIPTS),
    )


def _script_text(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _read(name: str) -> str:
    return (files("tauforge.pictures") / "page" / name).read_text(encoding="utf-8")
