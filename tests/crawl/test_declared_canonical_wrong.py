"""Pages that declare another page as their canonical lose none, whenever they begin to."""

import logging
from collections import Counter

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
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, links
from trap_sites import words

from scrapy_urlcanon.crawl.declared.declared_canonicals import DeclaredCanonicalPages

HUBS = {"/hub/1", "/hub/2", "/hub/3"}
"""Pages that lead to the levels of a site, as many as there are."""
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


@pytest.mark.parametrize("lie", LIES)
@deferred_f_from_coro_f
async def test_wrong_canonicals_lose_no_page(crawl, lie):
    """Pages that all declare another page are never believed, in whatever order they come."""
    target, template = LIES[lie]
    liars = {template.format(n // 10, n): target(n, template) for n in range(60)}
    canonicals = [url for url in dict.fromkeys(liars.values()) if url != "/"]
    lies_first = (list(liars), canonicals)
    canonicals_first = (canonicals, list(liars))
    mixed = (list(liars)[:20], canonicals, list(liars)[20:])

    def answer(request):
        if request.target.startswith("/missing"):
            return page("missing", status=404)
        return article(request.target, liars.get(request.target, request.target))

    off = await crawl(respond_with(answer, *lies_first), ORDERED)
    for levels in (lies_first, canonicals_first, mixed):
        on = await crawl(respond_with(answer, *levels), ON)
        assert articles(on) == articles(off)
        assert set(on.hits) - HUBS == set(off.hits) - HUBS


@deferred_f_from_coro_f
async def test_user_of_a_server_hides_no_page_of_another_one(crawl):
    """What a user declares of another user's pages is not believed, though own pages were right."""
    true = [f"/~ann/{n}{end}" for n in range(PROOF) for end in ("/item?sid=1", "/copy")]
    lies, hidden = (
        [template.format(n) for n in range(10)] for template in ("/~ann/{}/item?sid=1", "/~ben/{}")
    )

    def answer(request):
        number = request.path.split("/")[2]
        if request.target in lies and request.target not in true:
            return article(f"lie{number}", f"/~ben/{number}")
        return article(f"{request.path[2:5]}{number}", request.path.replace("item", "copy"))

    site = respond_with(answer, true, lies, hidden)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off)


@deferred_f_from_coro_f
async def test_page_number_that_goes_is_never_believed(crawl):
    """Page 2 that declares page 1 is never believed, however many short lists were equal."""
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
async def test_audit_finds_a_lie_that_begins_later(crawl, caplog):
    """If pages begin to lie the audit finds it, and all that was dropped is let through."""
    site = respond_with(liar_from(10), BOTH, VARIANTS, CANONICALS, CANONICALS)
    off = await crawl(site, ORDERED)
    with caplog.at_level(logging.WARNING, "scrapy_urlcanon"):
        on = await crawl(site, AUDITED)
    assert articles(on) == articles(off)
    # Besides the pages, the controls of at most three audits.
    assert set(on.hits) == set(off.hits)
    assert len(on.hits) <= len(off.hits) + 3 * 3
    assert 1 <= on.figures["audit/false_merge"] == on.figures["audited"] <= 3
    assert declared(on.figures)["distrusted"] == 1
    assert any(f"{SITE}/item10" in record.getMessage() for record in caplog.records)
    assert_sums_agree(on)


@deferred_f_from_coro_f
async def test_audit_of_what_is_right_costs_its_share(crawl):
    """Audits of right declarations cost their share, and no page reaches the spider twice."""
    site = respond_with(shop, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, AUDITED)
    # All of them are dropped at once, and there is room for two audits until these have ended.
    assert len(set(CANONICALS) & set(result.hits)) == result.figures["audited"] == 2
    assert not set(CANONICALS) & set(result.pages)
    assert result.figures["audit/rule/declared_canonical/site.example/another"] == 0
    assert "distrusted" not in declared(result.figures)


@deferred_f_from_coro_f
async def test_lie_that_shows_without_an_audit(crawl):
    """A canonical URL fetched for another reason shows a lie: what was dropped is let through."""
    levels = (BOTH, [*VARIANTS, "/item9"], CANONICALS, ["/item9?sid=1"])
    site = respond_with(liar_from(9), *levels)
    off, on = await crawl(site, ORDERED), await crawl(site, ON)
    assert articles(on) == articles(off)
    assert declared(on.figures)["released"] == len(CANONICALS)


@deferred_f_from_coro_f
async def test_two_pages_that_declare_the_same_and_differ(crawl):
    """If two different pages declare one URL, it is fetched, though it was dropped before."""

    def answer(request):
        subject = f"{request.path[1:]}{'other' * (request.query == 'sid=2')}"
        return article(subject, request.path)

    others = [url.replace("sid=1", "sid=2") for url in VARIANTS]
    site = respond_with(answer, BOTH, VARIANTS, CANONICALS, others)
    result = await crawl(site, ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_login_form_says_nothing(crawl):
    """A log-in form in place of pages stands for none of them."""

    def answer(request):
        if request.target in VARIANTS:
            return article("how to log in", request.path)
        return shop(request)

    site = respond_with(answer, BOTH, VARIANTS, CANONICALS)
    result = await crawl(site, ON)
    assert articles(result) >= SUBJECTS


@deferred_f_from_coro_f
async def test_login_form_is_no_evidence(crawl):
    """Equal log-in forms count once as evidence, for all pages."""

    def answer(request):
        is_proof = request.target in BOTH
        return article("how to log in" if is_proof else request.path[1:], request.path)

    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_soft_404_refutes_nothing(crawl):
    """A page that is missing for a while, with status 200, refutes no declaration."""
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
    """Variants of a dropped canonical URL are dropped too.

    If it is let through and fails, one of them is fetched.
    """
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
    """Drops beyond the bound are counted, and let through when they are linked again."""
    levels = (BOTH, [*VARIANTS, "/item9"], CANONICALS, ["/item9?sid=1"], CANONICALS)
    settings = {**ON, "URLCANON_AUDIT_MAX_PENDING": 5}
    result = await crawl(respond_with(liar_from(9), *levels), settings)
    # One of them before it is known for sure that the last page lied.
    assert declared(result.figures)["forgotten"] == len(CANONICALS) - 5 + 1
    assert set(CANONICALS) <= set(result.hits)


@pytest.mark.parametrize("query", ["?ref=1", "?ref{}=1"])
@deferred_f_from_coro_f
async def test_believed_pages_that_cannot_be_judged_do_not_gather(query, crawl, monkeypatch):
    """Believed pages that could not be judged are compared again a few at a time.

    All of a thousand with each page would take seconds.
    """
    right, all_pages, looks, asked = 20, 60, Counter(), Counter()
    look_again = DeclaredCanonicalPages._look_again

    def counting(self, each, template, **cost):
        looks[template.url] += 1
        look_again(self, each, template, **cost)

    monkeypatch.setattr(DeclaredCanonicalPages, "_look_again", counting)

    def respond(request):
        if request.target == "/":
            return links(*(f"/{n}{ref}" for n in range(all_pages) for ref in ("", query.format(n))))
        asked[request.target] += 1
        if asked[request.target] > 1:
            return page("gone", status=410)
        number = int(request.path[1:])
        text = words(request.path if number < right else request.target, 60)
        return page(f'<link rel=canonical href="{SITE}/{number}"><title>{number}</title><p>{text}')

    fifo = {"SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue"}
    result = await crawl(respond, {"URLCANON_DECLARED_CANONICAL": True, **fifo, **ONE_BY_ONE})
    assert result.figures["declared_canonical/compared"] >= right
    assert 1 < max(looks.values()) <= 6


@deferred_f_from_coro_f
async def test_pages_of_one_site_are_compared_with_requests_of_that_site(crawl):
    """Comparisons send no header that was meant for another site, such as credentials."""
    one, other = "http://one.example", "http://other.example"
    sent = []

    def respond(request):
        sent.append((request.host, dict(request.headers).get("x-token")))
        site = f"http://{request.host}"
        if request.target == "/":
            if site == other:
                return links(*(f"{site}/{n}" for n in range(200)))
            # Each declares in a way of its own.
            return links(*(f"{site}/{n}{ref}" for n in range(30) for ref in ("", f"?by{n}=1")))
        text = words(f"{site}{request.target}", 60)
        canonical = f"{site}{request.path}" if site == one else site
        return page(f"<link rel=canonical href='{canonical}'><title>{text[:9]}</title><p>{text}")

    class Authorized(FollowSpider):
        def parse(self, response):
            # More pages of the first one look different than is affordable to compare by then.
            if response.url == f"{one}/0":
                yield Request(f"{other}/")
            elif response.url.startswith(one):
                yield from response.follow_all(css="a")
            else:
                yield from response.follow_all(css="a", headers={"X-Token": "secret"})

    await crawl(
        respond, {"URLCANON_DECLARED_CANONICAL": True}, start=[f"{one}/"], spider=Authorized
    )
    assert {token for host, token in sent if host == "one.example"} == {None}


@deferred_f_from_coro_f
async def test_views_that_wrongly_declare_their_list_look_through_no_drops(crawl, monkeypatch):
    """A wrong declaration that caused no drop does not search all drops."""
    looks = []
    look = DeclaredCanonicalPages._release_what_is_not_believed

    def counting(self, domain):
        looks.append(domain)
        look(self, domain)

    monkeypatch.setattr(DeclaredCanonicalPages, "_release_what_is_not_believed", counting)
    lists = [f"/list?view={n}" for n in range(30)]

    def answer(request):
        if request.path == "/list":
            return article(request.target, "/list")
        return shop(request)

    levels = (BOTH, VARIANTS, CANONICALS, ["/list"], lists)
    result = await crawl(respond_with(answer, *levels), AUDITED)
    found = declared(result.figures)
    assert found["wrong"] > 10
    assert result.figures["dropped/rule/declared_canonical"] > 10
    assert len(looks) <= 1
