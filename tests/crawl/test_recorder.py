"""What URLCANON_RECORD stores of a crawl."""

import logging
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from loopback import Fault, Response, page, redirect
from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.settings import configuration_of
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.crawls import read_crawls
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.learn.results.in_force import Credit, RuleInForce, combine
from scrapy_urlcanon.learn.store import ObservationStore

STORE = "observations.sqlite"
ON = {"URLCANON_RECORD": STORE}


def recorded(path=STORE):
    """Return the stored observations by URL, each of which is there once."""
    observations = list(read_store(path))
    found = {observation.url.removeprefix(SITE): observation for observation in observations}
    assert len(found) == len(observations)
    return found


def files_of(directory):
    """Return the names of the files in *directory*."""
    return [path.name for path in Path(directory).iterdir()]


def is_recorded():
    """Tell whether the crawl has left a store."""
    return any(Path().iterdir())


@deferred_f_from_coro_f
async def test_every_page_is_recorded(crawl):
    """Pages and errors are recorded and counted."""
    respond = site({f"{SITE}/": links("/a", "/gone"), f"{SITE}/a": page("<p>A")})
    result = await crawl(respond, ON)
    found = recorded()
    assert {url: found[url].status for url in found} == {"/": 200, "/a": 200, "/gone": 404}
    assert found["/a"].has_content
    assert not found["/gone"].has_content
    assert result.figures["recorded"] == 3
    assert "record/refused" not in result.figures


@pytest.mark.parametrize("sign", [{"status": 206}, {"fault": Fault.TRUNCATION}])
@deferred_f_from_coro_f
async def test_beginning_of_a_page_tells_nothing(crawl, sign):
    """Truncated pages teach no rule: they may differ in the part that is missing."""
    urls = [f"/p{number}?v={view}" for number in range(20) for view in (1, 2)]
    html = (("Content-Type", "text/html"),)

    def answer(request):
        if request.target == "/":
            return links(*urls)
        begin = f"<title>Page {request.path}</title><p>All that views of {request.path} share. "
        rest = f"And that of {request.target}.".ljust(len(begin), ".")
        whole = begin if "status" in sign else begin + rest
        return Response(headers=html, body=whole.encode(), **sign)

    await crawl(answer, {**ON, "DOWNLOAD_FAIL_ON_DATALOSS": False})
    found = recorded()
    assert {*found} == {"/", *urls}
    assert not any(found[url].has_content for url in urls)
    assert learn(found.values()).as_rules() == {}


@deferred_f_from_coro_f
async def test_time_at_which_a_page_was_made_is_no_content(crawl):
    """A text with the time of the Date header has the same digest a minute later."""

    def at(clock, date):
        made = f"<p>Eleven lines about the ferry, made at {clock}"
        headers = (("Content-Type", "text/html"), ("Date", f"Sun, 22 Nov 2026 {date} GMT"))
        return Response(200, headers, made.encode())

    pages = {
        f"{SITE}/": links("/a", "/b", "/c"),
        f"{SITE}/a": at("05:41", "05:41:30"),
        f"{SITE}/b": at("05:42", "05:42:30"),
        f"{SITE}/c": at("05:42", "06:00:00"),
    }
    await crawl(site(pages), ON)
    found = recorded()
    assert found["/a"].main_sha1 == found["/b"].main_sha1 != found["/c"].main_sha1


@deferred_f_from_coro_f
async def test_status_that_is_none_takes_nothing_from_the_others(crawl):
    """A nonsense status of one response does not prevent the others from being recorded."""
    respond = site(
        {
            f"{SITE}/": links("/a", "/none", "/b"),
            f"{SITE}/a": page("<p>A"),
            f"{SITE}/none": page("<p>None", status=10**30),
            f"{SITE}/b": page("<p>B"),
        }
    )
    result = await crawl(respond, ON)
    assert recorded().keys() == {"/", "/a", "/b"}
    assert result.figures["recorded"] == 3


@deferred_f_from_coro_f
async def test_without_the_setting_nothing_is_recorded(crawl):
    """Off by default: no file, no figures."""
    result = await crawl(site({f"{SITE}/": page("<p>Home")}))
    assert "recorded" not in result.figures
    assert not is_recorded()


