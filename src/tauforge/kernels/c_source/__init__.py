"""Graphs as straight-line C: what CUDA C and C99 have in common."""
