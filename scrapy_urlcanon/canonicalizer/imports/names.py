"""Names of parameters as our lists write them."""

from __future__ import annotations

NOT_WRITABLE = "no entry of our lists is empty, begins with ! or has a literal * in it"


def is_writable(name: str) -> bool:
    """Tell whether a list of names can hold *name*, a decoded one, and mean just that.

    In our lists ``*`` is a glob, ``!`` before a name takes it back, and no name is empty.

    >>> is_writable("piid[0]"), is_writable("a*"), is_writable("")
    (True, False, False)
    """
    return bool(name) and "*" not in name and not name.startswith("!")
