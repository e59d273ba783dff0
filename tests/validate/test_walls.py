"""What a site shows instead of its pages says nothing of a rule, whatever it looks like."""

from dataclasses import replace
from itertools import count
from random import Random

import pytest
from at_once import Site
from loopback import Fault, Response, page, redirect
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_f_from_coro_f, maybe_deferred_to_future
from sites import ALONE

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.validate.rule_check import checks_of
from scrapy_urlcanon.validate.spider import SETTINGS, ValidationSpider

SITE = "http://site.example"
RULES = {
    "site.example/read/": {"drop_params": ["sid"]},
    "site.example/search": {"drop_params": ["token"]},
    "site.example/shoe/": {"drop_params": ["colour"]},
    "site.example/item": {"drop_params": ["id"]},
}
"""Of many pages and of one, each right and wrong."""
RIGHT, WRONG = ("sid", "token"), ("colour", "id")


def urls_of(number):
    """Return so many URLs for each rule, and a few others."""
    for n in range(number):
        yield from (f"/read/{n}?sid={n}", f"/search?token={n}")
        yield from (f"/shoe/{n}?colour={n % 5 + 1}", f"/item?id={n + 1}")
    yield from ("/", "/about", "/news/1", "/news/2")


def words(seed, number=15):
    """Return a text that stands for *seed*."""
    random = Random(repr(seed))
    return " ".join(f"w{random.randrange(5000)}" for _ in range(number))


def title_of(request):
    """Return the title of the page that is asked for."""
    return f"Page {words(content_of(request), 2)}"


def content_of(request):
    """Return what the page is about that is asked for."""
    chosen = [pair for pair in request.query.split("&") if pair.startswith(("id=", "colour="))]
    return (request.path, *chosen)


def shown(title, *lines):
    """Return a page of the site."""
    return page(f"<title>{title} - Site</title><p>Home Shop News<p>{'<p>'.join(lines)}<p>Imprint")


def pages(request):
    """Answer with the pages of the site."""
    return shown(title_of(request), *(words((content_of(request), n)) for n in range(4)))


def cookies_of(request):
    """Return the cookies that are sent."""
    pairs = request.headers.get("cookie", "").split("; ")
    return dict(pair.split("=", 1) for pair in pairs if pair)


def with_cookie(response, cookie):
    """Return *response*, by which *cookie* is set."""
    return replace(response, headers=(*response.headers, ("Set-Cookie", f"{cookie}; Path=/")))


async def outcomes(respond, settings=None, *, urls=None, rules=RULES, project=None):
    """Return what is found of each rule, by its parameter, and what was fetched."""
    urls = urls or [*urls_of(12)]
    configuration = Canonicalizer(rules, preset="scrapy").configuration
    checks = checks_of(configuration, [SITE + url for url in urls], most=30)
    own = {"RETRY_ENABLED": False, "LOG_ENABLED": False, **ALONE}
    with Site(respond) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.proxies.items():
            patch.setenv(name, value)
        own |= server.settings | (project or {}) | SETTINGS | (settings or {})
        crawler = Crawler(ValidationSpider, own)
        await maybe_deferred_to_future(crawler.crawl(checks=checks))
    return {check.text: check for check in checks}, server.hits


NUMBERS = count(4711)


def blocked(_):
    """Answer to nobody, and say under which number."""
    return page(f"<title>Access denied</title><p>You are blocked<p>Incident {next(NUMBERS)}")


def captcha(_):
    """Ask everybody to copy other words."""
    return shown("Who is there", "Please type these words", words(next(NUMBERS), 2))


def not_found(request):
    """Have no page, with the status of one."""
    return shown("Not found", f"There is no {request.target} on this site")


def login(request):
    """Have all pages behind a form that says where it leads."""
    return shown("Log in", f"Please log in to go on to {request.path}")


def led_to_login(request):
    """Lead to a form."""
    if request.path == "/login":
        return shown("Log in", "Please log in")
    return redirect(f"/login?next={request.path}")


def led_home(request):
    """Have nothing any more but its home page."""
    return pages(request) if request.path == "/" else redirect("/")


