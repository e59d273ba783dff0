"""On which hosts ``;`` separates parameters, as ``&`` does elsewhere.

Nothing else can be learned of such a host before that is known: to all rules but
``query_separator`` its queries are one value each. HTML 4.01 (appendix B.2.2) asked servers to take
both, and gitweb, Bugzilla and much else that is written in Perl link ``?p=a;a=log;h=HEAD``.
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
"""What the lower bound of the share of queries that are parameters throughout must reach."""
_CONFIDENCE = 0.95

# A name and a value first, and behind a semicolon, so that no list of values looks like parameters.
# Behind others a name may stand alone, as that of an order, `;sort=name;desc`, but not as `&amp;`.
_NAME = r"[A-Za-z_@][\w.@%-]{0,30}"
_VALUE = "=[^;&=]*"
_PARAMETERS = re.compile(
    rf"(?=.*;{_NAME}=){_NAME}{_VALUE}(?:&{_NAME}{_VALUE}|;{_NAME}(?:{_VALUE})?)+"
)


def semicolon_hosts(urls: Iterable[str]) -> frozenset[str]:
    """Return the hosts, as ``locate`` writes them, whose queries separate parameters by ``;``.

    >>> urls = [f"http://git.example:80/?p={i}.git;a=log" for i in range(40)]
    >>> semicolon_hosts([*urls, "http://a.example/?q=1;2"])
    frozenset({'git.example'})
    """
    seen: Counter[str] = Counter()
    parameters: Counter[str] = Counter()
    for url in urls:
        # Behind a last one nothing stands: `?cover=print;`, to which a template adds what it has.
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
