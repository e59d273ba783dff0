"""A canonical URL that a page declares is not fetched, where that has proved right."""

import asyncio
import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Response, page, redirect
from scrapy import Request
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from simulation import Simulation
from sites import SITE, ClosedScheduler, FollowSpider, links

from scrapy_urlcanon.crawl.checks.claims import Belief
from scrapy_urlcanon.exceptions import ConfigurationError

ORDERED = {
    "CONCURRENT_REQUESTS": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    # The default one takes turns between hosts.
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
}
ON = {"URLCANON_DECLARED_CANONICAL": True, **ORDERED}
# So small a share that none but the first three are audited.
AUDITED = {**ON, "URLCANON_AUDIT": 1e-9}
PROOF = 5
"""So many pages have to show that a way of declaring is right."""
BOILERPLATE = " ".join(f"menu{n}" for n in range(200))


def article(subject, canonical=None, *, urls=()):
    """Return the page about *subject*, which declares *canonical* and links *urls*."""
    return page(
        f'<head><link rel="canonical" href="{canonical}">' * bool(canonical)
        + f"<title>About {subject}</title></head><body><nav>{BOILERPLATE}</nav>"
        + f"<p>All there is to say about{subject} and {subject}s alike.</p>"
        + "".join(f'<a href="{url}">link</a>' for url in urls)
    )


def respond_with(answer, *levels):
    """Return a site whose home page leads to *levels* of URLs, and *answer* to everything else.

    A level is linked by a page that is linked behind all of the level before.
    """
    hubs = {"/": links(*levels[0], "/hub/1")}
    hubs |= {f"/hub/{n}": links(*level, f"/hub/{n + 1}") for n, level in enumerate(levels[1:], 1)}
    hubs[f"/hub/{len(levels)}"] = page("the end")
    return lambda request: hubs.get(request.target) or answer(request)


def articles(result):
    """Return the pages that the spider got, as the subjects of their titles, each once."""
    texts = (item["text"] for item in result.items)
    return {text.partition("<title>About ")[2].partition("</title>")[0] for text in texts} - {""}


def shop(request):
    """Answer as a shop does that tells of each item under which URL it belongs."""
    return article(request.path[1:], request.path)


BOTH = [f"/item{n}{query}" for n in range(PROOF) for query in ("?sid=1", "")]
VARIANTS = [f"/item{n}?sid=1" for n in range(10, 30)]
CANONICALS = [f"/item{n}" for n in range(10, 30)]
SUBJECTS = {f"item{n}" for n in (*range(PROOF), *range(10, 30))}


def declared(figures):
    """Return the figures of declared canonicals, without their prefix."""
    prefix = "declared_canonical/"
    return {k.removeprefix(prefix): v for k, v in figures.items() if k.startswith(prefix)}


def assert_sums_agree(result):
    """Assert that all figures of what was dropped are of the same drops."""
    figures, stats = result.figures, result.stats
    assert figures["dropped"] == stats.get("dupefilter/filtered", 0)
    assert figures["dropped/exact"] + figures["dropped/variant"] == figures["dropped"]
    of_domains = [v for k, v in figures.items() if k.startswith("dropped/domain/")]
    assert sum(of_domains) == figures["dropped"]


