"""Classes of URLs that are not skipped, and of which so much is known that a person may decide."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.classes.look import IS_ALONE
from scrapy_urlcanon.learn.results.rule import Evidence
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy_urlcanon.learn.classes.look import Look
    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import LearnedRule
    from scrapy_urlcanon.learn.thresholds import Thresholds

MAX_REFUSED = 10
"""Classes of one site that are listed."""


class Refused(NamedTuple):
    """A class that is not skipped."""

    found: SkipClass
    look: Look
    against: Counter[str]
    """The pages that speak against it, by what they do."""


def evidence_of(
    found: SkipClass, look: Look, against: Counter[str], thresholds: Thresholds
) -> Evidence:
    """Return the evidence for a class.

    :param against: the pages that speak against it, by what they do.
    """
    pages = sum(1 for page in found.telling if look.others[page])
    lost, confidence = against.total(), thresholds.confidence
    return Evidence(
        pages=pages,
        merges=len(found.members),
        counter_examples=lost,
        bound=lower_bound(pages, lost, confidence),
        confidence=confidence,
        examples=tuple(nsmallest(3, look.examples, key=lambda pair: (len(pair[0]), pair))),
        placed=sum(len(found.pages[page]) for page, others in look.others.items() if others),
    )


def proposed(
    refused: Iterable[Refused],
    skipped: Iterable[Location],
    look_at: Callable[[SkipClass], Look],
    domain: str,
    thresholds: Thresholds,
) -> Iterator[LearnedRule]:
    """Yield those that somebody who knows the site may want to see, the largest first.

    Each has no URL of those before it. What was accepted since is no other place of its pages any
    more: they are looked at once more.

    :param skipped: the URLs of what was accepted.
    """
    done = {*skipped}
    left = MAX_REFUSED
    for one in sorted(refused, key=lambda one: (-len(one.found.members), one.found.key)):
        if not left or not done.isdisjoint(one.found.members):
            continue
        look = look_at(one.found)
        gone = sum(1 for page, count in one.look.others.items() if count > 0 == look.others[page])
        against = one.against + Counter({IS_ALONE: gone})
        evidence = evidence_of(one.found, look, against, thresholds)
        if thresholds.consider(evidence):
            left -= 1
            done |= one.found.members
            yield one.found.rule(domain, evidence, _doubt(against))


def _doubt(against: Counter[str]) -> str:
    """Return what speaks against a class, in words.

    >>> _doubt(Counter({"that has gone": 1, "seen alone": 1, "declaring another one": 12}))
    '12 pages declaring another one and 1 page seen alone and 1 page that has gone'
    """
    said = (f"{count_of(count, 'page')} {what}" for what, count in by_count(against))
    return " and ".join(said)
