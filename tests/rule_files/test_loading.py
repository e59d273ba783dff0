from __future__ import annotations

import re
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from scrapy.settings import Settings

from scrapy_urlcanon import Canonicalizer, files
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce
from scrapy_urlcanon.crawl.settings import CrawlSettings
from scrapy_urlcanon.exceptions import ConfigurationError, ReportError
from scrapy_urlcanon.report.json_form import read_report
from scrapy_urlcanon.rule_files.loading import files_of, load_configuration
from scrapy_urlcanon.validate.rule_check import checks_of

_URL = "http://a.example/?sid=1&ref=2"


@pytest.fixture
def misleading(tmp_path, monkeypatch):
    """Load two files, the name of one of which reads as the layers of both of them."""
    monkeypatch.chdir(tmp_path)
    names = ["rules.toml", "my, rules.toml['a.example'], x.toml"]
    for name, param in zip(names, ("sid", "ref"), strict=True):
        (tmp_path / name).write_text(f'["a.example"]\ndrop_params = ["{param}"]\n')
    return Canonicalizer(rules_files=names)


def test_a_step_names_the_layers_that_took_part(misleading):
    """They are told apart whatever the files are called."""
    first, second = (
        Layer(file.name, "a.example") for file, _ in files_of(misleading.configuration)
    )
    (step,) = misleading.explain(_URL).steps
    assert step.layers == (first, second)
    assert step.layer == f"{first}, {second}"
    (step,) = misleading.explain("http://a.example/?ref=2").steps
    assert step.layers == (second,)


def test_a_rule_is_not_credited_for_the_name_of_another_file(misleading):
    """Neither by the audits that are recorded nor by the validation."""
    other = "http://a.example/"
    found = RulesInForce(misleading.configuration).behind(
        RuleEntry("drop_params", "ref"), f"{other}?ref=2", other
    )
    assert [rule.setting for rule in found] == [["ref"]]
    checks = checks_of(misleading.configuration, [f"{other}?ref=2"], most=1)
    assert [(check.setting, len(check.pairs)) for check in checks] == [(["sid"], 0), (["ref"], 1)]


def test_the_problems_of_files_and_of_all_else_come_at_once(tmp_path):
    """A file that cannot be read, one that is wrong, wrong rules and a wrong preset."""
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('["a.example"]\nno_such_option = 1\n')
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(
            "sfae", rules_files=[tmp_path / "none.toml", wrong], rules=[("rules", {"*": {"x": 1}})]
        )
    origins = [problem.origin for problem in caught.value.problems]
    assert origins == ["rules_files", "preset", str(wrong), "rules"]


def problem_of(path, text, *, encoding="utf-8"):
    """Return what is said of a file with *text*."""
    path.write_text(text, encoding=encoding)
    with pytest.raises(ConfigurationError) as caught:
        load_configuration("safe", rules_files=[path])
    (problem,) = caught.value.problems
    assert path.name in str(problem)
    return problem.message


@pytest.mark.parametrize(
    ("table", "host"),
    [
        ("gadgets.example", "gadgets.example"),
        ("www.gadgets.example", "www.gadgets.example"),
        ("gadgets.example.default_params", "gadgets.example"),
    ],
)
def test_a_host_without_quotes_is_distinguished_from_an_option(tmp_path, table, host):
    """TOML makes tables of its dots: what was meant is said, and not that an option is wrong."""
    message = problem_of(tmp_path / "x.toml", f'[{table}]\nwww = "strip"\n')
    assert f'expected a host in quotes, ["{host}"], got [{host}]' in message


@pytest.mark.parametrize("pattern", ["a.example", "*", "a.example/forum/"])
def test_a_table_around_the_patterns_is_too_much(tmp_path, pattern):
    """A file holds the patterns themselves: they are in no table named after the setting."""
    table = f'URLCANON_RULES."{pattern}"'
    message = problem_of(tmp_path / "x.toml", f'[{table}]\nwww = "strip"\n')
    assert f'expected a host in quotes, ["{pattern}"], got [{table}]' in message


@pytest.mark.parametrize("text", ["[a.example/forum/]", "[*]", "[a.example/x?b=1]"])
def test_a_pattern_that_is_no_bare_name_is_to_be_quoted(tmp_path, text):
    """What TOML does not take without quotes is an error that says so."""
    message = problem_of(tmp_path / "x.toml", f'# rules\n{text}\nwww = "strip"\n')
    assert "at line 2" in message
    assert message.endswith(
        'a pattern stands in quotes there, as in ["example.com/forum/"] or ["*"]'
    )


def test_a_misspelt_option_with_a_mapping_stays_one(tmp_path):
    """Within quotes, or where no dot is, a table is no part of a host."""
    for pattern in ("a.example", "*"):
        text = f'["{pattern}".defualt_params]\npage = "1"\n'
        assert "did you mean 'default_params'?" in problem_of(tmp_path / "x.toml", text)


@pytest.mark.parametrize("name", ["x.toml", "x.json"])
def test_a_byte_order_mark_is_no_part_of_the_rules(tmp_path, name):
    """Editors of Windows write it."""
    text = (
        '["a.example"]\nwww = "strip"\n' if name == "x.toml" else '{"a.example": {"www": "strip"}}'
    )
    path = tmp_path / name
    path.write_text(text, encoding="utf-8-sig")
    assert Canonicalizer(rules_files=[path]).canonicalize("http://www.a.example/") == (
        "http://a.example/"
    )


