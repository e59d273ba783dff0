"""Each regular expression of the package takes linear time on whatever strangers write.

The expressions are found in the source, with the methods that they are used by: a new one is tried
like the others. What goes back and forth takes a thousand times as long on these texts as what does
not, so that the processor's time tells them apart on any machine.
"""

import ast
import re
import sys
from functools import cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from pkgutil import walk_packages
from time import process_time

import pytest

import scrapy_urlcanon
from scrapy_urlcanon.pages.canonical_link import links_of
from scrapy_urlcanon.redaction import redact, shown_url
from scrapy_urlcanon.rule_files.clean_param import read_clean_param
from scrapy_urlcanon.rule_files.foreign import read_foreign

SIZE = 4_000
# A text of that size takes what is linear well below a millisecond, and what is quadratic 40.
MOST = 0.02
MOST_OF_A_MEGABYTE = 3.0
SHARES = 12
METHODS = {"match", "search", "fullmatch", "sub", "split", "findall", "finditer"}
UNITS = (
    *("a", "A", "aA", "1", "a1", "-", "_", ".", "a.", "a-", "1-", "/", "/a", "//", "\\", "://"),
    *(";", "=", "&", "?", "#", "%", "%41", "$", "$,", ",", "\\,", "@", "*", "|", ":", "é"),
    *("[", "]", "(", "{", "}", "{a", "[a-z0-9-]+\\.", "<", "</", "<a", "<link", "\n", " ", "\t"),
    *("http://", "/http:/", "www1.", "1:11:11", "0a", "&a=", ";a=1", "utm_", "clean-param", "%("),
    *(",removeparam", "comment-", "(?:", "\\x1b"),
)
STARTS, ENDS = ("", "/", "http://", "$", "||"), ("", "!", "\n!")


def sources():
    """Yield each module of the package with its syntax tree."""
    for info in walk_packages(scrapy_urlcanon.__path__, "scrapy_urlcanon."):
        module = import_module(info.name)
        if module.__file__.endswith(".py"):  # what is compiled has none
            yield module, ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def held_by(module):
    """Yield the names and values of a module and of its classes."""
    yield from vars(module).items()
    for value in tuple(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from vars(value).items()


def calls_of(tree):
    """Yield the name of what is asked, the method, and the call, of what may be a search."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.func.value
            name = getattr(asked, "id", None) or getattr(asked, "attr", None)
            if name and node.func.attr in METHODS:
                yield name, node.func.attr, node


@cache
def uses():
    """Return each expression with a method that it is used by, by module and name.

    What several modules have, of one of them.
    """
    modules = list(sources())
    methods = {}
    cases = {}
    for module, tree in modules:
        for name, method, call in calls_of(tree):
            if name == "re" and isinstance(call.args[0], ast.Constant):
                place = f"{module.__name__}:{call.lineno}.{method}"
                cases[place] = re.compile(call.args[0].value), method
            # What has no underscore may be used in other modules.
            place = module.__name__ if name.startswith("_") else ""
            methods.setdefault((place, name), set()).add(method)
    for module, _ in modules:
        for name, value in held_by(module):
            bound = getattr(value, "__self__", None)
            if isinstance(bound, re.Pattern):
                cases[f"{module.__name__}.{name}.{value.__name__}"] = bound, value.__name__
            elif isinstance(value, re.Pattern):
                place = module.__name__ if name.startswith("_") else ""
                # One that is handed on as a value may be used in any way.
                for method in methods.get((place, name), {"match", "fullmatch", "finditer"}):
                    cases[f"{module.__name__}.{name}.{method}"] = value, method
    # The first of those that are the same.
    places = {use: place for place, use in sorted(cases.items(), reverse=True)}
    return {place: use for use, place in sorted(places.items(), key=itemgetter(1))}


def time_of(pattern, method, text):
    """Return the seconds of the processor that it takes."""
    if isinstance(pattern.pattern, bytes):
        text = text.encode()
    start = process_time()
    if method == "sub":
        pattern.sub(text[:0], text)
    elif method == "finditer":
        sum(1 for _ in pattern.finditer(text))
    else:
        getattr(pattern, method)(text)
    return process_time() - start


def test_the_expressions_are_found():
    """Those of modules, of classes, and those that are written where they are used."""
    assert len(uses()) > 70
    names = {place.removeprefix("scrapy_urlcanon.") for place in uses()}
    assert "redaction._USERINFO.sub" in names
    assert "canonicalizer.inner_loops.in_python._is_visible.fullmatch" in names
    assert any(name.startswith("rule_files.clean_param:") for name in names)


def test_quadratic_time_is_found_out():
    """What was once in use here takes far more than is allowed."""
    pattern = re.compile(r"([/\\]*)[^/?#]*@")
    assert time_of(pattern, "match", "\\" * 4 * SIZE) > MOST


# To find them takes seconds, which not every process of the tests needs to spend.
@pytest.mark.parametrize("starts", [2, pytest.param(5, marks=pytest.mark.long)])
@pytest.mark.parametrize("share", range(SHARES))
def test_takes_linear_time(share, starts):
    """On each hostile text, and on a megabyte of that which takes longest."""
    for use, (pattern, method) in [*uses().items()][share::SHARES]:
        assert_linear(use, pattern, method, starts)


def assert_linear(use, pattern, method, starts):
    """Assert that *use* of a pattern by this *method* takes linear time."""
    longest = 0.0, "", "a", ""
    for start in STARTS[:starts]:
        for unit in UNITS:
            for end in ENDS:
                text = start + unit * (SIZE // len(unit)) + end
                # The least of three: the first may be disturbed.
                taken = time_of(pattern, method, text)
                if taken > MOST:
                    taken = min(taken, *(time_of(pattern, method, text) for _ in range(2)))
                assert taken < MOST, (use, start, unit, end)
                longest = max(longest, (taken, start, unit, end))
    _, start, unit, end = longest
    text = start + unit * (1_000_000 // len(unit)) + end
    assert time_of(pattern, method, text) < MOST_OF_A_MEGABYTE, (use, start, unit, end)


def instructions(function, text):
    """Return how many instructions of Python *function* runs on *text*."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        # Python 3.12 and later count from the second time on.
        for _ in range(2):
            count = 0
            function(text)
    finally:
        sys.settrace(before)
    return count


SCANNERS = {
    "redact": lambda text: redact(f"http://{text}"),
    "shown_url": lambda text: shown_url(f"http://a.example/?q={text}"),
    "links_of": lambda text: list(links_of(f"<{text}")),
    "read_clean_param": lambda text: read_clean_param(f"clean-param: {text}".encode()),
    "removeparam": lambda text: read_foreign(
        f"[adblock]\n||a.example^$removeparam={text}", name="list.txt"
    ),
}


@pytest.mark.parametrize("scanner", SCANNERS)
def test_scanners_take_linear_time(scanner):
    """What is written in Python runs twice the instructions on twice the text."""
    function = SCANNERS[scanner]
    for unit in (*UNITS, "<a>;rel=", '<a>;rel="', "sid=1;", "a=http%3A//", "\u202e"):
        function(unit)
        once, twice = (instructions(function, unit * n) for n in (200, 400))
        assert twice < 2.2 * once + 2_000, unit
