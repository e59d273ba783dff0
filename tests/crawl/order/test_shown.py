"""What the report, the stats and `scrapy urlcanon traps` show of an ordered crawl."""

import json
import logging

import pytest
from command_line import urlcanon
from loopback import page
from scrapy.pqueues import ScrapyPriorityQueue
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ClosedScheduler
from trap_sites import SITES, words

from scrapy_urlcanon import RequestFingerprinter
from scrapy_urlcanon.crawl.components import ORDER
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.report.sections.news import Point
from scrapy_urlcanon.report.sections.traps import TrapRow

DAY = "site.example/calendar/{1:digits}/{2:digits}/{3:digits}"
LINE = '"site.example": {"skip": ["/calendar/{p1:digits}/{p2:digits}/{p3:digits}"]},'


@deferred_f_from_coro_f
async def test_report_and_command_name_the_trap_and_the_line_that_ends_it(crawl, tmp_path):
    """Report and command show the curve of news, and the trap with the rule that ends it."""
    site = type("Small", (SITES["calendar"],), {"articles": 20})()
    result = await crawl(
        lambda request: page(site(request.url)),
        {
            "URLCANON_ORDER": "novelty",
            "URLCANON_REPORT": "report.json,report.html",
            "CLOSESPIDER_PAGECOUNT": 100,
        },
        start=[f"{site.host}/"],
    )
    report = read_report(tmp_path / "report.json")
    curve = report.rows(Point)
    assert (curve[-1].fetches, curve[-1].words) == (
        result.figures["novelty/fetched"],
        result.figures["novelty/words"],
    )
    assert [trap.setting for trap in report.rows(TrapRow) if trap.kind == DAY] == [LINE]
    html = (tmp_path / "report.html").read_text()
    assert "<polyline" in html
    assert 'id="traps"' in html
    shown = urlcanon("traps", "report.json", cwd=tmp_path)
    assert (shown.returncode, LINE in shown.stdout) == (0, True)
    assert "Traps" in urlcanon("report", "report.json", cwd=tmp_path).stdout


@deferred_f_from_coro_f
async def test_stats_hold_what_was_expected_against_what_came(crawl):
    """The stats compare expected with observed news by tenths of what was expected."""
    site = type("Small", (SITES["calendar"],), {"articles": 20})()
    result = await crawl(
        lambda request: page(site(request.url)),
        {"URLCANON_ORDER": "novelty", "CLOSESPIDER_PAGECOUNT": 100},
        start=[f"{site.host}/"],
    )
    found = [result.figures.get(f"novelty/decile/{number}/fetches", 0) for number in range(10)]
    assert sum(found) == result.figures["novelty/fetched"] >= 100
    assert 20 <= result.figures["novelty/with_news"] < 100
    came = 0
    for number, fetches in enumerate(found):
        if fetches:
            expected = result.figures[f"novelty/decile/{number}/expected"]
            assert 100 * number <= expected <= 100 * (number + 1)
            came += fetches * result.figures[f"novelty/decile/{number}/observed"]
    # In thousandths: an article is new but for its frame.
    assert came > 20 * 250


@deferred_f_from_coro_f
async def test_trap_that_looks_as_articles_do_has_no_line(crawl, caplog, tmp_path):
    """A trap whose URLs have the shape of articles is reported without a rule."""
    words = [f"{one}{other}um" for one in "bcdfghjkl" for other in "aeiou"]
    likes = [f"/@{word}{end}/likes-{word}{end}/" for word in words for end in ("", "er")]
    links = [*(f"/blog/{word}/" for word in words), *likes]

    def answer(request):
        if request.path == "/":
            return page("".join(f'<a href="{to}">more</a>' for to in links))
        word = request.path.split("/")[2]
        return page("Nobody likes it" if "@" in request.path else f"<p>{word} {word}ly {word}s")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_REPORT": "report.json,report.html"}
    await crawl(answer, settings)
    (trap,) = read_report(tmp_path / "report.json").rows(TrapRow)
    assert (trap.kind, trap.setting) == ("site.example/{0}/{1}/", "")
    (said,) = [each.getMessage() for each in caplog.records if trap.kind in each.getMessage()]
    assert said.endswith("They come last from now on.")
    html = (tmp_path / "report.html").read_text()
    assert "No rule: it might end pages that bring something." in html
    shown = urlcanon("traps", "report.json", cwd=tmp_path)
    assert shown.stdout.splitlines() == [f"{trap.fetches:10,}  {trap.kind}"]


@deferred_f_from_coro_f
async def test_lists_that_led_to_news_before_a_stop_are_no_trap_after_it(crawl, caplog, tmp_path):
    """Lists that led to news in the first run of a job are no trap in its second."""
    tags, articles = ([f"/{kind}/{n}" for n in range(120)] for kind in ("tag", "post"))

    def answer(request):
        links = tags if request.path == "/" else ()
        if request.path in tags:
            first = 3 * tags.index(request.path) % len(articles)
            links = articles[first : first + 3]
        text = words(request.path, 60) if request.path in articles else "list"
        return page(f"<p>{text}" + "".join(f'<a href="{to}">more</a>' for to in links))

    job = {"URLCANON_ORDER": "novelty", "JOBDIR": "job", "URLCANON_REPORT": "report.json"}
    first = await crawl(answer, {**job, "CLOSESPIDER_PAGECOUNT": 170})
    second = await crawl(answer, job, start=())
    assert {*first.hits, *second.hits} == {"/", *tags, *articles}
    assert sum(tag in second.hits for tag in tags) > 20
    assert not sum(article in second.hits for article in articles)
    assert not read_report(tmp_path / "report.json").rows(TrapRow)
    assert "brought next to nothing new" not in caplog.text


