"""Of several wrong entries each is found, whatever the audit found of others before."""

import asyncio

import pytest
from audited_shop import SETTINGS, WRONG, product, shop
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links
from trap_sites import words

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, SiteEvidence
from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.same_page import PageDigest

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "size"]}}}
CLICKS = {"playwright_page_methods": []}


class Clicking(FollowSpider):
    """Makes a browser click on one of the linked pages, which no audit may repeat."""

    def parse(self, response):
        for each in super().parse(response):
            if isinstance(each, Request) and each.url.endswith("?id=0&ref=3"):
                each.meta.update(CLICKS)
            yield each


def answer(request, count):
    """Return the product of the whole query; products differ in numbers alone."""
    return product(request.query, seed=count)


@pytest.mark.parametrize("sizes", [2, 6])
@deferred_f_from_coro_f
async def test_entries_that_merged_pages_together_are_judged_by_what_each_merged_alone(
    crawl, sizes
):
    """Entries that merged the same URLs are judged by what each of them merges alone."""
    sized = [f"&size={n}" for n in range(1, sizes + 1)]
    urls = ["/p?id=0", *(f"/p?id={n}{size}" for size in ("", *sized) for n in (1, 2))]
    result = await crawl(shop(urls, answer), {**RULES, **SETTINGS})
    # What was fetched to tell the entries apart may be a page that nothing links yet.
    looks = {f"/p?size={n}" for n in range(1, sizes + 1)}
    assert {"/", *urls} <= {*result.pages} <= {"/", *urls, *looks}


@deferred_f_from_coro_f
async def test_third_page_says_nothing_of_one_entry_and_another_one_is_looked_at(crawl):
    """If a URL without one parameter is a third page, the audit tries the other parameter.

    Here each size is a page, and so is the product without a size.
    """
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["ref", "size"]}}}

    def sized(request, count):
        query = request.query.partition("&ref")[0]
        return product(query.partition("&")[0] if "id=0" in query else query, seed=count)

    sizes = [f"/p?id={n}&size={size}" for n in range(20) for size in (1, 2)]
    urls = [*sizes[:2], *(f"{url}&ref={n}" for n, url in enumerate(sizes[2:]))]
    result = await crawl(shop(urls, sized), {**rules, **SETTINGS})
    assert {url.partition("&ref")[0] for url in result.pages} >= set(sizes[2:])
    assert "audit/suspended/drop_params/ref" not in result.figures


@deferred_f_from_coro_f
async def test_entry_is_found_wrong_though_its_page_has_urls_that_no_rule_makes_one(crawl):
    """A page at two URLs that no rule merges is not taken for a log-in form, but judged."""
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
    urls = ["/p?id=1&page=1&sid=1", "/p?id=1&page=1&sid=2", *(f"/p?id={n}" for n in range(1, 5))]

    def shown(request, _):
        return product(request.query.partition("&")[0])

    result = await crawl(shop(urls, shown), {**rules, **SETTINGS})
    assert "audit/suspended/drop_params/sid" not in result.figures
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {*urls[-3:]} <= {*result.pages}


def test_what_stood_in_the_place_of_a_page_that_was_split_is_no_form_to_log_in():
    """Evidence of a page that was split is forgotten.

    Else its content, seen at several URLs by now, would look like a log-in form.
    """
    own = frozenset({(1, 1)})
    first, again = (OtherPage(f"/p?{query}", "/p", own) for query in ("size=1", "id=1&color=2"))
    for is_split in (False, True):
        site, contents = SiteEvidence(), CommonContents()
        assert site.is_new(b"all", first, ())
        assert not contents.is_of_another(PageDigest(b"product 1"), b"all")
        if is_split:
            site.forget({b"all"})
            contents.forget({b"all"})
        assert site.is_new(b"product 1", again, ()) is is_split
        assert site.is_evidence(again) is is_split
        assert contents.is_of_another(PageDigest(b"product 1"), b"product 1") is not is_split


