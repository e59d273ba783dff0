"""No log line and no stat shows userinfo or what looks like a secret."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import page
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links, site

from scrapy_urlcanon.redaction import redact

SECRET = "S3cr3tValue"
NAMES = [
    "access_token",
    "authToken",
    "apikey",
    "api-key",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "sig",
    "PHPSESSID",
    "JSESSIONID",
    "sid",
    "session_id",
    "password",
    "client_secret",
    "code",
    "csrfmiddlewaretoken",
    "ticket",
    "user[password]",
    "user%5Bpassword%5D",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form",
    [
        "https://example.com/a?x=1&{}={}&y=2",
        "https://example.com/a?x=1;{}={}",
        "https://example.com/a;{}={}?x=1",
        "https://example.com/a?{}={}?more#top",
        "https://example.com/a#{}={}",
        "//example.com/?{}={}",
    ],
)
def test_values_of_secrets_are_hidden(name, form):
    """Whatever the component that a secret stands in, its name is shown and its value is not."""
    shown = redact(form.format(name, SECRET))
    assert SECRET not in shown
    assert f"{name}=***" in shown


@pytest.mark.parametrize(
    "name", ["q", "id", "page", "keyword", "author", "monkey", "signal", "sort"]
)
def test_other_values_are_shown(name):
    """What is needed to understand a duplicate stays."""
    assert redact(f"https://example.com/?{name}=1") == f"https://example.com/?{name}=1"


@given(
    user=st.text(st.characters(codec="ascii", exclude_characters="/?#\\")),
    rest=st.text(st.characters(codec="ascii")),
)
def test_userinfo_is_hidden(user, rest):
    """Nothing that a URL parser takes for user name or password is shown."""
    shown = redact(f"http://{user}{SECRET}@example.com/{rest}")
    assert SECRET not in shown
    assert shown.startswith("http://***@example.com/")


@given(st.text())
def test_any_text(text):
    """It takes any text, and what it returns it leaves alone."""
    assert redact(redact(text)) == redact(text)


@deferred_f_from_coro_f
async def test_crawl_shows_no_secret(crawl, caplog):
    """Neither the warnings nor the stats of a crawl show what its URLs hold."""
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
    assert result.figures["audit/suspended/drop_params:id"] == 1
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert len(ours) >= 3
    assert SECRET not in "".join(ours)
    assert SECRET not in str(result.figures)
