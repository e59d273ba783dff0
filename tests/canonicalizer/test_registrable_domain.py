"""The Public Suffix List, as a table."""

from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList

from scrapy_urlcanon.canonicalizer.registrable_domain import (
    has_domain_from,
    registrable_domain,
    start_of_domain,
)


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


def test_that_there_is_a_domain_is_found_out_as_by_its_place():
    """Also of addresses, and where a label is empty."""
    odd = ["192.0.2.1", "[::1]", "localhost", "www.a.com.", "www..a.com", ".a.com", "www.a..com"]
    for host in [*odd, *hosts(), *(f"www.{host}" for host in hosts())]:
        if host:
            begins = [0, *(at + 1 for at, letter in enumerate(host) if letter == ".")]
            for start in begins:
                expected = start_of_domain(host) >= start
                assert has_domain_from(host, start) == expected, (host, start)
