"""The command `tauforge`."""
