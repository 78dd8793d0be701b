"""Sensors between a robot and its law, and the delay and the limits between the law and the actuators.

The arithmetic is written over arrays of any scalars: methods and compiled steps have the same text. What was read and
asked before is memory of the loop: arrays (..., k, numbers), the newest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauforge.arrays import Array, real_number
from tauforge.errors import ModelError
from tauforge.robots.robot import Robot

Rows = Array | slice
Converter = Callable[[Array, Array], tuple[Array, Array]]
VELOCITIES = ("measured", "differenced")


class Sensors:
    """Positions through converters with a number of bits, positions and velocities with noise, all of them late.

    bits:     of the position's converter over `span`, None for none
    span:     rad or m that 2^bits steps cover, every coordinate alike: 12 bits over 2 pi have steps of 1.53e-3 rad. The
              converter counts on beyond it
    position_noise, velocity_noise: standard deviations
    seed:     of the noise; row k of a rollout draws by seed + k
    delay:    s, a whole number of control periods: the law sees what was read that long ago, and before that the start
              at rest
    velocity: "measured", or "differenced": the change of the measured position in a control period

    A subclass may define another `read`; steps are then made by methods.
    """

    def __init__(
        self,
        bits: int | None = None,
        span: float = 2 * np.pi,
        position_noise: float = 0.0,
        velocity_noise: float = 0.0,
        seed: int = 0,
        delay: float = 0.0,
        velocity: str = "measured",
    ) -> None:
        whole = isinstance(bits, int | np.integer) and not isinstance(bits, bool)
        if bits is not None and not (whole and 1 <= bits <= 64):
            raise ModelError(f"expected a whole number from 1 to 64 or None, got {bits!r}", field="bits")
        numbers = {"span": span, "position_noise": position_noise, "velocity_noise": velocity_noise, "delay": delay}
        for name, value in numbers.items():
            if not 0 <= real_number(value) < np.inf:
                raise ModelError(f"expected a number >= 0, got {value!r}", field=name)
        if not span > 0:
            raise ModelError("expected a number > 0, got 0", field="span")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise ModelError(f"expected a whole number >= 0, got {seed!r}", field="seed")
        if velocity not in VELOCITIES:
            raise ModelError(f"expected one of {', '.join(VELOCITIES)}, got {velocity!r}", field="velocity")
        if velocity == "differenced" and velocity_noise:
            problem = "velocities that are differences of positions have the noise of these"
            raise ModelError(problem, field="velocity_noise", remedy="Give position_noise=")
        self.bits, self.span, self.seed, self.delay, self.velocity = bits, float(span), seed, float(delay), velocity
        self.position_noise, self.velocity_noise = float(position_noise), float(velocity_noise)

    @property
    def resolution(self) -> float:
        """rad or m, one step of the converter; 0 without one."""
        return 0.0 if self.bits is None else self.span / 2**self.bits

    @property
    def noisy(self) -> bool:
        return self.position_noise > 0 or self.velocity_noise > 0

    def read(self, coordinates: Array, velocity: Array) -> tuple[Array, Array]:
        """Coordinates and velocities (..., n), with their noise, as the converters show them at the moment."""
        return converted(coordinates, self.resolution), velocity


class Sensing(NamedTuple):
    """Sensors that are read once in a control period.

    n:           coordinates
    resolution:  rad or m, of converters; 0 for none
    noise:       standard deviations of positions and velocities
    seed:        of the noise
    delay:       in control periods
    period:      s; 0 where the law is asked continuously
    differenced: whether velocities are differences
    own:         a method `read` of the user's own, in place of the converters
    """

    n: int
    resolution: float
    noise: tuple[float, float]
    seed: int
    delay: int
    period: float
    differenced: bool
    own: Converter | None = None

    @property
    def noise_scales(self) -> Array:
        """(w,) standard deviations of the numbers that are drawn for a reading."""
        return np.repeat([scale for scale in self.noise if scale], self.n)

    @property
    def history_shape(self) -> tuple[int, int]:
        """Earlier readings that are remembered, and the numbers of each."""
        return self.delay + self.differenced, self.n * (1 if self.differenced else 2)

    def history(self, coordinates: Array) -> Array:
        """(N, k, numbers) of earlier readings, which show the starts (N, n) at rest."""
        count, width = self.history_shape
        found = np.zeros((len(coordinates), count, width))
        found[..., : self.n] = self._converted(coordinates, 0.0 * coordinates)[0][:, None]
        return found

    def read(
        self, positions: Any, coordinates: Array, velocity: Array, noise: Array, history: Array
    ) -> tuple[Array, Array, Array]:
        """Measured coordinates, measured velocity, and the history after it.

        positions: `Robot.positions`; noise: (..., w)
        """
        n = self.n
        if self.noise[0]:
            coordinates = coordinates + noise[..., :n]
        if self.noise[1]:
            velocity = velocity + noise[..., -n:]
        reading, velocity = self._converted(coordinates, velocity)
        if not self.differenced:
            reading = np.concatenate([reading, velocity], axis=-1)
        known = pushed(reading, history)
        shown, measured = known[..., self.delay, :], known[..., self.delay, :n]
        velocity = shown[..., n:]
        if self.differenced:
            rates = positions.error(measured, known[..., self.delay + 1, :]) / self.period
            velocity = positions.from_rates(measured, rates, 0.0 * rates)[0]
        return measured, velocity, known[..., : history.shape[-2], :]

    def _converted(self, coordinates: Array, velocity: Array) -> tuple[Array, Array]:
        if self.own is not None:
            return self.own(coordinates, velocity)
        return converted(coordinates, self.resolution), velocity


def converted(coordinates: Array, resolution: float) -> Array:
    """Rounded to whole steps; 0 for no converter."""
    return np.asanyarray(np.rint(coordinates / resolution) * resolution) if resolution else coordinates


def pushed(new: Array, past: Array) -> Array:
    """The past (..., k, w) with the newest (..., w) before it."""
    return np.concatenate([new[..., None, :], past], axis=-2)


class Noise:
    """Noise of each row at any instant: the same as one reading after another draws it."""

    def __init__(self, sensing: Sensing, rows: int) -> None:
        self._generators = [np.random.default_rng(sensing.seed + row) for row in range(rows)]
        self._scales, self._first = sensing.noise_scales, 0
        self._known = np.empty((rows, 0, len(self._scales)))

    def between(self, first: int, last: int) -> Array:
        """(N, last - first, w). Earlier instants are known as long as no later ones were drawn."""
        drawn = self._first + self._known.shape[1]
        if last > drawn:
            shape = (last - drawn, len(self._scales))
            new = np.stack([self._scales * rng.standard_normal(shape) for rng in self._generators])
            self._known = np.concatenate([self._known[:, max(0, first - self._first) :], new], axis=1)
            self._first = last - self._known.shape[1]
        return self._known[:, first - self._first : last - self._first]


class Actuation:
    """State that a law by its own methods sees, and forces that actuators make of its answer.

    limits: (m,) or (N, m), or None
    delay:  in control periods
    start:  positions (N, size) of the run
    alone:  whether a position that cannot be measured ends the run; otherwise the row is NaN
    """

    def __init__(
        self,
        robot: Robot,
        sensing: Sensing | None,
        limits: Array | None,
        delay: int,
        start: Array,
        *,
        alone: bool = False,
    ) -> None:
        self._positions, self._sensing, self._delay = robot.positions, sensing, delay
        self._limits = None if limits is None else np.broadcast_to(limits, (len(start), limits.shape[-1]))
        self._on_failure = "raise" if alone else "nan"
        self._queue = np.zeros((len(start), delay, len(robot.actuators)))
        self._history = np.empty((len(start), 0, 0))
        self.noise: Noise | None = None
        if sensing is not None:
            self._history, self.noise = sensing.history(robot.positions.coordinates(start)), Noise(sensing, len(start))

    def sensed(self, k: int, position: Array, velocity: Array, rows: Rows = slice(None)) -> tuple[Array, Array]:
        """Positions (N, size) and velocities (N, n) that the law sees at an instant. rows: whose they are"""
        if self._sensing is None or self.noise is None:
            return position, velocity
        drawn, coordinates = self.noise.between(k, k + 1)[rows, 0], self._positions.coordinates(position)
        read = self._sensing.read(self._positions, coordinates, velocity, drawn, self._history[rows])
        measured, velocity, self._history[rows] = read
        return self._positions.at(measured, near=position, on_failure=self._on_failure), velocity

    def given(self, asked: Array, added: Array | float = 0.0, rows: Rows = slice(None)) -> tuple[Array, Array]:
        """Forces (N, m) that the actuators give at an instant, and those that are wanted of them.

        asked: by the law now, which acts when the delay is over; if it is not finite, the row is NaN now
        added: to what acts
        """
        if self._delay:
            known = pushed(asked, self._queue[rows])
            self._queue[rows], answers = known[:, :-1], np.isfinite(asked).all(axis=-1, keepdims=True)
            asked = np.where(answers, known[:, -1], np.nan)
        wanted = asked + added
        if self._limits is None:
            return wanted, wanted
        return np.clip(wanted, -self._limits[rows], self._limits[rows]), wanted

    @property
    def memory(self) -> list[Array]:
        """(N, numbers) each."""
        return [x.reshape(len(x), -1) for x in (self._history, self._queue) if x.size]

    def recall(self, memory: Sequence[Array], rows: Rows = slice(None)) -> None:
        """Go on with another memory of these rows."""
        given = iter(memory)
        for kept in (self._history, self._queue):
            if kept.size:
                kept[rows] = next(given).reshape(-1, *kept.shape[1:])
