"""Profiles: what is known of the programs that sites run on, and what tells them.

A program is one file of ``programs/``, which :mod:`.profile` reads; :mod:`.recognition` says which
program made a page, and :mod:`.installation` what holds below the place where it stands.
"""