@deferred_f_from_coro_f
async def test_each_entry_is_looked_at_on_each_domain_whatever_the_share(crawl):
    """A broad crawl audits each entry on each domain, even if that exceeds its share.

    An entry may be right on one site and wrong on another.
    """
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["ref", "sid"]}}, "URLCANON_AUDIT": 0.01}
    hosts = [f"shop{n}.example" for n in range(20)]
    urls = [f"http://{host}/p{query}" for query in ("", "?ref=1", "?sid=1") for host in hosts]

    def same(request, count):
        return product(request.headers["host"], seed=count)

    result = await crawl(shop(urls, same), {**SETTINGS, **rules})
    assert result.figures["audited"] == 2 * len(hosts)


@deferred_f_from_coro_f
async def test_page_that_two_wrong_entries_merged_is_fetched_once_both_fell(crawl):
    """A page that two wrong entries merged is fetched when both are off.

    After the first fell another URL is kept for it than when it was dropped.
    """
    dead, others = "/p?id=0&ref=2", ["/p?id=0&ref=3&sid=1", "/p?id=0&ref=3"]
    later = [
        *(f"/p?id={n}{ref}" for n in (1, 2, 3) for ref in ("", "&ref=1")),
        *(f"/p?id={n}{sid}" for n in (4, 5, 6) for sid in ("", "&sid=1")),
    ]
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}

    def shown(request, _):
        if request.target == "/later":
            return links(*later)
        return page("gone", status=404) if request.target == dead else product(request.query)

    site = shop([dead, *others, "/later"], shown)
    result = await crawl(site, {**rules, **SETTINGS}, spider=Clicking)
    suspended = [name for name in result.figures if name.startswith("audit/suspended/")]
    assert suspended == ["audit/suspended/drop_params/ref", "audit/suspended/drop_params/sid"]
    assert {*result.pages} == {"/", "/later", *others, *later}


class Both(FollowSpider):
    """Requests two merged pages with two callbacks each, and others with one."""

    pages = (
        ("parse", "/p?ref=0"),
        ("other", "/p?ref=1&sid=1"),
        ("parse", "/p?ref=1&sid=2"),
        ("other", "/p?ref=0&sid=3"),
        ("parse", "/later"),
    )
    later = tuple(("parse", f"/q{n}?ref={ref}") for n in range(4) for ref in (1, 2))
    last = ()
    method = "GET"
    shown = frozenset((name, url.partition("&")[0]) for name, url in (*pages, *later))

    def __init__(self, *arguments, **others):
        super().__init__(*arguments, **others)
        self.got = set()

    def parse(self, response):
        yield from self.note("parse", response)
        asked = {"/": self.pages, "/later": self.later, "/last": self.last}
        for name, url in asked.get(response.url.removeprefix(SITE), ()):
            # In the former ones a browser clicks, which no audit is to do.
            meta = {} if url in {each for _, each in self.later} else CLICKS
            method = self.method if url.startswith("/p") else "GET"
            yield Request(SITE + url, getattr(self, name), meta=meta, method=method)

    def other(self, response):
        return self.note("other", response)

    def note(self, name, response):
        self.got.add((name, response.url.removeprefix(SITE).partition("&")[0]))
        return []


@deferred_f_from_coro_f
async def test_page_of_which_two_callbacks_got_other_urls_is_fetched_for_each_of_them(crawl):
    """Each of two callbacks gets both pages once the entry is off.

    What one got by the kept URL the other one has not got.
    """
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}
    site = shop((), lambda request, _: product(request.target.partition("&")[0]))
    result = await crawl(site, {**rules, **SETTINGS}, spider=Both)
    assert result.figures["audit/suspended/drop_params/ref"] == 1
    assert result.crawler.spider.got == Both.shown | {("parse", "/")}


class Third(Both):
    """Requests two URLs of a page for two callbacks, and another page between them."""

    pages = later = (("other", "/p"), ("parse", "/p?ref=1"), ("parse", "/p?sid=1"))


class Again(Both):
    """Requests the other page once more before that which the other callback has."""

    pages = (("other", "/p"), ("parse", "/p?ref=1"), ("parse", "/last"))
    last = (("parse", "/later"),)
    later = (("parse", "/p?ref=1"), ("parse", "/p?sid=1"))


class Fourth(Both):
    """Requests two pages by two URLs each, for two callbacks."""

    pages = later = (
        ("parse", "/p"),
        ("other", "/p?sid=1"),
        ("other", "/p?ref=1"),
        ("parse", "/p?ref=2"),
    )


