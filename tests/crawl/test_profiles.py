"""Rules of recognised software, in real crawls with profiles off and on."""

import asyncio
import logging

import pytest
from board_site import START, forum, listing, shown
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.report.json_form import from_json
from scrapy_urlcanon.report.page import to_html
from scrapy_urlcanon.report.sections.software import Software


@deferred_f_from_coro_f
async def test_rules_hold_from_the_first_page_on(crawl, board, caplog):
    """The links of the page by which a program is recognised are already merged by its rules."""
    urls = [f"/forum/a.php?sid={number}" for number in range(5)]
    respond = site({START[0]: shown(*urls)}, missing=200)
    off = await crawl(respond, {"URLCANON_PROFILES": False}, start=START)
    with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
        on = await crawl(respond, board, start=START)
    assert len(off.hits) == 6
    assert len(on.hits) == 2
    assert on.figures["profile/recognised/Board"] == 1
    assert "Recognised Board 2.1 at site.example/forum/, by generator Board" in caplog.text


@deferred_f_from_coro_f
async def test_what_a_program_runs_on_is_no_other_program_below_it(crawl):
    """Folders below a fancyindex listing are not taken for nginx' own listings."""
    orders = "".join(f'<a href="?C={by}&amp;O={way}">{by}</a>' for by in "NS" for way in "AD")
    listings = {
        "/": listing("/", f'{orders}<a href="a/">a</a>'),
        "/a/": listing("/a/", f'{orders}<a href="../">Parent directory/</a><a href="b/">b</a>'),
        "/a/b/": listing("/a/b/", f'{orders}<a href="../">Parent directory/</a>'),
    }
    respond = site(
        {
            f"{SITE}{path}{query}": shows
            for path, shows in listings.items()
            for query in ("", *(f"?C={by}&O={way}" for by in "NS" for way in "AD"))
        }
    )
    off = await crawl(respond, {"URLCANON_PROFILES": False}, start=(f"{SITE}/",))
    on = await crawl(respond, {}, start=(f"{SITE}/",))
    assert len(off.hits) == 15
    assert len(on.hits) == 3


@deferred_f_from_coro_f
async def test_rules_hold_below_the_place_of_the_program_alone(crawl, board):
    """Rules hold below the program's path alone, not on other ports or subdomains."""
    urls = [f"{at}/a?sid={n}" for at in ("/shop", "http://www.site.example/forum") for n in (1, 2)]
    respond = site(
        {
            START[0]: shown(
                *urls,
                "http://site.example:81/forum/a?sid=1",
                "http://site.example:81/forum/a?sid=2",
            )
        },
        missing=200,
    )
    result = await crawl(respond, board, start=START)
    assert len(result.hits) == 7


@deferred_f_from_coro_f
async def test_program_of_a_site_that_another_one_shows(crawl, board):
    """For a page in an archive the rules hold below the archived site's URL."""
    place = "/web/http://old.example/forum/"
    urls = [f"{path}?sid={number}" for path in (f"{place}a.php", "/b") for number in (1, 2)]
    shown = "".join(f'<a href="{url}">link</a>' for url in urls)
    index = page(f'<head><meta name="generator" content="Board 2"></head><body>{shown}</body>')
    start = f"{SITE}{place}index.php"
    result = await crawl(site({start: index}, missing=200), board, start=[start])
    assert sorted(result.hits) == ["/b?sid=1", "/b?sid=2", urls[0], f"{place}index.php"]


@deferred_f_from_coro_f
async def test_suspicions_drop_nothing(crawl, board):
    """A rule that is not certain drops nothing."""
    respond = site({START[0]: shown("/forum/a?order=1", "/forum/a?order=2")}, missing=200)
    assert len((await crawl(respond, board, start=START)).hits) == 3


