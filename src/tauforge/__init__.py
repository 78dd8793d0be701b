"""tauforge: the dynamics of manipulators, by formulations that check each other.

import tauforge as tf
arm = tf.load("puma560")
tau = arm.inverse_dynamics(q, qd, qdd)

The public names are in `__init__.pyi`; each is imported when it is first used, so that the command line is quick.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
