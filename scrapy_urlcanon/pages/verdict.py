"""What is said about two URLs that a rule makes one."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Verdict(enum.Enum):
    """Whether a variant shows the page that stands for it."""

    SAME = "same"
    ANOTHER = "another"
    CANNOT_TELL = "cannot tell"


class Judgement(NamedTuple):
    """A verdict, and what decided it."""

    verdict: Verdict
    reason: str = ""
    """Why it could not be told, in a few words; empty where it was told."""
    only_variant: tuple[str, ...] = ()
    """Lines of text that the variant alone shows, some of them."""
    only_kept: tuple[str, ...] = ()
    """Lines of text that the kept page alone shows, some of them."""
