"""A robot live in the browser, by viser."""

from tauforge.viewer.viewer import Viewer, view

__all__ = ["Viewer", "view"]
