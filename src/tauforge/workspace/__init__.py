"""Workspace: where a robot can go, which limit stops it, how large that is and what it can carry there.

The public names are in `__init__.pyi`; each is imported when it is first used.
"""

from tauforge.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
