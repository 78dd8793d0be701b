"""Graphs made callable: vector machine code through LLVM, bound to NumPy. This package knows no robot."""
