"""The version, in this one place: pyproject.toml reads it from here; no metadata is needed to know it."""

__version__ = "0.1.0"
