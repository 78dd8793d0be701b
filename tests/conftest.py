"""Counts of the property tests: small by default, TAUFORGE_SOAK times as many for a soak."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

SOAK = int(os.environ.get("TAUFORGE_SOAK", "1"))

# Most tests are about the formulas and make many arms: the reference answers, nothing is compiled. The tests of the
# kernels switch them on.
os.environ.setdefault("TAUFORGE_KERNELS", "0")
os.environ.setdefault("TAUFORGE_CACHE", "off")

settings.register_profile(
    "tauforge",
    max_examples=30 * SOAK,
    deadline=None,
    derandomize=SOAK == 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tauforge")