def later(request):
    """Lead to the home page by a header that no crawler heeds."""
    moment = replace(page("<p>One moment"), headers=(("Refresh", "0; url=/"),))
    return pages(request) if request.path == "/" else moment


def refused(_):
    """Refuse what an interface is asked for, each time with another number."""
    body = b'{"error": "who is there?", "request": "r-%d"}' % next(NUMBERS)
    return Response(headers=(("Content-Type", "application/json"),), body=body)


def nothing(_):
    """Take the request, and say nothing."""
    return Response(202, (("Content-Type", "text/html"),))


@pytest.mark.parametrize(
    "respond",
    [blocked, captcha, not_found, login, led_to_login, led_home, later, refused, nothing],
)
@deferred_f_from_coro_f
async def test_what_is_shown_for_every_url_says_nothing(respond):
    """Neither that it agrees with a rule, nor that it repeats what it was asked for."""
    checks, _ = await outcomes(respond)
    assert {name: check.outcome.value for name, check in checks.items()} == dict.fromkeys(
        RIGHT + WRONG, "open"
    )
    assert [check.right for check in checks.values()] == [0, 0, 0, 0]


@deferred_f_from_coro_f
async def test_pages_that_were_not_fetched_are_no_evidence():
    """Neither what was cut short, nor a redirect that is not to be followed."""
    cut = {"DOWNLOAD_FAIL_ON_DATALOSS": False}

    def respond(request):
        return replace(pages(request), fault=Fault.TRUNCATION if "?" in request.target else None)

    for respond_so, settings in ((respond, cut), (led_home, {"REDIRECT_ENABLED": False})):
        checks, _ = await outcomes(respond_so, settings)
        assert {check.outcome.value for check in checks.values()} == {"open"}


def expired(request):
    """Have old sessions say whose page they were."""
    if "sid=" in request.query or "token=" in request.query:
        return shown("Your session has ended", f"Log in to read {title_of(request)}")
    return pages(request)


def now_and_then(request):
    """Ask at each third request who is there, and for which page."""
    asks = next(NUMBERS) % 3 == 0
    return shown("Log in", f"Log in to read {title_of(request)}") if asks else pages(request)


@pytest.mark.parametrize("respond", [expired, now_and_then])
@deferred_f_from_coro_f
async def test_form_that_names_its_page_refutes_no_right_rule(respond):
    """Though no two of them are alike; no wrong rule is right for it either."""
    checks, _ = await outcomes(respond)
    assert {checks[name].outcome.value for name in RIGHT} <= {"open", "holds"}
    assert {checks[name].outcome.value for name in WRONG} <= {"open", "fails"}


@deferred_f_from_coro_f
async def test_words_about_being_led_to_a_form_refute_no_rule():
    """Whoever asks for the form itself is not told why it is there."""

    def respond(request):
        if request.path != "/login":
            return with_cookie(redirect(f"/login?next={request.path}"), "led=1")
        why = ["You have to be a member"] if "led" in cookies_of(request) else []
        return shown("Log in", *why, "Your name", "Your password", "Forgotten?")

    rules = {"site.example": {"rewrite_path": [["/edit/{n}", "/login?next=/edit/{n}"]]}}
    checks, _ = await outcomes(respond, urls=[f"/edit/{n}" for n in range(6)], rules=rules)
    [check] = checks.values()
    assert (check.wrong, check.outcome.value) == (0, "open")
    assert check.evidence.reasons == {"several pages show what it shows": 6}


def kept_choice(request):
    """Remember in a cookie what was chosen last."""
    cookies = cookies_of(request)
    for name in ("id", "colour"):
        if f"{name}=" not in request.target and name in cookies:
            request = replace(request, target=f"{request.path}?{name}={cookies[name]}")
    response = pages(request)
    for pair in content_of(request)[1:]:
        response = with_cookie(response, pair)
    return response


def asked_once(request):
    """Ask each visitor at first whether cookies may be set."""
    if "seen" in cookies_of(request):
        return pages(request)
    return with_cookie(shown("Welcome", "We set cookies"), "seen=1")