def test_another_encoding_is_named(tmp_path):
    """As the shell of Windows writes what is redirected to a file."""
    message = problem_of(tmp_path / "x.json", "{}", encoding="utf-16")
    assert "expected text in UTF-8" in message


@pytest.mark.parametrize(
    "text",
    [
        '{"a.example": {"www": "strip"}, "a.example": {"scheme": "https"}}',
        '{"*": {"a.example": 1, "a.example": 2}}',
    ],
)
def test_a_key_that_stands_twice_in_json_is_an_error(tmp_path, text):
    """JSON forgets the first without a word; so it is also for rules of the command line."""
    expected = '"a.example" stands twice in one object'
    assert expected in problem_of(tmp_path / "x.json", text)
    with pytest.raises(ConfigurationError, match=f"URLCANON_RULES: .*{expected}"):
        CrawlSettings.load(Settings({"URLCANON_RULES": text}))


def test_an_absent_file_says_where_it_was_looked_for(tmp_path, monkeypatch):
    """A relative path depends on where the crawl was started, and no other does."""
    monkeypatch.chdir(tmp_path)
    absolute = str(tmp_path / "rules.toml")
    with pytest.raises(ConfigurationError) as caught:
        load_configuration("safe", rules_files=["rules.toml", absolute])
    relative_problem, absolute_problem = map(str, caught.value.problems)
    assert relative_problem == (
        "rules_files: cannot read 'rules.toml': there is no such file "
        f"(a relative path is taken from {tmp_path})"
    )
    assert absolute_problem == f"rules_files: cannot read {absolute!r}: there is no such file"


def test_a_robots_txt_is_no_rules_file(tmp_path):
    """Its rules are for one scheme, host and port, which another setting goes by."""
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nClean-param: sid /forum/\n")
    with pytest.raises(ConfigurationError, match="known rule list; URLCANON_CLEAN_PARAM takes"):
        load_configuration("safe", rules_files=[path])


@pytest.mark.parametrize("language", ["JSON", "TOML"])
def test_a_page_that_was_saved_in_place_of_a_file_is_named_for_what_it_is_not(tmp_path, language):
    """The reader of the one or the other does not say what it expected."""
    path = tmp_path / f"rules.{language.lower()}"
    path.write_text("<!DOCTYPE html>")
    with pytest.raises(ConfigurationError, match=f"cannot read '.*': it is no {language}: [^;]*$"):
        load_configuration("safe", rules_files=[path])


def test_a_file_in_an_egg_is_read(tmp_path):
    """There the path of the settings is that of the archive, and what is within."""
    egg = tmp_path / "shop.egg"
    with ZipFile(egg, "w") as archive:
        archive.writestr("shop/urlcanon.toml", '["a.example"]\ndrop_params = ["sid"]\n')
    canonicalizer = Canonicalizer(rules_files=[egg / "shop" / "urlcanon.toml"])
    assert canonicalizer.canonicalize("http://a.example/?sid=1") == "http://a.example/"
    with pytest.raises(ConfigurationError, match=r"absent\.toml': there is no such file"):
        load_configuration("safe", rules_files=[egg / "absent.toml"])


@pytest.mark.parametrize("name", ["/dev/zero", "long.toml", "shop.egg/long.toml", "shop.json"])
def test_what_has_no_end_is_read_no_further_than_any_file_goes(tmp_path, monkeypatch, name):
    """Nor is a bomb in an archive unpacked whole; a report is read in the same way."""
    monkeypatch.setattr(files, "_MOST_TEXT", 10_000)
    rules = '["a.example"]\ndrop_params = ["sid"]\n'
    (tmp_path / "long.toml").write_text(rules + 10_000 * "#")
    with ZipFile(tmp_path / "shop.egg", "w", ZIP_DEFLATED) as archive:
        archive.writestr("long.toml", rules + 10_000_000 * "#")
    (tmp_path / "shop.json").write_text("{}".ljust(10_001))
    path = tmp_path / name
    reader, error = (
        (lambda: read_report(path), ReportError)
        if name == "shop.json"
        else (lambda: load_configuration("safe", rules_files=[path]), ConfigurationError)
    )
    with pytest.raises(error, match=re.escape(f"{path}") + ".*longer than 10,000 characters"):
        reader()


def test_a_file_below_another_file_is_none(tmp_path):
    """Nor in what has only the name of an archive."""
    (tmp_path / "shop.egg").write_text("PK")
    with pytest.raises(ConfigurationError, match="there is no such file"):
        load_configuration("safe", rules_files=[tmp_path / "shop.egg" / "urlcanon.toml"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [(" ", "it is empty"), ('{"providers": {"shop": {"rules": ["a"]}}}', "cannot read")],
)
def test_a_file_of_another_program_that_is_broken_is_an_error(tmp_path, text, problem):
    """The crawl does not begin without what it was to do; the file is named."""
    path = tmp_path / "data.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=rf"data\.json.*{problem}|{problem}.*data\.json"):
        Canonicalizer(rules_files=[path])
