"""Regular expressions as lists of the texts that they match."""

import re
from itertools import product

import pytest

from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts

TEXTS = ["".join(letters) for length in range(6) for letters in product("abc-", repeat=length)]


@pytest.mark.parametrize(
    "expression",
    [
        "a{2}b",
        "a{1,3}",
        "a{0,1}b",
        "(?:a|bc){2}",
        "(ab?){1,2}c",
        "[ab]{2}c?",
        "[a-c]b",
        "[cab]",
        "[-a]b",
        "[a-]{1,2}",
        "a|b{2}|",
        "a{1,2}?b??",
    ],
)
def test_the_texts_are_those_that_match(expression):
    """Each becomes a parameter that is dropped, or a host on which that is done."""
    texts = finite_texts(expression)
    assert sorted(set(texts)) == sorted(filter(re.compile(expression).fullmatch, TEXTS))


@pytest.mark.parametrize("expression", ["a{9999}", "(a|b){20}", "(" * 500 + "a" + ")" * 500])
def test_what_nobody_can_list_is_refused(expression):
    """It takes no memory for that, nor the stack."""
    with pytest.raises(NotFiniteError):
        finite_texts(expression)
