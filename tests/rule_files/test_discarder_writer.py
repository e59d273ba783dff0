"""Rules in the format of another program mean there what they mean here."""

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.rule_files.discarder_writer import to_duplicate_url_discarder


@pytest.mark.parametrize(
    "rules",
    [
        {"a.example": {"drop_params": ["sid", "ref"]}},
        {"a.example": {"keep_params": ["id"], "drop_params": ["sid"]}},
        {"a.example": {"keep_params": ["id"]}, "b.example": {"drop_params": ["x"]}},
        {"a.example": {"drop_params": ["sid"]}, "sub.a.example": {"drop_params": ["x"]}},
    ],
    ids=str,
)
def test_what_can_be_written_means_the_same(tmp_path, rules):
    """Read back, the export makes of URLs what the rules make."""
    text, left_out = to_duplicate_url_discarder(rules)
    assert left_out == ()
    (tmp_path / "rules.json").write_text(text)
    exported = Canonicalizer(rules_files=[tmp_path / "rules.json"])
    for host in ("a.example", "www.a.example", "sub.a.example", "b.example", "c.example"):
        url = f"http://{host}/?id=1&ref=2&sid=3&x=4"
        assert exported.canonicalize(url) == Canonicalizer(rules).canonicalize(url)


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("a.example", {"drop_params": ["utm_*"]}),
        ("a.example", {"drop_params": ["!sid"]}),
        ("a.example", {"drop_params": ["größe"]}),
        ("a.example", {"keep_params": ["a[]"]}),
        ("a.example", {"trailing_slash": "strip"}),
        ("a.example/forum/", {"drop_params": ["sid"]}),
        ("a.example/?a=b", {"drop_params": ["sid"]}),
        ("*", {"drop_params": ["sid"]}),
    ],
)
def test_what_cannot_be_written_is_left_out_and_named(pattern, options):
    """Nothing is written that would mean something else there."""
    text, left_out = to_duplicate_url_discarder({pattern: options})
    assert text == "[]\n"
    (line,) = left_out
    assert line.startswith(f"{pattern}: {next(iter(options))}")


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("a.example/forum", {"drop_params": ["!sid"]}),
        ("sub.a.example", {"drop_params": ["!s*"]}),
        ("sub.a.example", {"keep_params": ["sid", "id", "ref"]}),
        ("sub.a.example", {"inherit": False}),
        ("sub.a.example", {"override": {"drop_params": ["!sid"]}}),
        ("a.example", {"override": {"drop_params": ["!sid"]}}),
    ],
    ids=str,
)
@pytest.mark.parametrize("whole", [{"drop_params": ["sid"]}, {"keep_params": ["id", "ref"]}])
def test_what_another_rule_keeps_is_not_removed(tmp_path, whole, pattern, options):
    """All rules for a URL hold there, so that one for the whole host is not to undo it."""
    rules = {"a.example": whole}
    rules[pattern] = {**rules.get(pattern, {}), **options}
    text, left_out = to_duplicate_url_discarder(rules)
    assert left_out
    (tmp_path / "rules.json").write_text(text)
    exported = Canonicalizer(rules_files=[tmp_path / "rules.json"])
    for site in ("http://a.example/forum", "http://sub.a.example/"):
        url = f"{site}?id=1&ref=2&sid=3"
        kept = Canonicalizer(rules).canonicalize(url).partition("?")[2].split("&")
        assert set(kept) <= set(exported.canonicalize(url).partition("?")[2].split("&"))
