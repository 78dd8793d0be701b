"""tauforge: the dynamics of manipulators, by formulations that check each other.

import tauforge as tf
arm = tf.load("puma560")
tau = arm.inverse_dynamics(q, qd, qdd)

The public names are in `__init__.pyi`; each is imported when it is first used, so that the command line is quick.
"""

from typing import Any

import lazy_loader

from tauforge.kernels.lock import LOCK

__version__ = "0.1.0"

_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Imports a public name under the lock that a fork waits for: most names lead to the compiler in the end.

    Our own modules ask for others, such as `settings`, while they are being imported. Those must not wait here: the
    thread that has the lock may be waiting for them.
    """
    if name not in __all__:
        return _imported(name)
    with LOCK:
        return _imported(name)
