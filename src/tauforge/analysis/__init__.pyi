from .arm_identifiability import BaseParameters, base_parameters
from .arm_matrices import (
    FrameDerivatives,
    OrthogonalComplement,
    frame_derivatives,
    orthogonal_complement,
    pseudo_inertias,
)
from .comparison import Comparison, SimplificationErrors, assess, compare, random_states, row_errors
from .complexity import OperationCount, general_cost, general_operation_count, operation_count
from .costs_by_line import LineCost, RobotLineCost, line_costs
from .force_terms import ForceTerms, term_contributions
from .linearisation import Linearisation, linearise
from .regulators import linear_feedback
from .schedules import Schedule, Task, schedule, scheduled
from .step_size import suggested_step
from .stewart_closed_form import ClosedFormTerms, closed_form_terms
from .stewart_curves import LegForceParts, LegRotations, leg_force_parts, leg_rotations
from .stewart_forces import (
    Crossing,
    PowerBalance,
    SingularFreedoms,
    WorstForces,
    best_characteristic_length,
    crossings,
    power_balance,
    singular_freedoms,
    worst_leg_forces,
)
from .stewart_operations import OperationParts, operation_parts
from .stewart_sizing import Margin, Peak, Sizing, size_actuators
from .strobing import (
    ExplicitModel,
    ExplicitModelCost,
    StrobingCost,
    explicit_model,
    explicit_model_cost,
    strobing_cost,
)
from .timing import TimePerState, time_per_state

__all__ = [
    "BaseParameters",
    "ClosedFormTerms",
    "Comparison",
    "Crossing",
    "ExplicitModel",
    "ExplicitModelCost",
    "ForceTerms",
    "FrameDerivatives",
    "LegForceParts",
    "LegRotations",
    "LineCost",
    "Linearisation",
    "Margin",
    "OperationCount",
    "OperationParts",
    "OrthogonalComplement",
    "Peak",
    "PowerBalance",
    "RobotLineCost",
    "Schedule",
    "SimplificationErrors",
    "SingularFreedoms",
    "Sizing",
    "StrobingCost",
    "Task",
    "TimePerState",
    "WorstForces",
    "assess",
    "base_parameters",
    "best_characteristic_length",
    "closed_form_terms",
    "compare",
    "crossings",
    "explicit_model",
    "explicit_model_cost",
    "frame_derivatives",
    "general_cost",
    "general_operation_count",
    "leg_force_parts",
    "leg_rotations",
    "line_costs",
    "linear_feedback",
    "linearise",
    "operation_count",
    "operation_parts",
    "orthogonal_complement",
    "power_balance",
    "pseudo_inertias",
    "random_states",
    "row_errors",
    "schedule",
    "scheduled",
    "singular_freedoms",
    "size_actuators",
    "strobing_cost",
    "suggested_step",
    "term_contributions",
    "time_per_state",
    "worst_leg_forces",
]
