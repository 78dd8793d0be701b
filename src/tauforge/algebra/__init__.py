"""Scalars, 3-vectors, rotations and inertias. Imports nothing else of the package, and no numpy."""
