"""Robots of the catalogue by name: their kind as their files tell it; and cases whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import tauforge as tf
from conftest import SOAK, TURN, TURNS
from tauforge.formats.loading import CATALOGUE_FOLDER

Case = TypeVar("Case")


def names_of(kind: str) -> list[str]:
    """Names of all robots of a kind: arm, platform, mechanism. None of them is made: tests are collected sooner."""
    texts = {name: (CATALOGUE_FOLDER / f"{name}.toml").read_text(encoding="utf-8") for name in tf.catalogue()}
    return [name for name, text in texts.items() if f'\nformat = "tauforge-{kind}-' in text]


def in_turn(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Every third case, others on other days (`TURN` of conftest.py); a soak has all."""
    return tuple(cases if SOAK > 1 else cases[TURN % TURNS :: TURNS])
