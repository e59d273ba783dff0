"""Which entries of the rules make two URLs one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.rules.catalogue import taken_back

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.canonicalizer.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry


class MergingEntries(NamedTuple):
    """The entries that make two URLs one."""

    entries: tuple[RuleEntry, ...]
    """Empty if no option does, but a normalization that is always on."""
    is_joint: bool
    """Whether none of the entries is necessary, because others do the same: the two stay one until
    all of these are off. Otherwise each is necessary: without any one of them the two differ."""


def merging_entries(canonicalizer: Canonicalizer, url: str, other: str) -> MergingEntries:
    """Return the entries that make *url* and *other* one.

    Entries that change a URL but merge nothing, as sorting the query often does, are left out.

    >>> from scrapy_urlcanon.canonicalizer import Canonicalizer
    >>> options = {"drop_params": ["sid", "ref", "page"], "default_params": {"page": "1"}}
    >>> rules = Canonicalizer({"a.example": options})
    >>> print(*merging_entries(rules, "http://a.example/?sid=1&ref=2&a=3", "http://a.example/?a=3").entries)
    drop_params:sid drop_params:ref
    >>> merge = merging_entries(rules, "http://a.example/?page=1", "http://a.example/")
    >>> print(*merge.entries, merge.is_joint)
    drop_params:page default_params:page True
    """
    catalogue = canonicalizer.configuration.catalogue

    def differ(off: Iterable[RuleEntry]) -> bool:
        without = canonicalizer.canonicalize_without
        return without(url, off) != without(other, off)

    off: dict[RuleEntry, None] = {}
    while not differ(off):
        options = taken_back(off, catalogue)
        # An entry that is off now may have hidden another one that does the same.
        fired = [
            entry
            for one in (url, other)
            for step in canonicalizer.explain(one, options=options).steps
            for entry in step.entries
            if entry.option in catalogue.by_name and entry not in off
        ]
        if not fired:
            return MergingEntries((), is_joint=False)
        off.update(dict.fromkeys(fired))
    necessary = tuple(entry for entry in off if differ([entry]))
    if necessary:
        return MergingEntries(necessary, is_joint=False)
    for entry in tuple(off):
        rest = [other for other in off if other != entry]
        if differ(rest):
            del off[entry]
    return MergingEntries(tuple(off), is_joint=True)
