"""The add-on beside other fingerprinters and add-ons, and with bad settings."""

import logging

import pytest
from loopback import page
from scrapy import Request, Spider
from scrapy.dupefilters import BaseDupeFilter
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import RequestFingerprinter as ScrapyRequestFingerprinter
from scrapy.utils.request import fingerprint
from scrapy.utils.test import get_crawler
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon import Addon, RequestFingerprinter, UrlCanonDownloaderMiddleware
from scrapy_urlcanon.crawl.components import ORDER
from scrapy_urlcanon.crawl.seen_sets.dupefilter import SeenSetDupeFilter
from scrapy_urlcanon.exceptions import (
    ConfigurationError,
    Problem,
    log_configuration_errors_plainly,
)
from scrapy_urlcanon.report.writer import ReportWriter

NAME = "REQUEST_FINGERPRINTER_CLASS"
FALLBACK = "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS"
ADDONS = {"scrapy_urlcanon.Addon": 500}


class HeaderFingerprinter:
    """A user's fingerprinter: requests with another Accept-Language are other pages."""

    def fingerprint(self, request):
        return fingerprint(request, include_headers=["Accept-Language"])


class LocalizedFingerprinter:
    """The same, wrapped around ours."""

    def __init__(self, wrapped):
        self._wrapped = wrapped

    @classmethod
    def from_crawler(cls, crawler):
        return cls(RequestFingerprinter.from_crawler(crawler))

    def fingerprint(self, request):
        return request.headers.get("Accept-Language", b"") + self._wrapped.fingerprint(request)


class WrappingAddon:
    """An add-on that replaces the fingerprinter, as scrapy-poet's does."""

    def update_settings(self, settings):
        settings.set(NAME, HeaderFingerprinter, settings.getpriority(NAME))


class LateAddon:
    """An add-on that runs after ours, and changes settings that ours reads."""

    def update_settings(self, settings):
        settings.set("URLCANON_ORDER", "novelty", "addon")
        settings.set("URLCANON_SEEN_SET", "compact", "addon")
        settings.set("URLCANON_REPORT", "report.json", "addon")


class NeedyRequest(Request):
    """A request that cannot be rebuilt from its attributes."""

    def __init__(self, url, *args, page_type, **kwargs):
        self.page_type = page_type
        super().__init__(url, *args, **kwargs)


def test_user_fingerprinter_becomes_the_fallback():
    """The project's fingerprinter becomes the fallback of ours, at its priority."""
    settings = Settings({NAME: HeaderFingerprinter})
    Addon().update_settings(settings)
    assert settings[NAME] is RequestFingerprinter
    assert settings.getpriority(NAME) == settings.getpriority(FALLBACK) == 20
    assert settings[FALLBACK] is HeaderFingerprinter


def test_explicit_fallback_wins_over_the_fingerprinter_that_is_set():
    """The fallback setting wins over the project's fingerprinter."""
    settings = Settings({NAME: HeaderFingerprinter, FALLBACK: ScrapyRequestFingerprinter})
    Addon().update_settings(settings)
    assert settings[FALLBACK] is ScrapyRequestFingerprinter


@pytest.mark.parametrize("own", [RequestFingerprinter, "scrapy_urlcanon.RequestFingerprinter"])
@pytest.mark.parametrize("fallback", [None, RequestFingerprinter])
def test_own_class_named_explicitly_is_no_recursion(own, fallback):
    """Naming our own class, even as its own fallback, causes no recursion."""
    crawler = get_crawler(settings_dict={"ADDONS": ADDONS, NAME: own, FALLBACK: fallback})
    fingerprinter = crawler.request_fingerprinter
    assert type(fingerprinter) is RequestFingerprinter
    assert fingerprinter.fingerprint(Request(f"{SITE}/?utm_id=1")) == fingerprinter.fingerprint(
        Request(f"{SITE}/")
    )


def test_components_that_are_set_already_stay_where_they_are():
    """A middleware of ours that the user has placed keeps its place."""
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {UrlCanonDownloaderMiddleware: 7}})
    Addon().update_settings(settings)
    assert settings.getdict("DOWNLOADER_MIDDLEWARES")[UrlCanonDownloaderMiddleware] == 7


def test_settings_of_a_later_addon_hold(monkeypatch, tmp_path):
    """Settings that a later add-on changes take effect."""
    monkeypatch.chdir(tmp_path)
    settings = get_crawler(settings_dict={"ADDONS": {**ADDONS, LateAddon: 600}}).settings
    assert settings["SCHEDULER_PRIORITY_QUEUE"] == ORDER
    assert settings["DUPEFILTER_CLASS"] is SeenSetDupeFilter
    assert ReportWriter in settings["EXTENSIONS"]


