"""Profiles: how to recognise the programs that sites run on, and rules for their URLs.

Each program has a file in ``programs/``, which :mod:`.profile` reads. :mod:`.recognition` tells
which program made a page, and :mod:`.installation` which rules hold below the place where it is
installed.
"""
