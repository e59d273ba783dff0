"""A declared canonical URL is not fetched once such declarations have proved right."""

import json
from pathlib import Path

import pytest
from declaring_shop import (
    AUDITED,
    BOTH,
    CANONICALS,
    ON,
    ORDERED,
    PROOF,
    SUBJECTS,
    VARIANTS,
    article,
    articles,
    assert_sums_agree,
    declared,
    liar_from,
    respond_with,
    shop,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import Response, page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from simulation import Simulation
from sites import SITE, ClosedScheduler, links

from scrapy_urlcanon.crawl.declared.claims import Belief
from scrapy_urlcanon.exceptions import ConfigurationError


@deferred_f_from_coro_f
async def test_right_canonicals_save_requests_and_lose_no_page(crawl):
    """After five pages were right, canonical URLs of pages that the spider has are dropped."""
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
    """Four right pages are too little evidence."""
    result = await crawl(respond_with(shop, BOTH[:-2], VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_link_header(crawl):
    """A Link header declares as a link element does."""

    def answer(request):
        headers = (("Content-Type", "text/html"), ("Link", f'<{request.path}>; rel="canonical"'))
        return Response(headers=headers, body=article(request.path[1:]).body)

    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert not set(CANONICALS) & set(result.hits)
    assert articles(result) == SUBJECTS


@deferred_f_from_coro_f
async def test_link_element_in_the_body_declares_nothing(crawl):
    """A link element in the body is ignored: a visitor may have written it."""

    def answer(request):
        subject = request.path[1:]
        comment = f'<link rel="canonical" href="{request.path}">'
        return page(f"<title>About {subject}</title><body>{subject} {comment}")

    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)
    assert declared(result.figures) == {}


@deferred_f_from_coro_f
async def test_page_that_links_its_own_canonical_url(crawl):
    """A page's link to its own canonical URL is dropped."""

    def answer(request):
        return article(request.path[1:], request.path, urls=[request.path])

    result = await crawl(respond_with(answer, BOTH, VARIANTS), ON)
    assert not set(CANONICALS) & set(result.hits)
    assert articles(result) == SUBJECTS


@deferred_f_from_coro_f
async def test_other_registrable_domain(crawl):
    """A declared URL on another registrable domain is fetched; one on a subdomain need not be."""
    for host, is_dropped in (("other.example", False), ("www.site.example", True)):

        def answer(request, host=host):
            return article(request.path[1:], f"http://{host}{request.path}")

        there = [f"http://{host}/item{n}" for n in range(30)]
        levels = (VARIANTS, there[10:20], there[20:])
        result = await crawl(respond_with(answer, *levels), ON)
        assert set(there[10:20]) <= set(result.hits)
        assert bool(set(there[20:]) & set(result.hits)) is not is_dropped
        assert ("foreign" in declared(result.figures)) is not is_dropped


CHAIN = {"a": "/b{}", "b": "/c{}", "c": "/c{}"}
CYCLE = {"a": "/b{}", "b": "/a{}"}


@pytest.mark.parametrize(
    ("declares", "order"), [(CHAIN, "abc"), (CHAIN, "cba"), (CHAIN, "bac"), (CYCLE, "ab")]
)
@deferred_f_from_coro_f
async def test_chains_and_cycles(crawl, declares, order):
    """In chains and cycles of declarations the spider gets one URL of each page."""

    def answer(request):
        letter, number = request.path[1], request.path[2:]
        return article(f"page{number}", declares[letter].format(number))

    proof = [f"/{letter}{n}" for n in range(10) for letter in order]
    levels = [[f"/{letter}{n}" for n in range(10, 40)] for letter in order]
    site = respond_with(answer, proof, *levels)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off) == {f"page{n}" for n in range(40)}
    # The twenty-first that would be dropped is fetched, in case the site has begun to lie.
    dropped = {url for url in levels[1] if url != "/b30"} if declares is CYCLE else set()
    assert set(off.hits) - set(on.hits) == dropped


# URLs of four pages, in as many forms.
forms = st.builds(
    "http://site.example/p{}{}".format,
    st.integers(0, 3),
    st.sampled_from(["", "/print", "?x=1", "?x=2", "/?utm_source=x"]),
)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    found=st.lists(st.tuples(forms, st.lists(forms, max_size=6)), max_size=8),
    declares=st.dictionaries(forms, forms),
    redirects=st.dictionaries(forms, forms, max_size=3),
    dead=st.sets(forms, max_size=3),
    audit=st.sampled_from([0, 1]),
    lifo=st.booleans(),
)
def test_true_canonicals_lose_nothing(found, declares, redirects, dead, audit, lifo):  # noqa: PLR0917
    """True declarations of any form lose no page, even if all are believed at once."""
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
    """Return the number of the page that *url* leads to."""
    return int(url.partition("/p")[2][0])


def of_page(url, number):
    """Return the URL of another page that has the form of *url*."""
    return url.replace(f"/p{page_of(url)}", f"/p{number}")


@deferred_f_from_coro_f
async def test_resumed_job(crawl):
    """A resumed job needs new proof, and does not fetch what was dropped."""
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
    """What the audit suspended for a domain stays so when the job is resumed."""
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
    """The report names the pages that declared what was dropped."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    await crawl(site, {**ON, "URLCANON_REPORT": ["report.json", "report.html"]})
    report = json.loads(text_of("report.json"))
    option = {"name": "declared_canonical", "dropped": len(CANONICALS)}
    option |= {"layers": ["URLCANON_DECLARED_CANONICAL"], "more_layers": 0}
    assert any(option.items() <= shown.items() for shown in report["options"])
    variants = {group["kept"]: group["variants"] for group in report["groups"]}
    assert len(variants) == len(CANONICALS)
    kept, (variant,) = next(iter(variants.items()))
    assert kept == f"{variant['url']}?sid=***"
    step = {"option": "declared_canonical", "layer": option["layers"][0], "on": "kept"}
    assert variant["steps"] == [step | {"entries": []}]
    assert "declared_canonical" in text_of("report.html")


@deferred_f_from_coro_f
async def test_scheduler_without_a_dupefilter(crawl, caplog):
    """If the scheduler has no duplicate filter one warning says so, and all is fetched."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, {**ON, "SCHEDULER": ClosedScheduler})
    assert set(CANONICALS) <= set(result.hits)
    found = [r for r in caplog.records if "URLCANON_DECLARED_CANONICAL has" in r.getMessage()]
    assert len(found) == 1


@pytest.mark.parametrize("value", ["yes", 2, "cross-domain"])
@deferred_f_from_coro_f
async def test_bad_value(crawl, value):
    """A value other than True or False stops the crawl before its first request."""
    with pytest.raises(ConfigurationError, match="URLCANON_DECLARED_CANONICAL: expected True or"):
        await crawl(shop, {"URLCANON_DECLARED_CANONICAL": value})