@pytest.mark.parametrize(
    ("settings", "is_said"),
    [
        ({}, False),
        ({"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}, True),
        ({"SCHEDULER_PRIORITY_QUEUE": ScrapyPriorityQueue}, True),
        ({"SCHEDULER": ClosedScheduler, "SCHEDULER_PRIORITY_QUEUE": ScrapyPriorityQueue}, True),
        # The fingerprinter alone has the order at work.
        ({"ADDONS": {}, "REQUEST_FINGERPRINTER_CLASS": RequestFingerprinter}, False),
    ],
)
@deferred_f_from_coro_f
async def test_queue_that_keeps_the_order_from_its_work_is_warned_of(
    crawl, caplog, settings, is_said
):
    """If another queue keeps the order from working, a warning names the setting to remove."""
    caplog.set_level(logging.INFO)
    result = await crawl(lambda _: page("text"), {"URLCANON_ORDER": "novelty", **settings})
    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert result.hits == ["/"]
    assert (result.crawler.settings["SCHEDULER_PRIORITY_QUEUE"] == ORDER) is not is_said
    assert (
        any(
            "SCHEDULER_PRIORITY_QUEUE" in record.getMessage() and "no effect" in record.getMessage()
            for record in said
        )
        is is_said
    )
    assert ("What is new comes first" in caplog.text) is not is_said


def test_command_finds_the_trap_of_a_store(tmp_path):
    """The command finds traps of log-in forms and of missing pages in a store."""
    store = ObservationStore(tmp_path / "crawl.sqlite")
    for number in range(30):
        text = f"<p>There is no {number}"
        store.add(Page(f"http://a.example/gone/{number}", text.encode(), text), status=404)
    for number in range(120):
        text = (
            "<p>Name and password"
            if number % 2
            else f"<p>Article {chr(97 + number // 26) + chr(97 + number % 26)}"
        )
        path = f"login?to={number}" if number % 2 else f"article/{number}"
        store.add(Page(f"http://a.example/{path}", text.encode(), text), status=200)
    store.close()
    shown = urlcanon("traps", "crawl.sqlite", cwd=tmp_path)
    assert '"a.example": {"skip": ["/login?to={q0}"]},' in shown.stdout
    assert '"a.example": {"skip": ["/gone/{p1:digits}"]},' in shown.stdout
    assert "article" not in shown.stdout


def test_line_for_a_trap_is_about_the_canonical_url(tmp_path):
    """The rule for a trap has the canonical URL, without parameters that are dropped anyway."""
    store = ObservationStore(tmp_path / "crawl.sqlite")
    for number in range(60):
        url = f"http://a.example:8100/day/{number}?utm_source={number}"
        store.add(Page(url, b"<p>Closed", "<p>Closed"), status=200)
    store.close()
    shown = urlcanon("traps", "crawl.sqlite", cwd=tmp_path)
    assert '"a.example": {"skip": ["/day/{p1:digits}"]},' in shown.stdout


def test_list_of_urls_shows_no_trap(tmp_path):
    """A list of URLs without contents is refused: a rule made from it would end the site."""
    urls = [f"http://a.example/article/{number}" for number in range(60)]
    (tmp_path / "left.jsonl").write_text("".join(f"{json.dumps({'url': url})}\n" for url in urls))
    shown = urlcanon("traps", "left.jsonl", cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stdout == ""
    assert "left.jsonl: it does not say what its URLs show" in shown.stderr


def test_command_says_that_there_is_nothing_in_a_file(tmp_path):
    """A file without observations is an error, and not "no trap"."""
    (tmp_path / "items.jsonl").write_text('{"price": 1}\n' * 3)
    shown = urlcanon("traps", "items.jsonl", cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stdout == ""
    assert "items.jsonl: no observation; skipped: 3 no URL" in shown.stderr


@pytest.mark.parametrize(
    ("links", "status", "has_line"),
    [("", 200, True), ("<a href=/photo?of={}>photo</a>", 200, False), ("", 500, False)],
)
@deferred_f_from_coro_f
async def test_command_gives_no_line_that_ends_what_a_store_tells_of(
    crawl, tmp_path, links, status, has_line
):
    """No rule is given for pages that alone lead to news, or that the server failed to show."""

    def respond(request):
        kind, _, number = request.target[1:].partition("?of=")
        if kind == "part":
            return page(f"<title>Part</title><h1>Part</h1>{links.format(number)}", status=status)
        if kind == "photo":
            return page(f"<title>{number}</title><p>{words(request.target, 40)}")
        return page("".join(f"<a href=/part?of={number}>part</a>" for number in range(120)))

    await crawl(respond, {"URLCANON_RECORD": "crawl.sqlite", "RETRY_ENABLED": False})
    shown = urlcanon("traps", "crawl.sqlite", cwd=tmp_path).stdout
    assert ('"skip": ["/part?of={q0}"]' in shown) is has_line
