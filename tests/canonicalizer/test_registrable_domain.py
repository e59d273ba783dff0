"""The Public Suffix List, as a table."""

from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList

from scrapy_urlcanon.canonicalizer.registrable_domain import registrable_domain


def test_table_says_what_the_package_says():
    """For the names of the list and those below them; a name that is on no list is a suffix."""
    package = PublicSuffixList(accept_unknown=False)
    rules = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    names = {
        rule.strip().lstrip("!").replace("*.", "x.").encode("idna").decode()
        for rule in rules
        if rule.strip() and not rule.startswith("//")
    }
    for name in [*names, *(name.partition(".")[2] for name in names), "intranet"]:
        for host in (name, f"a.{name}", f"b.a.{name}"):
            if "." not in host or "" in host.split("."):
                continue
            expected = package.privatesuffix(host)
            if package.publicsuffix(host) is None:
                expected = ".".join(host.split(".")[-2:])
            assert registrable_domain(host) == expected, host
