"""The command `tauforge`: one room for each group of commands. What it prints is computed elsewhere."""
