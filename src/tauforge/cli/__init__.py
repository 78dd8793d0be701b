"""The command `tauforge`: one file for each command. What it prints is computed elsewhere."""
