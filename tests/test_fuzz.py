"""A short run over what reads foreign text; ``fuzz/`` has the long one."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.rule_files.clean_param import read_clean_param
from scrapy_urlcanon.rule_files.foreign import read_foreign

urls = st.one_of(
    st.text(),
    st.builds("http://{}/{}?{}#{}".format, *[st.text(max_size=30)] * 4),
)


@given(preset=st.sampled_from(["scrapy", "safe", "aggressive"]), url=urls)
def test_any_text_has_a_canonical_form(preset, url):
    """It settles, explain() agrees, and nothing is raised."""
    canonicalizer = Canonicalizer(preset=preset)
    canonical = canonicalizer.canonicalize(url)
    assert canonicalizer.canonicalize(canonical) == canonical
    assert canonicalizer.explain(url).canonical == canonical


@given(st.one_of(st.binary(), st.text().map(lambda text: f"Clean-param: {text}".encode())))
def test_any_robots_txt_is_read(robots):
    """A robots.txt may hold anything."""
    assert read_clean_param(robots) is not None


@given(st.one_of(st.text(), st.text().map('{{"providers": {}}}'.format)))
def test_any_foreign_file_is_read_or_refused(text):
    """A rule file of another program gives rules, nothing, or a ValueError."""
    with suppress(ValueError):
        read_foreign(text, name="fuzzed")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=10), inner),
    max_leaves=10,
)


@given(json_values | st.dictionaries(st.just("a.example"), json_values))
def test_any_rules_are_valid_or_refused(rules):
    """What a JSON file may hold is a configuration, or a ConfigurationError."""
    with suppress(ConfigurationError):
        Canonicalizer(rules)
