"""What the actuators give is what the platform takes up."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from support.platforms import random_motion, random_platform
from support.strategies import seeds
from tauforge.analysis.stewart_forces import power_balance

BALANCED = 1e-12  # beside the largest power


@given(seeds)
def test_power_balances_with_friction_and_external_wrench(rng):
    platform = random_platform(rng)
    state = random_motion(rng, (3,))
    wrench = 100 * rng.normal(size=(3, 6))
    F = platform.inverse_dynamics(*state, external_wrench=wrench)
    balance = power_balance(platform, *state, F, wrench)
    assert (balance.friction < 0).all()
    size = np.abs(np.stack(balance)).max()
    assert np.abs(balance.imbalance).max() < BALANCED * size
    more = power_balance(platform, *state, F + 1.0, wrench)
    extra = platform.leg_motion(*state).rates.sum(axis=-1)
    assert np.abs(more.imbalance - extra).max() < BALANCED * size
