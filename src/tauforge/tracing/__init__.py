"""Scalars that record: expression graphs, their simplification, operation counts and critical paths."""