@deferred_f_from_coro_f
async def test_each_redirect_is_recorded_with_its_status_and_target(crawl):
    """The hops of a chain are observations, a meta refresh among them."""
    refresh = page('<html><head><meta http-equiv="refresh" content="0; url=/d"></head></html>')
    answers = {
        f"{SITE}/": links("/a"),
        f"{SITE}/a": redirect("/b", 301),
        f"{SITE}/b": redirect(f"{SITE}/c", 302),
        f"{SITE}/c": refresh,
        f"{SITE}/d": page("<p>D"),
    }
    await crawl(site(answers), ON)
    found = {url: (o.status, o.redirect.removeprefix(SITE)) for url, o in recorded().items()}
    assert found == {
        "/": (200, ""),
        "/a": (301, "/b"),
        "/b": (302, "/c"),
        "/c": (200, "/d"),
        "/d": (200, ""),
    }


@deferred_f_from_coro_f
async def test_redirect_to_a_page_that_the_spider_has_is_recorded(crawl):
    """A redirect to a page that was fetched before is recorded, though it is dropped."""
    answers = {f"{SITE}/": links("/slug"), f"{SITE}/slug": links("/?p=1"), f"{SITE}/?p=1": ""}
    answers[f"{SITE}/?p=1"] = redirect("/slug")
    result = await crawl(site(answers), ON)
    assert result.hits == ["/", "/slug", "/?p=1"]
    assert recorded()["/?p=1"].redirect == f"{SITE}/slug"


