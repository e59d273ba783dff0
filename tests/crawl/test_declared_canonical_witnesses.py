"""Further evidence of what a page's URL is, such as og:url and the texts of links."""

import pytest
from declaring_shop import BOTH, CANONICALS, ON, VARIANTS, article, declared, respond_with, shop
from loopback import page
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE

from scrapy_urlcanon.crawl.declared.claims import Claim, Way
from scrapy_urlcanon.crawl.declared.link_labels import LinkLabels
from scrapy_urlcanon.crawl.declared.open_claims import OpenClaim, OpenClaims
from scrapy_urlcanon.pages.verdict import Verdict


def saying_of_themselves(targets):
    """Return a shop in which the pages of *targets* have their own URL as ``og:url``."""

    def answer(request):
        body = shop(request).body.decode()
        own = f'<meta property="og:url" content="{SITE}{request.target}">'
        return page(body.replace("<head>", f"<head>{own * (request.target in targets)}"))

    return answer


@deferred_f_from_coro_f
async def test_page_that_contradicts_itself_is_not_believed(crawl):
    """A page whose og:url differs from its canonical is not believed if right pages agree."""
    answer = saying_of_themselves(VARIANTS)
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_contradiction_that_says_nothing_is_not_heard(crawl):
    """It is believed if right pages had the same difference."""
    answer = saying_of_themselves([*BOTH, *VARIANTS])
    result = await crawl(respond_with(answer, BOTH, VARIANTS, CANONICALS), ON)
    assert not set(CANONICALS) & set(result.hits)


@deferred_f_from_coro_f
async def test_canonical_url_of_two_pages_that_differ_is_not_dropped(crawl):
    """A URL that two different pages declare is fetched: one of them lies."""
    proof, others = ([url.replace("sid", "ref") for url in urls] for urls in (BOTH, VARIANTS))

    def answer(request):
        return article(f"{request.path[1:]}{'other' * (request.target in others)}", request.path)

    site = respond_with(answer, [*BOTH, *proof], VARIANTS, others, CANONICALS)
    result = await crawl(site, ON)
    assert set(CANONICALS) <= set(result.hits)
    assert "dropped/rule/declared_canonical" not in result.figures


@deferred_f_from_coro_f
async def test_titles_of_links_that_hold_a_picture_are_heard(crawl):
    """The titles of links with pictures count as their texts."""

    def gallery(number, urls):
        names = {url: url.replace("?sid=1", "" if url in BOTH else " as a poster") for url in urls}
        shown = (f'<a href="{url}" title="{name}"><img src=x></a>' for url, name in names.items())
        return page("".join([*shown, f'<a href="/hub/{number}">more</a>']))

    hubs = {"/": gallery(1, BOTH), "/hub/1": gallery(2, VARIANTS), "/hub/2": gallery(3, CANONICALS)}
    hubs["/hub/3"] = page("the end")
    result = await crawl(lambda request: hubs.get(request.target) or shop(request), ON)
    assert set(CANONICALS) <= set(result.hits)


@deferred_f_from_coro_f
async def test_declarations_that_are_never_believed_are_counted(crawl):
    """Implausible declarations, as of page 2 declaring page 1, are counted."""
    pages = [f"/list{n}?page=2" for n in range(10)]
    result = await crawl(respond_with(shop, pages), ON)
    assert declared(result.figures) == {"declared": 10, "implausible": 10}


def opened(open_claims, change, number, *, is_probe=False):
    """Return an open claim of a page with *number* that declares in this way."""
    way, name = Way("a.example", change), str(number).encode()
    claim = Claim(name, f"http://a.example/{number}?sid", b"", "", "", name, way, None)
    each = OpenClaim(claim, None, None, is_probe)
    open_claims.add(each)
    return each


def test_all_that_is_open_is_taken_in_turn():
    """Open claims are taken a few at a time, by turns of all ways of declaring."""
    open_claims = OpenClaims()
    added = [opened(open_claims, change, number) for number in (1, 2) for change in range(7)]
    taken = [open_claims.take("a.example") for _ in range(4)]
    assert [len(each) for each in taken] == [6, 6, 2, 0]
    assert {id(each) for some in taken for each in some} == set(map(id, added))
    assert {each.claim.way.change for each in taken[0]} == set(range(6))


@pytest.mark.parametrize(
    ("verdicts", "is_doubtful"),
    [([Verdict.SAME], False), ([Verdict.ANOTHER], True), ([Verdict.SAME, Verdict.ANOTHER], True)],
)
def test_what_is_open_is_doubtful_unless_such_turned_out_to_be_right(verdicts, is_doubtful):
    """Open claims are doubtful unless most like them turned out right; probes always are."""
    open_claims, way = OpenClaims(), Way("a.example", "sid goes")
    for number, verdict in enumerate(10 * verdicts):
        open_claims.close(opened(open_claims, way.change, number), verdict)
    assert not open_claims.is_doubtful(way)
    open_one = opened(open_claims, way.change, 20)
    assert open_claims.is_doubtful(way) is is_doubtful
    open_claims.close(open_one)
    opened(open_claims, way.change, 21, is_probe=True)
    assert open_claims.is_doubtful(way)


def test_what_is_closed_takes_no_room(monkeypatch):
    """Closed claims do not count against the bound."""
    monkeypatch.setattr("scrapy_urlcanon.crawl.declared.open_claims._MOST", 2)
    open_claims = OpenClaims()
    both = [opened(open_claims, change, change) for change in (1, 2)]
    assert open_claims.is_full
    for each in both:
        open_claims.close(each)
    assert not open_claims.is_full


@pytest.mark.parametrize(("label", "is_contradicted"), [("lamp", False), ("details", True)])
def test_title_around_what_several_pages_are_called_says_nothing(label, is_contradicted):
    """A link text that several pages have, such as "Details", contradicts no declaration."""
    labels, way = LinkLabels(100), Way("a.example", "sid goes")

    def claim(name, called):
        page, target = f"{name}?sid".encode(), name.encode()
        url = f"http://a.example/{name}"
        link = HtmlResponse("http://a.example/", body=f'<a href="{url}">{called}</a>'.encode())
        labels.note(Request(url), target, link)
        title = f"{called} - Shop"
        return Claim(page, f"{url}?sid", b"", title, url, target, way, None)

    for name in ("rug", "stool", "shelf"):
        labels.proved(claim(name, name))
    for name in ("hook", "nail"):
        labels.claimed(claim(name, "Details"))
    assert labels.is_contradicted(claim("last", label)) is is_contradicted
