"""What other programs compute with: functions of CasADi and expressions of SymPy."""

from tauforge.export import symbolic as symbolic