@deferred_f_from_coro_f
async def test_redirects_of_copied_meta_are_those_of_another_page(crawl):
    """A spider that copies meta does not make each page the target of a redirect."""

    class CopiesMeta(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            for link in response.css("a::attr(href)").getall():
                yield Request(response.urljoin(link), meta=response.meta)

    answers = {
        f"{SITE}/": redirect("/home"),
        f"{SITE}/home": links("/a", "/b"),
        f"{SITE}/a": page("<p>A"),
        f"{SITE}/b": redirect("/c"),
        f"{SITE}/c": page("<p>C"),
    }
    await crawl(site(answers), ON, spider=CopiesMeta)
    targets = {url: o.redirect.removeprefix(SITE) for url, o in recorded().items() if o.redirect}
    assert targets == {"/": "/home", "/b": "/c"}


@deferred_f_from_coro_f
async def test_declared_canonical_is_recorded(crawl):
    """Canonicals from link elements and headers are recorded as absolute URLs."""
    link = '<html><head><link rel="canonical" href="{}"></head><body>x</body></html>'
    html = ("Content-Type", "text/html")
    answers = {
        f"{SITE}/": links("/element", "/header", "/file", "/nonsense"),
        f"{SITE}/element": page(link.format("/e")),
        f"{SITE}/header": Response(
            200, (html, ("Link", '</x.css>; rel="preload"'), ("Link", '</h>; rel="canonical"'))
        ),
        f"{SITE}/file": Response(
            200, (("Content-Type", "application/pdf"), ("Link", '</f>; rel="canonical"')), b"%PDF"
        ),
        f"{SITE}/nonsense": page(link.format("http://[")),
    }
    result = await crawl(site(answers), ON, spider=_Fetches)
    found = {url: o.canonical.removeprefix(SITE) for url, o in recorded().items()}
    assert found == {"/": "", "/element": "/e", "/header": "/h", "/file": "/f", "/nonsense": ""}
    assert result.figures["recorded"] == 5


class _Fetches(FollowSpider):
    """Follows links, and takes non-text responses too."""

    def parse(self, response):
        yield {"url": response.url}
        if hasattr(response, "text"):
            yield from response.follow_all(css="a")


@deferred_f_from_coro_f
async def test_text_is_decoded_as_the_page_says(crawl):
    """One text in two encodings has one digest."""
    text = "Bücher für den Frühling"
    answers = {f"{SITE}/": links("/utf", "/latin", "/plain")}
    for name, encoding in (("utf", "utf-8"), ("latin", "iso-8859-1")):
        kind = ("Content-Type", f"text/html; charset={encoding}")
        answers[f"{SITE}/{name}"] = Response(200, (kind,), f"<p>{text}</p>".encode(encoding))
    plain = (("Content-Type", "text/plain; charset=utf-8"),)
    answers[f"{SITE}/plain"] = Response(200, plain, text.encode())
    await crawl(site(answers), ON, spider=_Fetches)
    found = recorded()
    assert found["/utf"].text_sha1 == found["/latin"].text_sha1
    assert found["/plain"].text_sha1.startswith("raw:")


@deferred_f_from_coro_f
async def test_cached_responses_are_recorded(crawl):
    """A crawl from the HTTP cache records the same as the first one."""
    answers = {f"{SITE}/": links("/a"), f"{SITE}/a": redirect("/b"), f"{SITE}/b": page("<p>B")}
    cache = {"HTTPCACHE_ENABLED": True}
    await crawl(site(answers), {**cache, "URLCANON_RECORD": "cold.sqlite"})
    result = await crawl(site(answers), {**cache, "URLCANON_RECORD": "warm.sqlite"})
    assert result.hits == []
    assert recorded("warm.sqlite") == recorded("cold.sqlite")
    assert len(recorded("warm.sqlite")) == 3


@deferred_f_from_coro_f
async def test_what_is_no_page_of_the_spider_is_not_recorded(crawl):
    """Neither robots.txt nor the answer to a POST is recorded."""

    class Posts(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": response.text}
            if response.request.method == "GET":
                yield Request(f"{SITE}/form", method="POST")

    answers = {f"{SITE}/": links(), f"{SITE}/form": page("<p>Thanks")}
    result = await crawl(site(answers), {**ON, "ROBOTSTXT_OBEY": True}, spider=Posts)
    assert result.hits == ["/robots.txt", "/", "/form"]
    assert list(recorded()) == ["/"]


@pytest.fixture
def rules_file(tmp_path):
    """Return the path of a rule file with a right and a wrong rule."""
    path = tmp_path / "rules.toml"
    path.write_text('["site.example"]\ndrop_params = ["sid", "id"]\n')
    return str(path)


@deferred_f_from_coro_f
async def test_what_the_audit_saw_is_recorded(crawl, rules_file):
    """Verdicts of audits are recorded with their rule, and audited variants as observations."""
    settings = {
        **ON,
        "URLCANON_RULES_FILES": [rules_file],
        "URLCANON_AUDIT": 1.0,
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    words = " ".join(f"word{number}" for number in range(100))
    same, other = "/s?sid=1", "/p?id=2"
    answers = {
        f"{SITE}/": links("/s?sid=0", same, "/p?id=1", other),
        f"{SITE}/s?sid=0": page(f"<p>{words}"),
        f"{SITE}{same}": page(f"<p>{words}"),
        f"{SITE}/p?id=1": page("<p>" + words.replace("word", "one")),
        f"{SITE}{other}": page("<p>" + words.replace("word", "two")),
    }
    result = await crawl(site(answers), settings)
    (record,) = read_crawls(STORE)
    sid, number = (RuleInForce("site.example", "drop_params", [name]) for name in ("sid", "id"))
    assert record.rules == (sid, number)
    assert {
        credit.rule: [pair.is_same for pair in pairs] for credit, pairs in record.audits.items()
    } == {sid.key: [True], number.key: [False]}
    assert set(recorded()) == {"/", "/s?sid=0", same, "/p?id=1", other}
    assert same not in result.pages


@deferred_f_from_coro_f
async def test_second_crawl_adds_to_the_store(crawl):
    """A second crawl adds to the store."""
    answers = {f"{SITE}/a": page("<p>A"), f"{SITE}/b": page("<p>B")}
    await crawl(site(answers), ON, start=[f"{SITE}/a"])
    await crawl(site(answers), ON, start=[f"{SITE}/b"])
    assert set(recorded()) == {"/a", "/b"}


@deferred_f_from_coro_f
async def test_disk_that_is_full_stops_no_crawl(crawl, monkeypatch, caplog):
    """A full disk is counted, and the spider gets its pages."""

    class Full(ObservationStore):
        def __init__(self, path):
            super().__init__(path)
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
            self._connection.execute(f"PRAGMA max_page_count = {pages}")

    monkeypatch.setattr("scrapy_urlcanon.crawl.record.recorder.ObservationStore", Full)
    urls = [f"/{number}{'x' * 1000}" for number in range(30)]
    pages = {f"{SITE}{url}": page(f"<p>{url}" * 2) for url in urls}
    with caplog.at_level(logging.ERROR, "scrapy_urlcanon"):
        result = await crawl(site({f"{SITE}/": links(*urls), **pages}), ON)
    assert len(result.pages) == 31
    assert result.figures["record/refused"] == 31
    assert result.figures["recorded"] == 0
    assert "no longer recorded" in caplog.text


@pytest.mark.parametrize(
    ("reason", "kept"),
    [(ValueError("no stock"), "no stock"), ("not \udcff", r"not \udcff")],
    ids=["exception", "no_text"],
)
@deferred_f_from_coro_f
async def test_whatever_a_spider_gives_as_its_reason_ends_the_record(crawl, caplog, reason, kept):
    """Any reason to close a spider is stored as text.

    A crawl without a reason would look killed.
    """

    class Closing(FollowSpider):
        def parse(self, _):
            raise CloseSpider(reason)

    with caplog.at_level(logging.ERROR):
        result = await crawl(site({f"{SITE}/": page("<p>A")}), ON, spider=Closing)
    assert not caplog.records
    assert result.figures["recorded"] == 1
    with closing(sqlite3.connect(STORE)) as store:
        assert store.execute("SELECT ended FROM crawls").fetchall() == [(kept,)]


def problem_of(path):
    """Return what is wrong with recording to *path*."""
    with pytest.raises(ConfigurationError) as caught:
        recorder_at(path)
    (problem,) = caught.value.problems
    assert problem.origin == "URLCANON_RECORD"
    return str(problem)


def test_store_that_cannot_be_used_is_an_error_at_start(tmp_path):
    """A store that cannot be used is an error at the start that names it."""
    newer = tmp_path / "newer.sqlite"
    ObservationStore(newer).close()
    connection = sqlite3.connect(newer)
    with connection:
        connection.execute("UPDATE meta SET value = '99'")
    connection.close()
    assert "newer.sqlite: version 99" in problem_of(newer)
    other = tmp_path / "notes.txt"
    other.write_text("no database " * 100)
    assert "notes.txt: expected an observation store" in problem_of(other)
    assert "cannot be written" in problem_of(other / "o.sqlite")


@deferred_f_from_coro_f
async def test_job_that_keeps_its_rules_takes_none_out(crawl, rules_file, tmp_path):
    """A job that keeps old rules does not make them look removed."""
    other = tmp_path / "other.toml"
    other.write_text('["site.example"]\nwww = "strip"\n')
    job = {**ON, "JOBDIR": "job", "URLCANON_JOB_RULES": "keep"}
    answers = {f"{SITE}/": links("/a"), f"{SITE}/a": page("<p>A")}
    await crawl(site(answers), {**job, "URLCANON_RULES_FILES": [rules_file]})
    await crawl(site(answers), {**job, "URLCANON_RULES_FILES": [str(other)]})
    rules = combine(read_crawls(STORE))
    assert [(rule.setting, rule.is_current) for rule in rules] == [(["sid"], True), (["id"], True)]


@deferred_f_from_coro_f
async def test_audit_of_an_entry_of_no_file_is_credited_to_no_rule(crawl):
    """Audits of rules in settings are recorded without a rule of a file."""
    settings = {**ON, "URLCANON_AUDIT": 1.0, "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    text = page("<p>" + " ".join(f"word{number}" for number in range(100)))
    answers = {f"{SITE}/": links("/a", "/a?sid=1"), f"{SITE}/a": text, f"{SITE}/a?sid=1": text}
    result = await crawl(site(answers), settings)
    (record,) = read_crawls(STORE)
    assert record.rules == ()
    (credit,) = record.audits
    assert credit == Credit(RuleEntry("drop_params", "sid"), "site.example", None)
    assert result.figures["audit/rule/drop_params:sid/site.example/same"] == 1


@deferred_f_from_coro_f
async def test_name_and_time_stand_in_the_path(crawl):
    """The path may contain the name of the spider and the time."""
    path = "seen/%(name)s-%(time)s.sqlite"
    await crawl(site({f"{SITE}/": links()}), {"URLCANON_RECORD": path})
    (store,) = files_of("seen")
    assert re.fullmatch(r"follow-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\+00-00\.sqlite", store)


@pytest.mark.parametrize("path", ["%(nam)s.sqlite", "100%.sqlite"])
def test_unknown_placeholder_is_invalid(path):
    """An unknown placeholder is an error of the configuration."""
    with pytest.raises(ConfigurationError, match="placeholders"):
        configuration_of(Settings({"URLCANON_RECORD": path}))


@pytest.mark.parametrize("value", [["a.sqlite"], 7, True, "."])
def test_value_that_is_no_path_of_a_file_is_invalid(value):
    """A value that is no path is an error of the configuration."""
    with pytest.raises(ConfigurationError, match=r"RECORD.*: expected (a|the) path"):
        configuration_of(Settings({"URLCANON_RECORD": value}))


def test_directory_of_the_store_is_made(tmp_path):
    """The directory of the store is created."""
    path = tmp_path / "new" / "o.sqlite"
    recorder_at(path).spider_closed("finished")
    assert list(read_store(path)) == []


def recorder_at(path):
    """Return a recorder into *path*."""
    crawler = get_crawler(settings_dict={"URLCANON_RECORD": path})
    crawler.spider = Spider("shop")
    return Crawl.of(crawler).recorder


def test_shell_is_not_recorded(tmp_path):
    """`scrapy shell` records nothing: it would look like a crawl that was cut short."""
    path = tmp_path / "o.sqlite"
    crawler = get_crawler(settings_dict={"URLCANON_RECORD": path})
    assert Crawl.of(crawler).recorder is None
    assert not path.exists()
