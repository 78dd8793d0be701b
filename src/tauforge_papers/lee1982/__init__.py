"""C. S. G. Lee, M. J. Chung, T. N. Mudge & J. L. Turney (1982): control of a PUMA by computed torque."""
