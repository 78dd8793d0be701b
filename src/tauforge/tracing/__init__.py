"""Recording scalars: expression graphs, their simplification, operation counts and critical paths."""
