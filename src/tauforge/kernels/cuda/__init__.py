"""Graphs as CUDA C, compiled by NVRTC through CuPy. Writing the source needs neither a GPU nor CuPy."""
