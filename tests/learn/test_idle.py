"""Rules that other rules make superfluous are removed, and nothing is merged otherwise."""

import pytest

from benchmarks.learn.synthetic import SyntheticSite
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import learn, learning
from scrapy_urlcanon.learn.operations.parameters import DropParam, DropValue, KeepOnly
from scrapy_urlcanon.learn.operations.paths import StripTrailingSlash
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.results.accepted import Accepted, rules_of
from scrapy_urlcanon.learn.results.idle import without_idle
from scrapy_urlcanon.learn.results.rule import Evidence, as_rules
from scrapy_urlcanon.learn.scope import Scope

SITE = Scope("shop.example")
FORUM = Scope("shop.example", ("forum",))
PRINT = RewriteTemplates("/print/{rest:path}", "/{rest}")


@pytest.mark.parametrize(
    ("special", "general"),
    [
        ((SITE, DropValue("ref", "home")), (SITE, DropParam("ref"))),
        ((FORUM, DropParam("ref")), (SITE, DropParam("ref"))),
        ((Scope("shop.example", (), "id=*"), DropParam("ref")), (SITE, DropParam("ref"))),
        ((FORUM, DropParam("ref")), (FORUM, KeepOnly(("id",)))),
        ((SITE, RewriteTemplates("/print/a/{x}", "/a/{x}")), (SITE, PRINT)),
        (
            (SITE, RewriteTemplates("/p/{n:digits}/{_s}-title", "/p/{n}/title")),
            (SITE, RewriteTemplates("/p/{n:digits}/{_s}", "/p/{n}/-")),
        ),
        (
            (SITE, RewriteTemplates("/p/{n:digits}/", "/p/{n}")),
            (SITE, StripTrailingSlash()),
        ),
        ((SITE, RewriteTemplates("/a/{x}?v={_v}", "/a/{x}")), (SITE, DropParam("v"))),
    ],
)
def test_special_rule_goes_where_a_general_one_does_the_same(special, general):
    """A special rule goes if a general one does the same; its merges count for that one."""
    for order in ([special, general], [general, special]):
        left = without_idle(accepted(order))
        assert [(rule.scope, *rule.operations) for rule in left] == [general]
        assert left[0].evidence.merges == 6


@pytest.mark.parametrize(
    "rules",
    [
        [(FORUM, DropParam("ref")), (SITE, DropValue("ref", "home"))],
        [(SITE, DropValue("ref", "home")), (FORUM, DropParam("ref"))],
        [(SITE, PRINT), (SITE, RewriteTemplates("/print/{a}", "/{a}/text"))],
        [(SITE, PRINT), (SITE, RewriteTemplates("/print/{_a}/{b}", "/print/-/{b}"))],
        [
            (SITE, RewriteTemplates("/p/{a:digits}", "/r/{a}")),
            (SITE, RewriteTemplates("/p/{a}", "/q/{a}")),
        ],
        [(SITE, StripTrailingSlash()), (SITE, DropParam("a"))],
    ],
)
def test_rule_that_does_more_than_the_others_stays(rules):
    """A rule stays if it changes further URLs, or in another way."""
    left = without_idle(accepted(rules))
    assert [(rule.scope, *rule.operations) for rule in left] == rules


def accepted(rules):
    """Return these rules as accepted ones."""
    return [Accepted(scope, (step,), Evidence(merges=3)) for scope, step in rules]


def test_fewer_rules_say_the_same_of_each_url(monkeypatch):
    """Without the superfluous rules, every URL has the same canonical form."""
    pairs = []

    def noted(rules):
        pairs.append((rules, without_idle(rules)))
        return pairs[-1][1]

    monkeypatch.setattr(learning, "without_idle", noted)
    before = after = 0
    for seed in range(4):
        site = SyntheticSite(seed, changing=0.03)
        learn(site.observations(1000))
        ((many, few),) = pairs
        pairs.clear()
        before, after = before + len(many), after + len(few)
        one, other = (
            Canonicalizer(as_rules(rules_of("a.example", rules))).canonicalize
            for rules in (few, many)
        )
        for visit in (visit for salt in range(2) for visit in site.visits(400, salt=salt)):
            assert one(visit.url) == other(visit.url)
    assert after < 0.9 * before
