"""Robots and laws of control as files for other programs."""

from tauforge.export.c_files import ExportedC, export_c

__all__ = ["ExportedC", "export_c"]
