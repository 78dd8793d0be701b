"""Analysis: costs and disagreements of formulations, parameters that matter, what a motion asks of a platform.

The public names are in `__init__.pyi`; each is imported when it is first used.
"""

from tauforge.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
