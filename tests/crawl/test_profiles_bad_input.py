"""Recognition of software on odd pages, servers and profile files, in real crawls."""

from dataclasses import replace

import pytest
from loopback import Fault, page
from profiles.pages import EVERYTHING, KNOWN, generator, head
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links, site

from scrapy_urlcanon.exceptions import ConfigurationError

PAIRS = (
    "index.php?title=Special:UserLogin&returnto={}",
    "a-post/?replytocom={}",
    "wp-login.php?redirect_to={}",
    "list/?C={};O=D",
    "accounts/login/?next={}",
    "index.php?PHPSESSID={};topic=1.0",
    "a.git/commit/?id=1&h={}",
    "gitweb.cgi?p=a;a=commitdiff;h=1;ds={}",
    "page?action=show&highlight={}",
)
"""URLs that the certain rules of some program would make one for two values."""
TWICE = [pair.format(number) for pair in PAIRS for number in (1, 2)]
MEGABYTE = 1_000_000
BY_HEADER = """
name = "Board"
kind = "forum"
[[signs]]
header = "X-Generator"
value = "Board*"
certain = true
[[rules]]
merges = "URLs with and without the id of the session"
because = "it selects nothing"
options = { drop_params = ["sid"] }
source = "its own pages"
certain = true
proved_by = "benchmark"
"""

POSTS = """
[[parts]]
merges = "a post and the page of its topic"
because = "the program shows that page"
links = ["topic.php?p={part:digits}"]
pages = ["topic.php?t={t:digits}", "topic.php?p={p:digits}"]
id = "p{part}"
source = "its own pages"
certain = true
proved_by = "benchmark"
"""


def linking(html, *urls, headers=()):
    """Return a page of *html* that links *urls*, with further *headers*."""
    shown = "".join(f'<a href="{url}">link</a>' for url in urls)
    answer = page(html.removesuffix("</body></html>") + shown)
    return replace(answer, headers=(*answer.headers, *headers))


@deferred_f_from_coro_f
async def test_page_that_claims_to_be_every_program_merges_nothing(crawl):
    """A page with the signs of all profiles merges nothing."""
    headers = [header for shown in KNOWN for header in shown.headers]
    claims = linking(EVERYTHING, *TWICE, headers=headers)
    respond = site({"/": claims, **{f"/{url}": claims for url in TWICE}}, missing=200)
    result = await crawl(respond)
    assert {f"/{url}" for url in TWICE} <= set(result.hits)
    assert not [name for name in result.figures if name.startswith("profile/")]


@pytest.mark.parametrize(
    "element",
    [
        f'<meta name="generator" content="MediaWiki {MEGABYTE * "1"}">',
        f'<meta name="generator" content="{MEGABYTE * "MediaWiki "}">',
        f"<title>{MEGABYTE * 'x'}</title>",
        f'<link rel="stylesheet" href="/{MEGABYTE * "a/"}wp-content/">',
        f"<body {MEGABYTE * 'a '}>",
    ],
    ids=["version", "name", "title", "asset", "attributes"],
)
@deferred_f_from_coro_f
async def test_element_of_a_megabyte_stops_no_crawl(crawl, element):
    """An element of a megabyte stops no crawl, and merges nothing."""
    respond = site(
        {"/": links("/huge", *TWICE), "/huge": page(f"<html><head>{element}</head></html>")},
        missing=200,
    )
    result = await crawl(respond)
    assert set(result.hits) == {"/", "/huge", *(f"/{url}" for url in TWICE)}
    assert "log_count/ERROR" not in result.stats


@deferred_f_from_coro_f
async def test_rules_of_a_program_end_where_another_one_begins(crawl):
    """Rules of a blog do not hold in a wiki below it, nor the reverse."""
    answer, login = "a/?replytocom={}", "index.php?title=Special:UserLogin&returnto={}"
    both = [url.format(number) for url in (answer, login) for number in (1, 2)]
    respond = site(
        {
            "/": linking(head(generator("WordPress 6.1")), "/wiki/index.php", *both),
            "/wiki/index.php": linking(
                head(generator("MediaWiki 1.39")),
                *(f"/wiki/{url}" for url in both),
            ),
        },
        missing=200,
    )
    result = await crawl(respond)
    blog, wiki = (
        sorted(hit for hit in result.hits if "=" in hit and hit.startswith("/wiki/") is is_wiki)
        for is_wiki in (False, True)
    )
    assert blog == [f"/{answer.format(1)}", *(f"/{login.format(number)}" for number in (1, 2))]
    assert wiki == [*(f"/wiki/{answer.format(n)}" for n in (1, 2)), f"/wiki/{login.format(1)}"]


