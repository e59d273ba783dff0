"""The pages that were linked under several URLs: what was kept, and what was dropped for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING
from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.redaction import shown_url, visible
from scrapy_urlcanon.report.sampling import COUNTED_URLS, GroupSample
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.sampling import SampledGroup, SampledVariant
    from scrapy_urlcanon.report.screen import Screen

_PRINTED = 10
_PRINTED_VARIANTS = 3


@frozen
class StepOnUrl:
    """A rule that changed the kept or the dropped URL on the way to what they share."""

    option: str
    """The name of the option, or of a normalization that is always on."""
    layer: str
    """What turned it on, as in :attr:`scrapy_urlcanon.canonicalizer.canonicalizer.Step.layer`."""
    on: str
    """Which URL it changed: ``dropped``, ``kept`` or ``both``."""


@frozen
class Variant:
    """A URL that was dropped because another one of the page was seen before."""

    url: str
    """Redacted, and shortened where it is very long."""
    dropped: int
    """How many requests for it."""
    steps: tuple[StepOnUrl, ...]


@frozen
class Group:
    """One page: the URL that was kept and some of those that were dropped for it."""

    kept: str
    domain: str
    dropped: int
    """How many requests for a variant."""
    urls: int
    """How many variants there are, up to :data:`COUNTED_URLS`."""
    variants: tuple[Variant, ...]
    """A sample of them, of each combination of rules some."""

    @property
    def written_urls(self) -> str:
        """How many variants there are, in words."""
        return (
            f"{'at least ' if self.urls >= COUNTED_URLS else ''}{count_of(self.urls, 'other URL')}"
        )


_DECLARATION = StepOnUrl(DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING, "kept")


class Pages(Section):
    """The pages with the most drops, and a sample of the others; the largest first.

    What made the variants of a page equal is found out at the end, for those that are shown.
    """

    place = 50
    name = "pages"
    label = "Pages"
    key = "groups"
    row = Group

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._canonicalizer = canonicalizer
        self._sample = GroupSample()

    def note_drop(self, drop: Drop) -> None:
        if not drop.is_exact:
            self._sample.add(drop)

    def rows(self, figures: Mapping[str, int]) -> tuple[Group, ...]:
        del figures
        return tuple(self._group(group) for group in self._sample.groups())

    @classmethod
    def check(cls, report: Report) -> None:
        for number, group in enumerate(report.rows(Group)):
            if sum(shown.dropped for shown in group.variants) > group.dropped:
                raise ReportError(f"groups[{number}]: its variants are more than what was dropped")

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        groups = report.rows(Group)
        return {"groups": groups, "sampled": sum(group.dropped for group in groups)}

    @classmethod
    def show(cls, report: Report, screen: Screen) -> None:
        groups = report.rows(Group)
        if groups:
            screen.heading("Pages with the most dropped requests")
        for group in groups[:_PRINTED]:
            _show_group(group, screen)

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
        own = options if isinstance(options, dict) else None
        steps = self._canonicalizer.explain(url, options=own).steps
        return {step.option: step.layer for step in steps}


def _steps(on_dropped: dict[str, str], on_kept: dict[str, str]) -> Iterator[StepOnUrl]:
    for option, layer in on_dropped.items():
        yield StepOnUrl(option, layer, "both" if option in on_kept else "dropped")
    for option, layer in on_kept.items():
        if option not in on_dropped:
            yield StepOnUrl(option, layer, "kept")


def _show_group(group: Group, screen: Screen) -> None:
    screen.line((group.kept, "bold"))
    dropped = count_of(group.dropped, "request")
    screen.line((f"{dropped} dropped, for {group.written_urls}", "dim"), indent=2)
    rows = []
    for variant in group.variants[:_PRINTED_VARIANTS]:
        options = [step.option for step in variant.steps if step.on != "both"]
        options = options or [step.option for step in variant.steps]
        url = screen.marked(variant.url, group.kept)
        rows.append((f"{variant.dropped:,}", url.append(f"  {visible(' '.join(options))}", "cyan")))
    screen.table(rows, indent=2)
    screen.line()
