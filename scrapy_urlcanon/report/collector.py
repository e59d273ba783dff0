"""Collects what a report shows while the crawl runs, in bounded memory.

Figures are exact. Of URLs there is a sample (:mod:`scrapy_urlcanon.report.sampling`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.report.document import Domain, Group, StepOnUrl, Variant
from scrapy_urlcanon.report.sampling import GroupSample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_urlcanon.canonicalizer import Explanation
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.report.sampling import SampledGroup, SampledVariant

    Explain = Callable[[str, Any], Explanation]

OTHER = "other"
"""The domain that the drops of all domains count for that are not listed."""
_DECLARATION = StepOnUrl(DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING, "kept")
_COUNTED_DOMAINS = 5_000
_LISTED_DOMAINS = 1_000


class _DomainCount:
    def __init__(self) -> None:
        self.exact = self.variant = 0
        self.options: Counter[str] = Counter()

    def include(self, other: _DomainCount) -> None:
        self.exact += other.exact
        self.variant += other.variant
        self.options += other.options


class DropCollector:
    """Collects the drops of one crawl.

    :param explain: returns the explanation of a URL, given the options of its request
        alone. It is asked at the end, for the URLs that are shown.
    """

    def __init__(self, explain: Explain) -> None:
        self._explain = explain
        self._domains: dict[str, _DomainCount] = {}
        self._sample = GroupSample()

    def add(self, drop: Drop) -> None:
        """Note one dropped request."""
        name = drop.domain
        if name not in self._domains and len(self._domains) >= _COUNTED_DOMAINS:
            name = OTHER
        domain = self._domains.setdefault(name, _DomainCount())
        if drop.is_exact:
            domain.exact += 1
            return
        domain.variant += 1
        domain.options.update(drop.rules)
        self._sample.add(drop)

    def domains(self) -> tuple[Domain, ...]:
        """Return the domains with the most drops, and the others as one."""
        counts = dict(self._domains)
        others = counts.pop(OTHER, _DomainCount())
        ranked = sorted(counts, key=lambda name: (-counts[name].exact - counts[name].variant, name))
        for name in ranked[_LISTED_DOMAINS:]:
            others.include(counts[name])
        listed = [(name, counts[name]) for name in ranked[:_LISTED_DOMAINS]]
        if others.exact + others.variant:
            listed.append((OTHER, others))
        return tuple(_domain(name, count) for name, count in listed)

    def groups(self) -> tuple[Group, ...]:
        """Return the sample of the groups, with what made their variants equal."""
        return tuple(self._group(group) for group in self._sample.groups())

    def _group(self, group: SampledGroup) -> Group:
        on_kept = self._fired(group.kept, None)
        variants = sorted(group.variants.values(), key=lambda variant: -variant.dropped)
        return Group(
            kept=shown_url(group.kept),
            domain=group.domain,
            dropped=group.dropped,
            urls=group.urls,
            variants=tuple(self._variant(variant, on_kept) for variant in variants),
        )

    def _variant(self, variant: SampledVariant, on_kept: dict[str, str]) -> Variant:
        if variant.is_declared:
            return Variant(shown_url(variant.url), variant.dropped, (_DECLARATION,))
        on_dropped = self._fired(variant.url, variant.options)
        return Variant(shown_url(variant.url), variant.dropped, tuple(_steps(on_dropped, on_kept)))

    def _fired(self, url: str, options: Any) -> dict[str, str]:
        """Return the layers of the rules that change *url*, by the name of the rule."""
        return {step.option: step.layer for step in self._explain(url, options).steps}


def _steps(on_dropped: dict[str, str], on_kept: dict[str, str]) -> Iterator[StepOnUrl]:
    for option, layer in on_dropped.items():
        yield StepOnUrl(option, layer, "both" if option in on_kept else "dropped")
    for option, layer in on_kept.items():
        if option not in on_dropped:
            yield StepOnUrl(option, layer, "kept")


def _domain(name: str, count: _DomainCount) -> Domain:
    options = dict(sorted(count.options.items(), key=lambda item: (-item[1], item[0])))
    return Domain(name, count.exact + count.variant, count.exact, count.variant, options)
