"""Tables of functions over arrays: by kernels, by the NumPy reference, on arrays of JAX, torch and CuPy."""
