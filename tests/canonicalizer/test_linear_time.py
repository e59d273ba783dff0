"""The work for a URL grows with its length and no faster, however hostile it is.

Work is counted, not timed: every call is one, a method of a text counts its length as
well, since that is what it may have to read, and so do the texts that a function returns.
Twice the text may be twice the work. A regular expression counts as one call: what the
rules use has no two repetitions that could share a text.
"""

import sys

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.inner_loops import in_python
from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.canonicalizer.url import split

EVERYTHING = {
    "scheme": "https",
    "userinfo": "drop",
    "host_aliases": {"a.example": "b.example"},
    "www": "strip",
    "subdomain_to_path": ["*", "!x*"],
    "duplicate_slashes": "collapse",
    "directory_index": ["index.*"],
    "trailing_slash": "strip",
    "path_case": "lower",
    "path_params": ["*a*b*", "sid", "!sid"],
    "nested_url": "unwrap",
    "rewrite_path": [
        ["/amp/{rest:path}", "/{rest}"],
        ["/x/{all:path}/y/{id:digits}", "/y/{all}/{id}"],
        ["/{slug}-{id:digits}", "/n?id={id}"],
        ["/p?id={id}&v={v}", "/p/{id}/{v}"],
    ],
    "escaped_ampersand": "decode",
    "unwrap_params": ["to*"],
    "amp": "unwrap",
    "port": "drop",
    "drop_labels": ["m", "a*"],
    "cookieless_session": "drop",
    "name_case": "ignore",
    "lower_values": ["b*", "p"],
    "drop_values": {"v*": "hex{1-8}", "q": "uuid"},
    "query_separator": ";",
    "param_case": "lower",
    "drop_params": ["*a*b*c*", "sid"],
    "default_params": {"page": "1"},
    "skip": ["/skip/{rest:path}?p={p:digits}", "/{a}-{b:digits}"],
}
CANONICALIZERS = {
    "safe": Canonicalizer(),
    "aggressive": Canonicalizer(preset="aggressive"),
    "everything": Canonicalizer({"*": EVERYTHING}, preset="aggressive"),
}
HOSTILE = {
    "host labels": ("http://", "a.", "example.com/"),
    "www labels": ("http://", "www.", "example.com/"),
    "long label": ("http://", "a", ".example.com/"),
    "userinfo": ("http://", "a:@", "example.com/"),
    "port": ("http://example.com:", "0", "80/"),
    "slashes": ("http://example.com", "/", "a"),
    "slashes after the scheme": ("http:", "/", "example.com"),
    "colons and slashes": ("http://example.com/", ":///", "a"),
    "dot segments": ("http://example.com/", "a/../", ".."),
    "open dot segments": ("http://example.com/", "a/", "../" * 20),
    "escapes": ("http://example.com/", "%41", ""),
    "broken escapes": ("http://example.com/", "%", "4"),
    "other script": ("http://example.com/", "引", ""),
    "nested": ("http://example.com/", "http://example.com/", "a"),
    "nested without a host": ("http://example.com/", "http://", ""),
    "path parameters": ("http://example.com/a", ";sid=1;aab", "/"),
    "index files": ("http://example.com/", "index.html/", "index.html"),
    "template prefix": ("http://example.com/", "amp/", "a"),
    "template inside": ("http://example.com/x/", "y/1/", "y/1a"),
    "template end": ("http://example.com/", "a-1", "-x"),
    "digits": ("http://example.com/", "1", "-"),
    "parameters": ("http://example.com/p?id=1&v=2&", "b=1&", "a=1"),
    "escaped ampersands": ("http://example.com/?a&", "amp;", "b=1"),
    "unwrapped": ("http://example.com/?to=", "http://example.com/?to=", "http://example.com/"),
    "mobile labels": ("http://", "m.", "example.com/"),
    "AMP cache": ("https://a.cdn.ampproject.org/c/s/", "a.com/c/s/", "a"),
    "sessions of ASP.NET": ("http://example.com/", "(S(a))/(A(", "a"),
    "upper case": ("http://example.com/", "%C3%89A", "%C9"),
    "values of upper case": ("http://example.com/?p=", "A%C3%89", ""),
    "text fragment": ("http://example.com/#", ":~:", "a"),
    "semicolons": ("http://example.com/?", "a=1;", ""),
    "ampersands": ("http://example.com/?", "&", "a"),
    "equals signs": ("http://example.com/?", "=", "a"),
    "plus signs": ("http://example.com/?q=", "+", "%20"),
    "globs": ("http://example.com/?", "abab", "=c"),
    "question marks": ("http://example.com/", "?", "a"),
    "tracking": ("http://example.com/?X-Amz-Signature=1&", "utm_a=1&", "a=1"),
    "whitespace": ("http://example.com/", " \t\n", "a"),
    "backslashes": ("http:", "\\", "example.com"),
    "fragment": ("http://example.com/#", "#!", "%"),
    "no scheme": ("", "http", "://"),
}


