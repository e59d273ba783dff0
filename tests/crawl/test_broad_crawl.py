"""Memory and time for a site of a broad crawl do not grow with the number of sites."""

import json
import tracemalloc
from collections import Counter
from types import SimpleNamespace

from counting import counting
from loopback import page
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import ONE_BY_ONE, FollowSpider

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks import audit
from scrapy_urlcanon.crawl.checks import sites as audit_sites
from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
from scrapy_urlcanon.crawl.checks.fetch_budget import FetchBudget, Need
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, SiteEvidence
from scrapy_urlcanon.crawl.checks.sites import Sites
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.declared import open_claims
from scrapy_urlcanon.crawl.declared.claims import Way
from scrapy_urlcanon.crawl.declared.open_claims import OpenClaim, OpenClaims
from scrapy_urlcanon.crawl.dropped.drop import Drop
from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
from scrapy_urlcanon.crawl.job import stored_rules
from scrapy_urlcanon.crawl.job.job_rules import JobRules
from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of
from scrapy_urlcanon.crawl.software import known_software
from scrapy_urlcanon.profiles.catalogue import our_profiles
from scrapy_urlcanon.profiles.installation import Installation


def lines_of(site, page, count=100):
    """Return lines that no other page has."""
    first = (site * 1_000 + page) * 1_000
    return {number: {number} for number in range(first, first + count)}


def test_lines_of_all_sites_are_bounded(monkeypatch):
    """A thousand sites take little more memory than two hundred do."""
    monkeypatch.setattr(audit_sites, "_REMEMBERED_LINES", 10_000)
    tracemalloc.start()
    try:
        sites = Sites()
        taken = []
        for site in range(1_000):
            for number in range(2):
                sites.saw(f"{site}.example", b"%d" % number, lines_of(site, number))
            if site in {199, 999}:
                taken.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    of_a_site = (taken[1] - taken[0]) / 800
    assert of_a_site < 3_000


def test_a_site_whose_pages_came_last_is_remembered(monkeypatch):
    """Lines of the sites whose pages came last are kept, and those of others forgotten."""
    monkeypatch.setattr(audit_sites, "_REMEMBERED_LINES", 1_000)
    sites = Sites()
    for site in range(20):
        sites.saw(f"{site}.example", b"page", lines_of(site, 1))
        sites.saw("one.example", b"%d" % site, lines_of(999, 1, 3))
    assert sites.of("one.example").noise.is_common((999_001_000, 999_001_000))
    assert sites.of("19.example").noise.size == 101
    assert sites.of("0.example").noise.size == 0


def test_very_many_sites_are_forgotten_with_what_was_found_there(monkeypatch):
    """Beyond a bound the least recent sites are forgotten, with what waits there."""
    monkeypatch.setattr(audit_sites, "_REMEMBERED_LINES", 1_000)
    monkeypatch.setattr(audit_sites, "_REMEMBERED_SITES", 10)
    sample = AuditSample(Canonicalizer(), 0.01, 0.1)
    entry = RuleEntry("drop_params", "sid")
    for site in range(1_000):
        domain = f"{site}.example"
        request = Request(f"http://{domain}/?sid=1")
        drop = Drop(request, f"http://{domain}/", b"", frozenset({entry}), domain)
        sample.wait_for_page_of(drop)
        sample.begin(request.url, [sample.records.record(entry, domain)])
        sample.ended(request.url, 0)
        sample.records.sites.saw("0.example", b"%d" % site, {site: {site}})
    kept = {record.domain for record in sample.records.audited}
    assert kept == {"0.example", *(f"{site}.example" for site in range(991, 1_000))}
    assert {record.domain for record in sample.take_waiting(at_any_cost=True)} <= kept
    # Begun anew.
    assert not sample.records.record(entry, "5.example").chosen


def test_what_two_fetches_said_is_not_forgotten(monkeypatch):
    """Noise that two fetches of a URL showed is kept.

    Without it a counter would condemn a right entry.
    """
    monkeypatch.setattr(audit_sites, "_REMEMBERED_LINES", 100)
    sites = Sites()
    noise = sites.of("a.example").noise
    for visits in (1, 3):
        noise.note({1: {visits}}, {1: {visits + 1}})
    for site in range(5):
        sites.saw(f"{site}.example", b"page", lines_of(site, 1))
    assert noise.holds(1)


