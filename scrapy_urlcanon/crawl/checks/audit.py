"""Checks, while crawling, whether what the rules merge is one page."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from hashlib import blake2b
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request, signals

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.confidence import wilson_interval
from scrapy_urlcanon.crawl.held_bytes import HeldBytes, parts_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, RESCUE, mark_of, marked, with_url
from scrapy_urlcanon.crawl.seen import record_as_seen
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, META_KEY
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.pages.same_page import same_page
from scrapy_urlcanon.pages.verdict import Judgement, Verdict
from scrapy_urlcanon.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats

logger = logging.getLogger(__name__)

FIRST = 3
"""How many drops of each option on each domain are audited whatever the share.

Also how many verdicts there must be before an option is suspended: one page that
happened to change is not to do that.
"""
_REMEMBERED_FALSE = 100
_ROWS = 20


class AuditedRule(NamedTuple):
    """What the audit found about one entry of an option on one domain."""

    entry: RuleEntry
    domain: str
    audited: int
    """How many of its dropped variants were compared with the page that stood for them."""
    false: int
    """How many of those were another page."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the rate of false merges."""
        return wilson_interval(self.false, self.audited)


class AuditedPair(NamedTuple):
    """What the audit found about one dropped variant."""

    url: str
    """The variant."""
    first: str
    """The URL that stood for it."""
    entries: tuple[RuleEntry, ...]
    """Without which the two would be two pages; of another page, those that are to blame."""
    domain: str
    judgement: Judgement

    @property
    def is_same(self) -> bool:
        """Whether both show one page."""
        return self.judgement.verdict is Verdict.SAME


