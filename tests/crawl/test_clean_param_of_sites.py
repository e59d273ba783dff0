"""URLCANON_CLEAN_PARAM: rules that a site declares in its robots.txt."""

import logging

from loopback import Fault, Response, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links, site

from scrapy_urlcanon.crawl.declared import clean_param

ON = {"URLCANON_CLEAN_PARAM": True, "ROBOTSTXT_OBEY": True}


def _site(robots, *urls):
    return site(
        {
            f"{SITE}/robots.txt": Response(body=robots) if isinstance(robots, bytes) else robots,
            f"{SITE}/": links(*urls),
        },
        missing=200,
    )


@deferred_f_from_coro_f
async def test_clean_param_is_taken_from_the_robots_txt_of_the_crawl(crawl):
    """Declared parameters are dropped below the path they are declared for."""
    respond = _site(
        b"User-agent: *\nDisallow:\nClean-param: sid&ref /forum/*.php\n",
        "/forum/a.php?sid=1&t=1",
        "/forum/a.php?sid=2&t=1",
        "/forum/a?sid=1",
        "/forum/a?sid=2",
        "https://site.example/forum/a.php?sid=1",
        "https://site.example/forum/a.php?sid=2",
    )
    result = await crawl(respond, ON)
    hits = [hit for hit in result.hits if "robots" not in hit]
    assert len([hit for hit in hits if hit.startswith("/forum/a.php")]) == 1
    assert len([hit for hit in hits if hit.startswith("/forum/a?")]) == 2
    assert len([hit for hit in hits if hit.startswith("https://site.example/f")]) == 2
    assert result.figures["clean_param/taken"] == 1
    assert result.figures["dropped/rule/drop_params"] == 1


@deferred_f_from_coro_f
async def test_names_that_select_content_are_reported_and_not_taken(crawl, caplog):
    """Names that select content, such as `page`, are logged and not dropped."""
    respond = _site(b"Clean-param: page&sid /", "/a?page=1&sid=1", "/a?page=2&sid=2", "/a?page=2")
    with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
        result = await crawl(respond, ON)
    assert len([hit for hit in result.hits if hit.startswith("/a?page=")]) == 2
    assert result.figures["clean_param/not_taken"] == 1
    assert "line 1: page: it selects content" in caplog.text


@deferred_f_from_coro_f
async def test_no_more_lines_of_all_sites_are_taken_than_memory_holds(crawl, monkeypatch):
    """Beyond a number of rules of all sites, further ones are not taken, and all is fetched."""
    monkeypatch.setattr(clean_param, "_MOST_RULES", 1)
    robots = Response(body=b"Clean-param: sid /\n")
    hosts = [f"http://{name}.example" for name in "ab"]
    respond = site(
        {
            **{f"{host}/robots.txt": robots for host in hosts},
            **{f"{host}/": links("/x?sid=1", "/x?sid=2") for host in hosts},
        },
        missing=200,
    )
    result = await crawl(respond, ON, start=[f"{host}/" for host in hosts])
    assert len([hit for hit in result.hits if "sid" in hit]) == 3
    assert result.figures["clean_param/taken"] == result.figures["clean_param/not_taken"] == 1


@deferred_f_from_coro_f
async def test_each_port_of_a_host_has_lines_of_its_own(crawl):
    """Each port of a host has rules of its own."""
    names = {SITE: "sid", f"{SITE}:8080": "ref"}
    paths = [f"/{name}?{name}={number}" for number in (1, 2) for name in names.values()]
    pages = {}
    for origin, name in names.items():
        pages[f"{origin}/robots.txt"] = Response(body=f"Clean-param: {name} /\n".encode())
        pages[f"{origin}/"] = links("/on")
        pages[f"{origin}/on"] = links(*paths)
    result = await crawl(site(pages, missing=200), ON, start=[f"{origin}/" for origin in names])
    hits = sorted(hit for hit in result.hits if "=" in hit)
    other = sorted(f":8080{path}" for path in ("/ref?ref=1", "/sid?sid=1", "/sid?sid=2"))
    assert hits == ["/ref?ref=1", "/ref?ref=2", "/sid?sid=1", *other]


@deferred_f_from_coro_f
async def test_ports_of_a_host_together_declare_no_more_than_one_may(crawl, monkeypatch):
    """All ports of a host together have the bound of one, since each URL is tested on all rules."""
    monkeypatch.setattr(clean_param, "MOST_NAMES", 3)
    origins = [SITE, f"{SITE}:8080", f"{SITE}:8081"]
    lines = Response(body=b"Clean-param: sid&ref /\n")
    pages = {f"{origin}/robots.txt": lines for origin in origins}
    result = await crawl(site(pages, missing=200), ON, start=[f"{each}/" for each in origins])
    assert result.figures["clean_param/taken"] == 1
    assert result.figures["clean_param/not_taken"] == 2