def test_spider_whose_class_has_no_name():
    """A crawler without a spider, or whose spider class has no name, works."""
    crawler = get_crawler(Spider, {"ADDONS": ADDONS, "URLCANON_ORDER": "novelty"})
    assert crawler.spider is None
    assert type(crawler.request_fingerprinter) is RequestFingerprinter


def test_filter_of_a_shell_stays():
    """`scrapy shell` keeps its duplicate filter, and is no conflict with URLCANON_SEEN_SET."""
    settings = Settings({"URLCANON_SEEN_SET": "compact"})
    settings.set("DUPEFILTER_CLASS", BaseDupeFilter, "command")
    Addon().update_settings(settings)
    assert settings["DUPEFILTER_CLASS"] is BaseDupeFilter


def test_shell_has_no_job():
    """`scrapy shell` has no JOBDIR: it would take requests out of the job's queue."""
    crawler = get_crawler(settings_dict={"ADDONS": ADDONS, "JOBDIR": "job"})
    assert crawler.spider is None
    assert crawler.settings["JOBDIR"] is None


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("SPIDER_MIDDLEWARES", "crawl.callbackmiddleware.UrlCanonCallbackMiddleware"),
        ("DOWNLOADER_MIDDLEWARES", "UrlCanonDownloaderMiddleware"),
    ],
)
def test_middleware_that_is_turned_off_is_warned_of(name, component, caplog):
    """A warning names each middleware of ours that is turned off.

    Without the one next to the spider all variants would be fetched.
    """
    get_crawler(settings_dict={"ADDONS": ADDONS, name: {f"scrapy_urlcanon.{component}": None}})
    (message,) = caplog.messages
    assert f"{name} has no {component.rpartition('.')[2]}: " in message


def test_disabled_changes_nothing():
    """With URLCANON_ENABLED = False the fingerprinter is Scrapy's."""
    crawler = get_crawler(settings_dict={"ADDONS": ADDONS, "URLCANON_ENABLED": False})
    assert type(crawler.request_fingerprinter) is ScrapyRequestFingerprinter


@pytest.mark.parametrize("own", [HeaderFingerprinter, LocalizedFingerprinter])
@deferred_f_from_coro_f
async def test_fallback_sees_headers_and_the_canonical_url(crawl, own):
    """Requests that the user's fingerprinter tells apart stay apart, and variants are merged."""
    start = [
        Request(f"{SITE}/?utm_source={n}", headers={"Accept-Language": language})
        for n, language in enumerate(["en", "fr", "en", "fr"])
    ]
    result = await crawl(lambda _: page("a page"), {NAME: own}, start=start)
    assert sorted(result.hits) == ["/?utm_source=0", "/?utm_source=1"]


class FragmentFingerprinter:
    """A user's fingerprinter for pages that a browser shows: one for each fragment."""

    def fingerprint(self, request):
        return fingerprint(request, keep_fragments=True)


@pytest.mark.parametrize("settings", [{}, {"URLCANON_REWRITE": True}], ids=["", "rewritten"])
@deferred_f_from_coro_f
async def test_fragments_that_the_fallback_tells_apart_stay_apart(crawl, settings):
    """A page for each fragment is fetched, by one of its variants, or by another if that fails."""

    class Browsing(FollowSpider):
        def parse(self, response):
            yield from super().parse(response)
            shown.append(response.request.url.partition("#")[2])

    shown = []
    urls = [f"/app?utm_source={n}#/{name}" for n in (1, 2, 3) for name in ("one", "two")]
    pages = {"/": links(*urls), "/app": page("app"), "/app?utm_source=2": page("app")}
    await crawl(site(pages), {NAME: FragmentFingerprinter, **settings}, spider=Browsing)
    assert sorted(shown) == ["", "/one", "/two"]


def test_fallback_gets_requests_that_cannot_be_rebuilt():
    """A request of a subclass reaches the fallback as that subclass, and is not changed."""
    crawler = get_crawler(settings_dict={"ADDONS": ADDONS, NAME: HeaderFingerprinter})
    one, two = (
        NeedyRequest(f"{SITE}/?utm_source={n}", page_type="product", meta={"n": n}) for n in (1, 2)
    )
    prints = crawler.request_fingerprinter
    assert prints.fingerprint(one) == prints.fingerprint(two)
    assert one.meta == {"n": 1}