@deferred_f_from_coro_f
async def test_right_canonicals_save_requests_and_lose_no_page(crawl):
    """Once five pages were right the canonical URL of a page that the spider has is dropped."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    off = await crawl(site, ORDERED)
    on = await crawl(site, ON)
    assert set(off.hits) - set(on.hits) == set(CANONICALS)
    assert len(on.hits) == len(off.hits) - len(CANONICALS)
    assert articles(on) == articles(off) == SUBJECTS
    assert on.figures["dropped/rule/declared_canonical"] == len(CANONICALS)
    assert on.figures["dropped/scrapy_would_keep"] == len(CANONICALS)
    assert declared(on.figures) == {"declared": PROOF + len(VARIANTS), "compared": PROOF}
    assert declared(off.figures) == {}
    assert_sums_agree(on)


@deferred_f_from_coro_f
async def test_four_pages_are_not_enough(crawl):
    """Too little evidence is none."""
    result = await crawl(respond_with(shop, BOTH[:-2], VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_link_header(crawl):
    """What a Link header declares counts as what a link element does."""

    def answer(request):
        headers = (("Content-Type", "text/html"), ("Link", f'<{request.path}>; rel="canonical"'))
        return Response(headers=headers, body=article(request.path[1:]).body)

    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert not set(CANONICALS) & set(result.hits)
    assert articles(result) == SUBJECTS


@deferred_f_from_coro_f
async def test_link_element_in_the_body_declares_nothing(crawl):
    """What stands in the body may have been written by a visitor."""

    def answer(request):
        subject = request.path[1:]
        comment = f'<link rel="canonical" href="{request.path}">'
        return page(f"<title>About {subject}</title><body>{subject} {comment}")

    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)
    assert declared(result.figures) == {}


@deferred_f_from_coro_f
async def test_page_that_links_its_own_canonical_url(crawl):
    """The page is with the spider when its links are scheduled: its canonical URL is dropped."""

    def answer(request):
        return article(request.path[1:], request.path, urls=[request.path])

    result = await crawl(respond_with(answer, BOTH, VARIANTS), ON)
    assert not set(CANONICALS) & set(result.hits)
    assert articles(result) == SUBJECTS


LIES = {
    "page 1": (lambda n, _: f"/list{n // 10}", "/list{}?page={}"),
    "page 1, by another name": (lambda n, _: f"/list{n // 10}", "/list{}?step={}"),
    "home": (lambda _, __: "/", "/a{}/b{}"),
    "home, by the query": (lambda _, __: "/", "/?x={}-{}"),
    "one article": (lambda _, __: "/item0", "/a{}/b{}.html"),
    "replytocom": (lambda n, _: f"/post{n // 10}", "/post{}?replytocom={}"),
    "itself, with another number": (lambda n, _: f"/node/{n + 1}", "/node/{1}"),
    "nothing that is there": (lambda n, _: f"/missing{n}", "/item{}?sid={}"),
}


@pytest.mark.parametrize("order", ["lies first", "canonicals first", "mixed"])
@pytest.mark.parametrize("lie", LIES)
@deferred_f_from_coro_f
async def test_wrong_canonicals_lose_no_page(crawl, lie, order):
    """Pages that all declare something else are never believed, whatever comes first."""
    target, template = LIES[lie]
    liars = {template.format(n // 10, n): target(n, template) for n in range(60)}
    canonicals = [url for url in dict.fromkeys(liars.values()) if url != "/"]
    levels = {
        "lies first": (list(liars), canonicals),
        "canonicals first": (canonicals, list(liars)),
        "mixed": (list(liars)[:20], canonicals, list(liars)[20:]),
    }[order]

    def answer(request):
        if request.target.startswith("/missing"):
            return page("missing", status=404)
        return article(request.target, liars.get(request.target, request.target))

    site = respond_with(answer, *levels)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off)
    assert set(on.hits) == set(off.hits)


@deferred_f_from_coro_f
async def test_page_number_that_goes_is_never_believed(crawl):
    """However many short listings show the same on every page: a long one does not."""
    short = [f"/list{n}{query}" for n in range(20) for query in ("?page=2", "")]
    long = [f"/list{n}" for n in range(20, 40)]

    def answer(request):
        subject = request.path if request.target in short else request.target
        return article(subject, request.path)

    site = respond_with(answer, short, [f"{url}?page=2" for url in long], long)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off)
    assert set(on.hits) == set(off.hits)


@deferred_f_from_coro_f
async def test_other_registrable_domain(crawl):
    """What another site shows is not for this one to say; a subdomain may."""
    for host, is_dropped in (("other.example", False), ("www.site.example", True)):

        def answer(request, host=host):
            return article(request.path[1:], f"http://{host}{request.path}")

        there = [f"http://{host}/item{n}" for n in range(30)]
        levels = (VARIANTS, there[10:20], there[20:])
        result = await crawl(respond_with(answer, *levels), ON)
        assert set(there[10:20]) <= set(result.hits)
        assert bool(set(there[20:]) & set(result.hits)) is not is_dropped
        assert ("foreign" in declared(result.figures)) is not is_dropped


@deferred_f_from_coro_f
async def test_canonical_that_was_requested_before(crawl):
    """What is in the queue already is fetched, and is a duplicate of nothing."""
    both = [url for pair in zip(VARIANTS, CANONICALS, strict=True) for url in pair]
    result = await crawl(respond_with(shop, BOTH, both, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)
    assert "dropped/rule/declared_canonical" not in result.figures
    assert result.figures["dropped/exact"] == len(CANONICALS)


@pytest.mark.parametrize("status", [203, 404, 500])
@deferred_f_from_coro_f
async def test_page_that_is_no_success_declares_nothing(crawl, status):
    """An error page may declare the page that is missing, even where the spider handles it."""

    def answer(request):
        is_odd = request.target in VARIANTS
        answered = shop(request)
        return Response(status if is_odd else 200, answered.headers, answered.body)

    settings = {**ON, "HTTPERROR_ALLOW_ALL": True}
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), settings)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_redirect_to_the_canonical_url_is_followed(crawl):
    """A variant that redirects to what is taken as seen still leads there."""

    def answer(request):
        return redirect(request.path) if "sid=2" in request.query else shop(request)

    redirected = [f"/item{n}?sid=2" for n in range(10, 30)]
    result = await crawl(respond_with(answer, BOTH, VARIANTS, redirected, CANONICALS), ON)
    assert [hit for hit in result.hits if hit in CANONICALS] == CANONICALS


@deferred_f_from_coro_f
async def test_redirect_to_a_canonical_url_that_was_dropped(crawl):
    """It leads to a page that the spider has: no other URL of its source has to be tried."""

    def answer(request):
        return redirect("/item10") if request.path == "/old" else shop(request)

    olds = ["/old?utm_source=1", "/old?utm_source=2"]
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS, olds), ON)
    assert [hit for hit in result.hits if hit.startswith("/old")] == olds[:1]
    assert "/item10" not in result.hits


@deferred_f_from_coro_f
async def test_canonical_that_redirects_back(crawl):
    """The canonical URL of which a redirect leads to the page that declares it loses nothing."""

    def answer(request):
        return shop(request) if request.query else redirect(f"{request.path}?sid=1")

    site = respond_with(answer, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON)
    assert articles(result) == SUBJECTS


@pytest.mark.parametrize(
    "options",
    [{"dont_filter": True}, {"method": "POST"}, {"method": "HEAD"}, {"meta": {"urlcanon": False}}],
    ids=lambda options: str(*options),
)
@deferred_f_from_coro_f
async def test_requests_that_are_not_to_be_filtered(crawl, options):
    """Only plain requests for the page are dropped."""

    class Asking(FollowSpider):
        def parse(self, response):
            for each in super().parse(response):
                is_asked = isinstance(each, Request) and each.url.removeprefix(SITE) in CANONICALS
                yield each.replace(**options) if is_asked else each

    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON, spider=Asking)
    assert set(CANONICALS) <= set(result.hits)


class UrlFingerprinter:
    """A fallback that looks at nothing but the URL."""

    def fingerprint(self, request):
        return request.url.encode()


@pytest.mark.parametrize("meta", [{"urlcanon": False}, {"urlcanon": {}}, {"verbatim_url": True}])
@deferred_f_from_coro_f
async def test_request_with_rules_of_its_own(crawl, meta):
    """It is not touched, though the fallback gives it the fingerprint of what was declared."""

    class Asking(FollowSpider):
        def parse(self, response):
            for each in super().parse(response):
                is_asked = isinstance(each, Request) and each.url.removeprefix(SITE) in CANONICALS
                yield each.replace(meta=meta) if is_asked else each

    setting = "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS"
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, {**ON, setting: UrlFingerprinter})
    assert not set(CANONICALS) & set(result.hits)
    result = await crawl(site, {**ON, setting: UrlFingerprinter}, spider=Asking)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_start_requests_are_fetched(crawl):
    """A start request is none that a page led to, however late it comes."""

    class Late(FollowSpider):
        def _start(self, urls):
            self.arrived = asyncio.Event()

            async def start():
                yield Request(urls[0])
                await self.arrived.wait()
                yield Request(f"{SITE}{CANONICALS[0]}")

            return start

        def parse(self, response):
            yield from super().parse(response)
            if response.url == f"{SITE}{VARIANTS[-1]}":
                self.arrived.set()

    result = await crawl(respond_with(shop, BOTH, VARIANTS), ON, spider=Late)
    assert result.hits[-1] == CANONICALS[0]


class Catalogue(CrawlSpider):
    """Takes items from URLs without a query, and only follows the others."""

    name = "catalogue"

    def __init__(self, start, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = list(start)
        self.taken = []

    def parse(self, _response):
        return ()

    def take(self, response):
        self.taken.append(response.url.removeprefix(SITE))

    rules = (
        Rule(process_links=lambda links: [x for x in links if "?" in x.url or "hub" in x.url]),
    )
    rules += (Rule(callback="take"),)


@deferred_f_from_coro_f
async def test_page_that_another_callback_is_for(crawl):
    """A callback that has not had the page gets it."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON, spider=Catalogue)
    assert set(CANONICALS) <= set(result.crawler.spider.taken)
    assert "dropped/rule/declared_canonical" not in result.figures