@pytest.mark.parametrize("ann", ["/~ann/", "/%7Eann/", "/~ann"])
@deferred_f_from_coro_f
async def test_page_of_a_user_tells_nothing_of_what_others_have(crawl, ann):
    """A program in one user's directory is not assumed in that of others."""
    claim = head(
        generator("WordPress 6.1") + '<link rel="stylesheet" href="/wp-content/a.css">',
    )
    paths = ("/~ann/a?replytocom={}", "/~ben/a?replytocom={}", "/a?replytocom={}")
    urls = [path.format(number) for path in paths for number in (1, 2)]
    respond = site({"/": links(ann, "/more"), ann: linking(claim, *urls)}, missing=200)
    result = await crawl(respond)
    assert set(result.hits) == {"/", "/more", ann, *urls} - {"/~ann/a?replytocom=2"}


@pytest.mark.parametrize(
    "written",
    [
        '<a href="https://www.phpbb.com/">phpBB</a><img src="/styles/prosilver/theme/a.gif">',
        '<a href="https://moinmo.in/">Moin</a><img src="/moin_static1911/a.png">',
        '<a href="https://opencart.com/">shop</a><a href="/index.php?route=a">cart</a>',
        '<a href="https://www.phpbb.com/">phpBB</a><form action="/styles/a/theme/"></form>',
        '<a href="https://moinmo.in/">Moin</a><input name="action" value="fullsearch">',
        '<a href="https://www.simplemachines.org/">SMF</a><div id="smf_a">News</div>',
    ],
)
@deferred_f_from_coro_f
async def test_comment_of_a_visitor_tells_no_program(crawl, written):
    """What it links and which elements it has say nothing of what the site runs on."""
    ways = (
        "index.php?sid={}",
        "index.php?PHPSESSID={}",
        "a?highlight={}",
        "index.php?route=product/product&id=1&path={}",
    )
    urls = [way.format(number) for way in ways for number in (1, 2)]
    comment = head(shows=f"<p>News</p><div class='comment'>{written}</div>")
    result = await crawl(site({"/": linking(comment, *urls)}, missing=200))
    assert set(result.hits) >= {f"/{url}" for url in urls}
    assert not [name for name in result.figures if name.startswith("profile/")]


@pytest.mark.parametrize(("element", "is_part"), [("article", True), ("h2", False)])
@deferred_f_from_coro_f
async def test_heading_with_the_id_of_a_comment_shows_none(crawl, element, is_part):
    """An id of a comment on another kind of element, written by a visitor, proves nothing."""
    drupal = generator("Drupal 10")
    article = head(drupal, shows=f'<{element} id="comment-7">One</{element}>')
    respond = site(
        {"/": linking(head(drupal), "/node/1"), "/node/1": linking(article, "/comment/7")},
        missing=200,
    )
    result = await crawl(respond)
    assert set(result.hits) == {"/", "/node/1", *["/comment/7"] * (not is_part)}


@pytest.mark.parametrize("is_stripped", [False, True])
@deferred_f_from_coro_f
async def test_program_that_only_a_header_tells_is_unknown_behind_a_proxy(
    crawl, is_stripped, tmp_path
):
    """A program known by a header alone is not recognised behind a proxy that strips it."""
    headers = () if is_stripped else (("X-Generator", "Board 2"),)
    path = tmp_path / "board.toml"
    path.write_text(BY_HEADER, encoding="utf-8")
    respond = site({"/": linking("", "/a?sid=1", "/a?sid=2", headers=headers)}, missing=200)
    result = await crawl(respond, {"URLCANON_PROFILES": ["*", str(path)]})
    assert len(result.hits) == (3 if is_stripped else 2)


