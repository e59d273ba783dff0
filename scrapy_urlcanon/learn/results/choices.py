"""Joins rules of ``skip`` that differ in one word: ``/wiki/{b:Home|Tests}?v={a}``."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import product
from string import ascii_lowercase
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.results.in_force import entry_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_urlcanon.learn.results.in_force import RuleInForce
    from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule

MIN_WORDS = 3
"""How many lines are joined at least. Fewer are better read one by one, with their evidence."""

_MAX_TEXTS = 1000
"""Up to how many texts of choices are listed. Only a person writes more."""

# A segment, or the value of a parameter, that may be one of the texts of a choice.
_WORD = re.compile(r"(?<=[/=])[^/?&={}|]+(?=[/?&]|$)")
_CHOICE = re.compile(r"\{\w+:([^{}|]*\|[^{}]*)\}")


def in_few_lines(
    skips: Iterable[LearnedRule], in_force: Iterable[RuleInForce] = (), confidence: float = 0.95
) -> list[LearnedRule]:
    """Return the rules with those of ``skip`` joined that differ in one word only.

    Rules *in force* stay as they are, alone or as one text of a choice.

    :param confidence: that of the bounds.

    >>> from scrapy_urlcanon.learn import Evidence, LearnedRule
    >>> rules = [
    ...     LearnedRule("a.example", "a.example", "skip", [text], "skip", Evidence(pages=9))
    ...     for text in ("/x/1?v={a:digits}", "/y/1?v={a:digits}", "/?p={a}", "/z/1?v={a:digits}")
    ... ]
    >>> [(rule.setting, rule.evidence.pages) for rule in in_few_lines(rules)]
    [(['/{b:x|y|z}/1?v={a:digits}'], 27), (['/?p={a}'], 9)]
    """
    said = {
        (rule.pattern, text)
        for rule in in_force
        if rule.option == SKIP
        for text in texts_of(entry_of(rule.setting))
    }
    left = list(skips)
    while True:
        alike: dict[tuple[str, str, str], dict[str, LearnedRule]] = defaultdict(dict)
        for rule in left:
            (text,) = rule.setting
            for word in _WORD.finditer(text) if (rule.pattern, text) not in said else ():
                alike[rule.pattern, text[: word.start()], text[word.end() :]][word[0]] = rule
        (_, before, after), rules = max(
            alike.items(), key=lambda item: len(item[1]), default=(("", "", ""), {})
        )
        names = (name for name in ascii_lowercase if not re.search(rf"\{{{name}\b", before + after))
        if len(rules) < MIN_WORDS:
            return left
        text = f"{before}{{{next(names)}:{'|'.join(sorted(rules))}}}{after}"
        first, *others = rules.values()
        found = _sum([rule.evidence for rule in rules.values()], confidence)
        joined = {id(rule) for rule in others}
        left = [
            replace(rule, setting=[text], evidence=found) if rule is first else rule
            for rule in left
            if id(rule) not in joined
        ]


def texts_of(template: str) -> frozenset[str]:
    """Return the templates that a template with choices stands for.

    >>> sorted(texts_of("/{b:x|y}/1?v={a:digits}"))
    ['/x/1?v={a:digits}', '/y/1?v={a:digits}']
    """
    choices = [text.split("|") for text in _CHOICE.findall(template)]
    count = 1
    for texts in choices:
        count *= len(texts)
    if not choices or count > _MAX_TEXTS:
        return frozenset((template,))
    shape = _CHOICE.sub("\0", template).split("\0")
    return frozenset(
        "".join(part for pair in zip(shape, (*texts, ""), strict=True) for part in pair)
        for texts in product(*choices)
    )


def _sum(found: Sequence[Evidence], confidence: float) -> Evidence:
    pages = sum(evidence.pages for evidence in found)
    lost = sum(evidence.counter_examples for evidence in found)
    return replace(
        found[0],
        pages=pages,
        merges=sum(evidence.merges for evidence in found),
        counter_examples=lost,
        bound=lower_bound(pages, lost, confidence),
    )
