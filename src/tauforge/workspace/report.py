"""What every result of this package has: a summary as text, as HTML for notebooks, and data for machines."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any

from tauforge.robots.summary import Summary, summarised


@summarised
class Report(ABC):
    """A result that is a frozen dataclass."""

    robot: str

    @abstractmethod
    def summary(self) -> Summary:
        """The result as sentences and tables."""

    def data(self) -> dict[str, Any]:
        """The fields by name, in SI units and radians, for machines."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
