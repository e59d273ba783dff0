"""The Public Suffix List, as a table."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from publicsuffixlist import PSLFILE, PublicSuffixList

from scrapy_urlcanon.canonicalizer.inner_loops import in_python
from scrapy_urlcanon.canonicalizer.registrable_domain import registrable_domain, suffix_names

LOOPS = [in_python]
with suppress(ImportError):  # There was no C compiler to build it with.
    from scrapy_urlcanon.canonicalizer.inner_loops import compiled

    LOOPS.append(compiled)

# What is no name, or has no domain.
ODD = [
    *("192.0.2.1", "1", "a.1", "[::1]", "localhost", "www", "www.", "www.www", "www.com", ".", ""),
    *("www.a.com.", "www..a.com", ".a.com", "www.a..com", "wwwx.a.com", "www2x.a.com"),
]


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


@pytest.mark.parametrize("loops", LOOPS)
def test_table_says_what_the_package_says(loops):
    """For the names of the list and those below them; a name that is on no list is a suffix."""
    package = PublicSuffixList(accept_unknown=False)
    for host in hosts():
        if "." in host and "" not in host.split("."):
            expected = package.privatesuffix(host)
            if package.publicsuffix(host) is None:
                expected = ".".join(host.split(".")[-2:])
            assert registrable_domain(host) == expected, host
            start = loops.start_of_domain(host, suffix_names())
            assert start == (-1 if expected is None else len(host) - len(expected)), host


def stripped(host, label):
    """Return *host* without first labels that are *label*, as many as leave its domain."""
    domain = registrable_domain(host)
    while match := re.match(rf"{label}\.", host):
        rest = host[match.end() :]
        if domain is None or not f".{rest}".endswith(f".{domain}"):
            break
        host = rest
    return host


@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize(("label", "numbered"), [("www[0-9]*", True), ("www", False)])
def test_www_goes_where_a_domain_remains(loops, label, numbered):
    """Also of addresses, and where a label is empty."""
    names = suffix_names()
    for host in (*ODD, *hosts()):
        for each in (host, f"www.{host}", f"www.www2.{host}", f"www2.www.a.{host}"):
            without = loops.without_www(each, names, numbered=numbered)
            assert without == stripped(each, label), each
