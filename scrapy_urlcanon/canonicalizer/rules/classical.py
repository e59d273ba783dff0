"""The normalizations that the literature and the tools of the field know, and where ours are.

Collected from RFC 3986 (section 6), the URL standard, the work on DUST ("different URLs with
similar text"), and the canonicalizers of crawlers and web archives.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Classical(NamedTuple):
    """One normalization, with an example."""

    normalization: str
    """What it is called."""
    name: str
    """Our option, or our normalization that is always on."""
    url: str
    value: Any = None
    """The value of the option in the example; None where it is always on."""


CLASSICAL: tuple[Classical, ...] = (
    Classical("Scheme and host in lower case", "case", "HTTP://WWW.Example.com/A"),
    Classical("Internationalized domain name (IDN)", "idn", "http://例子.卷筒纸"),
    Classical("Notation of an IP address", "ip_address", "http://0xD0.77.188.166/"),
    Classical(
        "IP address and domain name",
        "host_aliases",
        "http://208.77.188.166/",
        {"208.77.188.166": "www.example.com"},
    ),
    Classical(
        "Mirror hosts",
        "host_aliases",
        "http://mirror.example.org/a",
        {"mirror.example.org": "example.com"},
    ),
    Classical("Dot of the root zone", "trailing_dot", "http://example.com./"),
    Classical("Default port", "default_port", "http://example.com:80/bar.html"),
    Classical("Limiting protocols", "scheme", "http://example.com/", "https"),
    Classical("Protocol-relative link", "protocol_relative", "//example.com/a"),
    Classical("User name and password", "userinfo", "http://me:pw@example.com/", "drop"),
    Classical("`www` as the first label", "www", "http://www2.example.com/", "strip"),
    Classical(
        "Subdomain and directory of a user",
        "subdomain_to_path",
        "http://shuchao.example.com/",
        ["shuchao"],
    ),
    Classical("Empty path", "empty_path", "http://example.com"),
    Classical("Dot segments", "dot_segments", "http://example.com/a/./b/../c.html"),
    Classical("Duplicate slashes", "duplicate_slashes", "http://example.com/foo//bar", "collapse"),
    Classical(
        "Directory index",
        "directory_index",
        "http://example.com/a/default.asp",
        ["index.html", "default.asp"],
    ),
    Classical("Trailing slash: strip", "trailing_slash", "http://example.com/foo/", "strip"),
    Classical("Trailing slash: add", "trailing_slash", "http://example.com/foo", "add"),
    Classical("Case of the path", "path_case", "http://example.com/About.ASPX", "lower"),
    Classical("Escapes in upper case", "percent_encoding", "http://example.com/a%c2%b1b"),
    Classical("Escapes of unreserved characters", "percent_encoding", "http://example.com/%7Eann"),
    Classical(
        "Internationalized path (IRI)", "percent_encoding", "http://example.com/引き割り.html"
    ),
    Classical(
        "Character encoding: a legacy one stays",
        "percent_encoding",
        "http://example.com/%88%F8%82%AB%8A%84%82%E8.html",
    ),
    Classical(
        "Session id in the path",
        "path_params",
        "http://example.com/a;jsessionid=0A1B?id=1",
        ["jsessionid"],
    ),
    Classical(
        "URL in the path of another one",
        "nested_url",
        "http://www.example.com/x/y/z/http://www.example.com/a/b/http://www.example.com/../page.html",
        "unwrap",
    ),
    Classical(
        "DUST rule: substitution",
        "rewrite_path",
        "http://example.com/story.php?id=17",
        [["/story.php?id={id}", "/story_{id}"]],
    ),
    Classical(
        "DUST rule: text for readers in the path",
        "rewrite_path",
        "http://www.example.com/books/amazon-sucks/9780470170779-item.html",
        [["/books/{slug}/{isbn:digits}-item.html", "/books/{isbn}"]],
    ),
    Classical(
        "Variable in the path",
        "rewrite_path",
        "http://www.example.com/test?id=123",
        [["/test?id={id}", "/test_{id}"]],
    ),
    Classical(
        "Sorted variables", "sort_query", "http://example.com/?lang=en&article=fred", value=True
    ),
    Classical(
        "Arbitrary variables",
        "drop_params",
        "http://example.com/?id=123&fakefoo=fakebar",
        ["fakefoo"],
    ),
    Classical(
        "Unexpected variables", "keep_params", "http://example.com/?id=123&fakefoo=fakebar", ["id"]
    ),
    Classical(
        "Default variables",
        "default_params",
        "http://example.com/?id=&sort=ascending",
        {"sort": "ascending"},
    ),
    Classical("Empty variables", "empty_params", "http://example.com/?id=&=123&a=1", "drop"),
    Classical("Repeated variables", "repeated_params", "http://example.com/?a=1&a=1", "drop"),
    Classical("Session variables", "drop_params", "http://example.com/?id=1&sid=0A1B", ["sid"]),
    Classical(
        "Variables of temporary state", "drop_params", "http://example.com/?id=1&back=%2F", ["back"]
    ),
    Classical("Tracking variables", "tracking_params", "http://example.com/?utm_source=x", "drop"),
    Classical("Case of the names of variables", "param_case", "http://example.com/?ID=A", "lower"),
    Classical("Variable without `=`", "missing_value", "http://example.com/?print"),
    Classical("`;` as separator", "query_separator", "http://example.com/?a=1;b=2", ";"),
    Classical("Empty query", "empty_delimiters", "http://example.com/display?"),
    Classical("Stray `&`", "empty_delimiters", "http://example.com/?&a=1&&b=2&"),
    Classical("`+` and `%20`", "percent_encoding", "http://example.com/?q=a%20b"),
    Classical("Fragment", "fragment", "http://example.com/bar.html#section1", "drop"),
    Classical("Fragment that is an address", "fragment", "http://example.com/#!/a", "routing"),
    Classical("Whitespace", "whitespace", " http://example.com/a\n"),
    Classical("Backslashes", "slashes", "http:\\\\example.com\\a"),
    Classical(
        "Pages always found elsewhere: not fetched",
        "skip",
        "http://example.com/?p=17",
        ["/?p={id:digits}"],
    ),
)