class Retried(Both):
    """Requests a page that needs a retry, and two URLs that are merged with it.

    Another callback gets one of these meanwhile.
    """

    pages = later = (("other", "/p?sid=busy"), ("parse", "/p?ref=1"), ("other", "/p?ref=2"))


class Resumed(Retried):
    """Requests the last of the three URLs in the next run."""

    pages, last = Retried.pages[:2], Retried.pages[2:]


class Last(Both):
    """Requests a page that another callback has, once the entry is off."""

    pages = (("other", "/p"), ("parse", "/p?ref=1"), ("parse", "/later"))
    later = (*(("parse", f"/q?ref={n}") for n in range(8)), ("parse", "/wait/"), ("parse", "/last"))
    last = (("parse", "/p?sid=1"),)


class Sent(Last):
    """Requests the first pages by POST."""

    method = "POST"


def settings_of(share):
    """Return settings of a crawl that audits this *share* of what is dropped."""
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}
    return {**rules, **SETTINGS, "URLCANON_AUDIT": share, "RETRY_TIMES": 1}


def as_first_asked(request, visits):
    """Return a page for each number, and for URLs with ``ref``; "busy" fails at first."""
    if request.query == "sid=busy" and not visits:
        return page("busy", status=503)
    number = request.query[-1:] if request.path == "/q" else "s" * ("ref" in request.query)
    return product(f"{request.path.strip('/')}{number}")


@pytest.mark.parametrize(
    ("spider", "share"),
    [(Third, 1), (Again, 1), (Fourth, 1), (Retried, 1), (Last, 1e-9), (Sent, 1e-9)],
)
@deferred_f_from_coro_f
async def test_callback_gets_the_page_that_another_one_alone_has_got(crawl, spider, share):
    """A callback gets each page that it requested, though another callback has got it.

    Its variant may be a page of its own, merged by a wrong entry, and new to this callback alone;
    or the entry is off by then, and is not what merged it with the kept URL.
    """
    result = await crawl(shop((), as_first_asked), settings_of(share), spider=spider)
    asked = {*spider.pages, *spider.later, *spider.last}
    assert result.crawler.spider.got == {("parse", "/"), *asked}


@deferred_f_from_coro_f
async def test_next_run_knows_what_stood_for_a_page_that_another_callback_got_before(crawl):
    """The next run of a job knows that the kept URL was fetched after a retry.

    It is not taken for one that failed, so that the callback gets the page it lacks.
    """
    settings = {**settings_of(1), "JOBDIR": "job"}
    await crawl(shop((), as_first_asked), settings, spider=Resumed)
    start = [f"{SITE}/last"]
    second = await crawl(shop((), as_first_asked), settings, start=start, spider=Resumed)
    assert second.crawler.spider.got == {("parse", "/last"), *Resumed.last}


class Holding:
    """Delays the audits of two entries until one of these falls, once all have begun."""

    asked = frozenset(f"{SITE}/{section}/p?ref=1&sid=1" for section in "abc")

    def __init__(self):
        self.begun = set()
        self.all_begun, self.fallen = asyncio.Event(), asyncio.Event()

    async def process_response(self, request, response):
        if request.url in self.begun:
            # Let through.
            self.fallen.set()
        elif request.url in self.asked:
            self.begun.add(request.url)
            if self.begun == self.asked:
                self.all_begun.set()
            await self.fallen.wait()
        elif request.url.endswith("/2?sid=1"):
            await self.all_begun.wait()
        return response


@deferred_f_from_coro_f
async def test_entry_whose_audits_ended_as_another_one_fell_is_audited_again(crawl):
    """Audits without a verdict, because another entry fell meanwhile, are done again.

    Else nothing would ever find that their entry is wrong.
    """
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}
    pages = [*(f"/{n}" for n in range(1, 300)), *(f"/{section}/p" for section in "abc")]
    variants = [f"/{n}?sid=1" for n in (1, 2)]
    variants += [f"/{section}/p?ref={ref}&sid=1" for ref in (1, 2) for section in "abc"]

    def shown(request, _):
        return links(*variants) if request.target == "/later" else product(request.target)

    settings = {**rules, **SETTINGS, "URLCANON_AUDIT": 0.05, "CONCURRENT_REQUESTS": 16}
    settings["DOWNLOADER_MIDDLEWARES"] = {Holding: 100}
    result = await crawl(shop([*pages, "/later"], shown), settings)
    assert result.figures["audit/suspended/drop_params/sid"] == 1
    assert {*variants} <= {*result.pages}


