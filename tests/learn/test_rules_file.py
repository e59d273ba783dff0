import os

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.learn import Evidence, Learned, LearnedRule
from scrapy_urlcanon.learn.results.rule import Unexplained
from scrapy_urlcanon.learn.results.rules_file import to_json, to_toml, write_toml

try:
    import tomllib
except ImportError:
    import tomli as tomllib


def rule(option, setting, pattern="a.example", **fields):
    return LearnedRule(
        "a.example", pattern, option, setting, "rewrite", Evidence(9, 20, 0, 0.7, **fields)
    )


def test_file_loads_as_the_rules_that_it_says(tmp_path):
    """The canonicalizer loads the file unchanged and applies it."""
    learned = Learned(
        (
            rule("drop_params", ["sid"]),
            rule("drop_params", ['we"ird\\']),
            rule("default_params", {"page": "1"}),
            rule("trailing_slash", "strip", "a.example/forum/"),
            rule("keep_params", [], "a.example/login"),
        )
    )
    path = tmp_path / "urlcanon.toml"
    write_toml(learned, path)
    assert tomllib.loads(path.read_text()) == learned.as_rules()
    canonicalize = Canonicalizer(rules_files=[path]).canonicalize
    assert canonicalize("http://a.example/forum/x/?sid=1&page=1") == "http://a.example/forum/x"
    assert canonicalize("http://a.example/login?to=x") == "http://a.example/login"


def test_unsure_rules_are_commented_out():
    """What learning is unsure of is shown and has no effect."""
    text = to_toml(Learned((), (rule("drop_params", ["ref"]),)))
    assert tomllib.loads(text) == {}
    assert "ref" in text


def test_options_can_be_turned_off():
    """Rules of an option that nobody asked for are commented out."""
    learned = Learned((rule("skip", ["/?p={a}"]), rule("drop_params", ["sid"])))
    text = to_toml(learned, turned_off=["skip"])
    assert tomllib.loads(text) == {"a.example": {"drop_params": ["sid"]}}
    assert "/?p={a}" in text


def test_evidence_cannot_end_its_comment():
    """A URL with a line end in it stays within the comment."""
    text = to_toml(
        Learned((rule("drop_params", ["x"], examples=(("http://a.example/\nx = 1", "y"),)),))
    )
    assert tomllib.loads(text) == {"a.example": {"drop_params": ["x"]}}


SECRET_PAIR = (
    "http://me:hunter2@a.example/?access_token=s3cr3t&x=1",
    "http://a.example/\u202egpj.exe\x1b[2J\x9b2J;jsessionid=s3cr3t",
)


@pytest.mark.parametrize("write", [to_toml, to_json])
def test_what_is_written_is_redacted_and_visible(write):
    """No credential and no token of an example is written, and nothing that a terminal obeys."""
    found = rule("drop_params", ["x"], examples=(SECRET_PAIR,))
    text = write(
        Learned(
            (found,),
            (found,),
            unexplained=(Unexplained("a.example", "\u202ex", 2, SECRET_PAIR),),
        )
    )
    assert "a.example/?access_token=***&x=1" in text
    for hidden in ("hunter2", "s3cr3t", "\u202e", "\x1b", "\x9b"):
        assert hidden not in text


def test_settings_are_escaped_and_mean_the_same():
    """A name with characters that have no shape is written so that one sees them."""
    names = ["\u202ea", "b\x9b", "c\U000e0041", "ü\x7f", "\u00a0"]
    text = to_toml(Learned((rule("drop_params", names),)))
    assert tomllib.loads(text) == {"a.example": {"drop_params": names}}
    assert text.replace("\n", "").isprintable()


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A full disk leaves the file that was there, and nothing beside it."""
    path = tmp_path / "urlcanon.toml"
    path.write_text("old")

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_toml(Learned(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_json_says_all():
    """The JSON form holds rules, unsure rules and evidence."""
    text = to_json(Learned((rule("drop_params", ["sid"]),), (rule("www", "strip"),), 1, 10, 3))
    assert '"sid"' in text
    assert '"www"' in text
    assert '"pages": 9' in text
