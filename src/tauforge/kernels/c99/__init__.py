"""Specifications as C99 files: a header, a source, a self-test, a file for CMake. It knows no robot."""
