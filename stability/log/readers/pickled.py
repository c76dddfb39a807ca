"""Pickles of plain data, read without running what is in them.

An unpickler may be told to call anything. This one knows containers, text, numbers and the scalars
of NumPy, and refuses every other name before it is looked up.
"""

import io
import pickle
from typing import Any

import numpy as np

from stability.errors import LogFormatError

_CONTAINERS = {"dict": dict, "list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
_SCALARS = {
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
}
_MAGIC = b"\x80"


class _Plain(pickle.Unpickler):
    """An unpickler of an allow-list."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _SCALARS:
            return np.dtype if name == "dtype" else _scalar
        if module == "builtins" and name in _CONTAINERS:
            return _CONTAINERS[name]
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError(f"a persistent object {pid!r} is not plain data")


def _scalar(dtype: Any, data: Any = None) -> Any:
    """A scalar of NumPy from its bytes; of objects there is none."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biufSU" or dtype.hasobject:
        raise pickle.UnpicklingError(f"a NumPy scalar of {dtype!r} is not plain data")
    if not isinstance(data, bytes) or len(data) != dtype.itemsize:
        raise pickle.UnpicklingError("a NumPy scalar must hold the bytes of one number")
    return np.frombuffer(data, dtype)[0].item()


def is_pickle(content: bytes) -> bool:
    """Whether bytes look like a pickle of protocol 2 or later."""
    return len(content) > 2 and content[:1] == _MAGIC and content[1] in (2, 3, 4, 5)


def unpickle(content: bytes, name: str) -> Any:
    """Return the plain data of a pickle.

    Raises
    ------
    LogFormatError
        For a damaged pickle, and for anything that is not plain data.

    Examples
    --------
    >>> import pickle
    >>> unpickle(pickle.dumps({"a": [1, "b"]}), "x.p")
    {'a': [1, 'b']}
    """
    try:
        return _Plain(io.BytesIO(content)).load()
    except RecursionError:
        raise LogFormatError(f"{name}: the pickle is nested too deep to be a debate") from None
    except MemoryError:
        raise LogFormatError(f"{name}: the pickle asks for more memory than there is") from None
    except Exception as error:
        raise LogFormatError(f"{name}: not a pickle of plain data: {error}") from None
