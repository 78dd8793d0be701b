"""Robots and laws of control as files for other programs."""

from tauforge.export.c_files import export_c

__all__ = ["export_c"]
