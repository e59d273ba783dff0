"""Audits of pages that differ in little: an image, a form field, a line on the way to them."""

from random import Random

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, audits
from loopback import page
from scrapy import Spider
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import SITE, FollowSpider, links

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.entries.figures import AuditFigures
from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
from scrapy_urlcanon.crawl.checks.sites import Sites

NAMES = [Random(number).randbytes(4).hex() for number in range(60)]


def frame(size):
    """Return *size* lines that all pages of a site share."""
    return "".join(f"<p>{NAMES[n % 60]} and {NAMES[n // 2 % 60]}, line {n}" for n in range(size))


def shop(urls, answer):
    """Return a site whose home page links *urls* with texts that are also on their pages."""
    links = (f'<li><a href="{url}">The {NAMES[n % 60]} shoes</a>' for n, url in enumerate(urls))
    home = page("".join(links))
    count = iter(range(1_000_000))
    return lambda request: home if request.target == "/" else answer(request, next(count))


MEDIA = {
    "image": "<img src=/photos/{}.jpg>",
    "image that a script loads": "<img src=/blank.gif data-src=/photos/{}.jpg>",
    "film": "<iframe src=/films/{}></iframe>",
}
MOVES = {
    "nothing": lambda _: "",
    "a counter": lambda count: f"<p>Visit number {count}",
    "a sentence": lambda count: f"<p>Today {NAMES[count % 50]} {NAMES[count % 37]} is best",
    "a token": lambda count: f"<p>Token {Random(count).randbytes(8).hex()}",
    "an advertisement": lambda count: f"<img src=/ads/{count % 11}.jpg>",
}


def test_option_whose_parameters_were_judged_one_by_one_is_not_shown_itself():
    """An option whose parameters are judged one by one has no entry of its own in the stats."""
    crawler, site = get_crawler(Spider), Sites().of("a.example")
    of_all, of_one = (
        EntryRecord(RuleEntry("keep_params", *name), "a.example", site, 0.1)
        for name in ((), ("next",))
    )
    of_one.add(None)
    AuditFigures(crawler).complete([of_one, of_all], Spider("a"))
    shown = {key.split("/")[3] for key in crawler.stats.get_stats()}
    assert shown == {"keep_params:next"}


