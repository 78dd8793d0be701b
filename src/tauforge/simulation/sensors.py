"""What the controller sees: positions and velocities through converters of so many bits, with noise."""

from __future__ import annotations

import numpy as np

from tauforge.arrays import Array, real_number
from tauforge.errors import ModelError


class Sensors:
    """bits: of the position's converter over `span`, None for none; noise: standard deviations; seed: of the noise.

    span: rad or m that 2^bits steps cover, every coordinate alike: 12 bits over 2 pi have steps of 1.53e-3 rad. The
          converter counts on beyond it
    """

    def __init__(
        self,
        bits: int | None = None,
        span: float = 2 * np.pi,
        position_noise: float = 0.0,
        velocity_noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        whole = isinstance(bits, int | np.integer) and not isinstance(bits, bool)
        if bits is not None and not (whole and 1 <= bits <= 64):
            raise ModelError(f"expected a whole number from 1 to 64 or None, got {bits!r}", field="bits")
        for name, value in (("span", span), ("position_noise", position_noise), ("velocity_noise", velocity_noise)):
            if not 0 <= real_number(value) < np.inf:
                raise ModelError(f"expected a number >= 0, got {value!r}", field=name)
        if not span > 0:
            raise ModelError("expected a number > 0, got 0", field="span")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ModelError(f"expected a whole number >= 0, got {seed!r}", field="seed")
        self.bits, self.span, self.seed = bits, float(span), seed
        self.position_noise, self.velocity_noise = float(position_noise), float(velocity_noise)
        self.reset()

    @property
    def resolution(self) -> float:
        """rad or m, one step of the converter; 0 without one."""
        return 0.0 if self.bits is None else self.span / 2**self.bits

    @property
    def noisy(self) -> bool:
        return self.position_noise > 0 or self.velocity_noise > 0

    def reset(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def read(self, position: Array, velocity: Array) -> tuple[Array, Array]:
        if self.position_noise:
            position = position + self._rng.normal(0, self.position_noise, position.shape)
        if self.velocity_noise:
            velocity = velocity + self._rng.normal(0, self.velocity_noise, velocity.shape)
        if self.bits is not None:
            position = np.round(position / self.resolution) * self.resolution
        return position, velocity