@deferred_f_from_coro_f
async def test_what_was_fetched_before_is_not_fetched_again(crawl, board):
    """A page fetched before the program was recognised is known by its new fingerprint."""
    plain = f"{SITE}/forum/plain.php?sid=1"
    respond = site(
        {
            f"{SITE}/": links(plain),
            plain: links("/forum/index.php"),
            START[0]: shown("/forum/plain.php", "/forum/plain.php?sid=2"),
        }
    )
    result = await crawl(respond, board)
    assert result.hits == ["/", "/forum/plain.php?sid=1", "/forum/index.php"]


@pytest.mark.parametrize(
    "own", [{"meta": {"urlcanon": False}}, {"meta": {"urlcanon_key": "k"}}, {"body": "q=a"}]
)
@deferred_f_from_coro_f
async def test_request_that_no_rule_is_to_touch_stands_for_no_other(crawl, board, own):
    """A request with a key, a body or without rules does not make a page of the program seen."""
    own_request = Request(f"{SITE}/forum/a.php?sid=1", priority=1, **own)
    respond = site({START[0]: shown("/forum/a.php")}, missing=200)
    settings = {**board, "URLCANON_RESCUE": False}
    result = await crawl(respond, settings, start=(own_request, *START))
    assert sorted(result.hits) == ["/forum/a.php", "/forum/a.php?sid=1", "/forum/index.php"]


@deferred_f_from_coro_f
async def test_user_wins(crawl, board):
    """A parameter that the user keeps is not dropped."""
    respond = site({START[0]: shown("/forum/a?sid=1", "/forum/a?sid=2")}, missing=200)
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["!sid"]}}}
    assert len((await crawl(respond, board | rules, start=START)).hits) == 3


@deferred_f_from_coro_f
async def test_preset_scrapy_knows_no_program(crawl, board):
    """With preset "scrapy" no program is recognised."""
    respond = site({START[0]: shown("/forum/a?sid=1", "/forum/a?sid=2")}, missing=200)
    result = await crawl(respond, board | {"URLCANON_PRESET": "scrapy"}, start=START)
    assert len(result.hits) == 3


@pytest.mark.parametrize("is_at_work", [False, True])
@deferred_f_from_coro_f
async def test_nothing_that_waits_is_lost_where_pages_become_one(crawl, board, is_at_work):
    """If a recognised program makes two pages one, no variant that waits is forgotten."""
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["x"]}}, "CONCURRENT_REQUESTS": 8}
    urls = [f"{SITE}/forum/who.php?sid={sid}&x={x}" for sid in "ab" for x in (1, 2)]
    wanted = urls[1] if is_at_work else urls[3]

    def respond(request):
        if request.url == START[0]:
            # What tells the program is read first, while what became of the others is on its way.
            return page("".join(f'<a href="{url}">link</a>' for url in ["list.php", *urls]))
        is_listing = "list.php" in request.url
        is_there = is_at_work or request.url == wanted
        return shown() if is_listing else page("who", status=200 if is_there else 500)

    class Spider(FollowSpider):
        async def parse(self, response):
            if is_at_work and "who" in response.url and response.url != wanted:
                await asyncio.sleep(0.5)
                raise ValueError("not this one")
            for each in super().parse(response):
                yield each

    result = await crawl(respond, board | rules, start=START, spider=Spider)
    assert wanted in [item["url"] for item in result.items]


