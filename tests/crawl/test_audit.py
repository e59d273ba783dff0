"""The audit fetches a sample of the dropped variants, and compares them with the kept pages."""

import ast
import logging

import pytest
from audited_shop import BOILERPLATE, RIGHT, SETTINGS, WRONG, audits, product, shop
from loopback import page, redirect
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links

from scrapy_urlcanon import Canonicalizer


@deferred_f_from_coro_f
async def test_right_rule_stays_and_costs_its_share(crawl):
    """Under a right rule the audit costs its share of fetches.

    Audited variants that show the kept page do not reach the spider, and no entry is suspended.
    """
    urls = [f"/p{n}{query}" for query in ("", "?sid=1", "?sid=2", "?sid=3") for n in range(250)]
    respond = shop(urls, lambda request, count: product(request.path, seed=count))
    result = await crawl(respond, {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0.05})
    assert result.pages == sorted(["/", *urls[:250]])
    audited = result.figures["audited"]
    assert len(result.hits) == 251 + audited
    assert result.figures["audit/fetches"] == audited
    # At most 5 % of the pages, though it is three times as much of the variants.
    assert 10 <= audited <= 13
    assert audits(result.figures) == {"audited": audited}
    assert result.figures["audit/rule/drop_params:sid/site.example/same"] == audited


@deferred_f_from_coro_f
async def test_variant_that_is_linked_again_while_it_is_audited_counts_once(crawl):
    """Further links to a variant that is being audited use up no share of other audits."""

    async def audited(times):
        urls = [f"/p?sid={n}" for n in range(40) for _ in range(times)]
        pages = {"/": links("/p", "/late"), "/late": links(*urls)}
        settings = {**RIGHT, **SETTINGS, "CONCURRENT_REQUESTS": 8}
        result = await crawl(lambda request: pages.get(request.target) or product(1), settings)
        return result.figures["audited"]

    # The first three, and one when there is nothing else to fetch.
    assert await audited(times=5) == await audited(times=1) == 4


@deferred_f_from_coro_f
async def test_wrong_rule_is_suspended_and_every_page_comes(crawl, caplog):
    """An entry that drops a parameter which selects the page is suspended; each page comes once.

    The warning names the entry, how to take it back, and two URLs as an example.
    """
    urls = [f"/p?id={n}" for n in range(100)]
    respond = shop(urls, lambda request, count: product(request.query, seed=count))
    with caplog.at_level(logging.WARNING, "scrapy_urlcanon"):
        result = await crawl(respond, {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    figures = audits(result.figures)
    # Each of the two that condemn it was fetched twice, and its page; a third one was on its way.
    assert len(result.hits) <= 101 + 7
    assert figures["audit/suspended/drop_params/id"] == 1
    assert figures["audit/false_merge"] == figures["audited"] == 2
    # The first one stands for all of them, and the spider got these two from the audit.
    assert figures["audit/let_through"] == 97
    (warning,) = [r.getMessage() for r in caplog.records]
    for expected in ("drop_params:id", "'!id'", "site.example", f"{SITE}/p?id=0", f"{SITE}/p?id="):
        assert expected in warning


@deferred_f_from_coro_f
async def test_warning_has_the_line_that_takes_a_rule_for_a_path_back(crawl, caplog):
    """The line that the warning offers takes back a rule for a path too.

    A line for the whole domain would be weaker than that rule, and have no effect.
    """
    urls = [f"/p?id={n}" for n in range(100)]
    rules = {f"{SITE.partition('://')[2]}/p": {"drop_params": ["id"]}}
    respond = shop(urls, lambda request, count: product(request.query, seed=count))
    with caplog.at_level(logging.WARNING, "scrapy_urlcanon"):
        await crawl(respond, {**WRONG, **SETTINGS, "URLCANON_RULES": rules})
    (warning,) = [r.getMessage() for r in caplog.records]
    _, found, line = warning.partition(" To take it back, add to URLCANON_RULES: ")
    assert found
    pasted = Canonicalizer({**rules, **ast.literal_eval(f"{{{line}}}")})
    assert pasted.canonicalize(f"{SITE}/p?id=1") == f"{SITE}/p?id=1"


@deferred_f_from_coro_f
async def test_state_of_an_entry_is_in_the_stats_while_the_crawl_goes_on(crawl):
    """The stats show during the crawl what the audit found of an entry.

    Its outcome, after how many pages it was suspended, and which share of the pages is noise.
    """
    live = []
    key = "urlcanon/audit/rule/drop_params:id/site.example/"

    class Watching(FollowSpider):
        def parse(self, response):
            stats = self.crawler.stats.get_stats()
            live.append({k: v for k, v in stats.items() if k.startswith(key)})
            yield from super().parse(response)

    urls = [f"/p?id={n}" for n in range(30)]

    def answer(request, count):
        return page(f"{product(request.query).body.decode()}<footer>Visit number {count}</footer>")

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS}, spider=Watching)
    assert len(result.pages) == 31
    assert 1 <= result.stats[f"{key}until"] < 10
    assert result.stats[f"{key}noise"] == 1
    assert {stats[f"{key}outcome"] for stats in live[10:]} == {"fails"}
    assert live[-1].items() <= result.stats.items()