class Audit:
    """Fetches some of the dropped variants and compares them with their representatives.

    The spider does not get a variant that is the same page. It gets one that is another page,
    which counts against the options that merged the two. An option is suspended for a domain if
    the rate of that is, with 95 % confidence, above ``URLCANON_AUDIT_MAX_FALSE``; then the
    variants that it had dropped, and that are remembered, are scheduled again.

    :param on_audited: is called with each variant that was compared.
    """

    def __init__(
        self,
        crawler: Crawler,
        *,
        settings: CrawlSettings,
        canonicalizer: Canonicalizer,
        fingerprints: PageFingerprints,
        requests: PageRequests,
        contents: PageContents,
        rule_changes: RuleChanges,
        stats: CrawlStats,
        on_audited: Callable[[AuditedPair], None],
    ) -> None:
        self._crawler = crawler
        self._settings = settings
        self._canonicalizer = canonicalizer
        self._fingerprints = fingerprints
        self._requests = requests
        self._contents = contents
        self._rule_changes = rule_changes
        self._stats = stats
        self._on_audited = on_audited
        self._chosen: Counter[tuple[RuleEntry, str]] = Counter()
        self._audited: Counter[tuple[RuleEntry, str]] = Counter()
        self._false: dict[tuple[RuleEntry, str], list[str]] = {}
        self._false_count: Counter[tuple[RuleEntry, str]] = Counter()
        # Chosen, and waiting for the content of the page that stands for them.
        self._waiting: OrderedDict[bytes, list[Drop]] = OrderedDict()
        # Dropped, by URL: to be let through where their rule is suspended.
        self._remembered: OrderedDict[str, Drop] = OrderedDict()
        self._held = HeldBytes(parts_of)
        self._count_of_waiting = 0
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @property
    def table(self) -> list[AuditedRule]:
        """What was found about each entry on each domain, the most audited first."""
        return [
            AuditedRule(entry, domain, audited, self._false_count[entry, domain])
            for (entry, domain), audited in self._audited.most_common()
        ]

    def dropped(self, drop: Drop) -> None:
        """Choose the dropped variants to audit, and remember the others."""
        if not _is_auditable(drop) or DECLARED_CANONICAL in drop.rules:
            return
        page = self._fingerprints.page(drop.request)
        if page is None or self._requests.is_missed(page):
            return
        if not self._choose(drop):
            self._remember(drop)
        elif self._requests.is_had(page):
            self._send(page, drop)
        else:
            self._wait(page, drop)

    def takes(self, drop: Drop, page: bytes) -> bool:
        """Compare *drop* with *page*, which was fetched, if it is chosen; return whether it is."""
        if not _is_auditable(drop) or not self._choose(drop):
            return False
        self._send(page, drop)
        return True

    def had(self, page: bytes) -> None:
        """Send the variants that wait for *page*, which a callback has, by whatever request."""
        for drop in self._waiting.pop(page, ()):
            self._count_of_waiting -= 1
            self._held.remove(drop.request)
            self._send(page, drop)

    def note(self, request: Request, response: Response) -> None:
        """Note that *request* stands for its page, which the spider gets."""
        page = self._requests.page(request)
        if page is None or response.status >= HTTPStatus.BAD_REQUEST:
            return
        if page in self._waiting and mark_of(request, RESCUE):
            # This one stands for the page now.
            self._stop_waiting(page, {request.url})

    def is_known(self, request: Request, response: Response | None) -> bool:
        """Tell whether the spider has the page of an audited *request* already.

        :param request: one with a mark of the audit.
        :param response: None if it failed.
        """
        mark = mark_of(request, AUDIT) or {}
        judgement, is_known = self._judge(mark, response)
        entries = tuple(RuleEntry(*entry) for entry in mark["entries"])
        pair = AuditedPair(mark["url"], mark["first"], entries, mark["domain"], judgement)
        self._on_audited(pair)
        if judgement.verdict is Verdict.CANNOT_TELL:
            self._stats.inc(Stat.AUDIT_UNJUDGED)
            return is_known
        self._stats.inc(Stat.AUDITED)
        for entry in entries:
            self._audited[entry, mark["domain"]] += 1
        if not pair.is_same:
            self._stats.inc(Stat.AUDIT_FALSE_MERGE)
            for entry in entries:
                self._count_false(entry, mark)
        return is_known

    def _judge(self, mark: dict[str, Any], response: Response | None) -> tuple[Judgement, bool]:
        """Return what is to be said of a variant, and whether the spider is not to get it."""
        if response is None or response.status >= HTTPStatus.BAD_REQUEST:
            return Judgement(Verdict.CANNOT_TELL, "it failed"), True
        reference = self._contents.get(bytes.fromhex(mark["page"]))
        if reference is None:
            return Judgement(Verdict.CANNOT_TELL, "the kept page is forgotten"), False
        content = self._contents.read(response)
        same = same_page(reference, content)
        common = self._contents.common
        if same and common.has_several_pages(content):
            return Judgement(Verdict.CANNOT_TELL, "several pages show it"), True
        if same:
            return Judgement(Verdict.SAME), True
        if same is None or common.has_several_paths(content):
            return Judgement(Verdict.CANNOT_TELL, "several pages show it"), False
        return Judgement(Verdict.ANOTHER), False

    def _count_false(self, entry: RuleEntry, mark: dict[str, Any]) -> None:
        domain = mark["domain"]
        self._false_count[entry, domain] += 1
        urls = self._false.setdefault((entry, domain), [])
        if len(urls) < _REMEMBERED_FALSE:
            urls += [mark["first"], mark["url"]]
        found = AuditedRule(
            entry, domain, self._audited[entry, domain], self._false_count[entry, domain]
        )
        if found.audited >= FIRST and found.interval[0] > self._settings.audit_max_false:
            self._suspend(found)

    def _suspend(self, found: AuditedRule) -> None:
        entry, domain = found.entry, found.domain
        is_known = entry.option in BY_NAME or entry.option == DECLARED_CANONICAL
        if not is_known or not self._rule_changes.suspend(entry, domain):
            return
        self._stats.inc(Stat.AUDIT_SUSPENDED, rule=str(entry))
        urls = self._false[entry, domain]
        low, high = found.interval
        logger.warning(
            "%(rule)s is off for %(domain)s from now on: of %(audited)d audited "
            "duplicates that are due to it, %(false)d were other pages (%(low)d to %(high)d %%), "
            "for example %(first)s and %(second)s.%(advice)s",
            {
                "rule": entry,
                "domain": domain,
                "audited": found.audited,
                "false": found.false,
                "low": 100 * low,
                "high": 100 * high,
                "first": shown_url(urls[-2]),
                "second": shown_url(urls[-1]),
                "advice": " Correct its rule." if entry.option in BY_NAME else "",
            },
            extra={"spider": self._crawler.spider},
        )
        # The spider has these; without the rule they would seem new.
        for url in urls:
            record_as_seen(self._crawler, Request(url))
        for drop in self._take(entry, domain):
            self._stats.inc(Stat.AUDIT_LET_THROUGH)
            # A copy: the fingerprint of a request is that of the rules it was made under.
            self._crawler.engine.crawl(with_url(drop.request, drop.request.url))

    def _take(self, entry: RuleEntry, domain: str) -> list[Drop]:
        """Remove and return the drops that are due to *entry* on *domain*."""
        waiting = [drop for drops in self._waiting.values() for drop in drops]
        taken = [
            drop
            for drop in (*waiting, *self._remembered.values())
            if drop.domain == domain and entry in drop.entries
        ]
        urls = {drop.request.url for drop in taken}
        for url in urls:
            self._forget(url)
        for page in tuple(self._waiting):
            self._stop_waiting(page, urls)
        return taken

    def _choose(self, drop: Drop) -> bool:
        rules = [(entry, drop.domain) for entry in drop.entries]
        is_early = any(self._chosen[rule] < FIRST for rule in rules)
        self._chosen.update(rules)
        if is_early:
            return True
        digest = blake2b(drop.request.url.encode(errors="replace"), digest_size=8).digest()
        return int.from_bytes(digest, "big") < self._settings.audit * 2**64

    def _wait(self, page: bytes, drop: Drop) -> None:
        """Have *drop* wait for *page*; the oldest give way where there is no room."""
        self._waiting.setdefault(page, []).append(drop)
        self._count_of_waiting += 1
        self._held.add(drop.request)
        self._make_room()

    def _stop_waiting(self, page: bytes, urls: AbstractSet[str]) -> None:
        """Have those of *urls* wait no more for *page*."""
        left = []
        for drop in self._waiting[page]:
            if drop.request.url in urls:
                self._count_of_waiting -= 1
                self._held.remove(drop.request)
            else:
                left.append(drop)
        self._waiting[page] = left
        if not left:
            del self._waiting[page]

    def _remember(self, drop: Drop) -> None:
        if drop.request.url in self._remembered:
            return
        self._remembered[drop.request.url] = drop
        self._held.add(drop.request)
        self._make_room()

    def _forget(self, url: str) -> None:
        drop = self._remembered.pop(url, None)
        if drop:
            self._held.remove(drop.request)

    def _make_room(self) -> None:
        """Forget, and then give up, the oldest where they are too many or take too much memory."""
        most = self._settings.audit_max_pending
        max_bytes = self._settings.pending_max_bytes
        while self._remembered and (len(self._remembered) > most or self._held.total > max_bytes):
            self._forget(next(iter(self._remembered)))
            self._stats.inc(Stat.AUDIT_FORGOTTEN)
        while self._waiting and (self._count_of_waiting > most or self._held.total > max_bytes):
            page, drops = next(iter(self._waiting.items()))
            self._count_of_waiting -= 1
            self._held.remove(drops.pop(0).request)
            self._stats.inc(Stat.AUDIT_GIVEN_UP)
            if not drops:
                del self._waiting[page]

    def _send(self, page: bytes, drop: Drop) -> None:
        self._forget(drop.request.url)
        copy = marked(
            drop.request,
            AUDIT,
            page=page.hex(),
            first=drop.first,
            entries=sorted(map(list, self._to_blame(drop))),
            domain=drop.domain,
        )
        self._crawler.engine.crawl(copy)

    def _to_blame(self, drop: Drop) -> frozenset[RuleEntry]:
        """Return the entries without which the two URLs would have been two pages.

        Sorting the query, which changes many URLs, is not to answer for what another
        one dropped. Where several do the same they all are to blame.
        """
        without = self._canonicalizer.canonicalize_without
        necessary = frozenset(
            entry
            for entry in drop.entries
            if entry.option in BY_NAME
            and without(drop.request.url, [entry]) != without(drop.first, [entry])
        )
        return necessary or drop.entries

    def spider_closed(self, spider: Spider) -> None:
        """Complete the stats and log what was found."""
        for found in self.table[:_ROWS]:
            names = {"rule": str(found.entry), "domain": found.domain}
            self._stats.set(Stat.AUDIT_RULE_SAME, found.audited - found.false, **names)
            self._stats.set(Stat.AUDIT_RULE_ANOTHER, found.false, **names)
        if self._audited:
            logger.info("\n".join(_lines(self.table[:_ROWS])), extra={"spider": spider})


def _is_auditable(drop: Drop) -> bool:
    """Tell whether *drop* is due to a rule, and fetching it is harmless and tells something."""
    request = drop.request
    return (
        not drop.is_exact
        and bool(drop.rules)
        and request.method == "GET"
        # The options are its own: no rule of the configuration is to blame.
        and not isinstance(request.meta.get(META_KEY), dict)
        # The server never sees the fragment.
        and request.url.partition("#")[0] != drop.first.partition("#")[0]
        and not mark_of(request, AUDIT)
        and not mark_of(request, RESCUE)
    )


def _lines(table: list[AuditedRule]) -> Iterator[str]:
    yield "Audited duplicates: other pages among them, with a 95 % confidence interval"
    for found in table:
        low, high = (100 * rate for rate in found.interval)
        yield (
            f"{found.false:10,}  of {found.audited:,} ({low:.1f} to {high:.1f} %)  "
            f"{found.entry} on {found.domain}"
        )
