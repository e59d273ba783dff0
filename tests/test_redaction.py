from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.redaction import REDACTED, redact, visible

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
    "url",
    [
        "http://me:hunter2@example.com/",
        "//hunter2@example.com/",
        "http://a@hunter2@example.com/",
        "http://example.com/?accessToken=hunter2#top",
        "http://example.com/?API_KEY=hunter2",
        "http://example.com/?token=hun;ter2&id=1",
        "http://example.com/a;jsessionid=hunter2/b",
        "http://example.com/#access_token=hunter2&expires_in=1",
        "http://example.com/#/route?token=hunter2",
        "http://example.com/?next=http%3A%2F%2Fme%3Ahunter2%40example.com%2F",
        "http://example.com/?next=%2Fa%3Fsid%3Dhunter2",
        "http://example.com/?next=/a?sid=hunter2",
        "http://example.com/?q=a%253Fsid%253Dhunter2",
    ],
)
def test_secrets_are_not_shown(url):
    """Neither userinfo nor the value of a secret-looking parameter is left, wherever it is."""
    redacted = redact(url)
    assert "hunter2" not in redacted
    assert "ter2" not in redacted
    assert REDACTED in redacted


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "http://example.com/?id=1&page=2&sort_key=name&keyword=key",
        "http://example.com/?q=1&author=2&monkey=3&signal=4&sort=5",
        "http://example.com/@user?q=a@b.example",
        "http://example.com/?token=&sid",
        "http://example.com/?u=http%3A%2F%2Fexample.org%2F%3Fid%3D1",
        "http://[::1]:8080/a;v=1/b;c",
        "",
        "???&&;;==##",
    ],
)
def test_other_urls_stay_as_they_are(url):
    """What holds no secret is not changed."""
    assert redact(url) == url


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
def test_redaction_takes_any_text_and_is_final(text):
    """Redaction never raises, and a second time changes nothing."""
    assert redact(redact(text)) == redact(text)


@given(st.text())
def test_visible_text_obeys_nobody(text):
    """No control or format character is left, and printable ASCII is as it was."""
    shown = visible(text)
    assert shown.isprintable() or not set(shown) & set("\x00\x1b\n\r\u202e\u2028\u200f\u2066")
    if text.isascii() and text.isprintable():
        assert shown == text
