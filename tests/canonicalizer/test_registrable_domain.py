"""The Public Suffix List, as a table."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from publicsuffixlist import PSLFILE, PublicSuffixList

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.inner_loops import in_python
from scrapy_urlcanon.canonicalizer.registrable_domain import (
    domain_of,
    registrable_domain,
    suffix_names,
)

LOOPS = [in_python]
with suppress(ImportError):  # There was no C compiler to build it with.
    from scrapy_urlcanon.canonicalizer.inner_loops import compiled

    LOOPS.append(compiled)

# What is no name, or has no domain.
ODD = [
    *("192.0.2.1", "1", "a.1", "[::1]", "localhost", "www", "www.", "www.www", "www.com", ".", ""),
    *("www.a.com.", "www..a.com", ".a.com", "www.a..com", "wwwx.a.com", "www2x.a.com"),
]

# With what the canonicalizer makes of the host, and those that it cannot read.
DOMAINS = {
    "http://me@WWW.Example.co.uk.:8080": "example.co.uk",
    "http:///www.example.com": "example.com",
    "http://www.example.com\\a": "example.com",
    "http://www.example.com?a=/b://c": "example.com",
    "http://www.b\u00fccher.example/": "xn--bcher-kva.example",
    "http://b%C3%BCcher.example/": "xn--bcher-kva.example",
    "http://0x7f.1/": "127.0.0.1",
    "http://[0:0::1]:81/": "[::1]",
    "http://localhost": "localhost",
}
UNREAD = {
    "http://www.xn--a.example:81/": "xn--a.example",
    "http://[none/": "none",
    "http://": "none",
    "data:,x": "none",
}


def hosts():
    """Yield the names of the list, what stands above them, and names below."""
    rules = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    names = {
        rule.strip().lstrip("!").replace("*.", "x.").encode("idna").decode()
        for rule in rules
        if rule.strip() and not rule.startswith("//")
    }
    for name in [*names, *(name.partition(".")[2] for name in names), "intranet"]:
        yield from (name, f"a.{name}", f"b.a.{name}")


def test_table_says_what_the_package_says():
    """For the names of the list and those below them; a name that is on no list is a suffix."""
    package = PublicSuffixList(accept_unknown=False)
    for host in hosts():
        if "." in host and "" not in host.split("."):
            expected = package.privatesuffix(host)
            if package.publicsuffix(host) is None:
                expected = ".".join(host.split(".")[-2:])
            assert registrable_domain(host) == expected, host
            start = -1 if expected is None else len(host) - len(expected)
            for loops in LOOPS:
                assert loops.start_of_domain(host, suffix_names()) == start, (host, loops)


def stripped(host, label):
    """Return *host* without first labels that are *label*, as many as leave its domain."""
    domain = registrable_domain(host)
    while match := re.match(rf"{label}\.", host):
        rest = host[match.end() :]
        if domain is None or not f".{rest}".endswith(f".{domain}"):
            break
        host = rest
    return host


@pytest.mark.parametrize(("label", "numbered"), [("www[0-9]*", True), ("www", False)])
def test_www_goes_where_a_domain_remains(label, numbered):
    """Also of addresses, and where a label is empty."""
    names = suffix_names()
    for host in (*ODD, *hosts()):
        for each in (host, f"www.{host}", f"www.www2.{host}", f"www2.www.a.{host}"):
            # To find it out in another way takes longer than to look at what both say.
            expected = stripped(each, label)
            for loops in LOOPS:
                without = loops.without_www(each, names, numbered=numbered)
                assert without == expected, (each, loops)


@pytest.mark.parametrize(("url", "domain"), DOMAINS.items())
def test_what_is_off_for_the_domain_of_a_url_is_off_there(url, domain):
    """However its host is written."""
    assert domain_of(url) == domain
    rules = Canonicalizer({"*": {"drop_params": ["sid"]}})
    rules.suspend(RuleEntry("drop_params", "sid"), domain)
    assert "sid=1" in rules.canonicalize(f"{url}{'&' if '?' in url else '?'}sid=1")


@pytest.mark.parametrize(("url", "domain"), UNREAD.items())
def test_host_that_no_rule_is_for_is_taken_as_it_stands(url, domain):
    """It is in stores all the same."""
    assert domain_of(url) == domain
