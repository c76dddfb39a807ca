"""Make sure that ``stability`` and ``theory`` are this project's packages.

The three packages of one distribution lie side by side. A stray ``theory.py`` in the working
folder, or another distribution that installs a module called ``stability``, would be imported
in their place and fail later with a puzzling message; this module says so at once.
"""

from importlib.util import find_spec
from pathlib import Path

_SIBLINGS = ("stability", "theory")


def check_siblings() -> None:
    """Raise ImportError, naming the path, when a sibling package is shadowed or missing."""
    home = Path(__file__).resolve().parent.parent
    for name in _SIBLINGS:
        expected = home / name / "__init__.py"
        spec = find_spec(name)
        origin = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
        if origin == expected:
            continue
        found = "no module of that name" if origin is None else str(origin)
        raise ImportError(
            f"sims needs the package {name!r} of debate-stability at {expected}, but Python finds "
            f"{found}. Rename or remove the other one, or use an environment of its own "
            f"(the distributions 'stability' and 'sims' of the public index cannot share one "
            f"with debate-stability)."
        )
