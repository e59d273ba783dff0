"""The pages with several URLs: which URL was kept, and which were dropped for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, frozen

from scrapy_urlcanon.canonicalizer.entries import SKIP, RuleEntry
from scrapy_urlcanon.crawl.checks.entries.shown_rules import shown_layer
from scrapy_urlcanon.crawl.settings import (
    DECLARED_CANONICAL,
    DECLARED_CANONICAL_SETTING,
    name_of,
)
from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.redaction import redact_rule, shown_url, visible
from scrapy_urlcanon.report.sampling import COUNTED_URLS, GroupSample
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.canonicalizer.explanation import Step
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.sampling import SampledGroup, SampledVariant
    from scrapy_urlcanon.report.screen import Cell, Screen

Row = TypeVar("Row", "Group", "Variant")

_PRINTED = 10
_PRINTED_VARIANTS = 3


@frozen
class StepOnUrl:
    """A rule that changed the kept or the dropped URL on the way to their canonical URL."""

    option: str
    """The name of the option, or of a normalization that is always on."""
    layer: str
    """What turned it on, as in :attr:`scrapy_urlcanon.canonicalizer.Step.layer`."""
    on: str
    """Which URL it changed: ``dropped``, ``kept`` or ``both``."""
    entries: tuple[str, ...] = ()
    """The entries of the option that did, such as ``sid``; without secrets."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The entries, each prefixed with the option; or the option alone."""
        return tuple(f"{self.option}:{entry}" for entry in self.entries) or (self.option,)


@frozen
class Variant:
    """A URL that was dropped because another one of the page was seen before."""

    url: str
    """Redacted, and shortened if it is very long."""
    dropped: int
    """How many requests for it were dropped."""
    steps: tuple[StepOnUrl, ...]
    linked_from: str = ""
    """The first page that linked it; empty if unknown."""
    redirected_from: str = ""
    """The URL that was redirected to it, if one was."""
    alike: int = 0
    """Its number among the variants of the page that look the same, since what differs is redacted;
    0 if no other does."""


@frozen
class Group:
    """One page: the URL that was kept and some of those that were dropped for it."""

    kept: str
    domain: str
    dropped: int
    """How many requests for variants were dropped."""
    urls: int
    """How many variants there are, up to :data:`COUNTED_URLS`."""
    variants: tuple[Variant, ...]
    """A sample of them, with some for each combination of rules."""
    alike: int = 0
    """Its number among the pages whose kept URLs look the same; 0 if no other does."""

    @property
    def written_urls(self) -> str:
        """How many variants there are, in words."""
        return (
            f"{'at least ' if self.urls >= COUNTED_URLS else ''}{count_of(self.urls, 'other URL')}"
        )

    @property
    def is_of_sections(self) -> bool:
        """Whether the variants shown only lead to sections of the kept page.

        A fragment is not sent, so plain Scrapy would have dropped these too.
        """
        kept = self.kept.partition("#")[0]
        # What an entry removed may be redacted in both.
        return bool(self.variants) and all(
            variant.url.partition("#")[0] == kept
            and not any(step.entries for step in variant.steps)
            for variant in self.variants
        )


_DECLARATION = StepOnUrl(DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING, "kept")


class Pages(Section):
    """The pages with the most drops, and a sample of the others, largest first.

    Why the variants of a page were merged is computed at the end, for those that are shown.
    """

    place = 50
    name = "pages"
    label = "Pages"
    heading = "Pages with the most dropped requests"
    key = "groups"
    row = Group

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._sample = GroupSample()

    def note_drop(self, drop: Drop) -> None:
        if not drop.is_exact:
            self._sample.add(drop)

    def rows(self) -> tuple[Group, ...]:
        canonicalizer = self._canonicalizer.as_written()
        groups = (_group(group, canonicalizer) for group in self._sample.groups())
        return _numbered(groups, lambda group: group.kept)

    @classmethod
    def check(cls, report: Report) -> None:
        for number, group in enumerate(report.rows(Group)):
            if sum(shown.dropped for shown in group.variants) > group.dropped:
                raise ReportError(f"groups[{number}]: its variants are more than what was dropped")

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        groups = report.rows(Group)
        first = {group.domain: number for number, group in reversed([*enumerate(groups)])}
        return {
            "groups": groups,
            "sampled": sum(group.dropped for group in groups),
            "first_of_domain": first,
        }

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        for group in report.rows(Group)[:_PRINTED]:
            _show_group(group, screen)


