from __future__ import annotations

import json

import pytest
from counting import counting
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.patterns import Condition, Pattern
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.foreign import read_foreign

_HOSTS = ["*", "a.example", "b.a.example", "c.example"]
_PATHS = ["", "/x", "/x/y"]
_NAMES = ["p", "q", "utm_a"]
_SCOPES = st.builds(
    Pattern,
    st.sampled_from(_HOSTS),
    st.sampled_from(_PATHS),
    st.sampled_from([(), (Condition("t", "1"),)]),
)
_DROPPED = st.lists(st.sampled_from([*_NAMES, "utm_*"]), max_size=3, unique=True)


@st.composite
def _groups(draw):
    drops = draw(st.dictionaries(_SCOPES, _DROPPED, max_size=3))
    exceptions = draw(
        st.dictionaries(
            _SCOPES, st.none() | st.lists(st.sampled_from(_NAMES), max_size=2), max_size=3
        )
    )
    return drops, exceptions


def _matches(glob, name):
    return glob == name or (glob.endswith("*") and name.startswith(glob[:-1]))


def _is_dropped(group, url_scope, name):
    """Tell whether a group drops *name*, with exceptions taken literally."""
    drops, exceptions = group
    return any(
        scope.covers(url_scope) and any(_matches(glob, name) for glob in globs)
        for scope, globs in drops.items()
    ) and not any(
        scope.covers(url_scope) and (names is None or name in names)
        for scope, names in exceptions.items()
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(_groups(), min_size=1, max_size=2))
def test_nothing_is_dropped_that_no_group_drops(described):
    """Exceptions of a group hold in the composed configuration, whatever the patterns."""
    groups = []
    for drops, exceptions in described:
        group = RuleGroup()
        for scope, names in drops.items():
            group.drop(scope, names)
        for scope, excepted in exceptions.items():
            group.except_for(scope, excepted)
        groups.append(group)
    canonicalizer = Canonicalizer(compose(groups), preset="scrapy")
    for host in ("a.example", "b.a.example", "c.example", "d.example"):
        for path in ("/", "/x", "/x/y", "/z"):
            for query in ((), (Condition("t", "1"),)):
                url = f"http://{host}{path}?" + "&".join(f"{c.name}={c.value}" for c in query)
                url_scope = Pattern(host, path.rstrip("/"), query)
                for name in _NAMES:
                    canonical = canonicalizer.canonicalize(f"{url}&{name}=0")
                    if f"{name}=0" not in canonical:
                        assert any(_is_dropped(group, url_scope, name) for group in described)


def test_a_rule_without_exceptions_is_composed_as_it_is():
    """Every drop and option of a group is in the composed rules."""
    group = RuleGroup()
    group.drop(Pattern("a.example"), ["p"])
    group.set_option(Pattern("a.example"), "www", "strip")
    assert compose([group]) == {"a.example": {"drop_params": ["p"], "www": "strip"}}


def _filters(number):
    return [f"||h{number}.example^$removeparam=p\n@@/x{number}/$removeparam=p"]


def _names(number):
    return [f"$removeparam=p{number}\n@@||h{number}.example^$removeparam=p{number}"]


def _any_host_of_brave(number):
    exclude = [f"*://*.h{number}.example/*"]
    return [{"include": ["*://*/*"], "exclude": exclude, "params": [f"p{number}"]}]


def _provider(number):
    start = r"^https?:\/\/(?:[a-z0-9-]+\.)*?"
    exceptions = [rf"{start}b{number}\.example"]
    pattern = rf"{start}a{number}\.example"
    return [(f"p{number}", {"urlPattern": pattern, "rules": ["p"], "exceptions": exceptions})]


def _kept(number):
    pattern = {"include": [f"www.a{number}.example/x"]}
    rule = {"args": ["p"], "order": 1, "processor": "queryRemovalExcept", "urlPattern": pattern}
    return [rule]


@pytest.mark.parametrize("entries", [_filters, _names, _any_host_of_brave, _provider, _kept])
def test_a_list_four_times_as_long_takes_four_times_as_long(entries):
    """However many exceptions it has, each is held against few of the rules."""
    calls = []
    for length in (100, 400):
        listed = [entry for number in range(length) for entry in entries(number)]
        if entries is _provider:
            text = json.dumps({"providers": dict(listed)})
        else:
            text = "\n".join(listed) if isinstance(listed[0], str) else json.dumps(listed)
        with counting() as counter:
            read_foreign(text, name="list.txt")
        calls.append(counter.calls)
    assert calls[1] < 6 * calls[0]
