"""The version, in this one place: pyproject.toml reads it from here, so that a source tree knows it without metadata."""

__version__ = "0.1.0"
