"""All numba code of the package. Kernels that call each other share a file.

Kernels take typed contiguous arrays that were validated at the public door, never raise, never
allocate in inner loops and hold no random state.
"""