CHAIN = {"a": "/b{}", "b": "/c{}", "c": "/c{}"}
CYCLE = {"a": "/b{}", "b": "/a{}"}


@pytest.mark.parametrize(
    ("declares", "order"), [(CHAIN, "abc"), (CHAIN, "cba"), (CHAIN, "bac"), (CYCLE, "ab")]
)
@deferred_f_from_coro_f
async def test_chains_and_cycles(crawl, declares, order):
    """However pages declare each other, the spider gets one of those that show the same."""

    def answer(request):
        letter, number = request.path[1], request.path[2:]
        return article(f"page{number}", declares[letter].format(number))

    proof = [f"/{letter}{n}" for n in range(10) for letter in order]
    levels = [[f"/{letter}{n}" for n in range(10, 40)] for letter in order]
    site = respond_with(answer, proof, *levels)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off) == {f"page{n}" for n in range(40)}
    dropped = set(levels[1]) if declares is CYCLE else set()
    assert set(off.hits) - set(on.hits) == dropped


# URLs of four pages, in as many forms.
forms = st.builds(
    "http://site.example/p{}{}".format,
    st.integers(0, 3),
    st.sampled_from(["", "/print", "?x=1", "?x=2", "/?utm_source=x"]),
)


@given(
    found=st.lists(st.tuples(forms, st.lists(forms, max_size=6)), max_size=8),
    declares=st.dictionaries(forms, forms),
    redirects=st.dictionaries(forms, forms, max_size=3),
    dead=st.sets(forms, max_size=3),
    audit=st.sampled_from([0, 1]),
    lifo=st.booleans(),
)
def test_true_canonicals_lose_nothing(found, declares, redirects, dead, audit, lifo):  # noqa: PLR0917
    """Whatever declares what of its own page, even if all of that is believed at once."""
    start = "http://site.example/p0"
    dead = dead - {start}
    linked = {
        n: [url for page, urls in found if page_of(page) == n for url in urls] for n in range(4)
    }

    def answer(url):
        url = url.partition("#")[0]
        number = page_of(url)
        if url in dead:
            return ("error",)
        if url in redirects and url != start:
            return ("redirect", of_page(redirects[url], number))
        return ("page", number, linked[number], of_page(declares.get(url, url), number))

    pages = []
    for is_on in (False, True):
        own = {"URLCANON_DECLARED_CANONICAL": is_on, "URLCANON_AUDIT": audit}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Belief, "holds", lambda _belief, _way: True)
            simulation = Simulation(answer, own, lifo=lifo)
            pages.append(simulation.run(start))
    assert pages[0] == pages[1]


