"""A sample of the groups of variants, in bounded memory, the same in each run.

It keeps the groups with the most drops, and for each stratum (a combination of domain and rules)
the groups with the smallest fingerprints. Fingerprints are digests, so each group is as likely as
any other, and the order of the requests makes no difference.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, META_KEY

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.dropped.drop import Drop

COUNTED_URLS = 256
"""Up to how many URLs of a group are counted."""
_GROUPS = 500
_STRATA = 500
_GROUPS_OF_STRATUM = 8
_LARGEST = 100
_COUNTED_GROUPS = 50_000
_VARIANTS = 10
_VARIANTS_OF_RULES = 5


class SampledVariant:
    """A dropped URL, as it was seen first."""

    def __init__(self, drop: Drop) -> None:
        self.url = drop.request.url
        self.options: Any = drop.request.meta.get(META_KEY)
        """The options of its request, from ``meta``."""
        self.linked_from = drop.linked_from
        self.redirected_from = next(reversed(sources_of(drop.request)), "")
        self.entries = drop.entries
        """What made it a variant then. Later one of these may be suspended, or others may hold."""
        self.is_declared = DECLARED_CANONICAL in drop.rules
        """Whether it was dropped because the page of the kept URL declares it, not by a rule."""
        self.dropped = 0


class SampledGroup:
    """A kept URL and some of the URLs that were dropped for it."""

    def __init__(self, drop: Drop) -> None:
        self.kept = drop.first
        self.domain = drop.domain
        self.dropped = 0
        self.variants: dict[str, SampledVariant] = {}
        self._urls: set[int] = set()
        self._of_rules: Counter[frozenset[str]] = Counter()

    @property
    def urls(self) -> int:
        """The number of different URLs, up to :data:`COUNTED_URLS`."""
        return len(self._urls)

    def add(self, drop: Drop, dropped: int) -> None:
        """Note *drop*, and that the group has had at least *dropped* of them."""
        url = drop.request.url
        self.dropped = max(self.dropped + 1, dropped)
        if len(self._urls) < COUNTED_URLS:
            self._urls.add(hash(url))
        if url not in self.variants:
            if len(self.variants) == _VARIANTS or self._of_rules[drop.rules] == _VARIANTS_OF_RULES:
                return
            self._of_rules[drop.rules] += 1
            self.variants[url] = SampledVariant(drop)
        self.variants[url].dropped += 1


class GroupSample:
    """Chooses the groups of one crawl that the report shows."""

    def __init__(self) -> None:
        self._drops: Counter[bytes] = Counter()
        self._of_stratum: Counter[tuple[str, frozenset[str]]] = Counter()
        self._strata: dict[tuple[str, frozenset[str]], dict[bytes, SampledGroup]] = {}
        self._sampled: dict[bytes, SampledGroup] = {}
        self._largest: dict[bytes, SampledGroup] = {}
        self._smallest_of_largest = 0

    def add(self, drop: Drop) -> None:
        """Note *drop*, a dropped variant."""
        fingerprint = drop.fingerprint
        stratum = (drop.domain, drop.rules)
        dropped = self._count(fingerprint)
        group = (
            self._sampled.get(fingerprint)
            or self._largest.get(fingerprint)
            or self._admit_to_stratum(drop, stratum)
        )
        if stratum in self._strata:
            self._of_stratum[stratum] += 1
        if not group and dropped > self._smallest_of_largest:
            group = SampledGroup(drop)
        if group:
            group.add(drop, dropped)
            if group.dropped > self._smallest_of_largest and fingerprint not in self._largest:
                self._admit_to_largest(fingerprint, group)

    def groups(self) -> list[SampledGroup]:
        """Return the sample, groups with the most drops first.

        It has the largest groups, and then one group of each stratum in turn, beginning with the
        strata with the most drops.
        """
        chosen = dict(self._largest)
        ranked = sorted(
            self._strata, key=lambda key: (-self._of_stratum[key], key[0], sorted(key[1]))
        )
        rounds = zip_longest(*(sorted(self._strata[key].items()) for key in ranked))
        for fingerprint, group in filter(None, chain.from_iterable(rounds)):
            if len(chosen) >= _GROUPS:
                break
            chosen.setdefault(fingerprint, group)
        return sorted(chosen.values(), key=lambda group: (-group.dropped, group.kept))

    def _count(self, fingerprint: bytes) -> int:
        if len(self._drops) >= _COUNTED_GROUPS and fingerprint not in self._drops:
            # The half with the fewest drops is forgotten. If one of these becomes large later, it
            # is counted from then on, unless its group is in the sample and has its own count.
            self._drops = Counter(dict(self._drops.most_common(_COUNTED_GROUPS // 2)))
        self._drops[fingerprint] += 1
        return self._drops[fingerprint]

    def _admit_to_stratum(self, drop: Drop, key: tuple[str, frozenset[str]]) -> SampledGroup | None:
        stratum = self._strata.get(key)
        if stratum is None:
            if len(self._strata) == _STRATA:
                return None
            stratum = self._strata[key] = {}
        if len(stratum) == _GROUPS_OF_STRATUM:
            last = max(stratum)
            if drop.fingerprint > last:
                return None
            del stratum[last], self._sampled[last]
        group = stratum[drop.fingerprint] = self._sampled[drop.fingerprint] = SampledGroup(drop)
        return group

    def _admit_to_largest(self, fingerprint: bytes, group: SampledGroup) -> None:
        self._largest[fingerprint] = group
        if len(self._largest) > _LARGEST:
            # Of several groups with the fewest drops, the one that came first gives way.
            del self._largest[min(self._largest, key=lambda key: self._largest[key].dropped)]
        if len(self._largest) == _LARGEST:
            self._smallest_of_largest = min(group.dropped for group in self._largest.values())
