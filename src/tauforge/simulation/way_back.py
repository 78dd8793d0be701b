"""What a way back through a rollout is, wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol


class Bars(NamedTuple):
    """Gradients row by row; the arrays are those of the rollout's library.

    position, velocity: (N, n), by the initial state
    gains, plant:       (N, ...) by the gains, and by the fields and the payload's numbers, by name
    forces:             (N, periods, m), or None
    """

    position: Any
    velocity: Any
    gains: dict[str, Any]
    plant: dict[str, Any]
    forces: Any | None


class WayBack(Protocol):
    """A rollout that was run, with the states that the way back needs.

    records: positions, velocities and forces (N, k, ...) at the instants to record; nothing else reads these arrays
    """

    records: tuple[Any, Any, Any]

    def swept(self, bars: Sequence[Any | None]) -> Bars:
        """From the gradients by the three records, of the same shapes; None for 0. Several threads may call it."""
