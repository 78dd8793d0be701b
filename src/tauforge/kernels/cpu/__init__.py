"""Kernels as vector machine code of this processor, by LLVM, called through NumPy."""
