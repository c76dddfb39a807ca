"""The commands of ``sims``, one file each: ``add`` describes it, ``run`` does it."""
