"""Designs: families of robots judged over many states, and the search for the best of them.

The public names are in `__init__.pyi`; each is imported when it is first used.
"""

from tauforge.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