@deferred_f_from_coro_f
async def test_another_outermost_fingerprinter_is_reported(crawl, caplog):
    """A warning says that another add-on replaced our fingerprinter, and how to order them."""
    addons = {**ADDONS, WrappingAddon: 600}
    with caplog.at_level(logging.WARNING):
        result = await crawl(site({"/": links("/a", "/a?utm_id=1")}), {"ADDONS": addons})
    assert len(result.hits) == 3
    (warning,) = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert "HeaderFingerprinter" in warning
    assert "higher number in ADDONS" in warning


@deferred_f_from_coro_f
async def test_outermost_with_the_higher_number_works(crawl, caplog):
    """With the higher number in ADDONS ours is outermost, and the other one its fallback."""
    addons = {"scrapy_urlcanon.Addon": 700, WrappingAddon: 600}
    with caplog.at_level(logging.WARNING):
        result = await crawl(
            site({"/": links("/a", "/a?utm_id=1"), "/a": page("a")}), {"ADDONS": addons}
        )
    assert len(result.hits) == 2
    assert not [r for r in caplog.records if r.name.startswith("scrapy_urlcanon")]


@deferred_f_from_coro_f
async def test_bad_configuration_stops_the_crawl_before_the_first_request(crawl, tmp_path):
    """All problems of the configuration are one error, before the first request."""
    hits = []
    (tmp_path / "broken.toml").write_text("[unclosed")
    (tmp_path / "wrong.json").write_text('{"example.com": {"www": true}}')
    (tmp_path / "rules.yaml").write_text("example.com: {}")
    settings = {
        "URLCANON_PRESET": "saef",
        "URLCANON_RULES": {"exa mple": {}, "example.com": {"drop_parms": [], "sort_query": 1}},
        "URLCANON_SPIDER_RULES": ["www"],
        "URLCANON_RULES_FILES": ["broken.toml", "wrong.json", "absent.toml", "rules.yaml"],
        "URLCANON_RULE": {},
        "URLCANON_REWRITE": ["example.com/path"],
    }
    with pytest.raises(ConfigurationError) as caught:
        await crawl(lambda request: hits.append(request) or page("a page"), settings)
    assert not hits
    message = str(caught.value)
    for expected in (
        "11 problems",
        "URLCANON_RULE: no such setting; did you mean 'URLCANON_RULES'?",
        "URLCANON_PRESET: expected 'scrapy' or 'safe' or 'aggressive', got 'saef'; did you mean",
        "URLCANON_RULES['exa mple']: expected a host or '*', and 'exa mple' is not a host",
        "URLCANON_RULES['example.com']['drop_parms']: no such option; did you mean 'drop_params'?",
        "URLCANON_RULES['example.com']['sort_query']: expected True or False, got 1",
        "URLCANON_SPIDER_RULES: expected a mapping of patterns to options, got ['www']",
        "URLCANON_RULES_FILES: cannot read 'broken.toml': ",
        "wrong.json['example.com']['www']: expected 'keep' or 'strip' or 'strip_www' or ",
        "URLCANON_RULES_FILES: cannot read 'absent.toml': ",
        "URLCANON_RULES_FILES: cannot read 'rules.yaml': expected a file whose name ends in",
        "URLCANON_REWRITE['example.com/path']: expected a host without a path",
    ):
        assert expected in message


@pytest.mark.parametrize("logger", ["asyncio", "twisted"])
def test_error_of_a_scheduler_is_logged_without_a_traceback(caplog, logger):
    """A configuration error in the scheduler is logged as one line, without Scrapy's follow-ups."""
    log_configuration_errors_plainly()
    error = RuntimeError("Engine slot not assigned")
    error.__context__ = ConfigurationError([Problem("URLCANON_SEEN_SET", "it is in use")])
    logging.getLogger(logger).error("Task exception was never retrieved", exc_info=error)
    (record,) = caplog.records
    assert (record.name, record.exc_info) == ("scrapy_urlcanon", None)
    assert record.getMessage() == str(error.__context__)


@pytest.mark.parametrize(
    "name", ["URLCANON_ENABLED", "URLCANON_ORDER", "URLCANON_SEEN_SET", FALLBACK]
)
def test_a_setting_that_is_read_first_hides_no_problem_of_the_others(name):
    """An invalid setting that is read early does not hide other problems."""
    wrong = {name: "nonsense", "URLCANON_AUDIT": 1.5, "URLCANON_PRESETT": "safe"}
    with pytest.raises(ConfigurationError) as caught:
        get_crawler(Spider, {"ADDONS": ADDONS, **wrong})
    assert {problem.origin for problem in caught.value.problems} == {*wrong}
