from .evaluation import evaluate
from .front import Front, non_dominated
from .measures import MEASURES, Measure, measures_of
from .search import pareto
from .states import States, states_around

__all__ = [
    "MEASURES",
    "Front",
    "Measure",
    "States",
    "evaluate",
    "measures_of",
    "non_dominated",
    "pareto",
    "states_around",
]
