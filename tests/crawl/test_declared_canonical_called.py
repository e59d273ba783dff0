"""The texts of links speak for or against the canonical URLs that pages declare."""

from random import Random

import pytest
from declaring_shop import BOILERPLATE, ON, ORDERED
from loopback import page
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE

from scrapy_urlcanon.crawl.declared import link_labels

STYLES = {
    "the title": ("{0}", "{0}"),
    "a part of it": ("{0} - The Shop", "<b>{0}</b>"),
    "a part of it, in capitals": ("The Shop | {0} for you", " {0} ".upper()),
    "no part of it": ("No. {1}", "{0}"),
}
"""How pages are called by their titles, and how by links."""
_WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "jetty")
_PAGES = 60


class Shop:
    """Pages that are linked with ``ref`` and without, and declare the URL without it.

    One in twenty lies. It differs from what it declares by its title and a word or two.
    """

    def __init__(self, style, seed, *, label=None):
        self._title, self._label = STYLES[style]
        self._only_label = label
        random = Random(seed)
        self._names = [" ".join(random.sample(_WORDS, 3)) for _ in range(_PAGES)]
        self._names = [f"{name} {chr(97 + n // 26)}{chr(97 + n % 26)}" for n, name in
                       enumerate(self._names)]  # fmt: skip
        self.liars = set(random.sample(range(12, _PAGES - 5), 3))
        self._hubs = [range(at, at + 5) for at in range(0, _PAGES, 5)]

    def _name(self, number, query):
        return self._names[number] + " large" * bool(query and number in self.liars)

    def __call__(self, request):
        if request.path == "/" or "hub" in request.path:
            return self._hub(int(request.path.rpartition("/")[2] or 0))
        number = int(request.path.rpartition("/")[2])
        name = self._name(number, request.query)
        title = self._title.format(name, name[::-1])
        return page(
            f'<head><link rel="canonical" href="{request.path}"><title>{title}</title></head>'
            f"<body><nav>{BOILERPLATE}</nav><p>Buy {name}"
        )

    def _hub(self, number):
        # First what declares, and on the hub behind what it declares.
        here = [self._link(n, "?ref=1") for n in self._hubs[number]]
        before = [self._link(n, "") for n in self._hubs[number - 1]] if number else []
        more = f'<a href="/hub/{number + 1}">more</a>' * (number + 1 < len(self._hubs))
        return page("".join((*here, *before, more)))

    def _link(self, number, query):
        label = self._only_label or self._label.format(self._name(number, query))
        return f'<a href="/p/{number}{query}">{label}</a>'


@pytest.mark.parametrize("style", STYLES)
@deferred_f_from_coro_f
async def test_lie_is_found_where_links_call_the_pages_otherwise(crawl, style):
    """A declared URL is fetched if links to it have another text; right ones are still saved."""
    shop = Shop(style, style)
    off, on = await crawl(shop, ORDERED), await crawl(shop, ON)
    assert {f"/p/{n}" for n in shop.liars} <= set(on.hits)
    assert titles(on) == titles(off)


@pytest.mark.parametrize("label", [None, "link", "<img src=/x.png>"])
@deferred_f_from_coro_f
async def test_truth_is_believed_whatever_links_say(crawl, label):
    """If all pages tell the truth, most of what they declare is not fetched."""
    shop = Shop("a part of it", 1, label=label)
    shop.liars = set()
    on = await crawl(shop, ON)
    assert saved(on) > 0.6 * _PAGES
    assert len({url for url in on.pages if "/p/" in url}) >= _PAGES


@deferred_f_from_coro_f
async def test_page_that_no_link_calls_anything_is_fetched(crawl):
    """A declared URL whose links have no text is fetched if the others had right texts."""
    shop = Shop("the title", 1)
    shop.liars = set()
    shop._link, named = (
        lambda n, query: named(n, query) if query or n != 40 else unnamed,
        shop._link,
    )
    unnamed = '<a href="/p/40"><img src=/x.png></a>'
    on = await crawl(shop, ON)
    assert f"{SITE}/p/40" in {item["url"] for item in on.items}
    assert saved(on) > 0.6 * _PAGES


@pytest.mark.parametrize(
    "link",
    [
        # Nothing ends a link but the end of the page.
        "<div><a href='/p/{}'>one <b>two</b> ",
        "<a href='/p#{}'><img></a>",
    ],
)
def test_what_links_are_called_is_read_once(link, monkeypatch):
    """Link texts are read once per page, with many links to it and in broken HTML."""
    read = []
    monkeypatch.setattr(link_labels, "_folded", lambda text: read.append(text) or text.strip())
    body = "".join(map(link.format, range(200)))
    response = HtmlResponse(SITE, body=body.encode(), encoding="utf-8")
    labels = link_labels.LinkLabels(1_000)
    for number in range(200):
        address = link.format(number).split("'")[1]
        labels.note(Request(SITE + address), b"page", response)
    assert len(read) <= 2 * 200
    assert len("".join(read)) < len(body)


def saved(result):
    """Return how many of the declared pages were not fetched."""
    return len({f"/p/{n}" for n in range(_PAGES - 5)} - set(result.hits))


def titles(result):
    """Return the titles of the pages that the spider got."""
    return {item["text"].partition("<title>")[2].partition("</title>")[0] for item in result.items}