@deferred_f_from_coro_f
async def test_no_more_than_512_000_bytes_are_read_and_no_half_of_a_line(crawl):
    """Only the first 512,000 bytes are read, without a line that is cut off.

    Half a name may be that of another parameter.
    """
    first, cut, last = b"Clean-param: sid /\n", b"\nClean-param: v", b"w /\nClean-param: late /\n"
    robots = first + b"#" * (512_000 - len(first + cut)) + cut + last
    names = ("sid", "v", "vw", "late")
    urls = [f"/{name}?{name}={number}" for name in names for number in (1, 2)]
    result = await crawl(_site(robots, *urls), ON)
    assert sorted({*urls} - {*result.hits}) in (["/sid?sid=1"], ["/sid?sid=2"])
    assert result.figures["clean_param/taken"] == 1


@deferred_f_from_coro_f
async def test_no_half_of_a_line_is_read_where_a_robots_txt_is_cut_short(crawl):
    """The last line of a truncated robots.txt is not read."""
    half = b"Clean-param: sid /\nClean-param: v"
    robots = Response(body=half + b"w" * len(half), fault=Fault.TRUNCATION)
    urls = [f"/{name}?{name}={number}" for name in ("sid", "v") for number in (1, 2)]
    result = await crawl(_site(robots, *urls), {**ON, "DOWNLOAD_FAIL_ON_DATALOSS": False})
    assert sorted({*urls} - {*result.hits}) in (["/sid?sid=1"], ["/sid?sid=2"])


@deferred_f_from_coro_f
async def test_what_a_robots_txt_says_does_not_command_the_terminal(crawl, caplog):
    """Escapes and marks of direction in robots.txt are escaped in the log."""
    robots = "Clean-param: page\u202e\x1b[2J\x9b2J=1 /".encode()
    with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
        await crawl(_site(robots, "/a"), ON)
    (message,) = [
        record.getMessage() for record in caplog.records if "Clean-param of" in record.getMessage()
    ]
    assert "page%E2%80%AE%1B[2J%C2%9B2J=1" in message


@deferred_f_from_coro_f
async def test_off_by_default(crawl):
    """By default nothing that a site declares has an effect."""
    respond = _site(b"Clean-param: sid /", "/a?sid=1", "/a?sid=2")
    result = await crawl(respond, {"ROBOTSTXT_OBEY": True})
    assert len([hit for hit in result.hits if hit.startswith("/a")]) == 2


@deferred_f_from_coro_f
async def test_rules_of_the_user_win(crawl):
    """A parameter that the user keeps is not dropped."""
    respond = _site(b"Clean-param: sid&ref /", "/a?sid=1&ref=1", "/a?sid=2&ref=1", "/a?sid=2&ref=2")
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["!sid"]}}}
    result = await crawl(respond, {**ON, **rules})
    assert len([hit for hit in result.hits if hit.startswith("/a")]) == 2


@deferred_f_from_coro_f
async def test_robots_txt_behind_a_redirect_is_for_the_site_that_was_asked(crawl):
    """Rules behind a redirect hold for the first authority (RFC 9309, section 2.3.1.2)."""
    answers = _site(redirect("http://other.example/r.txt"), "/a?sid=1", "/a?sid=2")

    def respond(request):
        if request.url == "http://other.example/r.txt":
            return Response(body=b"Clean-param: sid /")
        return answers(request)

    result = await crawl(respond, ON)
    assert len([hit for hit in result.hits if hit.startswith("/a")]) == 1


@deferred_f_from_coro_f
async def test_bad_robots_txt_loses_nothing(crawl):
    """Overlong lines, wrong encodings and garbage are ignored."""
    robots = b"\xff\xfeClean-param: a\nClean-param: " + b"x" * 10_000 + b"\nClean-param: \xe9 /\n"
    result = await crawl(_site(robots, "/a?sid=1", "/a?sid=2"), ON)
    assert len([hit for hit in result.hits if hit.startswith("/a")]) == 2
    assert result.stats["finish_reason"] == "finished"


@deferred_f_from_coro_f
async def test_without_robots_txt_the_setting_is_pointless(crawl, caplog):
    """A warning says that the setting has no effect without ROBOTSTXT_OBEY."""
    with caplog.at_level(logging.WARNING, "scrapy_urlcanon"):
        await crawl(_site(b"", "/a"), {"URLCANON_CLEAN_PARAM": True})
    assert "ROBOTSTXT_OBEY is off" in caplog.text
