"""The task of a sweep: one block, computed and stored."""

from __future__ import annotations

from tauforge.kernels.cpu.threads import on_this_thread
from tauforge.sweeps.grid import Index
from tauforge.sweeps.store import Store
from tauforge.sweeps.study import Study


def do_block(study: Study, store: Store, index: Index) -> None:
    """Computes a block on the calling thread and stores it. Doing it again gives the same bytes."""
    with on_this_thread():  # the other threads have blocks of their own
        values = study.computed(store.grid.coordinates(study.axes, index))
    store.write(index, values)