@deferred_f_from_coro_f
async def test_page_still_tells_its_program_where_a_proxy_strips_headers(crawl):
    """Signs in the page are enough without headers."""
    script = '<script src="/wp-includes/a.js"></script>'
    shown = head('<link rel="https://api.w.org/" href="/wp-json/">', script)
    respond = site({"/": linking(shown, "/a/?replytocom=1", "/a/?replytocom=2")}, missing=200)
    result = await crawl(respond)
    assert result.hits == ["/", "/a/?replytocom=1"]


@deferred_f_from_coro_f
async def test_all_faults_of_all_files_are_one_error_before_the_first_request(crawl, tmp_path):
    """All faults of all profile files are one error before the first request."""
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text('name = 7\nsignz = []\n[[rules]]\noptions = { drop_parms = ["sid"] }\n', "utf-8")
    other.write_text("[", "utf-8")
    fetched = []

    def respond(request):
        fetched.append(request.url)
        return page("")

    settings = {"URLCANON_PROFILES": ["mediawki", str(one), str(other), "not/there.toml"]}
    with pytest.raises(ConfigurationError) as error:
        await crawl(respond, settings)
    assert not fetched
    for expected in (
        "no such profile: 'mediawki'; did you mean 'mediawiki'?",
        "one.toml['name']: expected a text, got 7",
        "one.toml['signz']: no such key; did you mean 'signs'?",
        "one.toml['rules[0].merges']: it is missing, or empty",
        "no such option; did you mean 'drop_params'?",
        "other.toml: cannot be read",
        "cannot read 'not/there.toml': there is no such file",
    ):
        assert expected in str(error.value)


@pytest.mark.parametrize("is_whole", [True, False])
@deferred_f_from_coro_f
async def test_page_that_is_cut_short_shows_no_post(crawl, tmp_path, is_whole):
    """A truncated page does not prove that a post was seen."""
    (tmp_path / "board.toml").write_text(BY_HEADER + POSTS, encoding="utf-8")
    board = [("X-Generator", "Board 2")]
    topic = linking("<html><body><div id=p12>Half of the post", headers=board)
    if not is_whole:
        topic = replace(topic, body=2 * topic.body, fault=Fault.TRUNCATION)
    pages = {
        "/": linking("board", "topic.php?t=1", "topic.php?p=12", headers=board),
        "/topic.php?t=1": topic,
        "/topic.php?p=12": linking("<div id=p12>Half of the post and the rest", headers=board),
    }
    settings = {
        "URLCANON_PROFILES": [str(tmp_path / "board.toml")],
        "DOWNLOAD_FAIL_ON_DATALOSS": False,
    }
    result = await crawl(site(pages), settings)
    assert ("/topic.php?p=12" in result.hits) is not is_whole


@pytest.mark.parametrize(
    ("pages", "is_recognised", "host"),
    [
        (["/a/1", "/a/2", "/a/3", "/a/4", "/a/board"], True, SITE),
        # After five of a directory.
        (["/a/1", "/a/2", "/a/3", "/a/4", "/a/5", "/a/board"], False, SITE),
        (["/a/1", "/a/2", "/a/3", "/a/4", "/a/5", "/b/board"], True, SITE),
        # The name of a host may stand in the scheme too.
        (["/a/1", "/a/2", "/a/3", "/a/4", "/a/5", "/b/board"], True, "http://t"),
        # After 32 of a host; the home page is one.
        ([*(f"/d{number}/" for number in range(30)), "/e/board"], True, SITE),
        ([*(f"/d{number}/" for number in range(31)), "/e/board"], False, SITE),
    ],
)
@deferred_f_from_coro_f
async def test_first_pages_of_a_host_are_looked_at(crawl, tmp_path, pages, is_recognised, host):
    """Only the first pages of a host are searched for signs: five per directory, 32 in all."""
    (tmp_path / "board.toml").write_text(BY_HEADER, encoding="utf-8")
    answers = {f"{host}{url}": page(url) for url in pages}
    answers[f"{host}/"] = links(*pages)
    answers[f"{host}{pages[-1]}"] = linking("board", headers=[("X-Generator", "Board 2")])
    settings = {
        "URLCANON_PROFILES": [str(tmp_path / "board.toml")],
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }
    result = await crawl(site(answers), settings, start=(f"{host}/",))
    assert [hit.removeprefix(host) for hit in result.hits] == ["/", *pages]
    assert ("profile/recognised/Board" in result.figures) is is_recognised