class Work:
    """Counts the work that is done within its `with` block."""

    def __init__(self):
        self.count = 0

    def __enter__(self):
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _event(self, _frame, event, subject):
        if event == "call":
            self.count += 1
        elif event == "c_call":
            text = getattr(subject, "__self__", None)
            self.count += 1 + (len(text) if isinstance(text, (str, bytes)) else 0)
        elif event == "return":
            self.count += _size(subject)


def _size(value):
    """Return the length of a text, or of all texts of a list, and 0 for all else."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, (list, tuple)):
        return sum(len(text) for text in value if isinstance(text, str))
    return 0


def _work(function, make, size):
    """Return the work of *function* on what *make* returns for *size*."""
    function(make(1))  # what is done once, such as imports, does not count
    text = make(size)
    with Work() as work:
        function(text)
    return work.count


def _assert_linear(function, make, size=500):
    once, twice = (_work(function, make, n) for n in (size, 2 * size))
    assert twice <= 2.1 * once + 1000, f"{once} -> {twice}"


def test_the_count_tells_quadratic_work_from_linear():
    """What takes one character after the other off a text fails the comparison."""

    def peel(text):
        while text:
            text = text.removeprefix("a")

    _assert_linear(str.upper, lambda size: "a" * size)
    with pytest.raises(AssertionError):
        _assert_linear(peel, lambda size: "a" * size)


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("rules", CANONICALIZERS)
def test_work_doubles_with_the_url(rules, kind):
    """Canonicalizing and explaining a URL twice as long is at most twice the work."""
    start, unit, end = HOSTILE[kind]
    for function in (CANONICALIZERS[rules].canonicalize, CANONICALIZERS[rules].explain):
        _assert_linear(function, lambda size: start + unit * size + end)


def test_work_doubles_with_the_labels_of_a_host_without_a_c_compiler():
    """What is compiled, where it can be, makes no calls."""
    _assert_linear(
        lambda host: in_python.without_www(host, {}, numbered=True),
        lambda size: "www." * size + "example.com",
    )


@pytest.mark.parametrize(
    ("template", "unit"),
    [
        ("/{a:path}/b/{c:digits}", "/b/1"),
        ("/{a}-{b:digits}.html", "-1"),
        ("/{a:digits}-{b}", "1"),
        ("/{a:path}.{b:slug}.html", ".a"),
        ("/{a:aa|aaa}{b:digits}/{c:path}", "a"),
    ],
)
@pytest.mark.parametrize("end", ["", "x", "/", "-", ".html"])
def test_work_of_a_template_doubles_with_the_path(template, unit, end):
    """A template reads a path from its ends inwards and never goes back."""
    _assert_linear(
        parse_template(template).match, lambda size: split(f"http://h/{unit * size}{end}")
    )


@pytest.mark.parametrize("rules", CANONICALIZERS)
def test_a_megabyte_and_a_hundred_thousand_parameters_are_canonicalized(rules):
    """The largest URLs get a canonical form, and it is their own."""
    canonicalizer = CANONICALIZERS[rules]
    for url in (
        "https://example.com/" + "a" * 1_000_000,
        "https://example.com/?" + "&".join(f"p{number}=1" for number in range(100_000)),
    ):
        explanation = canonicalizer.explain(url)
        assert explanation.problem is None
        assert canonicalizer.canonicalize(explanation.canonical) == explanation.canonical
