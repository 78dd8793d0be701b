from .builtin_studies import STUDIES, ready_study
from .cluster import connected, local_workers
from .grid import Axis
from .picture import plot
from .running import Outcome, run
from .store import Damage, open_dataset, verify
from .study import Result, Study

__all__ = [
    "STUDIES",
    "Axis",
    "Damage",
    "Outcome",
    "Result",
    "Study",
    "connected",
    "local_workers",
    "open_dataset",
    "plot",
    "ready_study",
    "run",
    "verify",
]
