"""Recorded links, which show which pages would be lost if a class were skipped."""

from pathlib import Path

import pytest
from loopback import page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links, site

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.links import StoredLinks
from scrapy_urlcanon.learn.readers.store import Stores

STORE = "observations.sqlite"
ON = {"URLCANON_RECORD": STORE, "URLCANON_RECORD_REVISITS": False}
TOPICS = 40


def graph(path=STORE):
    """Return the recorded links, the start URLs, and the share of linked URLs that was fetched."""
    stored = StoredLinks([Path(path)])
    urls = []
    found = stored.of("site.example", lambda url: urls.append(url) or len(urls) - 1)
    names = [url.removeprefix(SITE) for url in urls]
    edges = [(names[one], names[other]) for one, other in zip(found[0], found[1], strict=True)]
    return edges, {names[row] for row in found.starts}, found.seen


def is_whole(path=STORE):
    """Tell whether the crawl had nothing left to fetch."""
    return StoredLinks([Path(path)]).are_whole("site.example")


def word(number):
    """Return a word of six letters."""
    return "".join(chr(97 + number * 7919 // 26**place % 26) for place in range(6))


def text(number):
    """Return a text of a topic, with words that no other topic has."""
    return " ".join(word(number * 61 + n + 1) for n in range(60))


def forum(*, lists_slugs):
    """Return the pages of a forum whose short links show what is found under a slug too.

    :param lists_slugs: whether its index links the slugs, or the topics themselves alone do.
    """
    pages = {}
    for number in range(TOPICS):
        slug = f"/t/{word(number + 3000)}-{word(number * 3 + 5000)}"
        anchors = f'<a href="{slug}">permanent</a> <a href="/topic?n={number * 31 + 7}">short</a>'
        for url in (slug, f"/topic?n={number * 31 + 7}"):
            pages[f"{SITE}{url}"] = page(f"<title>{number}</title><p>{text(number)}</p>{anchors}")
    index = [url.removeprefix(SITE) for url in pages if lists_slugs or "/topic" in url]
    return {f"{SITE}/": links(*index), **pages}


@deferred_f_from_coro_f
async def test_links_redirects_and_starts_are_recorded(crawl):
    """Links, redirects and starts are recorded, variants as their pages, without other domains."""
    answers = {
        f"{SITE}/": links("/a?b=1&c=2", "/old", "http://other.example/"),
        f"{SITE}/a?b=1&c=2": links("/", "/a?c=2&b=1", "/gone"),
        f"{SITE}/old": redirect("/new"),
        f"{SITE}/new": links("/new"),
    }
    await crawl(site(answers), ON)
    edges, starts, seen = graph()
    assert starts == {"/"}
    assert set(edges) == {
        ("/", "/a?b=1&c=2"),
        ("/", "/old"),
        ("/a?b=1&c=2", "/"),
        ("/a?b=1&c=2", "/a?b=1&c=2"),
        ("/a?b=1&c=2", "/gone"),
        ("/old", "/new"),
        ("/new", "/new"),
    }
    assert seen.seen == seen.of == 5
    assert is_whole()


@deferred_f_from_coro_f
async def test_crawl_that_was_cut_short_is_not_whole(crawl):
    """A crawl that was cut short has linked URLs that were not fetched."""
    answers = {f"{SITE}/": links("/a", "/b"), f"{SITE}/a": links("/c"), f"{SITE}/b": page("B")}
    await crawl(site(answers), {**ON, "CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 1})
    _, _, seen = graph()
    assert seen.seen < seen.of
    assert not is_whole()


@deferred_f_from_coro_f
async def test_links_that_all_pages_have_are_kept_of_few(crawl):
    """Of links that all pages have, a few are kept."""
    pages = [f"/{number}" for number in range(100)]
    answers = {f"{SITE}{url}": links("/menu") for url in pages}
    await crawl(site({f"{SITE}/": links(*pages), **answers}), ON)
    edges, _, _ = graph()
    assert 8 <= [target for _, target in edges].count("/menu") <= 12


@pytest.mark.parametrize("lists_slugs", [True, False])
@deferred_f_from_coro_f
async def test_class_is_not_skipped_that_alone_leads_to_the_other_place(crawl, lists_slugs):
    """A class is not learned as a skip if it alone links the other URLs of its pages."""
    respond = site(forum(lists_slugs=lists_slugs))
    await crawl(respond, ON)
    rules = learn(Stores([Path(STORE)])).rules
    assert [rule.setting for rule in rules if rule.option == "skip"] == (
        [["/topic?n={a:digits}"]] if lists_slugs else []
    )
