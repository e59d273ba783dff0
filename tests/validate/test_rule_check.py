from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.learn import Observation
from scrapy_urlcanon.validate.crawled import Crawled
from scrapy_urlcanon.validate.rule_check import checks_of

MANUAL = "http://a.example/info?"


def test_queries_without_an_equals_sign_are_fetched_without():
    """A program that reads its query as words, as of a search, shows something else beside one."""
    rewrite, skip = ["/info?({a})Top", "/info?({a})"], "/info?({a})All"
    rules = Canonicalizer(
        {"a.example": {"rewrite_path": [rewrite], "skip": [skip], "drop_params": ["lang"]}},
        preset="scrapy",
    )
    seen = [
        Observation(f"{MANUAL}{query}", main_sha1=f"{text:040}")
        for query, text in (("(ed)", 1), ("(ed)All", 1), ("(ed)Top", 1), ("(bc)&lang=&old=", 2))
    ]
    checks = checks_of(
        rules.configuration,
        [observation.url for observation in seen],
        most=5,
        crawled=Crawled.of(rules, seen),
    )
    assert {check.option: check.pairs for check in checks} == {
        "rewrite_path": [(f"{MANUAL}(ed)Top", f"{MANUAL}(ed)")],
        "skip": [(f"{MANUAL}(ed)All", f"{MANUAL}(ed)")],
        "drop_params": [(f"{MANUAL}(bc)&lang=&old=", f"{MANUAL}(bc)&old=")],
    }


def test_parameters_are_fetched_as_the_crawl_spells_them():
    """Serendipity finds ``url=archives/7``, and shows its front page for ``archives%2F7``."""
    rules = Canonicalizer({"a.example": {"drop_params": ["view"]}})
    seen = "http://a.example/i?view=linear&url=archives/7&q=a%20b"
    (check,) = checks_of(rules.configuration, [seen], most=5)
    assert check.pairs == [(seen, "http://a.example/i?url=archives/7&q=a%20b")]