@pytest.mark.parametrize("size", [70, 200])
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("medium", MEDIA)
@deferred_f_from_coro_f
async def test_wrong_rule_over_pages_that_embed_something_else(crawl, medium, moves, size):
    """Pages that differ in one image or film alone are found to differ, and none is lost."""
    urls = [f"/p?id={n}" for n in range(24)]

    def answer(request, count):
        shown = MEDIA[medium].format(request.query[3:])
        return page(f"<title>Shop</title>{frame(size)}{shown}{MOVES[moves](count)}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    assert len(result.hits) <= 25 + 9


@pytest.mark.parametrize("moves", MOVES)
@deferred_f_from_coro_f
async def test_wrong_rule_over_forms_in_whose_fields_something_else_stands(crawl, moves):
    """Pages that differ in the value of a form field alone are found to differ."""
    urls = [f"/p?id={n}" for n in range(24)]

    def answer(request, count):
        name = NAMES[int(request.query[3:])]
        fields = f'<p>Title <input name=title value="Boots of {name}"><input type=submit>'
        form = f"<form method=post>{frame(5)}{fields}</form>"
        return page(f"<title>Edit</title>{form}{MOVES[moves](count)}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    assert len(result.hits) <= 25 + 9


@pytest.mark.parametrize("moves", MOVES)
@deferred_f_from_coro_f
async def test_right_rule_over_pages_that_embed_something_of_their_own(crawl, moves):
    """An image that both URLs of a page embed does not make them two pages."""
    urls = [f"/p{n}?sid={m}" for n in range(30) for m in range(3)]

    def answer(request, count):
        shown = MEDIA["image"].format(request.path[2:])
        return page(f"<title>Shop</title>{frame(200)}{shown}{MOVES[moves](count)}")

    settings = {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0.1}
    result = await crawl(shop(urls, answer), settings)
    assert result.pages == sorted(["/", *(f"/p{n}?sid=0" for n in range(30))])
    assert len(result.hits) <= 31 + 6


WAYS = {
    "a greeting": lambda _, way: f"<p>Welcome, readers of {NAMES[way]}",
    "a trail": lambda n, way: (
        f"<p>Home / Shop / {NAMES[way]} / {NAMES[way + 5]} / {NAMES[n]} shoes"
    ),
    "a list of the trail": lambda n, way: f"<li>Home<li>{NAMES[way]}<li>The {NAMES[n]} shoes",
    "a place among others": lambda _, way: f"<p>Result {way} of 57",
    "what follows": lambda n, way: f"<p>Next: The {NAMES[(n * 7 + way * 11) % 60]} shoes",
    "what is related": lambda n, way: "".join(
        f"<img src=/photos/{(n * 7 + way * 11 + k) % 60}.jpg>" for k in range(3)
    ),
    # As of a cache that has a copy for each URL.
    "a sentence": lambda n, way: (
        f"<p>Today {NAMES[way * n % 50]} {NAMES[way * 3 + n % 37]} is best"
    ),
    "a counter": lambda n, way: f"<p>Visit number {n * 31 + way * 1000}",
}


@pytest.mark.parametrize("way", WAYS)
@deferred_f_from_coro_f
async def test_right_rule_over_pages_that_say_how_they_were_reached(crawl, way):
    """A page may say how it was reached (trail, greeting, next item) without being two pages.

    It says so at each fetch of a URL, so that it is no noise.
    """
    urls = [f"/p{n}?sid={m}" for m in range(5) for n in range(60)]

    def answer(request, _):
        number, sid = int(request.path[2:]), int(request.query[4:])
        own = f"<h1>The {NAMES[number]} shoes</h1><img src=/photos/{number}.jpg>"
        return page(f"<title>Shop</title>{frame(150)}{own}{WAYS[way](number, sid)}")

    settings = {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0.2}
    result = await crawl(shop(urls, answer), settings)
    assert not any("suspended" in figure for figure in audits(result.figures))
    assert len(result.pages) <= 62


@deferred_f_from_coro_f
async def test_page_that_was_nearly_the_same_comes_once_its_rule_falls(crawl):
    """Pages that an audit took for equal reach the spider when other audits suspend the rule."""
    urls = [f"/p?id={n}" for n in range(30)]

    def answer(request, _):
        number = int(request.query[3:])
        own = [f"<p>{NAMES[number]} of {NAMES[n]}" for n in range(40)] if number > 2 else []
        return page(f"<title>Shop</title>{frame(80)}<p>Costs {number} EUR{''.join(own)}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS, "URLCANON_AUDIT": 0.5})
    assert result.figures["audit/rule/drop_params:id/site.example/same"] > 0
    assert result.pages == sorted(["/", *urls])


@deferred_f_from_coro_f
async def test_files_of_items_are_no_pages_to_compare_with(crawl):
    """Files of a files pipeline do not push the kept pages out of the audit's memory."""
    pages = {"/": ["/a", "/b"], "/b": ["/c"], "/c": ["/a?sid=1"]}

    class Illustrated(FollowSpider):
        def parse(self, response):
            files = range(20) if response.url.endswith("/b") else ()
            yield {"url": response.url, "text": "", "file_urls": [f"{SITE}/{n}" for n in files]}
            yield from response.follow_all(css="a")

    def answer(request):
        return links(*pages[request.path]) if request.path in pages else page(request.path)

    settings = {
        **RIGHT,
        **SETTINGS,
        "URLCANON_AUDIT_MAX_PAGES": 12,
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": "files",
    }
    result = await crawl(answer, settings, spider=Illustrated)
    assert len(result.hits) == 4 + 20 + 1
    assert result.figures["audited"] == 1


@pytest.mark.parametrize("character", ["\u200b", "&shy;"], ids=["no width", "soft hyphen"])
@deferred_f_from_coro_f
async def test_characters_that_nobody_sees_hide_no_wrong_rule(crawl, character):
    """Invisible characters that change at each visit do not make all lines noise.

    Sites add them to trace copies; with all lines noise a wrong rule would not be found.
    """
    urls = [f"/p?id={n}" for n in range(20)]

    def answer(request, count):
        random, strewn = Random(request.query), Random(count)
        words = random.choices(NAMES, k=12)
        marked = (word[: (at := strewn.randrange(8))] + character + word[at:] for word in words)
        lines = "".join(f"<p>{word} and {next(marked)}" for word in marked)
        return page(f"<title>Shoes</title>{frame(9)}{lines}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert "audit/suspended/drop_params/id" in result.figures
    assert result.pages == sorted(["/", *urls])


UNTOLD = {
    "alternative text": '<img src=/dot.gif alt="{}">',
    "label for who does not see": '<i aria-label="{}"></i>',
    "what a style writes": "<style>p::after {{ content: '{}' }}</style>",
    "data for scripts": '<div data-item="{}"></div>',
    "what is asked for": '<form><input name=q value="{}"></form>',
    "where a link leads": '<a href="/files/{}.zip">Download</a>',
    "image of a background": '<p style="background: url(/photos/{}.jpg)"></p>',
    "data for search engines": '<meta name=description content="{}">',
}


@pytest.mark.parametrize("own", UNTOLD.values(), ids=[*UNTOLD])
@deferred_f_from_coro_f
async def test_what_is_no_text_of_a_page_tells_no_wrong_rule(crawl, own):
    """Pages that differ in attributes or styles alone are taken for one, as the docs say."""
    urls = [f"/p?id={n}" for n in range(12)]

    def answer(request, count):
        del count
        return page(f"<title>Shoes</title>{frame(9)}{own.format(request.query)}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.figures["audited"]
    assert result.figures["audit/rule/drop_params:id/site.example/another"] == 0


@deferred_f_from_coro_f
async def test_text_that_pages_leave_out_now_and_then_tells_no_wrong_rule(crawl):
    """Text that is missing at some visits is taken for an advertisement, as the docs say."""
    urls = [f"/p?id={n}" for n in range(12)]

    def answer(request, count):
        random = Random(request.query)
        lines = "".join(f"<p>{' '.join(random.choices(NAMES, k=9))}" for _ in range(4))
        return page(f"<title>Shoes</title>{frame(9)}{lines if count % 3 else '<p>Come again'}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.figures["audited"]
    assert result.figures["audit/rule/drop_params:id/site.example/another"] == 0


ONE_LINE = {
    "a word within each line": lambda words, now: "<p>".join(
        f"{' '.join(words[n : n + 3])} {Random(now + bytes([n])).randbytes(3).hex()} {words[n + 3]}"
        for n in range(0, 28, 4)
    ),
    "advertisement within": lambda words, now: " ".join([*words[:9], now.hex(), *words[9:]]),
    "another order": lambda words, now: " ".join(Random(now).sample(words, len(words))),
}


@pytest.mark.parametrize("moving", ONE_LINE.values(), ids=[*ONE_LINE])
@deferred_f_from_coro_f
async def test_one_line_of_which_a_part_moves_tells_that_a_rule_is_wrong(crawl, moving):
    """A line of which a part changes at each visit still tells pages apart by its other words."""
    urls = [f"/p?id={n}" for n in range(40)]

    def answer(request, count):
        random = Random(request.query)
        words = random.choices(NAMES, k=30)
        text = moving(words, Random(count).randbytes(6))
        return page(f"<title>Shoes</title>{frame(9)}<p>{text}")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert "audit/suspended/drop_params/id" in result.figures
    assert result.pages == sorted(["/", *urls])