def test_an_entry_that_merged_something_takes_little_memory():
    """The record of an entry on a site takes less than 400 bytes."""
    site, entry = Sites().of("a.example"), RuleEntry("drop_params", "sid")
    tracemalloc.start()
    try:
        records = [EntryRecord(entry, "a.example", site, 0.1) for _ in range(1_000)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken / len(records) < 400


def test_the_last_verdicts_count():
    """Old verdicts against an entry are forgotten if it was right ever since."""
    record = EntryRecord(RuleEntry("drop_params", "sid"), "a.example", Sites().of("a.example"), 0.1)
    for number in range(300):
        own = frozenset({(number, number)}) if number < 100 else None
        record.add(OtherPage("/?sid=1", "/", own) if own else None)
    assert (record.same, len(record.others), record.judged) == (200, 0, 200)


def test_where_no_entry_waits_nobody_asks_what_is_affordable(monkeypatch):
    """If no entry waits for an audit, the budget is not computed for each page."""
    asked = []
    monkeypatch.setattr(FetchBudget, "has_room", lambda *of: asked.append(of))
    assert [*AuditSample(Canonicalizer(), 0.01, 0.1).take_waiting()] == []
    assert asked == []


def test_next_audit_is_found_without_a_look_at_all_that_waits(monkeypatch):
    """The next audit is found without looking at all that wait."""
    asked, looked = [], []
    has_room, need = FetchBudget.has_room, EntryRecord.need.fget
    monkeypatch.setattr(
        FetchBudget, "has_room", lambda self, *of: asked.append(of) or has_room(self, *of)
    )
    monkeypatch.setattr(
        EntryRecord, "need", property(lambda self: looked.append(self) or need(self))
    )
    sample = AuditSample(Canonicalizer(), 0.01, 0.1)
    entry = RuleEntry("drop_params", "sid")
    for site in range(1_000):
        domain = f"{site}.example"
        request = Request(f"http://{domain}/?sid=1")
        sample.wait_for_page_of(Drop(request, f"http://{domain}/", b"", frozenset({entry}), domain))
    looked.clear()
    assert next(sample.take_waiting()).domain == "0.example"
    assert len(asked) < 10
    assert len(looked) < 10


def test_room_is_found_without_a_look_at_all_that_merged_another_page(monkeypatch):
    """The budget is computed without looking at all evidence of a thousand sites."""
    looked = []
    is_evidence = SiteEvidence.is_evidence
    monkeypatch.setattr(
        SiteEvidence, "is_evidence", lambda self, of: looked.append(of) or is_evidence(self, of)
    )
    sample = AuditSample(Canonicalizer(), 0.01, 0.1)
    entry = RuleEntry("drop_params", "sid")
    for site in range(1_000):
        record = sample.records.record(entry, f"{site}.example")
        record.add(OtherPage("/?sid=1", "/", frozenset({(site, site)})))
        sample.suspect(record)
        sample.budget.pages += 4
        sample.budget.begin()
        sample.budget.end(12)
    assert sample.is_affordable(Need.SUSPECTED)
    assert len(looked) < 50
    assert not sample.is_affordable(Need.UNKNOWN)


def crawler_of_a_run(settings):
    """Return a crawler with a spider that is about to crawl."""
    crawler = Crawler(Spider, settings)
    crawler.spider = Spider("broad")
    crawler._apply_settings()
    return crawler


def test_suspension_looks_at_the_pages_of_its_domain(monkeypatch):
    """A suspension canonicalizes the pages of its own domain alone."""
    asked = []
    canonicalize = Canonicalizer.canonicalize
    monkeypatch.setattr(
        Canonicalizer,
        "canonicalize",
        lambda self, url: asked.append(url) or canonicalize(self, url),
    )
    settings = {"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_AUDIT": 0.01}
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    crawler = crawler_of_a_run(settings | rules)
    crawler.engine = SimpleNamespace()
    crawl = Crawl.of(crawler)
    hosts = ("www.a.example", "b.example", "A.Example", "0x7f.1", "127.0.0.1")
    urls = [f"http://{host}/{number}?sid=1" for number, host in enumerate(hosts)]
    for url in urls:
        crawl.first_urls.know(crawl.fingerprinter.fingerprint(Request(url)), url)
    for domain in ("a.example", "127.0.0.1"):
        asked.append(domain)
        crawl.audit.suspension.suspended_elsewhere(RuleEntry("drop_params", "sid"), domain)
    # An address may be written in several ways.
    assert [*dict.fromkeys(asked)] == [
        *("a.example", urls[0], urls[2]),
        *("127.0.0.1", urls[1], urls[3], urls[4]),
    ]
    assert {url for _, url in crawl.first_urls.items()} & {*urls} == {urls[1]}


def test_entry_that_proves_wrong_is_audited_before_others_that_wait():
    """An entry with evidence against it is audited before others that wait longer."""
    sample = AuditSample(Canonicalizer(), 0.01, 0.1)
    sample.budget.pages = 1_000
    entry = RuleEntry("drop_params", "sid")
    drops = []
    for domain in ("a.example", "b.example", "c.example"):
        request = Request(f"http://{domain}/?sid=1")
        drops.append(Drop(request, f"http://{domain}/", b"", frozenset({entry}), domain))
        sample.wait_for_page_of(drops[-1])
    last = sample.records.record(entry, "c.example")
    last.add(OtherPage("/?sid=1", "/", frozenset({(1, 1)})))
    sample.suspect(last)
    sample.put_off(sample.records.record(entry, "b.example"))
    assert [record.domain for record in sample.take_waiting()] == ["c.example", "a.example"]
    sample.budget.pages = 1_100
    assert [record.domain for record in sample.take_waiting()] == ["b.example"]


def test_sites_of_which_an_audit_waits_are_looked_at_once():
    """When the crawl is idle, not all of them again for each."""
    settings = {"ADDONS": {"scrapy_urlcanon.Addon": 500}, "URLCANON_AUDIT": 0.01}
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    audit = Crawl.of(crawler_of_a_run(settings | rules)).audit
    entries = frozenset({RuleEntry("drop_params", "sid")})
    cost = []
    for count in (50, 100):
        for site in range(len(cost) * 50, count):
            domain = f"{site}.example"
            page = b"%d" % site
            for path in "ab":
                request = Request(f"http://{domain}/{path}?sid=1")
                audit.dropped(Drop(request, f"http://{domain}/{path}", page, entries, domain))
        with counting(instructions=True) as counter:
            audit.spider_idle()
        cost.append(counter.instructions)
    assert cost[1] < 2.5 * cost[0]


@deferred_f_from_coro_f
async def test_few_audits_begin_at_once_when_the_spider_is_idle(crawl, monkeypatch):
    """Of thousands of sites each is audited, and the event loop does not stand still for that."""
    monkeypatch.setattr(audit, "_AT_ONCE", 3)
    crawlers, waiting = [], {}

    class Broad(FollowSpider):
        @classmethod
        def from_crawler(cls, crawler, *args, **kwargs):
            crawlers.append(crawler)
            return super().from_crawler(crawler, *args, **kwargs)

    def respond(request):
        if "sid" in request.url:
            waiting[request.url] = len(scheduler_of(crawlers[0]))
        return page(f'one page of {request.url.partition("?")[0]} <a href="/?sid=1"></a>')

    settings = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}, "URLCANON_AUDIT": 0.01}
    start = [f"http://{site}.example/" for site in range(12)]
    await crawl(respond, {**settings, **ONE_BY_ONE}, start=start, spider=Broad)
    assert len(waiting) == 12
    assert max(waiting.values()) < 3


