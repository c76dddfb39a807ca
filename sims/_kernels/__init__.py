"""All numba code of the package; kernels that call each other share a file."""
