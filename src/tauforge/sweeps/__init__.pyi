from .axes import Axis
from .cluster import connected, local_workers
from .picture import plot
from .reading import open_dataset
from .ready_studies import STUDIES, ready_study
from .running import Outcome, run
from .study import Result, Study
from .verifying import Damage, verify

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