def page_of(url):
    """Return the number of the page that *url* is one of the URLs of."""
    return int(url.partition("/p")[2][0])


def of_page(url, number):
    """Return the URL of the form of *url* of another page."""
    return url.replace(f"/p{page_of(url)}", f"/p{number}")


def liar_from(number):
    """Return a shop that tells the truth of its items below *number*, and then lies."""

    def answer(request):
        is_lie = int(request.path[5:]) >= number and request.query
        subject = f"{request.path[1:]}{'other' * bool(is_lie)}"
        return article(subject, request.path)

    return answer


@deferred_f_from_coro_f
async def test_audit_finds_a_lie_that_begins_later(crawl, caplog):
    """Its sample goes to the spider, nothing is believed any more, and the rest is let through."""
    site = respond_with(liar_from(10), BOTH, VARIANTS, CANONICALS, CANONICALS)
    off = await crawl(site, ORDERED)
    with caplog.at_level(logging.WARNING, "scrapy_urlcanon"):
        on = await crawl(site, AUDITED)
    assert articles(on) == articles(off)
    assert sorted(on.hits) == sorted(off.hits)
    assert 1 <= on.figures["audit/false_merge"] == on.figures["audited"] <= 3
    assert declared(on.figures)["distrusted"] == 1
    assert any(f"{SITE}/item10" in record.getMessage() for record in caplog.records)
    assert_sums_agree(on)


