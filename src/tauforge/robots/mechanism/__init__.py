"""Mechanisms: bodies and joints as the machine is built, with branches and closed loops."""