def wiki(request):
    """Answer as a wiki of one page."""
    return page(f"<html><head><meta name=generator content='MediaWiki 1.39'></head>{request.url}")


@deferred_f_from_coro_f
async def test_site_that_is_recognised_is_declared_once(crawl, monkeypatch):
    """Its rules, and what is usual there, are not said again with each other site."""
    declared = Counter()
    declare = Canonicalizer.declare

    def counting_declare(self, host, rule_sets):
        declared[host] += 1
        declare(self, host, rule_sets)

    monkeypatch.setattr(Canonicalizer, "declare", counting_declare)
    start = [f"http://wiki-{number}.example/" for number in range(20)]
    result = await crawl(wiki, {"URLCANON_ORDER": "novelty"}, start=start)
    assert result.figures["profile/recognised/MediaWiki"] == 20
    # By what the crawl goes by, and by what orders it.
    assert set(declared.values()) == {2}


@deferred_f_from_coro_f
async def test_nothing_is_recognised_on_more_hosts_than_memory_holds(crawl, monkeypatch):
    """Of later ones all is fetched, as by Scrapy."""
    monkeypatch.setattr(known_software, "_MOST_HOSTS", 2)
    ways = [f'<a href="/index.php?title=Special:UserLogin&amp;returnto={n}"></a>' for n in (1, 2)]

    def respond(request):
        return page(wiki(request).body.decode() + "".join(ways))

    start = [f"http://wiki-{number}.example/" for number in range(4)]
    result = await crawl(respond, ONE_BY_ONE, start=start)
    assert result.figures["profile/recognised/MediaWiki"] == 2
    assert sum("returnto=2" in hit for hit in result.hits) == 2


