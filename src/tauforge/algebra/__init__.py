"""Scalars, 3-vectors, rotations and inertias. They import nothing else of the package, and not NumPy."""
