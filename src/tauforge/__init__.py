"""tauforge: the dynamics of manipulators, by formulations that check each other.

import tauforge as tf
arm = tf.load("puma560")
tau = arm.inverse_dynamics(q, qd, qdd)

The public names are in `__init__.pyi`; each is imported when it is first used, so that the command line is quick.
pyproject.toml reads the version from here.
"""

from tauforge import formats as formats  # registers what writes robots to files
from tauforge.lazy_names import lazy_names

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
