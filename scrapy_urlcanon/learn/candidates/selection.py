"""Which candidates are tried, and in which order."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules.path import PathCase
from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS
from scrapy_urlcanon.learn.results.secret_values import shows_a_secret
from scrapy_urlcanon.learn.vocabulary import FIRST_PAGE, is_date, is_number, selects_edition

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from scrapy_urlcanon.learn.candidates import Candidate
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.operations.base import Operation

MAX_CANDIDATES = 120
"""How many candidates are tried in one round. Those after them are mostly values of parameters that
select content."""

MAX_VALUES = 12
"""How many values of one parameter are tried as its default."""

MIN_WORDS = 2
"""How many words of paths must be seen in two cases before the case of paths is ignored."""

_NUMBER = re.compile("[0-9]+")
_PLACE = re.compile(r"\{\w+\}")


def select(
    found: Mapping[Candidate, Collection[int]],
    groups: Groups,
    known: Callable[[Candidate], int],
) -> list[Candidate]:
    """Return the candidates to try, in this order, and index *groups* for them.

    :param found: all proposed candidates, each with the pages that suggest it.
    :param known: returns how many pages the prior knowledge of a candidate is worth.
    """
    proposers: dict[tuple[str, str], set[int]] = {}
    for candidate, pages in found.items():
        if candidate[0].is_template:
            proposers.setdefault(_family(candidate), set()).update(pages)
    candidates = [
        candidate
        for candidate, pages in found.items()
        if len(pages) >= MIN_PROPOSERS or known(candidate) > 0
    ]

    def place(candidate: Candidate) -> tuple[int, int, int, bool, bool, str]:
        # Names before values: if a parameter makes no difference, none of its values is a default.
        # Any text before texts of several words, for the same reason.
        text, growth = repr(candidate), _growth(candidate) >= 0
        pages = len(found[candidate])
        return _values(candidate), len(candidate), -pages, growth, ":word}" in text, text

    candidates.sort(key=place)
    # A template to one number is left out if most pages suggest templates to other numbers.
    likely = (
        c
        for c in _worth_trying(candidates)
        if not c[0].is_template or 2 * len(found[c]) > len(proposers[_family(c)])
    )
    candidates = list(islice(likely, MAX_CANDIDATES))
    groups.index({step.handle for candidate in candidates for step in candidate})
    return [
        candidate
        for candidate in candidates
        if not any(_is_one_of_many(s, groups) or _is_case_of_few(s, groups) for s in candidate)
    ]


def _is_one_of_many(step: Operation, groups: Groups) -> bool:
    """Tell whether a default value cannot be one.

    It may be the identifier of one of many things, such as a user; a date or a year, since the
    default is today, which is another day in the next crawl; or page 1 of a listing that begins
    with page 0.
    """
    if step.default is None:
        return False
    if step.default in FIRST_PAGE:
        return step.default == "1" and not step.drops.isdisjoint(groups.site.counted_from_zero)
    (name,) = step.drops
    if is_date(step.default) or selects_edition(name, step.default):
        return True
    if not is_number(step.default):
        return False
    return len(groups.values_of(name)) > MAX_VALUES


def _is_case_of_few(step: Operation, groups: Groups) -> bool:
    """Tell whether fewer than :data:`MIN_WORDS` words of paths were seen in two cases.

    Then the case may matter elsewhere: ``/{thread}/T/`` and ``/{thread}/t/`` may be two views of an
    archive that happen to show the same.
    """
    if step.option.name != PathCase.name:
        return False
    words: set[str] = set()
    for merge in groups.merges(groups.affected((step,))):
        for source in merge.sources:
            pairs = zip(source.path.split("/"), merge.target.path.split("/"), strict=False)
            words.update(new for old, new in pairs if old != new)
        if len(words) >= MIN_WORDS:
            return False
    return True


def _values(candidate: Candidate) -> int:
    return sum(step.default is not None for step in candidate)


def _family(candidate: Candidate) -> tuple[str, str]:
    """Return what pairs of templates have in common that differ in numbers of the target only."""
    source, target = candidate[0].shapes
    return source, _NUMBER.sub("0", target)


def _growth(candidate: Candidate) -> int:
    """Return by how many characters a template makes URLs longer; -1 for other candidates."""
    source, target = candidate[0].shapes
    return len(target) - len(source) if target else -1


def _worth_trying(candidates: list[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates that a rules file can hold, without those that another one covers.

    A template that makes URLs longer is left out if its reverse is there too, for the same URLs or
    for more. Of each parameter only the likeliest default values are tried. A rule that would show
    a secret is left out now, not when the file is written, since rules accepted after it build on
    it.
    """
    back: dict[str, set[str]] = {}
    for source, target in {step.shapes for candidate in candidates for step in candidate}:
        to, of = _numbered(target, source)
        back.setdefault(to, set()).add(of)
    values: Counter[str] = Counter()
    for candidate in candidates:
        if _growth(candidate) > 0:
            source, target = _numbered(*candidate[0].shapes)
            if any(_holds(of, target) for of in back.get(source, ())):
                continue
        names = [name for step in candidate if step.default is not None for name in step.drops]
        values.update(names)
        if all(values[name] <= MAX_VALUES for name in names) and all(
            step.is_valid and not shows_a_secret(step.setting) for step in candidate
        ):
            yield candidate


def _numbered(one: str, other: str) -> tuple[str, str]:
    """Return two shapes with their fields numbered in the order of the first; others are ``{}``.

    >>> _numbered("/record-{b}", "/search/{b}/{_c}")
    ('/record-{0}', '/search/{0}/{}')
    """
    names = {name: f"{{{n}}}" for n, name in enumerate(dict.fromkeys(_PLACE.findall(one)))}
    first, second = (_PLACE.sub(lambda m: names.get(m[0], "{}"), text) for text in (one, other))
    return first, second


def _holds(one: str, other: str) -> bool:
    """Tell whether each URL of shape *other* has shape *one* too; ``{}`` is any segment."""
    segments, others = one.split("/"), other.split("/")
    return len(segments) == len(others) and all(
        segment in {"{}", of} for segment, of in zip(segments, others, strict=True)
    )
