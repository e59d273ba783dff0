"""Any two options at once: the fast path and the reference agree, and a second pass is none."""

from itertools import combinations

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules import BY_NAME, CATALOGUE, Rule

NEUTRAL = {option.name: PRESETS["scrapy"][option.name] for option in CATALOGUE}
ON = {
    option.name: option.changes[0].value
    for option in CATALOGUE
    if issubclass(option, Rule) and option.changes
} | {"fragment": "routing"}


def urls_of(name):
    """Return the first example of an option, and what is next to it."""
    url = BY_NAME[name].changes[0].url.partition("#")[0]
    separator = "&" if "?" in url else "?"
    return url, f"{url}#!route", f"{url}{separator}B=2;c=&a=1", f"{url}{separator}a=%41#!r;s"


@pytest.mark.parametrize("pattern", ["*", "com", "com?a", "com/"])
def test_agrees_with_the_reference(pattern):
    """Fast path and reference agree on each pair of options, under each form of pattern."""
    for pair in combinations(ON, 2):
        options = {name: ON[name] for name in pair}
        canonicalizer = Canonicalizer({"*": NEUTRAL, pattern: options})
        if pattern == "*":
            canonicalizer = Canonicalizer({"*": NEUTRAL | options})
        for url in {url for name in pair for url in urls_of(name)}:
            canonical = canonicalizer.fast_path.canonical(url)
            if canonical is not None:
                explanation = canonicalizer.explain(url)
                assert (explanation.problem, explanation.canonical) == (None, canonical), options
