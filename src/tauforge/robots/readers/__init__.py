"""Readers of robot description files, one module for each format."""
