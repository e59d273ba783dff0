"""Classes of URLs that are not skipped, but have enough evidence for a person to decide."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.classes.look import IS_ALONE
from scrapy_urlcanon.learn.results.rule import MAX_EXAMPLES, Evidence
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy_urlcanon.learn.classes.look import Look
    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import LearnedRule
    from scrapy_urlcanon.learn.thresholds import Thresholds

MAX_REFUSED = 10
"""How many classes of one site are listed."""


class Refused(NamedTuple):
    """A class that was refused."""

    found: SkipClass
    look: Look
    against: Counter[str]
    """How many pages speak against it, by what they do."""


def evidence_of(
    found: SkipClass, look: Look, against: Counter[str], thresholds: Thresholds
) -> Evidence:
    """Return the evidence for a class.

    :param against: how many pages speak against it, by what they do.
    """
    pages = sum(1 for page in found.telling if look.others[page])
    lost = against.total()
    return Evidence(
        pages=pages,
        merges=len(found.members),
        counter_examples=lost,
        bound=lower_bound(pages, lost, thresholds.confidence),
        examples=tuple(
            nsmallest(MAX_EXAMPLES, look.examples, key=lambda pair: (len(pair[0]), pair))
        ),
        placed=sum(len(found.pages[page]) for page, others in look.others.items() if others),
    )


def proposed(
    refused: Iterable[Refused],
    skipped: Iterable[Location],
    look_at: Callable[[SkipClass], Look],
    domain: str,
    thresholds: Thresholds,
) -> Iterator[LearnedRule]:
    """Yield rules for refused classes that a person may want to decide on, the largest first.

    Classes with a URL that is skipped, or that was yielded in another class, are left out. Each is
    looked at again, since URLs that were skipped after it was refused are no place for its pages
    any more.

    :param skipped: the URLs of the accepted classes.
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
    """Return in words what speaks against a class.

    >>> _doubt(Counter({"that has gone": 1, "seen alone": 1, "declaring another one": 12}))
    '12 pages declaring another one and 1 page seen alone and 1 page that has gone'
    """
    said = (f"{count_of(count, 'page')} {what}" for what, count in by_count(against))
    return " and ".join(said)
