"""Analysis: operation counts, comparisons of formulations, singularities, sizing, base parameters, linearisation."""
