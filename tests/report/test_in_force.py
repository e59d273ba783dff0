from __future__ import annotations

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.report.sections.in_force import (
    CLEAN_PARAM,
    Origin,
    PatternOptions,
    RulesInForce,
)
from scrapy_urlcanon.report.sections.options import Options
from scrapy_urlcanon.rule_files.clean_param import read_clean_param


def section(*sources):
    """Return the section of a crawl under rules of these names."""
    configuration = Configuration.load("safe", [Source(*source) for source in sources])
    return RulesInForce(Canonicalizer.from_configuration(configuration))


def test_rules_stand_by_where_they_were_written():
    """The preset is the weakest, then what sites declare, then the layers in their order."""
    crawl = Canonicalizer.from_configuration(
        Configuration.load(
            "safe",
            [
                Source("rules.toml", {"example.com": {"drop_params": ["sid"], "inherit": False}}),
                Source("URLCANON_RULES", {"*": {"www": "strip"}}),
            ],
        )
    )
    collected = RulesInForce(crawl)
    declared = read_clean_param(b"Clean-param: ref /forum/")
    crawl.declare(*declared.rule_sets("http://example.com/robots.txt"))
    preset, robots, file, setting = collected.rows()
    assert preset.name == "preset safe"
    assert preset.rules[0].options["fragment"] == "'drop'"
    assert "www" not in preset.rules[0].options
    options = {"drop_params": "['ref']"}
    assert robots == Origin(CLEAN_PARAM, 1, (PatternOptions("example.com/forum/", options),))
    options = {"inherit": "False", "drop_params": "['sid']"}
    assert file == Origin("rules.toml", 1, (PatternOptions("example.com", options),))
    assert setting.rules == (PatternOptions("*", {"www": "'strip'"}),)


SECRETS = {
    "example.com/?token=hunter2": {
        "default_params": {"sid": "hunter2", "view": "grid"},
        "rewrite_path": [["/a?key=hunter2&id={id}", "/a/{id}"]],
    }
}


def test_what_overrides_is_shown_as_that():
    """It is stronger than the rules of its origin for longer patterns."""
    collected = section(("rules", {"example.com": {"override": {"www": "strip"}}}))
    origin = collected.rows()[1]
    overriding = PatternOptions("example.com", {"override": "{'www': 'strip'}"})
    assert origin == Origin("rules", 1, (overriding,))


def test_origin_that_sets_nothing_is_none():
    """It has a pattern, and no option."""
    assert [origin.name for origin in section(("rules", {"*": {}})).rows()] == ["preset safe"]


def test_secrets_in_rules_are_not_shown():
    """Neither of patterns nor of values, wherever a report names the rule."""
    collected = section(("rules", SECRETS))
    (rules,) = collected.rows()[1].rules
    assert rules.pattern == "example.com/?token=***"
    assert rules.options["default_params"] == "{'sid': '***', 'view': 'grid'}"
    assert "hunter2" not in repr(rules)
    assert "hunter2" not in repr(Options(Canonicalizer(SECRETS)).rows())


def test_secrets_in_a_layer_are_not_shown_with_a_page(collector, make_drop):
    """A page names the rule that made its variants one."""
    pages = type(collector)(Canonicalizer(SECRETS))
    kept = "http://example.com/?token=hunter2"
    pages.add(make_drop(f"{kept}&view=grid", kept, rules=["default_params:view"]))
    assert "hunter2" not in repr(pages.groups())
    assert pages.groups()[0].variants[0].steps[0].layer == "rules['example.com/?token=***']"


def test_of_many_patterns_those_of_the_domains_that_were_met_are_listed(make_drop):
    """The others are counted."""
    many = {f"{number}.example": {"www": "strip"} for number in range(1000)}
    collected = section(("rules", {**many, "*": {"scheme": "keep"}}))
    collected.note_drop(make_drop("http://999.example/", domain="999.example"))
    collected.note_page("http://998.example/", "998.example")
    origin = collected.rows()[1]
    assert (origin.patterns, len(origin.rules)) == (1001, 100)
    assert [rules.pattern for rules in origin.rules[-3:]] == ["998.example", "999.example", "*"]


def test_what_an_earlier_run_of_a_job_suspended_is_no_rule():
    """It is shown with what the audit found."""
    crawl = Canonicalizer({"*": {"www": "strip"}})
    crawl.suspend(RuleEntry("www"), "example.com")
    assert [origin.name for origin in RulesInForce(crawl).rows()] == ["preset safe", "rules"]
