from .arm_identifiability import BaseParameters, base_parameters
from .comparison import Comparison, SimplificationErrors, assess, compare, random_states, row_errors
from .complexity import LineCost, OperationCount, general_cost, general_operation_count, line_costs, operation_count
from .linearisation import Linearisation, linearise
from .stewart_forces import (
    Crossing,
    PowerBalance,
    WorstForces,
    best_characteristic_length,
    crossings,
    power_balance,
    worst_leg_forces,
)
from .stewart_sizing import Margin, Peak, Sizing, size_actuators

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
