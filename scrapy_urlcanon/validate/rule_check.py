"""The rules to validate, each with pairs of URLs that it merges."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import define, field

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.parsing import as_fetched
from scrapy_urlcanon.canonicalizer.rules import BY_NAME, Rule
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, SiteEvidence
from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.results.in_force import settings_of
from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.verdict import NO_TEXT, SHARED, Judgement, Verdict
from scrapy_urlcanon.validate.crawled import Crawled
from scrapy_urlcanon.validate.found_pairs import FoundPair, FoundPairs
from scrapy_urlcanon.validate.other_pages import OtherPages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.explanation import Step
    from scrapy_urlcanon.canonicalizer.layers import Layer
    from scrapy_urlcanon.canonicalizer.values import Setting
    from scrapy_urlcanon.confidence import Outcome
    from scrapy_urlcanon.pages.shown import Shown

    _Checks = dict[tuple[str, Layer], list["RuleCheck"]]
    """The checks for each option of each rule set."""


_NO_EQUALS_SIGN = re.compile(r"[?&][^=&#]+(?:[&#]|\Z)")


@define
class RuleCheck:
    """One rule, and what was found about it."""

    option: str
    layer: Layer
    """File and pattern, as in ``urlcanon.toml['example.com']``."""
    setting: Any
    """The value of the option, or one entry of it that can be right or wrong by itself."""
    overrides: bool = False
    """Whether it is written in ``override``."""
    pairs: list[tuple[str, str]] = field(factory=list)
    """The pairs still to be fetched, the next one last: a URL, and what the rule makes of it.

    For ``skip`` the second is a URL at which the crawl has seen the page, or an empty string.
    """
    site: SiteEvidence = field(factory=SiteEvidence)
    """What is known of the pages of the site, whatever rule they were fetched for."""
    common: CommonContents = field(factory=CommonContents)
    """What several pages have in common: a log-in form would agree with every rule."""
    crawled: Crawled = field(factory=Crawled)
    """What the crawl has seen, for a rule of ``skip``."""
    pages: OtherPages = field(factory=lambda: OtherPages.of(Canonicalizer().configuration, ()))
    """Tells which URLs of the crawl show other pages, to compare pairs with."""
    is_returning: bool = False
    """Whether only the second visit of each visitor counts, since the first shows another page."""
    evidence: FoundPairs = field(init=False)
    """The evidence for and against it."""

    def __attrs_post_init__(self) -> None:
        """Begin with no evidence."""
        self.evidence = FoundPairs(self.site)

    @property
    def is_skip(self) -> bool:
        """Whether it skips URLs instead of merging them."""
        return self.option == SKIP

    @property
    def merges_nothing(self) -> bool:
        """Whether it only takes back other rules: without it more would be merged.

        >>> from scrapy_urlcanon.canonicalizer.layers import Layer
        >>> settings = [("drop_params", ["!sid"]), ("drop_params", ["sid"]), ("www", "keep")]
        >>> [RuleCheck(name, Layer(""), setting).merges_nothing for name, setting in settings]
        [True, False, True]
        """
        if isinstance(self.setting, dict):
            return None in self.setting.values()
        if isinstance(self.setting, list):
            return any(isinstance(entry, str) and entry[:1] == "!" for entry in self.setting)
        return bool(self.setting == BY_NAME[self.option].neutral)

    @property
    def right(self) -> int:
        """How many pairs showed the same page."""
        return self.evidence.right

    @property
    def wrong(self) -> int:
        """How many pairs showed two pages."""
        return len(self.evidence.others)

    @property
    def unjudged(self) -> int:
        """How many pairs could not be fetched or compared."""
        return self.evidence.reasons.total()

    @property
    def outcome(self) -> Outcome:
        """The conclusion so far."""
        return self.evidence.outcome

    @property
    def example(self) -> tuple[str, str] | None:
        """The first pair that showed two pages."""
        return next(((other.url, other.first) for other in self.evidence.others), None)

    @property
    def text(self) -> str:
        """The setting as text for a reader.

        >>> from scrapy_urlcanon.canonicalizer.layers import Layer
        >>> RuleCheck("default_params", Layer("urlcanon.toml"), {"page": "1"}).text
        'page=1'
        """
        if isinstance(self.setting, dict):
            return ", ".join(f"{name}={value}" for name, value in self.setting.items())
        if not isinstance(self.setting, list):
            return str(self.setting)
        return ", ".join(
            " -> ".join(item) if isinstance(item, list) else str(item) for item in self.setting
        )

    def add(
        self,
        pair: tuple[str, str],
        judgement: Judgement,
        variants: Sequence[Shown] = (),
        kept: Sequence[Shown] = (),
        led_to: str = "",
    ) -> None:
        """Note what *pair* showed.

        :param variants: what the fetches of the first URL showed.
        :param kept: what the fetches of the second URL showed.
        :param led_to: the URL to which the second one was redirected.
        """
        url, canonical = pair[0], pair[1] or pair[0]
        other = OtherPage(url, canonical, judgement.own)
        is_other = judgement.verdict is Verdict.ANOTHER
        if is_other and not self.site.is_new(canonical, other, judgement.lacking):
            judgement = Judgement(Verdict.CANNOT_TELL, SHARED)
        page = self.pages.page_of(canonical)
        is_led_away = bool(led_to) and self.pages.page_of(led_to) != page
        found = FoundPair(other, page, judgement, is_led_away)
        if variants or kept:
            found.note(variants, kept)
        self.evidence.add(found)

    def alone(self, url: str, first: Shown, again: Shown) -> Judgement:
        """Return the verdict about *url*, whose page was found at no other known URL.

        :param first: what it showed.
        :param again: what it showed the second time; differences between the two are noise.
        """
        noise = self.site.noise
        noise.saw(url, again.lines)
        changed = noise.note(first.lines, again.lines)
        if self.common.is_of_another(again.digest, url):
            self.site.note_shared(again.texts)
            return Judgement(Verdict.CANNOT_TELL, SHARED)
        own = noise.of_one_page(again.texts, changed)
        if not own:
            return Judgement(Verdict.CANNOT_TELL, NO_TEXT)
        return Judgement(Verdict.ANOTHER, own=own)


def checks_of(
    configuration: Configuration,
    urls: Iterable[str],
    *,
    most: int,
    crawled: Crawled | None = None,
) -> list[RuleCheck]:
    """Return a check of each rule of *configuration*, with pairs that *urls* make.

    A pair is a URL and what one rule alone makes of it. Pairs with only one URL in *urls* come
    first, since rules learned from these URLs were not tested on such pairs. The choice is the same
    in each run.

    >>> rules = {"a.example": {"drop_params": ["sid", "ref"], "www": "strip"}}
    >>> configuration = Canonicalizer(rules, preset="scrapy").configuration
    >>> for check in checks_of(configuration, ["http://www.a.example/?ref=2&sid=1"], most=5):
    ...     print(check.option, check.text, check.pairs)
    drop_params sid [('http://a.example/?ref=2&sid=1', 'http://a.example/?ref=2')]
    drop_params ref [('http://a.example/?ref=2&sid=1', 'http://a.example/?sid=1')]
    www strip [('http://www.a.example/?ref=2&sid=1', 'http://a.example/?ref=2&sid=1')]

    :param most: how many pairs one rule may have.
    :param crawled: what the crawl has seen; without it, rules of ``skip`` have no pairs.
    """
    site = SiteEvidence()
    crawled = crawled or Crawled()
    seen = set(urls)
    pages = OtherPages.of(configuration, seen)
    checks: _Checks = {}
    for rule_set in chain.from_iterable(configuration.origins):
        layer, overrides = rule_set.layer, rule_set.overrides
        for option, value in rule_set.options.items():
            checks.setdefault((option, layer), []).extend(
                RuleCheck(
                    option, layer, setting, overrides, site=site, crawled=crawled, pages=pages
                )
                for setting in settings_of(option, value)
            )
    merged = _merged(checks, seen, Canonicalizer.from_configuration(configuration))
    skipped = _skipped(checks, seen, crawled)
    every = [check for group in checks.values() for check in group]
    found: dict[int, set[tuple[str, str]]] = {id(check): set() for check in every}
    for check, pair in chain(merged, skipped):
        found[id(check)].add(pair)
    for check in every:
        # Any sample of skipped URLs will do: all of them were seen.
        first = set() if check.is_skip else seen
        pairs = sorted(found[id(check)], key=lambda pair: _order(pair, first))
        check.pairs = pairs[:most][::-1]
    return every


def _merged(
    checks: _Checks, urls: Iterable[str], canonicalizer: Canonicalizer
) -> Iterator[tuple[RuleCheck, tuple[str, str]]]:
    """Yield each check with what its rule alone makes of the URLs that it changes."""
    for url in urls:
        for step in canonicalizer.explain(url).steps:
            group = [
                check for layer in step.layers for check in checks.get((step.option, layer), ())
            ]
            for check in group:
                after = step.after if len(group) == 1 else _alone(check, step, canonicalizer)
                if after != step.before:
                    yield check, (as_fetched(step.before, url), as_fetched(after, url))


def _skipped(
    checks: _Checks, urls: Iterable[str], crawled: Crawled
) -> Iterator[tuple[RuleCheck, tuple[str, str]]]:
    """Yield each check of ``skip`` with the URLs that its entry skips, and their places."""
    linked = _as_linked(urls) if crawled.skipped else {}
    for skipped in crawled.skipped:
        for check in checks.get((SKIP, skipped.cause.layer), ()):
            if check.setting == [skipped.cause.entry]:
                url, place = (linked.get(one, one) for one in (skipped.url, skipped.place))
                yield check, (url, place)


def _as_linked(urls: Iterable[str]) -> dict[str, str]:
    """Return URLs with a parameter without ``=`` by the spelling that learned rules give them.

    >>> _as_linked(["http://a.example/?print", "http://a.example/?p=1"])
    {'http://a.example/?print=': 'http://a.example/?print'}
    """
    return {locate(url).url: url for url in sorted(urls) if _NO_EQUALS_SIGN.search(url)}


def _alone(check: RuleCheck, step: Step, canonicalizer: Canonicalizer) -> str:
    """Return what the rule of *check* alone makes of the URL before *step*."""
    option = BY_NAME[check.option]
    setting = option.values.merge(None, check.setting, check.layer)
    # Together with the other options, on which the rule may depend.
    options: Mapping[str, Setting] = {
        **canonicalizer.policy(step.before).options,
        check.option: setting,
    }
    rule = option.compile(options)
    url = split(step.before)
    return str(rule.apply(url)) if isinstance(rule, Rule) else step.before


def _order(pair: tuple[str, str], seen: set[str]) -> tuple[bool, bytes]:
    digest = blake2b(" ".join(pair).encode(errors="replace"), digest_size=8).digest()
    return seen.issuperset(pair), digest
