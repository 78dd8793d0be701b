"""Robots and laws of control for other programs: C files, functions of CasADi and expressions of SymPy."""

from tauforge.export import symbolic as symbolic
from tauforge.export.c_files import ExportedC, export_c

__all__ = ["ExportedC", "export_c", "symbolic"]
