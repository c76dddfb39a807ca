"""The commands of ``stability``, one file each: ``add`` describes it, ``run`` does it.

They read files, call the library and print; nothing else imports them.
"""