@deferred_f_from_coro_f
async def test_what_one_entry_merged_is_audited_before_what_several_did(crawl):
    """Variants merged by a single entry are audited before those merged by several.

    The latter give no verdict here, however many are audited.
    """
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["ref", "sid"]}}}
    urls = [f"/p{n}?ref=0&sid=0" for n in range(18)]
    urls += [f"/p{n}?ref=1&sid=1" for n in range(14)]
    urls += [f"/p{n}?ref=0&sid=1" for n in (14, 15)] + [f"/p{n}?ref=1&sid=0" for n in (16, 17)]
    site = shop(urls, lambda request, _: product(request.target))
    result = await crawl(site, {**rules, **SETTINGS})
    assert {*urls} <= {*result.pages}


class Twice(FollowSpider):
    """Requests each page with two callbacks, both by its own URL."""

    name = "twice"
    dont_filter = False
    asked = tuple(f"/p?id={number}" for number in range(8))

    def parse(self, response):
        yield {"url": response.url}
        if response.url == f"{SITE}/":
            for url in self.asked:
                yield Request(SITE + url)
                yield Request(SITE + url, self.other, dont_filter=self.dont_filter)

    def other(self, response):
        self.crawler.stats.inc_value(f"other {response.url.removeprefix(SITE)}")


class TwiceUnfiltered(Twice):
    """Does not have the second request filtered."""

    dont_filter = True


class FirstComesLast:
    """A middleware that delays the first URL until others have come."""

    async def process_response(self, request, response):
        if request.url.endswith("?id=0"):
            await asyncio.sleep(0.1)
        return response


@pytest.mark.parametrize("spider", [Twice, TwiceUnfiltered])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"CONCURRENT_REQUESTS": 8},
        {"CONCURRENT_REQUESTS": 8, "DOWNLOADER_MIDDLEWARES": {FirstComesLast: 543}},
    ],
)
@deferred_f_from_coro_f
async def test_page_that_another_callback_got_by_that_url_is_let_through(crawl, spider, settings):
    """A page is let through to the callback that requested it first, though another got it."""
    site = shop((), lambda request, _: product(request.query))
    result = await crawl(site, {**WRONG, **SETTINGS, **settings}, spider=spider)
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {*result.pages} == {"/", *Twice.asked}


def test_what_an_entry_is_off_for_is_counted_whatever_shows_it_later():
    """What a suspended entry was found wrong by stays in the figures.

    Contents that later turn out to be shared do not count against it after that.
    """
    site = SiteEvidence()
    record = EntryRecord(RuleEntry("drop_params", "id"), "a.example", site, 0.1)
    lines = [frozenset({(number, number)}) for number in range(3)]
    for number, own in enumerate(lines):
        record.add(OtherPage(f"/p?id={number}", "/p", own))
    site.note_shared(lines[0])
    assert (len(record.others), record.outcome) == (2, Outcome.FAILS)
    record.turn_off(7)
    site.note_shared(lines[1])
    assert (len(record.others), record.outcome, record.until) == (2, Outcome.FAILS, 7)


@deferred_f_from_coro_f
async def test_entry_that_met_a_default_first_is_audited_again_whatever_others_took(crawl):
    """An entry with the evidence of one content only is audited once more, beyond the room too.

    With ``rewrite`` its first audit compares ``?page=1`` with the list, which begins there.
    """
    urls = [f"/list?page={n}" for n in range(1, 8)] + [f"/p?{k}={n}" for k in "abc" for n in "2345"]

    def answer(request, _):
        shown = f"{request.path} {request.query or 'page=1'}"
        return page(f"<title>{shown}</title><p>{words(shown, 40)}")

    rules = {"URLCANON_RULES": {"site.example": {"drop_params": [*"abc", "page"]}}}
    settings = {**rules, **SETTINGS, "URLCANON_REWRITE": True}
    result = await crawl(shop(urls, answer), settings)
    assert {*urls[1:]} <= {*result.pages}
