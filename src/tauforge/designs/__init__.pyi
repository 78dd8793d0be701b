from .evaluation import States, evaluate, states_around
from .front import Front, non_dominated
from .measures import MEASURES, Measure, measures_of
from .search import pareto

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