@deferred_f_from_coro_f
async def test_suspended_option_is_off_for_what_comes_later(crawl):
    """URLs linked after the suspension are fetched; on other domains the rule still holds."""
    pages = {
        f"{SITE}/": links(*(f"/p?id={n}" for n in range(5)), "/later"),
        f"{SITE}/later": links("/later2"),
        f"{SITE}/later2": links(
            *(f"/p?id={n}" for n in range(10)),
            "http://other.example/q?id=1",
            "http://other.example/q?id=2",
        ),
        "http://other.example/q?id=1": page("q"),
        "http://other.example/q?id=2": page("q"),
    }
    result = await crawl(
        lambda request: pages.get(request.url) or product(request.query),
        {**SETTINGS, "URLCANON_RULES": {"*": {"drop_params": ["id"]}}},
    )
    assert [hit for hit in result.pages if hit.startswith("/p")] == [
        f"/p?id={n}" for n in range(10)
    ]
    assert [hit for hit in result.pages if "other" in hit] == ["http://other.example/q?id=1"]


@deferred_f_from_coro_f
async def test_only_the_option_that_merged_them_is_suspended(crawl):
    """Options that changed the URLs too, but would not have merged them, are not suspended."""
    urls = [f"/p?z=1&id={n}" for n in range(10)]
    respond = shop(urls, lambda request, _: product(request.query))
    result = await crawl(respond, {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    assert {k for k in result.figures if "suspended" in k} == {"audit/suspended/drop_params/id"}


@deferred_f_from_coro_f
async def test_one_page_that_changed_suspends_nothing(crawl):
    """A single different page among many equal ones reaches the spider, and suspends nothing.

    It may have changed between the two fetches.
    """
    urls = [f"/p?sid={n}" for n in range(100)]
    respond = shop(urls, lambda request, _: product(7 if request.query == "sid=50" else 1))
    result = await crawl(respond, {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.pages == ["/", "/p?sid=0", "/p?sid=50"]
    assert audits(result.figures) == {"audited": 99, "audit/false_merge": 1}
    assert result.figures["audit/rule/drop_params:sid/site.example/another"] == 1


@pytest.mark.parametrize("again", ["a copy of the request", "another with its meta"])
@deferred_f_from_coro_f
async def test_page_that_an_audit_brought_is_asked_for_again(crawl, again):
    """A request that a callback makes from the one of an audit, or with its meta, is no audit.

    If it counted as one, the callback would not get its response.
    """
    got = []

    class Asking(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            if response.url == f"{SITE}/p?sid=50":
                if again == "a copy of the request":
                    yield response.request.replace(callback=self.again, dont_filter=True)
                else:
                    meta = response.meta
                    yield Request(response.url, self.again, meta=meta, dont_filter=True)

        def again(self, response):
            got.append(response.url.removeprefix(SITE))

    urls = [f"/p?sid={n}" for n in range(100)]
    respond = shop(urls, lambda request, _: product(7 if request.query == "sid=50" else 1))
    result = await crawl(respond, {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1}, spider=Asking)
    assert result.pages == ["/", "/p?sid=0", "/p?sid=50"]
    assert got == ["/p?sid=50"]
    assert audits(result.figures) == {"audited": 99, "audit/false_merge": 1}


@deferred_f_from_coro_f
async def test_soft_404_is_no_equality(crawl):
    """Two URLs that show what all missing pages show are no evidence for a rule."""
    missing = [f"/missing{n}" for n in range(4)]
    urls = [*missing, *(f"/p?id={n}" for n in range(10))]
    respond = shop(urls, lambda _request, _count: page("<title>Sorry</title> Not here."))
    result = await crawl(respond, {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *missing, "/p?id=0"])
    assert "audited" not in result.figures
    assert result.figures["audit/unjudged"] == 3


@deferred_f_from_coro_f
async def test_soft_404_with_the_words_of_the_site_is_another_page(crawl):
    """A soft 404 is recognised by its title as another page, and counts once against the rule."""
    sorry = page(f"<title>Sorry</title><nav>{BOILERPLATE}</nav> Product 1")
    respond = shop(
        [f"/p?sid={n}" for n in range(4)],
        lambda request, _: product(1) if request.query == "sid=0" else sorry,
    )
    result = await crawl(respond, {**RIGHT, **SETTINGS})
    assert audits(result.figures) == {
        "audited": 1,
        "audit/false_merge": 1,
        "audit/unjudged": len(result.pages) - 1,
    }


@pytest.mark.parametrize("status", [404, 500])
@deferred_f_from_coro_f
async def test_dead_variant_is_not_the_spiders_business(crawl, status):
    """If an audited variant fails, no errback is called: plain dropping would have lost nothing."""
    heard = []

    class Hearing(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            for request in response.follow_all(css="a"):
                yield request.replace(errback=heard.append)

    respond = shop(
        [f"/p?sid={n}" for n in range(5)],
        lambda request, _: product(1) if request.query == "sid=0" else page("", status=status),
    )
    result = await crawl(respond, {**RIGHT, **SETTINGS}, spider=Hearing)
    assert result.pages == ["/", "/p?sid=0"]
    assert len(result.hits) == 5
    assert heard == []
    assert audits(result.figures) == {"audit/unjudged": 3}


@deferred_f_from_coro_f
async def test_audited_duplicate_calls_no_errback(crawl, caplog):
    """An audited variant that is the same page calls no callback or errback, and logs nothing."""
    heard = []

    class Hearing(FollowSpider):
        def _start(self, _urls):
            async def start():
                for n in range(5):
                    yield Request(f"{SITE}/p?sid={n}", errback=heard.append)

            return start

    with caplog.at_level(logging.WARNING):
        result = await crawl(lambda _: product(1), {**RIGHT, **SETTINGS}, spider=Hearing)
    assert result.pages == ["/p?sid=0"]
    assert len(result.hits) == 5
    assert heard == []
    assert not caplog.records


@deferred_f_from_coro_f
async def test_variant_that_redirects_to_its_page_is_the_same(crawl):
    """An audited variant may redirect to the kept URL, though that was fetched before.

    The duplicate filter must not drop the redirect: the page behind it is compared.
    """
    urls = ["/p", *(f"/p?sid={n}" for n in range(5))]
    respond = shop(urls, lambda request, _: redirect("/p") if request.query else product(1))
    result = await crawl(respond, {**RIGHT, **SETTINGS})
    assert result.pages == ["/", "/p"]
    assert audits(result.figures) == {"audited": 4}


@deferred_f_from_coro_f
async def test_fragments_are_not_audited(crawl):
    """URLs that differ in the fragment alone are one request to the server, and not audited."""
    urls = [f"/p#{n}" for n in range(10)]
    result = await crawl(shop(urls, lambda _request, _count: product(1)), SETTINGS)
    assert result.hits == ["/", "/p"]


@deferred_f_from_coro_f
async def test_posts_are_not_audited(crawl):
    """A POST may change something on the server, and is never repeated for an audit."""
    start = [Request(f"{SITE}/?sid={n}", method="POST") for n in range(5)]
    result = await crawl(lambda _: page("a page"), {**RIGHT, **SETTINGS}, start=start)
    assert len(result.hits) == 1


@deferred_f_from_coro_f
async def test_failed_representative_is_rescued_and_then_audited(crawl):
    """If the kept URL fails, a variant takes its place, and is what others are compared with."""
    urls = [f"/p?sid={n}" for n in range(5)]
    respond = shop(
        urls, lambda request, _: page("", status=404) if request.query == "sid=0" else product(1)
    )
    result = await crawl(respond, {**RIGHT, **SETTINGS})
    assert result.pages == ["/", "/p?sid=1"]
    assert result.figures["rescued"] == 1


@pytest.mark.parametrize("run", ["cold", "warm"])
@deferred_f_from_coro_f
async def test_http_cache_does_not_answer_the_audit(crawl, run):
    """The HTTP cache stores an audited variant under its own key, not under that of its page.

    Else the cached page would be compared with itself, and a wrong rule found right.
    """
    urls = [f"/p?id={n}" for n in range(20)]
    respond = shop(urls, lambda request, count: product(request.query, seed=count))
    settings = {**WRONG, **SETTINGS, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"}
    for _ in range(["cold", "warm"].index(run) + 1):
        result = await crawl(respond, settings)
    assert result.pages == sorted(["/", *urls])
    assert audits(result.figures)["audit/suspended/drop_params/id"] == 1
    assert (result.hits == []) == (run == "warm")


@pytest.mark.parametrize("place", [1, 3, 19])
@deferred_f_from_coro_f
async def test_http_cache_does_not_answer_with_what_a_wrong_rule_had_stored(crawl, place):
    """What a wrong rule stored under the canonical URL does not answer that URL once it is off.

    The canonical URL has a page of its own here, in this crawl and the next one.
    """
    urls = [f"/p?id={n}" for n in range(20)]
    urls.insert(place, "/p")
    respond = shop(urls, lambda request, count: product(f"{request.query}.", seed=count))
    settings = {**WRONG, **SETTINGS, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"}
    for _ in range(2):
        result = await crawl(respond, settings)
        assert result.pages == sorted(["/", *urls])
    assert result.hits == []


@deferred_f_from_coro_f
async def test_bounds_are_kept_and_counted(crawl):
    """Dropped requests over URLCANON_AUDIT_MAX_PENDING are forgotten and counted.

    Those are lost if the rule is wrong.
    """
    urls = [f"/p?id={n}" for n in range(50)]
    respond = shop(urls, lambda request, _: product(request.query))
    result = await crawl(respond, {**WRONG, **SETTINGS, "URLCANON_AUDIT_MAX_PENDING": 10})
    assert result.figures["audit/forgotten"] == 39
    # The first page and the last ten that were dropped.
    assert result.pages == sorted(["/", urls[0], *urls[-10:]])


@deferred_f_from_coro_f
async def test_repeated_links_push_out_no_variant(crawl):
    """Repeated links to one URL take no room among the dropped variants.

    No rule dropped them, so that a suspension lets none of them through.
    """
    again = [f"/q{n}" for n in range(20)]
    urls = [f"/p?id={n}" for n in range(11)]
    respond = shop([*urls, *again, *again], lambda request, _: product(request.target))
    result = await crawl(respond, {**WRONG, **SETTINGS, "URLCANON_AUDIT_MAX_PENDING": 10})
    assert result.pages == sorted(["/", *urls, *again])
    assert "audit/forgotten" not in result.figures


@deferred_f_from_coro_f
async def test_off_by_default(crawl):
    """Without URLCANON_AUDIT no dropped URL is fetched."""
    urls = [f"/p?id={n}" for n in range(10)]
    result = await crawl(shop(urls, lambda _request, _count: product(1)), WRONG)
    assert len(result.hits) == 2


class ForeignFilter(BaseDupeFilter):
    """A duplicate filter that keeps our fingerprints in a place of its own."""

    def __init__(self, crawler):
        self._fingerprinter = crawler.request_fingerprinter
        self._seen = set()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def log(self, request, spider):
        pass

    def request_seen(self, request):
        fingerprint = self._fingerprinter.fingerprint(request)
        return fingerprint in self._seen or self._seen.add(fingerprint)


@pytest.mark.parametrize(
    ("site", "settings"),
    [
        (SITE, {}),
        ("http://site.example.", {}),
        (SITE, {"DUPEFILTER_CLASS": ForeignFilter}),
        (SITE, {"JOBDIR": "job"}),
    ],
)
@deferred_f_from_coro_f
async def test_url_that_a_wrong_entry_made_of_others_is_a_page(crawl, site, settings):
    """The canonical URL that a wrong entry made is fetched once the entry is off.

    It was taken for seen, though nobody had fetched it; the next run of a job fetches it too.
    """
    urls = [f"/p?id={n}" for n in range(10)]
    settings = {**WRONG, **SETTINGS, **settings}
    pages = {"/": links(*urls), "/more": links("/p", "/p?id=1")}
    found = []
    runs = [["/"], ["/more"]] if "JOBDIR" in settings else [["/", "/more"]]
    for targets in runs:
        start = [Request(f"{site}{url}", priority=-len(url), dont_filter=True) for url in targets]
        result = await crawl(
            lambda request: pages.get(request.target) or product(request.query or "none"),
            settings,
            start=start,
        )
        found += [item["url"].removeprefix(site) for item in result.items]
    assert sorted(found) == sorted(["/", "/more", "/p", *urls])


@deferred_f_from_coro_f
async def test_entry_that_is_off_for_a_suffix_made_no_page_of_another_domain_either(crawl):
    """An entry that is off for a domain is off for its subdomains, though they are other sites.

    The canonical URL that it made there, which was taken for seen, is fetched.
    """
    users = ["http://user.github.io/p?id=1", "http://user.github.io/p"]
    urls = [f"/p?id={n}" for n in range(10)]
    # The last one is fetched once the entry is off.
    pages = {"/": links(users[0], *urls), urls[-1]: links(users[1])}
    result = await crawl(
        lambda request: pages.get(request.target) or product(request.query or "none"),
        {"URLCANON_RULES": {"*": {"drop_params": ["id"]}}, **SETTINGS},
        start=["http://github.io/"],
    )
    assert [url for url in result.hits if "user." in url] == users


@deferred_f_from_coro_f
async def test_audits_keep_to_their_share_of_a_small_site(crawl):
    """Six right entries on pages that change at each visit cost at most a tenth more fetches."""
    names = [f"s{n}" for n in range(6)]
    pages = [f"/p{n}" for n in range(100)]
    urls = [*pages, *(f"{url}?{name}=1" for name in names for url in pages)]
    blocks = iter(range(1_000_000))

    def answer(request, _):
        return page(
            f"<title>{request.path}</title><p>About {request.path}"
            f"<p>{' '.join(f'block{next(blocks) % 23}' for _ in range(12))}"
        )

    rules = {"URLCANON_RULES": {"site.example": {"drop_params": names}}}
    result = await crawl(shop(urls, answer), {**rules, **SETTINGS, "URLCANON_AUDIT": 0.02})
    assert set(result.pages) >= {"/", *pages}
    assert len(result.hits) <= 1.1 * 101
    assert not [name for name in result.figures if "suspended" in name]