def test_urls_of_hosts_that_may_yet_be_recognised_are_bounded(monkeypatch):
    """Those of the hosts that were met first are forgotten, where most looks were taken."""
    monkeypatch.setattr(known_software, "_MOST_URLS_IN_ALL", 1_000)
    nothing = SimpleNamespace()
    software = known_software.KnownSoftware(
        nothing, tuple, nothing, nothing,
        requests=None, records_start=False, make_parts=nothing, on_recognised=nothing,
    )  # fmt: skip
    urls = [f"http://{host}.example/{number}" for host in range(300) for number in range(20)]
    most = 0
    for url in urls:
        software.sent(Request(url))
        most = max(most, sum(len(software._hosts.get(name).urls) for name in software._hosts))
    assert 900 < most <= 1_000
    kept = [url for name in software._hosts for url in software._hosts.get(name).urls]
    assert kept == urls[-len(kept) :]
    assert len(kept) >= 500


def test_site_that_is_recognised_does_not_have_all_others_written_again(tmp_path, monkeypatch):
    """A job is told of it at its end at the latest."""
    written = []
    monkeypatch.setattr(stored_rules, "write_atomically", lambda _, text: written.append(text))
    (profile,) = (one for one in our_profiles() if one.name == "MediaWiki")
    settings = Settings({"JOBDIR": str(tmp_path)})
    rules = JobRules(settings, UnwrittenFiles(get_crawler(Spider)))
    rules.guard(Canonicalizer().configuration, "warn")
    sizes = []
    for number in range(2_000):
        host = f"wiki-{number}.example"
        rules.recognise(host, [Installation(profile, host, None, "/")])
        if number in {999, 1_999}:
            sizes.append(sum(map(len, written)))
    assert sizes[1] < 3 * sizes[0]
    rules.spider_closed()
    assert len(json.loads(written[-1])["recognised"]) == 2_000


def test_pages_that_look_other_than_what_they_declare_are_held_in_bounded_memory(monkeypatch):
    """What nobody tells of counts as wrong, once there is much of it, and has no lines before."""
    monkeypatch.setattr(open_claims, "_WITH_LINES", 2)
    monkeypatch.setattr(open_claims, "_MOST", 4)
    claims, kept = OpenClaims(), []
    while not claims.is_full:
        domain = f"{len(kept)}.example"
        claim = SimpleNamespace(way=Way(domain, "sid goes"))
        claims.add(OpenClaim(claim, content=None, shown="lines", is_probe=False))
        (each,) = claims.take(domain)
        claims.put_back(each)
        kept.append(each)
    assert [each.shown for each in kept] == ["lines", "lines", None, None]
    assert all(claims.is_doubtful(each.claim.way) for each in kept)
    claims.close(kept[0])
    assert not claims.is_full
    assert not claims.is_doubtful(kept[0].claim.way)
