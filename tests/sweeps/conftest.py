"""What the tests of sweeps share."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """Nobody cuts the power during a test, and small blocks would wait for the disk most of the time."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