def _group(group: SampledGroup, canonicalizer: Canonicalizer) -> Group:
    on_kept = canonicalizer.explain(group.kept).steps
    variants = sorted(group.variants.values(), key=lambda variant: -variant.dropped)
    rows = (_variant(variant, on_kept, canonicalizer) for variant in variants)
    return Group(
        kept=shown_url(group.kept),
        domain=group.domain,
        dropped=group.dropped,
        urls=group.urls,
        variants=_numbered(rows, lambda variant: variant.url),
    )


def _variant(
    variant: SampledVariant, on_kept: tuple[Step, ...], canonicalizer: Canonicalizer
) -> Variant:
    skips = tuple(redact_rule(entry.entry) for entry in variant.entries if entry.is_skip)
    steps: Iterable[StepOnUrl]
    if skips:
        steps = (StepOnUrl(SKIP, name_of("skip_places"), "dropped", skips),)
    elif variant.is_declared:
        steps = (_DECLARATION,)
    else:
        own = variant.options if isinstance(variant.options, dict) else None
        on_dropped = canonicalizer.explain(variant.url, options=own).steps
        steps = _steps(_fired(on_dropped, variant.entries), _fired(on_kept, variant.entries))
    return Variant(
        shown_url(variant.url),
        variant.dropped,
        tuple(steps),
        shown_url(variant.linked_from),
        shown_url(variant.redirected_from),
    )


def _fired(steps: Iterable[Step], entries: AbstractSet[RuleEntry]) -> dict[str, tuple[Cause, ...]]:
    """Return for each option the causes in *steps* that are among *entries*."""
    fired: dict[str, tuple[Cause, ...]] = {}
    for step in steps:
        causes = (one for one in step.causes if RuleEntry(step.option, one.entry) in entries)
        both = dict.fromkeys((*fired.get(step.option, ()), *causes))
        if both:
            fired[step.option] = tuple(both)
    return fired


def _steps(
    on_dropped: Mapping[str, tuple[Cause, ...]], on_kept: Mapping[str, tuple[Cause, ...]]
) -> Iterator[StepOnUrl]:
    for option, causes in on_dropped.items():
        on = "both" if option in on_kept else "dropped"
        yield _step(option, (*causes, *on_kept.get(option, ())), on)
    for option, causes in on_kept.items():
        if option not in on_dropped:
            yield _step(option, causes, "kept")


def _step(option: str, causes: Iterable[Cause], on: str) -> StepOnUrl:
    layers = dict.fromkeys(cause.layer for cause in causes)
    entries = dict.fromkeys(redact_rule(cause.entry) for cause in causes if cause.entry)
    return StepOnUrl(option, ", ".join(map(shown_layer, layers)), on, tuple(entries))


def _numbered(rows: Iterable[Row], text_of: Callable[[Row], str]) -> tuple[Row, ...]:
    """Return *rows*; those with the same text are numbered among themselves."""
    rows = tuple(rows)
    texts = Counter(map(text_of, rows))
    numbers: Counter[str] = Counter()
    numbered = []
    for row in rows:
        text = text_of(row)
        numbers[text] += 1
        numbered.append(evolve(row, alike=numbers[text]) if texts[text] > 1 else row)
    return tuple(numbered)


def _show_group(group: Group, screen: Screen) -> None:
    screen.line((group.kept, "bold"), (_written_number(group), "dim"))
    dropped = count_of(group.dropped, "request")
    screen.line((f"{dropped} dropped, for {group.written_urls}", "dim"), indent=2)
    rows: list[tuple[Cell, Cell]] = []
    for variant in group.variants[:_PRINTED_VARIANTS]:
        steps = [step for step in variant.steps if step.on != "both"] or variant.steps
        options = [rule for step in steps for rule in step.rules]
        url = screen.marked(variant.url, group.kept)
        url.append(_written_number(variant), "dim").append(
            f"  {visible(' '.join(options))}", "cyan"
        )
        rows.append((f"{variant.dropped:,}", url))
        rows += [("", (text, "dim")) for text in _ways_to(variant)]
    screen.table(rows, indent=2)
    screen.line()


def _written_number(row: Group | Variant) -> str:
    return f"  (no. {row.alike} that reads the same)" if row.alike else ""


def _ways_to(variant: Variant) -> Iterator[str]:
    if variant.linked_from:
        yield f"linked from {variant.linked_from}"
    if variant.redirected_from:
        yield f"redirected from {variant.redirected_from}"
