"""Finds the hosts where ``;`` separates parameters, as ``&`` does elsewhere.

This is learned first, since to all options but ``query_separator`` a query of such a host is a
single value. HTML 4.01 (appendix B.2.2) asked servers to accept both, and gitweb, Bugzilla and
other programs in Perl link ``?p=a;a=log;h=HEAD``.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.location import locate

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_SHARE = 0.9
"""The lower bound that the share of queries made of parameters throughout must reach."""
_CONFIDENCE = 0.95

# The first parameter and one after a semicolon must have values, so that a list of values does not
# look like parameters. Later names may have none, as in `;sort=name;desc`, but `&amp;` is no name.
_NAME = r"[A-Za-z_@][\w.@%-]{0,30}"
_VALUE = "=[^;&=]*"
_PARAMETERS = re.compile(
    rf"(?=.*;{_NAME}=){_NAME}{_VALUE}(?:&{_NAME}{_VALUE}|;{_NAME}(?:{_VALUE})?)+"
)


def semicolon_hosts(urls: Iterable[str]) -> frozenset[str]:
    """Return the hosts, in the spelling of ``locate``, whose queries separate parameters by ``;``.

    >>> urls = [f"http://git.example:80/?p={i}.git;a=log" for i in range(40)]
    >>> semicolon_hosts([*urls, "http://a.example/?q=1;2"])
    frozenset({'git.example'})
    """
    seen: Counter[str] = Counter()
    parameters: Counter[str] = Counter()
    for url in urls:
        # A trailing semicolon separates nothing: `?cover=print;`.
        query = url.partition("#")[0].partition("?")[2].rstrip(";")
        if ";" in query:
            host = locate(url).origin.host
            seen[host] += 1
            parameters[host] += bool(_PARAMETERS.fullmatch(query))
    return frozenset(
        host
        for host, count in seen.items()
        if lower_bound(parameters[host], count - parameters[host], _CONFIDENCE) >= MIN_SHARE
    )
