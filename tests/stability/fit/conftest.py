"""Shared by the tests of fits: the mixture kernels as plain Python, without a compiler."""

import importlib.util

import numba
import pytest

from stability._kernels import mixture


@pytest.fixture(scope="session")
def plain():
    """Return the module of the mixture kernels with nothing compiled."""
    before = numba.config.DISABLE_JIT
    numba.config.DISABLE_JIT = True
    try:
        spec = importlib.util.spec_from_file_location("plain_mixture", mixture.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        numba.config.DISABLE_JIT = before
    return module
