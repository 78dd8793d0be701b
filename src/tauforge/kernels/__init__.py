"""Graphs made callable: vector machine code through LLVM, bound to NumPy. Knows no robot."""
