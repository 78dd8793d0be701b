"""What a way back through a rollout is, wherever it runs."""

from __future__ import annotations

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
    def records(self) -> tuple[Any, Any, Any]:
        """Runs the rollout: positions, velocities and forces (N, k, ...) at the instants to record."""

    def swept(self, bars: list[Any]) -> Bars:
        """From the gradients by these three, of the same shapes."""
