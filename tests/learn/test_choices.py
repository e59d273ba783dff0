"""Classes of skipped URLs that differ in one word are one line, and stay so when learned again."""

from functools import partial

import observed

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.learn import RuleInForce, learn

HOST = "http://wiki.example"
WORDS = ["Building", "Context", "Testing"]
see = partial(observed.see, host=HOST)
CHOICE = "/wiki/{b:Building|Context|Testing}?old={a:digits}"


def sections(words):
    """Return old versions, found elsewhere in the sections *words* and not in another one."""
    found = [see(f"/wiki/Other?old={i}", f"Other {i}") for i in range(30)]
    for word in words:
        found += [see(f"/wiki/{word}?old={i}", f"{word} {i}") for i in range(8)]
        found += [see(f"/{word.lower()}-{'abcdefgh'[i]}-text", f"{word} {i}") for i in range(8)]
    return found


def skips(words, in_force=()):
    learned = learn(sections(words), in_force=in_force)
    return [entry for rule in learned.rules if rule.option == "skip" for entry in rule.setting]


def rule(entry, **fields):
    return RuleInForce("wiki.example", "skip", [entry], **fields)


def test_sections_of_one_form_are_one_line_that_says_no_more():
    """Two sections are two lines; three are one line, which covers no other section."""
    assert len(skips(WORDS[:2])) == 2
    learned = learn(sections(WORDS))
    (found,) = learned.rules
    assert (found.setting, found.evidence.pages, found.evidence.merges) == ([CHOICE], 24, 24)
    assert found.evidence.bound > 0.85
    is_skipped = Canonicalizer(learned.as_rules()).skips
    assert all(is_skipped(f"{HOST}/wiki/{word}?old=9") for word in WORDS)
    assert not is_skipped(f"{HOST}/wiki/Other?old=9")


def test_what_is_in_force_stays_as_it_is():
    """Lines in force are neither repeated nor replaced by a longer one."""
    assert skips(WORDS, [rule(CHOICE)]) == [CHOICE]
    lines = [f"/wiki/{word}?old={{a:digits}}" for word in WORDS]
    assert skips(WORDS, map(rule, lines)) == lines
    assert skips([*WORDS, "Usage"], [rule(CHOICE)]) == [CHOICE, "/wiki/Usage?old={a:digits}"]
    assert skips([*WORDS, "Usage"], map(rule, lines)) == [*lines, "/wiki/Usage?old={a:digits}"]


def test_no_part_of_a_refuted_line_comes_back():
    """Neither a part of a refuted line, nor the whole of it in another form, is learned again."""
    for known in (rule(CHOICE, outcome=Outcome.FAILS), rule(f"!{CHOICE}")):
        assert skips(WORDS, [known]) == skips(WORDS[:2], [known]) == [f"!{CHOICE}"]
