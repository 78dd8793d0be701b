"""Results in notebooks: the summary as text and as tables, with a figure where matplotlib is installed."""

from __future__ import annotations

import base64
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import Any

from tauforge.robots.summary import Summary

TEXT, TABLES, PICTURE = "text/plain", "text/html", "image/png"


class InNotebook(ABC):
    """A result with a summary and a figure. Jupyter asks for the methods whose names begin with `_repr_`."""

    @abstractmethod
    def summary(self) -> Summary:
        """The result as sentences and tables."""

    @abstractmethod
    def plot(self) -> Any:
        """The result as a matplotlib Figure."""

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """By media type: text, HTML, and PNG in base64; without matplotlib there is no PNG, and the HTML has no figure.

        include: media types that are wanted; None, or none, for all
        exclude: media types that are not wanted
        """
        wanted = set(include or (TEXT, TABLES, PICTURE)) - set(exclude or ())
        picture = self._picture() if wanted & {TABLES, PICTURE} else None
        makers: dict[str, Callable[[], str | None]] = {
            TEXT: lambda: repr(self.summary()),
            TABLES: lambda: self._tables(picture),
            PICTURE: lambda: picture,
        }
        made = {kind: make() for kind, make in makers.items() if kind in wanted}
        return {kind: shown for kind, shown in made.items() if shown is not None}

    def _repr_html_(self) -> str:
        """The summary and the figure; nothing in it runs or is fetched."""
        return self._tables(self._picture())

    def _repr_png_(self) -> bytes | None:
        """The figure; None without matplotlib."""
        picture = self._picture()
        return None if picture is None else base64.b64decode(picture)

    def _tables(self, picture: str | None) -> str:
        """picture: PNG in base64, or None"""
        figure = "" if picture is None else f'<img alt="plot" src="data:{PICTURE};base64,{picture}">'
        return self.summary()._repr_html_() + figure

    def _picture(self) -> str | None:
        """The figure as PNG in base64; None without matplotlib."""
        try:
            import matplotlib.figure  # noqa: F401
        except ImportError:
            return None
        file = io.BytesIO()
        self.plot().savefig(file, format="png")
        return base64.b64encode(file.getvalue()).decode()
