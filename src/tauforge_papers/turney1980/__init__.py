"""J. L. Turney, T. N. Mudge & C. S. G. Lee (1980): Lagrange-Euler and Newton-Euler arms are equivalent."""