@deferred_f_from_coro_f
async def test_audit_of_what_is_right_costs_its_share(crawl):
    """The page that the spider has does not come again, and nothing is distrusted."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, AUDITED)
    assert len(set(CANONICALS) & set(result.hits)) == result.figures["audited"] == 3
    assert not set(CANONICALS) & set(result.pages)
    assert result.figures["audit/rule/declared_canonical/site.example/rate"] == 0
    assert "distrusted" not in declared(result.figures)


@deferred_f_from_coro_f
async def test_lie_that_shows_without_an_audit(crawl):
    """A canonical URL that is fetched for another reason shows that all of them may lie."""
    levels = (BOTH, [*VARIANTS, "/item9"], CANONICALS, ["/item9?sid=1"])
    site = respond_with(liar_from(9), *levels)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off)
    assert declared(on.figures)["released"] == len(CANONICALS)


@deferred_f_from_coro_f
async def test_two_pages_that_declare_the_same_and_differ(crawl):
    """One of them lies: the canonical URL is fetched, though it had been dropped."""

    def answer(request):
        subject = f"{request.path[1:]}{'other' * (request.query == 'sid=2')}"
        return article(subject, request.path)

    others = [url.replace("sid=1", "sid=2") for url in VARIANTS]
    site = respond_with(answer, BOTH, VARIANTS, CANONICALS, others)
    result = await crawl(site, ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_login_form_says_nothing(crawl):
    """A form that is shown in the place of pages stands for none of them."""

    def answer(request):
        if request.target in VARIANTS:
            return article("how to log in", request.path)
        return shop(request)

    site = respond_with(answer, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON)
    assert articles(result) >= SUBJECTS


@deferred_f_from_coro_f
async def test_login_form_is_no_evidence(crawl):
    """That a page and what it declares both show the form counts once, for all pages."""

    def answer(request):
        is_proof = request.target in BOTH
        return article("how to log in" if is_proof else request.path[1:], request.path)

    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_soft_404_refutes_nothing(crawl):
    """A page that is missing for a while, and says so with a status of 200, is no other page."""
    gone = [f"/gone{n}" for n in range(4)]
    lost = [f"/item{n}?sid=1" for n in range(5, 10)]

    def answer(request):
        is_missing = request.target in {*gone, *lost}
        return article("what is not here" if is_missing else request.path[1:], request.path)

    found = [url.partition("?")[0] for url in lost]
    levels = ([*BOTH, *gone, *found], lost, VARIANTS, CANONICALS)
    result = await crawl(respond_with(answer, *levels), ON)
    assert not set(CANONICALS) & set(result.hits)
    assert "wrong" not in declared(result.figures)


@deferred_f_from_coro_f
async def test_variants_of_the_canonical_url(crawl):
    """They are dropped with it; where it is released and fails, one of them gives the page."""
    variants = [f"{url}?utm_source={n}" for url in CANONICALS for n in range(3)]

    def answer(request):
        if request.target in CANONICALS:
            return page("missing", status=404)
        return liar_from(9)(request) if "sid" in request.query else article(request.path[1:])

    levels = (BOTH, [*VARIANTS, "/item9"], CANONICALS, variants, ["/item9?sid=1"])
    result = await crawl(respond_with(answer, *levels), ON)
    assert {f"item{n}" for n in range(10, 30)} <= articles(result)
    assert len([hit for hit in result.hits if hit in variants]) == len(CANONICALS)
    assert_sums_agree(result)


@deferred_f_from_coro_f
async def test_more_drops_than_are_remembered(crawl):
    """Those that are forgotten are counted, and let through where they are linked again."""
    levels = (BOTH, [*VARIANTS, "/item9"], CANONICALS, ["/item9?sid=1"], CANONICALS)
    settings = {**ON, "URLCANON_AUDIT_MAX_PENDING": 5}
    result = await crawl(respond_with(liar_from(9), *levels), settings)
    assert declared(result.figures)["forgotten"] == len(CANONICALS) - 5
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_resumed_job(crawl):
    """It trusts nothing until it has proof of its own; what was dropped stays dropped."""
    job = {**ON, "JOBDIR": "job"}
    first = await crawl(respond_with(shop, BOTH, VARIANTS, CANONICALS[:10]), job)
    assert not set(CANONICALS) & set(first.hits)
    again = (Request(f"{SITE}/again", dont_filter=True),)
    site = {"/again": links(*CANONICALS)}
    second = await crawl(
        lambda request: site.get(request.target) or shop(request), job, start=again
    )
    assert [hit for hit in second.hits if hit != "/again"] == CANONICALS[10:]
    assert_sums_agree(second)


@deferred_f_from_coro_f
async def test_suspension_outlives_the_run(crawl):
    """What the audit turned off for a domain is off when the job is resumed."""
    job = {**AUDITED, "JOBDIR": "job"}
    first = await crawl(respond_with(liar_from(10), BOTH, VARIANTS, CANONICALS), job)
    assert first.figures["audit/suspended/declared_canonical"] == 1
    later = [f"/later{n}{query}" for n in range(PROOF) for query in ("?sid=1", "")]
    variants, canonicals = ([f"/more{n}{query}" for n in range(9)] for query in ("?sid=1", ""))
    hubs = {"/again": [*later, "/x1"], "/x1": [*variants, "/x2"], "/x2": canonicals}

    def answer(request):
        return links(*hubs[request.target]) if request.target in hubs else shop(request)

    second = await crawl(answer, job, start=(Request(f"{SITE}/again", dont_filter=True),))
    assert set(canonicals) <= set(second.hits)
    assert "dropped/rule/declared_canonical" not in second.figures


def text_of(path):
    """Return the text of the file at *path*."""
    return Path(path).read_text(encoding="utf-8")


@deferred_f_from_coro_f
async def test_report_says_which_page_declared_it(crawl):
    """The drops stand by the option and by the page, as those of a rule do."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    await crawl(site, {**ON, "URLCANON_REPORT": ["report.json", "report.html"]})
    report = json.loads(text_of("report.json"))
    option = {"name": "declared_canonical", "dropped": len(CANONICALS)}
    option |= {"layers": ["URLCANON_DECLARED_CANONICAL"], "more_layers": 0}
    assert option in report["options"]
    variants = {group["kept"]: group["variants"] for group in report["groups"]}
    assert len(variants) == len(CANONICALS)
    kept, (variant,) = next(iter(variants.items()))
    assert kept == f"{variant['url']}?sid=***"
    steps = [{"option": "declared_canonical", "layer": option["layers"][0], "on": "kept"}]
    assert variant["steps"] == steps
    assert "declared_canonical" in text_of("report.html")


@deferred_f_from_coro_f
async def test_scheduler_without_a_dupefilter(crawl, caplog):
    """It is told once, and every page is fetched."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, {**ON, "SCHEDULER": ClosedScheduler})
    assert set(CANONICALS) <= set(result.hits)
    found = [r for r in caplog.records if "URLCANON_DECLARED_CANONICAL has" in r.getMessage()]
    assert len(found) == 1


@pytest.mark.parametrize("value", ["yes", 2, "cross-domain"])
@deferred_f_from_coro_f
async def test_bad_value(crawl, value):
    """A value that is neither True nor False stops the crawl before its first request."""
    with pytest.raises(ConfigurationError, match="URLCANON_DECLARED_CANONICAL: expected True or"):
        await crawl(shop, {"URLCANON_DECLARED_CANONICAL": value})
