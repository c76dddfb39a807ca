"""Monte Carlo and live debates.

This package is a named place, not yet a library: it holds no public names in this version.
Importing it checks that its siblings ``stability`` and ``theory`` are the ones it was
installed with.
"""

from sims import _guard

_guard.check_siblings()
