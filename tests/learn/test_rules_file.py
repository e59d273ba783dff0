import json
import os
from dataclasses import replace

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.learn import Evidence, Learned, LearnedRule, Observation, learn
from scrapy_urlcanon.learn.results.accepted import valid
from scrapy_urlcanon.learn.results.rule import Unexplained
from scrapy_urlcanon.learn.results.rules_file import LearnedFile, to_json, to_toml
from scrapy_urlcanon.learn.results.secret_values import without_secrets

try:
    import tomllib
except ImportError:
    import tomli as tomllib


def rule(option, setting, pattern="a.example", **fields):
    return LearnedRule(
        "a.example", pattern, option, setting, "rewrite", Evidence(9, 20, 0, 0.7, **fields)
    )


def test_file_loads_as_the_rules_that_it_says(tmp_path):
    """A written file is loaded by the canonicalizer, and applied."""
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
    LearnedFile(path).write(learned)
    assert tomllib.loads(path.read_text()) == learned.as_rules()
    canonicalize = Canonicalizer(rules_files=[path]).canonicalize
    assert canonicalize("http://a.example/forum/x/?sid=1&page=1") == "http://a.example/forum/x"
    assert canonicalize("http://a.example/login?to=x") == "http://a.example/login"


def test_unsure_rules_are_commented_out():
    """Unsure rules are comments, without effect."""
    text = to_toml(Learned((), (rule("drop_params", ["ref"]),)))
    assert tomllib.loads(text) == {}
    assert "ref" in text


def test_options_can_be_turned_off():
    """Rules of options that are turned off are comments."""
    learned = Learned((rule("skip", ["/?p={a}"]), rule("drop_params", ["sid"])))
    text = to_toml(learned, turned_off=["skip"])
    assert tomllib.loads(text) == {"a.example": {"drop_params": ["sid"]}}
    assert "/?p={a}" in text


def test_example_of_a_skip_is_a_url_that_it_skips():
    """The example of a `skip` is a URL that it skips, not the other URL of the page."""
    pair = "http://a.example/?p=7", "http://a.example/2026/how-to-knit/"
    found = rule("skip", ["/?p={a}"], examples=(pair,))
    assert f": {pair[0]}\n" in to_toml(Learned((replace(found, kind="skip"),)))


def test_evidence_cannot_end_its_comment():
    """A URL with a line end in it does not end its comment."""
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
    """Credentials and tokens of examples are redacted, and control characters removed."""
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
    """Invisible characters in settings are escaped, and load as they were."""
    names = ["\u202ea", "b\x9b", "c\U000e0041", "ü\x7f", "\u00a0"]
    text = to_toml(Learned((rule("drop_params", names),)))
    assert tomllib.loads(text) == {"a.example": {"drop_params": names}}
    assert text.replace("\n", "").isprintable()


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A full disk leaves the old file, and no other."""
    path = tmp_path / "urlcanon.toml"
    path.write_text("# old\n")

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        LearnedFile(path).write(Learned((rule("drop_params", ["sid"]),)))
    assert path.read_text() == "# old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_json_says_all():
    """The JSON form has rules, unsure rules and evidence."""
    text = to_json(Learned((rule("drop_params", ["sid"]),), (rule("www", "strip"),), 1, 10, 3))
    assert '"sid"' in text
    assert '"www"' in text
    assert '"pages": 9' in text


BY_HAND = """\
# The rules of our shop.

["a.example"]
# Marketing wants these.
drop_params = ["ref", "tab"]  # ask Ann first
www = "strip" # since May

# What the forum needs.
["a.example/forum/".default_params]
page = "1" # the first

# The end.
"""


def test_what_a_person_wrote_is_kept(tmp_path):
    """Comments, order and layout by hand are kept; new entries are added to their lists."""
    path = tmp_path / "urlcanon.toml"
    path.write_text(BY_HAND)
    written = LearnedFile(path)
    assert all(found.is_by_hand for found in written.rules)
    new = [
        rule("drop_params", ["sid"], audited=4, examples=(("http://a.example/?sid=1", "x"),)),
        rule("scheme", "https"),
        rule("default_params", {"lang": "en"}, "a.example/forum"),
        rule("default_params", {"x": "y"}),
        rule("trailing_slash", "strip", "b.example"),
    ]
    old = [
        LearnedRule("a.example", found.pattern, found.option, found.setting, "kept")
        for found in written.rules
    ]
    written.write(Learned((*old, *new)))
    said = "9 of 9 pages the same, 20 requests saved"
    assert (
        path.read_text()
        == f"""\
# The rules of our shop.

["a.example"]
# Marketing wants these.
drop_params = ["ref", "tab",
    "sid", # {said}, 4 of 4 audits the same: http://a.example/?sid=***
]  # ask Ann first
www = "strip" # since May
scheme = "https" # {said}

["a.example".default_params]
"x" = "y" # {said}