@deferred_f_from_coro_f
async def test_two_programs_on_one_host_have_their_own_places(crawl, board):
    """Rules of one program do not hold below the path of another one."""
    login = "index.php?title=Special:UserLogin&returnto="
    wiki = page(
        '<html><head><meta name="generator" content="MediaWiki 1.39"></head><body>'
        + "".join(
            f'<a href="{url}">link</a>'
            for url in (
                "/forum/index.php",
                "/index.php?title=Special:UserLogin&returnto=1",
                "/index.php?title=Special:UserLogin&returnto=2",
                "/index.php?title=Special:UserLogin&sid=1",
                "/index.php?title=Special:UserLogin&sid=2",
            )
        )
        + "</body></html>"
    )
    respond = site(
        {
            f"{SITE}/index.php?title=Main": wiki,
            START[0]: shown("a?sid=1", "a?sid=2", *(f"b/{login}{n}" for n in (1, 2))),
        },
        missing=200,
    )
    result = await crawl(respond, board, start=(f"{SITE}/index.php?title=Main",))
    assert sorted(result.hits) == [
        "/forum/a?sid=1",
        "/forum/b/index.php?title=Special:UserLogin&returnto=1",
        "/forum/b/index.php?title=Special:UserLogin&returnto=2",
        "/forum/index.php",
        "/index.php?title=Main",
        "/index.php?title=Special:UserLogin&returnto=1",
        "/index.php?title=Special:UserLogin&sid=1",
        "/index.php?title=Special:UserLogin&sid=2",
    ]


@deferred_f_from_coro_f
async def test_resumed_job_goes_on_with_what_it_recognised(crawl, board):
    """A resumed job knows recognised programs and held posts: nothing is fetched twice or lost."""
    job = board | {"JOBDIR": "job", "CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 1}
    respond = site(forum("topic.php?p=12", "topic.php?p=99", "a?sid=1", "a?sid=2"), missing=200)
    first = await crawl(respond, job, start=START)
    second = await crawl(respond, job | {"CLOSESPIDER_PAGECOUNT": 0}, start=())
    hits = first.hits + second.hits
    assert len(hits) == len(set(hits))
    assert len([hit for hit in hits if hit.startswith("/forum/a")]) == 1
    assert "/forum/topic.php?p=99" in hits
    assert "/forum/topic.php?p=12" not in hits


@deferred_f_from_coro_f
async def test_explanations_and_the_report_name_the_profile(crawl, board, tmp_path):
    """Explanations and the report name the profile, its place and its signs."""
    respond = site({START[0]: shown("a?sid=1", "a?sid=2")}, missing=200)
    path = tmp_path / "report.json"
    result = await crawl(respond, board | {"URLCANON_REPORT": str(path)}, start=START)
    report = from_json(path.read_text())
    (software,) = report.rows(Software)
    assert (software.name, software.place) == ("Board 2.1", "site.example/forum/")
    assert software.signs == ("generator Board", "asset skin/*.css")
    assert software.suspicions == ("'site.example/forum/': {'drop_params': ['order']},",)
    assert "Board 2.1" in to_html(report)
    canonicalizer = Crawl.of(result.crawler).canonicalizer
    (step,) = canonicalizer.explain(f"{SITE}/forum/a?sid=1").steps
    assert str(step.layer) == "profile Board['site.example/forum/']"


@deferred_f_from_coro_f
async def test_audit_watches_the_rules_of_a_profile(crawl, board):
    """A rule of a profile that is wrong on a site is suspended by the audit; no page is lost."""
    pages = {
        f"{SITE}/forum/a?sid={number}": page(f"<p>{f'page {number} has words of its own. ' * 20}")
        for number in range(12)
    }
    respond = site({START[0]: shown(*pages), **pages})
    result = await crawl(respond, board | {"URLCANON_AUDIT": 1}, start=START)
    assert {f"{SITE}{hit}" for hit in result.hits} >= set(pages)
    assert result.figures["audit/suspended/drop_params/sid"] == 1


@deferred_f_from_coro_f
async def test_hostile_pages_stop_no_crawl(crawl):
    """Huge generators, titles and numbers of elements stop no crawl."""
    huge = f'<meta name="generator" content="MediaWiki {1_000_000 * "1"}"><title>{1_000_000 * "x"}'
    respond = site(
        {
            f"{SITE}/": page(f"{huge}</title><a href='/a'>a</a>"),
            f"{SITE}/a": page(f"<a href='/b'>b</a>{100_000 * '<i id=x>'}"),
            f"{SITE}/b": page("\x00\xff" * 1_000),
        }
    )
    assert set((await crawl(respond)).hits) >= {"/"}
