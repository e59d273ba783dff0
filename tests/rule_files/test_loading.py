from __future__ import annotations

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce
from scrapy_urlcanon.exceptions import ConfigurationError
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
    return Canonicalizer(preset="scrapy", rules_files=names)


def test_a_step_names_the_layers_that_had_a_part(misleading):
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
    found = RulesInForce(misleading.configuration).behind("drop_params", f"{other}?ref=2", other)
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
