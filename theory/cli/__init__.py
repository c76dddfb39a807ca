"""The commands of ``theory``, one file each: ``add`` describes it, ``run`` does it."""
