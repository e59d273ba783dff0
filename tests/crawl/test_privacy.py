"""Secrets of the spider and of URLs: neither shown, nor sent elsewhere."""

import logging

import pytest
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links, site

SECRET = "S3cr3tValue"


@deferred_f_from_coro_f
async def test_crawl_shows_no_secret(crawl, caplog):
    """Neither log nor stats of a crawl show secrets in its URLs."""
    urls = [
        f"http://user:{SECRET}@site.example/p?id={n}&token={SECRET}&sid={SECRET}" for n in range(6)
    ]
    wrong = Request(
        f"http://user:{SECRET}@site.example/q?password={SECRET}",
        meta={"urlcanon": {"drop_parms": ["x"]}},
    )

    def respond(request):
        home = site({"/": links(*urls)}, missing=200)
        return page(f"<title>{request.query}</title>") if request.path == "/p" else home(request)

    settings = {
        "URLCANON_RULES": {"*": {"drop_params": ["id", "sid"]}},
        "URLCANON_AUDIT": 0.5,
        "LOG_LEVEL": "INFO",
    }
    with caplog.at_level(logging.INFO, "scrapy_urlcanon"):
        result = await crawl(respond, settings, start=("http://site.example/", wrong))
    assert result.figures["audit/suspended/drop_params/id"] == 1
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert len(ours) >= 3
    assert SECRET not in "".join(ours)
    assert SECRET not in str(result.figures)


@pytest.mark.parametrize(
    ("first", "rule"),
    [
        ("http://site.example", {"scheme": "https"}),
        ("https://other.example", {"host_aliases": {"other.example": "site.example"}}),
    ],
)
@deferred_f_from_coro_f
async def test_audit_sends_credentials_to_their_own_site_and_encrypted(crawl, first, rule):
    """An audit compares with a URL of another site or scheme without credentials for that."""
    sent = set()

    def respond(request):
        secrets = {request.headers.get("authorization"), request.headers.get("cookie")} - {None}
        sent.update((request.url.split("/p")[0], secret) for secret in secrets)
        return page(request.url)

    start = [Request(f"{first}/p{number}") for number in range(9)]
    start += [
        Request(
            f"https://site.example/p{number}",
            headers={"Authorization": "secret"},
            cookies={"token": "secret"},
            priority=-1,
        )
        for number in range(9)
    ]
    settings = {"URLCANON_RULES": {"*": rule}, "URLCANON_AUDIT": 1.0}
    result = await crawl(respond, settings, start=start)
    assert len(result.hits) > 18, "no first URL was fetched again"
    assert sent == {("https://site.example", "secret"), ("https://site.example", "token=secret")}
