"""The first fetches of a site of which nothing is known yet."""

from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE
from trap_sites import words

NOVELTY = {"URLCANON_ORDER": "novelty", **ONE_BY_ONE}
ARTICLES, OF_A_LIST = 60, 10
LISTS = ARTICLES // OF_A_LIST
INDICES, OF_AN_INDEX = 12, 5
TITLES = ["+".join((*"abcdef"[: 1 + number // 6], f"x{number}")) for number in range(36)]

CHAPTERS = [f"{words(number, 1)}{words(-number, 1)}" for number in range(20)]
LONG = CHAPTERS[10:]


def blog(request):
    """Answer as a blog that links all articles, and last the next list.

    A list has ten articles in full.
    """
    kind, _, name = request.target.removeprefix("/").partition("/")
    if kind == "post":
        return page(words(name, 40))
    number = int(name or 0)
    listed = range(OF_A_LIST * number, OF_A_LIST * (number + 1))
    told = "".join(f"<p>{words(each, 40)}" for each in listed)
    named = "".join(f"<li><a href=/post/{each}>{each}</a>" for each in range(ARTICLES))
    further = f"<p><a href=/list/{number + 1}>Older</a>" if number + 1 < LISTS else ""
    return page(told + named + further)


@deferred_f_from_coro_f
async def test_lists_that_are_linked_last_are_found_while_little_is_known(crawl):
    """Lists of whole articles, linked last on each page, are found among the first fetches."""
    hits = (await crawl(blog, NOVELTY)).hits
    assert len(hits) == ARTICLES + LISTS
    assert next(hit for hit in hits if hit.startswith("/list/")) in hits[:10]
    assert sum(hit.startswith("/list/") for hit in hits[:25]) == LISTS - 1


def manual(request):
    """Answer as a manual whose first page links indices, which link the pages."""
    kind, _, name = request.target.removeprefix("/").partition("/")
    if kind == "page":
        return page(words(name, 200))
    if kind == "index":
        first = OF_AN_INDEX * int(name)
        return page("".join(f"<a href=/page/{first + each}>p</a>" for each in range(OF_AN_INDEX)))
    return page("".join(f"<li><a href=/index/{each}>i</a></li>" for each in range(INDICES)))


@deferred_f_from_coro_f
async def test_what_lies_behind_the_first_links_is_fetched_before_all_of_these(crawl):
    """Pages behind the first links are fetched before all first links are.

    Many crawls of a small site take no more than its first fetches.
    """
    hits = (await crawl(manual, NOVELTY)).hits
    assert len(hits) == 1 + INDICES + INDICES * OF_AN_INDEX
    assert sum(hit.startswith("/page/") for hit in hits[:16]) >= 8


def manual_of_titles(request):
    """Answer as a manual whose pages have their title as the whole query."""
    _, _, title = request.target.partition("?")
    return page(words(title, 50) if title else "".join(f"<li><a href=?{t}>t</a>" for t in TITLES))


@deferred_f_from_coro_f
async def test_pages_with_titles_of_any_length_are_of_one_shape(crawl):
    """Titles of any length are one shape, and are fetched in the order of their links."""
    hits = (await crawl(manual_of_titles, NOVELTY)).hits
    assert hits[1:7] == [f"/?{title}" for title in TITLES[:6]]
    assert len(hits) == 1 + len(TITLES)


def manual_with_contents(request):
    """Answer as a manual whose contents link chapters, and sections of the last ten."""
    chapter = request.target.removeprefix("/").removesuffix(".html")
    if chapter in CHAPTERS:
        return page(words(chapter, 1_000 if chapter in LONG else 50))
    listed = "".join(
        f"<li><a href=/{each}.html>{each}</a>"
        + "".join(f"<a href=/{each}.html#s{n}>s</a>" for n in range(9 if each in LONG else 0))
        for each in CHAPTERS
    )
    return page(listed + "<a href=/login.html>in</a>" * 30)


@deferred_f_from_coro_f
async def test_chapters_of_which_many_sections_are_linked_come_first(crawl):
    """Chapters with many linked sections come first, since they are long.

    A form that is linked many times does not.
    """
    hits = (await crawl(manual_with_contents, NOVELTY)).hits
    assert len(hits) == 1 + len(CHAPTERS) + 1
    assert {hit[1:-5] for hit in hits[1 : 1 + len(LONG)]} == {*LONG}