# What the forum needs.
["a.example/forum/".default_params]
page = "1" # the first
"lang" = "en" # {said}

# The end.

["b.example"]
trailing_slash = "strip" # {said}
"""
    )


def test_learned_twice_it_is_the_same_file(tmp_path):
    """Learning again leaves the file as it is; proposals do not pile up."""
    learned = Learned(
        (
            rule("drop_params", ["sid"]),
            rule("keep_params", ["id", "page"], "a.example/x"),
            rule("skip", ["/?p={a}"], "b.example"),
        ),
        (rule("drop_params", ["ref"]), rule("www", "strip")),
    )
    path = tmp_path / "urlcanon.toml"
    texts = []
    for _ in range(3):
        LearnedFile(path).write(learned, turned_off=["skip"])
        texts.append(path.read_text())
    assert texts[0] == texts[1] == texts[2]
    assert texts[0].startswith("# 2 rules for 1 domain, 2 unsure ones, 1 turned off (skip)\n")


def test_rule_that_a_wider_one_covers_goes_where_nobody_edited_it(tmp_path):
    """A learned rule goes if a wider one covers it; one by hand stays."""
    path = tmp_path / "urlcanon.toml"
    LearnedFile(path).write(
        Learned((rule("drop_params", ["sid"], "a.example/x"), rule("www", "strip", "a.example/x")))
    )
    path.write_text(path.read_text() + '\n["a.example/y"]\ndrop_params = ["sid"]\n')
    LearnedFile(path).write(Learned((rule("drop_params", ["sid"]),)))
    assert tomllib.loads(path.read_text()) == {
        "a.example": {"drop_params": ["sid"]},
        "a.example/x": {},
        "a.example/y": {"drop_params": ["sid"]},
    }


def test_contradicted_rule_becomes_the_line_that_takes_it_back(tmp_path):
    """A contradicted rule is replaced by the line that takes it back, with what audits found.

    Comments by hand stay beside it.
    """
    path = tmp_path / "urlcanon.toml"
    LearnedFile(path).write(Learned((rule("drop_params", ["sid"]), rule("drop_params", ["v"]))))
    path.write_text(path.read_text() + BY_HAND.partition("\n")[2].replace("a.example", "b.example"))
    evidence = Evidence(audited=20, others=12, examples=(("http://a.example/?v=1", "http://a/"),))

    def wrong(option, setting, pattern):
        return LearnedRule("x", pattern, option, setting, "contradicted", evidence)

    LearnedFile(path).write(
        Learned(
            (
                rule("drop_params", ["sid"]),
                wrong("drop_params", ["!v"], "a.example"),
                wrong("drop_params", ["!tab"], "b.example"),
                wrong("www", "keep", "b.example"),
            )
        )
    )
    said = "another page in 12 of 20 audits: http://a.example/?v=1 is not http://a/"
    text = path.read_text()
    assert f'    "!v", # {said}\n' in text
    assert '    "v",' not in text
    assert f'"!tab",\n    # "!tab": {said}\n' in text
    assert f'www = "keep" # since May; {said}\n' in text
    assert tomllib.loads(text)["b.example"]["drop_params"] == ["ref", "!tab"]


@pytest.mark.parametrize(
    "text",
    [
        '"a.example" = {www = "strip", drop_params = ["ref"]} # by hand\n',
        '"a.example".www = "strip" # by hand\n"a.example".drop_params = ["ref"]\n',
        '"a.example" = {www = "strip"} # by hand\n["a.example/x".default_params]\nq = "1"\n',
        '"a.example".www = "strip" # by hand\n',
        '["a.example"]\nwww = "strip" # by hand\ndefault_params.x = "1"\ndefault_params.y = "1"\n',
        '["a.example".default_params]\nx = "1"\n["b"]\n["a.example"]\nwww = "strip" # by hand',
    ],
)
def test_rules_are_added_to_whatever_layout_a_file_has(tmp_path, text):
    """Rules are added to inline tables and dotted keys too."""
    path = tmp_path / "urlcanon.toml"
    path.write_text(text)
    expected = tomllib.loads(text)
    new = {"drop_params": ["sid"], "default_params": {"page": "1"}, "trailing_slash": "strip"}
    wrong = LearnedRule("x", "a.example", "www", "keep", "contradicted", Evidence(9, others=9))
    old = [
        LearnedRule("x", found.pattern, found.option, found.setting, "kept")
        for found in LearnedFile(path).rules
        if found.option != "www"
    ]
    added = [rule(option, setting) for option, setting in new.items()]
    LearnedFile(path).write(Learned((*old, wrong, *added)))
    options = expected["a.example"]
    options["drop_params"] = [*options.get("drop_params", ()), "sid"]
    options["default_params"] = {**options.get("default_params", {}), "page": "1"}
    options |= {"trailing_slash": "strip", "www": "keep"}
    assert tomllib.loads(path.read_text()) == expected
    assert "# by hand" in path.read_text()


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("pyproject.toml", '[project]\nname = "x"\n', "no such option"),
        ("x.toml", "a = = 1", "Invalid"),
        ("x.json", '{"providers": {"x": {"urlPattern": "x", "rules": ["y"]}}}', "another program"),
        ("x.json", '{"name": "package"}', "expected a mapping of options"),
        ("x.toml", '["a.example"]\ndrop_parms = ["x"]\n', "did you mean 'drop_params'"),
    ],
)
def test_file_that_is_none_of_ours_is_not_overwritten(tmp_path, name, text, problem):
    """A file that could not stand in URLCANON_RULES_FILES is not overwritten."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=problem) as raised:
        LearnedFile(path)
    assert "it stays as it is" in str(raised.value)
    assert path.read_text() == text


