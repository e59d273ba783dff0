"""A redirect to a page that was fetched, or off site, is a fetch without news."""

import pytest
from loopback import page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, FollowSpider
from trap_sites import words

NOVELTY = {**ONE_BY_ONE, "URLCANON_ORDER": "novelty"}
STOPPING = {**NOVELTY, "URLCANON_STOP": 0.05}
COUNT, ESSAYS = 400, 20
KIND = "novelty/trap/site.example/go/{1:digits}"


class OnSite(FollowSpider):
    """Follows no link to another site."""

    name = "on-site"
    allowed_domains = ("site.example",)


def site(target, *, shown=()):
    """Return a server of essays, and of links that redirect to *target*.

    :param shown: the numbers of those that redirect to an essay that nothing else links.
    """

    def respond(request):
        kind, _, name = request.target[1:].partition("/")
        if not kind:
            links = [f"/go/{n}" for n in range(COUNT)] + [f"/essay/{n}" for n in range(ESSAYS)]
            return page("".join(f"<p><a href={link}>x</a>" for link in links))
        if kind == "go":
            if "again" in name:
                return redirect("/", 302)
            hidden = f"/essay/hidden-{name}" if int(name) in shown else target
            return redirect(hidden.format(name), 302)
        return page("log in" if kind == "login" else words(request.target, 60))

    return respond


@pytest.mark.parametrize("target", ["/", "/login", "/go/{}/again", "http://{}.elsewhere.example/"])
@deferred_f_from_coro_f
async def test_crawl_of_which_nothing_else_is_left_ends(crawl, target):
    """A crawl ends if all that is left redirects to fetched pages, or off site."""
    result = await crawl(site(target), STOPPING, spider=OnSite)
    assert result.stats["finish_reason"] == "urlcanon_no_news"
    assert sum("essay" in hit for hit in result.hits) == ESSAYS
    assert sum(hit.startswith("/go/") for hit in result.hits) < COUNT
    assert result.figures[KIND] > COUNT // 4


@deferred_f_from_coro_f
async def test_what_leads_off_site_comes_last(crawl):
    """URLs that redirect off site come last once some of them have."""
    found = site("http://{}.elsewhere.example/")

    def respond(request):
        if "note" not in request.target:
            return found(request)
        # A tenth of what an essay says, which is less than can be counted on of what is unknown.
        return page(f"<p>{words('note', 20)}<p>{words(request.target, 6)}")

    start = ["http://site.example/", *(f"http://site.example/note/{n}" for n in range(COUNT))]
    result = await crawl(respond, NOVELTY, spider=OnSite, start=start)
    first = [hit for hit in result.hits[: COUNT + 2 * ESSAYS] if "/go/" not in hit]
    assert len(first) > 0.8 * COUNT


@deferred_f_from_coro_f
async def test_redirects_that_lead_to_pages_with_news_are_no_trap(crawl):
    """Redirects of which one in ten leads to news are followed, and not called a trap."""
    result = await crawl(site("/", shown=range(5, COUNT, 10)), STOPPING, spider=OnSite)
    assert KIND not in result.figures
    assert sum("hidden" in hit for hit in result.hits) == COUNT // 10
