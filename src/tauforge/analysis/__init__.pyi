from .assumptions import SimplificationErrors, assess
from .comparison import Comparison, compare, random_states, row_errors
from .complexity import OperationCount, general_cost, general_operation_count, operation_count
from .costs_by_line import LineCost, line_costs
from .identifiability import BaseParameters, base_parameters
from .linearisation import Linearisation, linearise
from .power import PowerBalance, power_balance
from .singularity import Crossing, WorstForces, best_characteristic_length, crossings, worst_leg_forces
from .sizing import Margin, Peak, Sizing, size_actuators

__all__ = [
    "BaseParameters",
    "Comparison",
    "Crossing",
    "LineCost",
    "Linearisation",
    "Margin",
    "OperationCount",
    "Peak",
    "PowerBalance",
    "SimplificationErrors",
    "Sizing",
    "WorstForces",
    "assess",
    "base_parameters",
    "best_characteristic_length",
    "compare",
    "crossings",
    "general_cost",
    "general_operation_count",
    "line_costs",
    "linearise",
    "operation_count",
    "power_balance",
    "random_states",
    "row_errors",
    "size_actuators",
    "worst_leg_forces",
]