def test_name_says_what_is_written(tmp_path):
    """A name in .json gets JSON, one in .toml TOML, and no other is taken."""
    path = tmp_path / "urlcanon.json"
    path.write_text('{"a.example": {"www": "strip", "drop_params": ["ref"]}, "b.example": {}}')
    old = [rule("www", "strip"), rule("drop_params", ["ref"])]
    LearnedFile(path).write(Learned((*old, rule("drop_params", ["sid"]))))
    assert json.loads(path.read_text()) == {
        "a.example": {"www": "strip", "drop_params": ["ref", "sid"]},
        "b.example": {},
    }
    with pytest.raises(ConfigurationError, match=r"ends in .toml or .json"):
        LearnedFile(tmp_path / "rules.txt")


def test_line_ends_of_windows_are_kept(tmp_path):
    """Line ends of Windows are kept."""
    path = tmp_path / "urlcanon.toml"
    path.write_bytes(b'["a.example"]\r\nwww = "strip"\r\n')
    LearnedFile(path).write(Learned((rule("www", "strip"), rule("drop_params", ["sid"]))))
    assert b"\r\ndrop_params" in path.read_bytes()
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n")


@pytest.mark.parametrize(
    "found",
    [
        rule("default_params", {"sid": "4ffbd5c8221d7c14"}),
        rule("rewrite_path", [["/x?token=4ffbd5c8221d7c14", "/x"]]),
        rule("drop_params", ["x"], "a.example/?password=hunter2"),
    ],
)
def test_rule_that_shows_a_secret_is_left_out(found):
    """New rules that show a secret are left out, since the file will be committed."""
    fit, left_out = without_secrets(Learned((found,), (found,)))
    assert (fit.rules, fit.unsure, left_out) == ((), (), 2)
    kept = Learned((replace(found, was_in_force=True), rule("drop_params", ["sid"])))
    assert without_secrets(kept) == (kept, 0)
    shape = Learned((rule("rewrite_path", [["/x?sid={n:digits}", "/x"]]),))
    assert without_secrets(shape) == (shape, 0)


def test_no_rule_rests_on_one_that_is_left_out():
    """Without a rule that shows a secret, the others still merge no two pages.

    As on a forum that puts the session before the topic, where links to posts redirect.
    """
    index = "http://a.example/index.php?"
    digests = [f"{7919 * number:040x}" for number in range(100)]
    pages, others = [], []
    for number, digest in enumerate(digests):
        session = f"{index}PHPSESSID={0x5E55104 * (number + 1):016x}"
        if number < 50:
            topic = f"{session};topic={number // 2}.msg{3 * number}"
            pages.append(Observation(topic, main_sha1=digests[number // 2]))
            others.append(Observation(f"{index}msg={3 * number}", redirect=topic))
        elif number < 60:
            pages.append(Observation(f"{session}&action=a{number}", main_sha1=digest))
            others.append(Observation(f"{index}action=a{number}", main_sha1=digest))
        else:
            # So that the semicolon is not taken for what separates parameters.
            pages.append(Observation(f"{index}board={number}.0;desc", main_sha1=digest))
    learned, _ = without_secrets(learn([*pages, *others]))
    canonicalize = Canonicalizer(learned.as_rules()).canonicalize
    shown = {(canonicalize(page.url), page.main_sha1) for page in pages}
    assert len({url for url, _ in shown}) == len(shown)


def test_rules_that_the_configuration_refuses_are_left_out():
    """Rules that the configuration would refuse are left out: one of them would stop each crawl."""
    option = "rewrite_path"
    good = [
        LearnedRule("a.example", "a.example", "drop_params", ["sid"], "rewrite"),
        LearnedRule("a.example", "a.example", option, [["/old/{x}", "/new/{x}"]], "rewrite"),
        LearnedRule("b.example", "b.example", option, [["/new/{x}", "/old/{x}"]], "rewrite"),
    ]
    back = LearnedRule("a.example", "a.example", option, [["/new/{x}", "/old/{x}"]], "rewrite")
    odd = LearnedRule("a.example", "a.example", "drop_params", [""], "rewrite")
    assert valid(good) == good
    assert valid([good[0], odd, good[1], back, good[2]]) == good
