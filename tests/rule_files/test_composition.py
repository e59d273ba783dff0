from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.patterns import Condition, Pattern
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose

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