def tried_cookie(request):
    """Lead each visitor to the same URL once more."""
    if "seen" in cookies_of(request):
        return pages(request)
    return with_cookie(redirect(request.target, 302), "seen=1")


def counted(request):
    """Have each visitor log in after a few pages."""
    read = int(cookies_of(request).get("read", 0))
    response = pages(request) if read < 5 else shown("Log in", "You have read 5 pages")
    return with_cookie(response, f"read={read + 1}")


@pytest.mark.parametrize("respond", [pages, kept_choice, asked_once, tried_cookie, counted])
@deferred_f_from_coro_f
async def test_rules_are_named_where_cookies_choose_what_is_shown(respond):
    """No fetch shows what another one has chosen, or has used up."""
    checks, _ = await outcomes(respond, urls=[*urls_of(24)])
    assert {checks[name].outcome.value for name in RIGHT} == {"holds"}
    assert {checks[name].outcome.value for name in WRONG} == {"fails"}


@pytest.mark.parametrize(("respond", "is_more"), [(pages, False), (login, True)])
@deferred_f_from_coro_f
async def test_visitors_return_where_cookies_may_tell_what_several_pages_show(respond, is_more):
    """Where pages differ, or no cookie is set, a second visit of each would tell nothing."""
    settings = {"CONCURRENT_REQUESTS": 1}
    _, without_cookies = await outcomes(respond, settings)
    _, hits = await outcomes(lambda request: with_cookie(respond(request), "seen=1"), settings)
    assert (len(hits) > len(without_cookies)) is is_more


@deferred_f_from_coro_f
async def test_rule_over_one_page_is_held_against_other_pages():
    """What is shown for one page alone may be shown for all; without another one nobody knows."""
    rules = {"site.example/search": RULES["site.example/search"]}
    urls = [f"/search?token={n}" for n in range(12)]
    checks, hits = await outcomes(pages, urls=[*urls, "/about", "/broken"], rules=rules)
    assert checks["token"].outcome.value == "holds"
    assert hits[-2:] == [f"{SITE}/broken", f"{SITE}/about"]
    checks, _ = await outcomes(pages, urls=urls, rules=rules)
    assert checks["token"].outcome.value == "open"
    assert checks["token"].evidence.reasons == {
        "no other page of the crawl could be fetched to tell it from": 12
    }


@pytest.mark.parametrize("other", [page("<p>It is gone", status=404), redirect("/search")])
@deferred_f_from_coro_f
async def test_error_and_what_leads_to_one_page_are_no_other_pages(other):
    """That they show something else, or the same, says nothing of what the rule merges."""
    rules = {"site.example/search": RULES["site.example/search"]}
    checks, hits = await outcomes(
        lambda request: other if request.path == "/about" else pages(request),
        urls=[*(f"/search?token={n}" for n in range(12)), "/about"],
        rules=rules,
    )
    assert f"{SITE}/about" in hits
    assert checks["token"].outcome.value == "open"


@deferred_f_from_coro_f
async def test_host_that_never_answers_is_asked_a_few_times_only():
    """Whoever waits for it waits for each of its pairs, else."""
    checks, hits = await outcomes(lambda _: Response(fault=Fault.RESET), {"CONCURRENT_REQUESTS": 1})
    assert len(hits) == 3 + len(checks) - 1
    assert sum(check.evidence.reasons["its host does not answer"] for check in checks.values()) > 40


@deferred_f_from_coro_f
async def test_what_belongs_to_the_crawls_of_a_project_has_no_part_in_it():
    """Neither the queue that its processes share, nor what looks at its items, or waits."""
    project = {
        "SCHEDULER": "of_the_project.Scheduler",
        "DUPEFILTER_CLASS": "of_the_project.Filter",
        "SPIDER_MIDDLEWARES": {"of_the_project.Middleware": 1},
        "CLOSESPIDER_PAGECOUNT_NO_ITEM": 1,
    }
    checks, _ = await outcomes(pages, project=project)
    assert {checks[name].outcome.value for name in RIGHT} == {"holds"}
