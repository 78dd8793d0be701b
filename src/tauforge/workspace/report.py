"""What every result of this package has: a summary as text, as HTML for notebooks, and data for machines."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any

from tauforge.robots.summary import Summary
from tauforge.robots.summary_text import html, plain_text


class Report(ABC):
    """A result that is a frozen dataclass."""

    robot: str

    @abstractmethod
    def summary(self) -> Summary:
        """The result as sentences and tables."""

    def __str__(self) -> str:
        return plain_text(self.summary())

    def _repr_html_(self) -> str:
        """The summary, for notebooks."""
        return html(self.summary())

    def data(self) -> dict[str, Any]:
        """The fields by name, in SI units and radians, for machines."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
