"""Rules that were in force during a crawl, when learning again from what it recorded."""

import sys
from itertools import permutations

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce
from scrapy_urlcanon.learn import Learned, LearnedRule, Observation, RuleInForce, Thresholds, learn
from scrapy_urlcanon.learn.results.in_force import (
    AuditedUrl,
    CrawlRecord,
    Credit,
    combine,
    rules_in_force,
)
from scrapy_urlcanon.learn.results.rules_file import LearnedFile, to_json, to_toml
from scrapy_urlcanon.learn.results.union import unite

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SID = RuleInForce("a.example", "drop_params", ["sid"])
THRESHOLDS = Thresholds()


def pages(count=9, *, parameter=None, host="a.example"):
    """Return observations of pages, with and without *parameter* where it is given."""
    found = []
    for number in range(count):
        url = f"http://{host}/{number}"
        found.append(Observation(url, main_sha1=f"{number:040x}"))
        if parameter:
            found.append(Observation(f"{url}?{parameter}={number + 1}", main_sha1=f"{number:040x}"))
    return found


def new(pattern, option, setting):
    return LearnedRule("a.example", pattern, option, setting, "rewrite")


def united(learned, in_force):
    """Return the rules that result, and the kinds of the unsure ones."""
    result = unite(learned, (), in_force, THRESHOLDS)
    return (
        [(rule.pattern, rule.option, rule.setting) for rule in result.rules],
        [(rule.kind, rule.option, rule.setting) for rule in result.unsure],
    )


def test_rule_without_an_audit_is_kept_and_says_so():
    """A rule in force without an audit is kept, and its comment says so.

    The crawl could not see what it merged, so that nothing else speaks for it.
    """
    learned = learn(pages(), in_force=[SID])
    assert learned.as_rules() == {"a.example": {"drop_params": ["sid"]}}
    assert '"sid", # in force during the crawl and not audited\n' in to_toml(learned)


def test_audits_stand_in_the_comment():
    """Audits are named in the comment, and do not count a second time as evidence."""
    audited = RuleInForce("a.example", "drop_params", ["sid"], 12, 0)
    assert '"sid", # 12 of 12 audits the same\n' in to_toml(learn(pages(), in_force=[audited]))
    both = to_toml(learn(pages(parameter="sid"), in_force=[audited]))
    assert '"sid", # 12 of 12 audits the same\n' in both
    assert both.count('"sid"') == 1


def audits(same, others, *, entry="sid", rule=SID):
    """Return the verdicts of an audit, those of different pages first."""
    found = tuple(
        AuditedUrl(f"http://a.example/{number}?{entry}=1", f"http://a.example/{number}", is_same)
        for number, is_same in enumerate([False] * others + [True] * same)
    )
    credit = Credit(RuleEntry(rule.option if rule else "tracking_params", entry), "a.example", None)
    return {credit._replace(rule=rule and rule.key): found}


@pytest.mark.parametrize(
    ("same", "others", "stays"),
    [(12, 0, True), (0, 1, True), (0, 2, False), (19, 1, True), (8, 4, False), (95, 1, True)],
)
def test_audits_refute_a_rule_by_the_test_of_the_audit(same, others, stays):
    """Enough wrong audits replace a rule by the line that takes it back; a single one does not."""
    crawl = CrawlRecord("2026", (SID,), frozenset({"a.example"}), audits(same, others))
    learned = learn(pages(), in_force=combine([crawl]))
    assert learned.as_rules() == {"a.example": {"drop_params": ["sid" if stays else "!sid"]}}
    said = f"{same} of {same + others} audit" if stays else f"another page in {others} of "
    (line,) = (line for line in to_toml(learned).splitlines() if 'sid"' in line)
    assert said in line
    assert (" is not http://a.example/0" in line) is not stays


def test_rule_that_audits_refute_is_not_learned_again():
    """A refuted rule is not learned again, nor is a wider one that would do the same."""
    wrong = RuleInForce("a.example/shop/", "drop_params", ["id"], outcome=Outcome.FAILS)
    taken_back = RuleInForce("a.example/shop/", "drop_params", ["!id"])
    for rule in (
        new("a.example/shop", "drop_params", ["id"]),
        new("a.example", "drop_params", ["id"]),
        new("a.example", "keep_params", ["page"]),
    ):
        for known in (wrong, taken_back):
            stands, _ = united([rule], [known])
            assert stands == [("a.example/shop/", "drop_params", ["!id"])]
    narrower = new("a.example/shop/list", "drop_params", ["id"])
    assert ("a.example/shop/list", "drop_params", ["id"]) in united([narrower], [wrong])[0]


@pytest.mark.parametrize(
    ("rule", "entry", "expected"),
    [
        (("www", "strip"), "", [("www", "keep")]),
        (("default_params", {"lang": "en"}), "lang", [("default_params", {"lang": None})]),
        (("rewrite_path", [["/a/{x}", "/a"]]), "/a/{x}", [("rewrite_path", ["!/a/{x}"])]),
        (
            ("keep_params", ["id"]),
            "v",
            [("keep_params", ["id"]), ("keep_params", ["v"])],
        ),
        (None, "utm_x", [("drop_params", ["!utm_x"])]),
    ],
)
def test_refuted_entry_becomes_the_line_that_takes_it_back(tmp_path, rule, entry, expected):
    """A refuted entry of any option or preset becomes the line that takes it back.

    The file is loaded with that effect, and learning again leaves it as it is.
    """
    rules = tuple(RuleInForce("a.example", *one) for one in filter(None, [rule]))
    found = audits(1, 5, entry=entry, rule=rules[0] if rules else None)
    crawl = CrawlRecord("2026", rules, frozenset({"a.example"}), found)
    in_force = combine([crawl])
    learned = learn(pages(), in_force=in_force)
    assert [(one.option, one.setting) for one in learned.rules] == expected
    texts = []
    for name in ("urlcanon.toml", "urlcanon.toml", "urlcanon.json", "urlcanon.json"):
        file = LearnedFile(tmp_path / name)
        learned = learn(pages(), in_force=combine([crawl], file.rules, is_all=file.path.exists()))
        file.write(learned)
        texts.append((tmp_path / name).read_text())
        loaded = Canonicalizer(rules_files=[tmp_path / name], preset="scrapy")
        url = "http://www.a.example/a/b?id=1" + ("&v=2" if entry == "v" else "&lang=en&utm_x=1")
        assert loaded.canonicalize(url) == url
    assert texts[0] == texts[1]
    assert texts[2] == texts[3]


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (("a.example", "drop_params", ["sid"]), ("www.a.example/x", "drop_params", ["sid"])),
        (("a.example/x", "www", "strip"), ("a.example/x/y?a=b", "www", "strip")),
        (("a.example", "drop_params", ["utm_*"]), ("a.example", "drop_params", ["utm_id"])),
        (("a.example", "keep_params", ["id"]), ("a.example", "drop_params", ["sid"])),
        (
            ("a.example", "default_params", {"p": "1"}),
            ("a.example/x", "default_params", {"p": "1"}),
        ),
    ],
)
def test_wider_rule_covers_a_narrower_one(wide, narrow):
    """A narrower rule goes if a wider one does the same, whichever is new."""
    assert united([new(*wide)], [RuleInForce(*narrow)])[0] == [wide]
    assert united([new(*narrow)], [RuleInForce(*wide)])[0] == [wide]


def test_narrower_rule_stays_where_it_says_something_else():
    """A narrower rule stays if it has another host, is an exception, or a rule stands between."""
    for wide, narrow in (
        (("b.a.example", "drop_params", ["sid"]), ("ab.a.example", "drop_params", ["sid"])),
        (("a.example/x", "drop_params", ["sid"]), ("a.example/xy", "drop_params", ["sid"])),
        (("a.example", "drop_params", ["*"]), ("a.example", "drop_params", ["!sid"])),
        (("a.example", "keep_params", ["id"]), ("a.example", "drop_params", ["id"])),
        (("a.example", "keep_params", ["id"]), ("a.example", "drop_params", ["i*"])),
        (("a.example?a=b", "www", "strip"), ("a.example/x", "www", "strip")),
    ):
        assert len(united([new(*wide)], [RuleInForce(*narrow)])[0]) == 2, (wide, narrow)
    between = [
        RuleInForce("a.example", "trailing_slash", "strip"),
        RuleInForce("a.example/x", "trailing_slash", "keep"),
        RuleInForce("a.example/x/y", "trailing_slash", "strip"),
    ]
    assert len(united([], between)[0]) == 3


def test_new_rule_that_says_otherwise_does_not_get_in():
    """A new rule that contradicts one in force is left out, so that canonical forms stay."""
    in_force = [
        RuleInForce("a.example/", "trailing_slash", "add"),
        RuleInForce("a.example", "default_params", {"page": "0"}),
        RuleInForce("a.example", "rewrite_path", [["/p/{n:digits}", "/q/{n}"]]),
        RuleInForce("a.example", "drop_params", ["!id"]),
    ]
    learned = [
        new("a.example", "trailing_slash", "strip"),
        new("a.example", "default_params", {"page": "1"}),
        new("a.example", "rewrite_path", [["/p/{n:digits}", "/r/{n}"]]),
        new("a.example", "drop_params", ["id"]),
        new("a.example", "drop_params", ["ref"]),
    ]
    stands, _ = united(learned, in_force)
    assert [setting for _, _, setting in stands] == [rule.setting for rule in in_force] + [["ref"]]
    # One spelling of each pattern: a configuration takes no two.
    assert {pattern for pattern, _, _ in stands} == {"a.example/"}


@pytest.mark.parametrize(
    ("pattern", "kept", "stands"),
    [
        ("a.example", ["s*", "id"], False),
        ("a.example/forum/", ["sid"], True),
    ],
)
def test_parameter_that_is_kept_by_hand_is_not_dropped(pattern, kept, stands):
    """A parameter in keep_params by hand is not dropped, since that rule would have no effect."""
    learned = learn(pages(parameter="sid"), in_force=[RuleInForce(pattern, "keep_params", kept)])
    dropped = "a.example", "drop_params", ["sid"]
    for rules, has_it in ((learned.rules, stands), (learned.unsure, not stands)):
        found = [(rule.pattern, rule.option, rule.setting) for rule in rules]
        assert (dropped in found) is has_it


@pytest.mark.parametrize("of_settings", [{"drop_params": ["!sid"]}, {"keep_params": ["s*"]}])
@pytest.mark.parametrize("pattern", ["*", "a.example", "a.example/forum/"])
def test_parameter_that_the_settings_keep_is_not_dropped(pattern, of_settings):
    """A parameter that the settings keep is not dropped: settings are stronger than the file."""
    learned = learn(pages(parameter="sid"), rules={pattern: of_settings})
    is_kept = pattern != "a.example/forum/"
    for rules, has_it in ((learned.rules, not is_kept), (learned.unsure, is_kept)):
        found = [(rule.option, rule.setting) for rule in rules]
        assert (("drop_params", ["sid"]) in found) is has_it


def test_rules_of_all_domains_come_back():
    """Rules of domains that this crawl did not see, and of all hosts, are kept."""
    in_force = [RuleInForce("*", "drop_params", ["ref"]), RuleInForce("b.example", "www", "strip")]
    learned = learn(pages(parameter="sid"), in_force=in_force)
    assert learned.as_rules() == {
        "*": {"drop_params": ["ref"]},
        "a.example": {"drop_params": ["sid"]},
        "b.example": {"www": "strip"},
    }
    assert learned.domains == 1
    assert to_toml(learned).startswith("# 3 rules for 3 domains\n")
    only = learn(pages(parameter="sid"), in_force=in_force, domains=["a.example"])
    assert list(only.as_rules()) == ["a.example"]


def test_skip_that_was_in_force_stays_on():
    """A `skip` that was in force stays on, though new ones are written turned off."""
    learned = learn(pages(), in_force=[RuleInForce("a.example", "skip", ["/?p={a:digits}"])])
    assert '\nskip = [\n    "/?p={a:digits}",' in to_toml(learned, turned_off=["skip"])


def test_values_of_every_type_survive_the_file(tmp_path):
    """Values of every type that a file by hand may hold are written as they were."""
    rules = {
        "a.example": {
            "inherit": False,
            "sort_query": True,
            "drop_params": ["utm_*", "!utm_id"],
            "keep_params": ["id", "page"],
            "rewrite_path": [["/p/{n:digits}", "/q/{n}"]],
            "host_aliases": {"m.a.example": "a.example"},
            "override": {"drop_params": ["x"], "default_params": {"a": "b"}},
        }
    }
    learned = learn((), in_force=rules_in_force(rules))
    assert learned.as_rules() == rules
    text = to_toml(learned)
    assert tomllib.loads(text) == rules
    # Of what the crawl was made under too.
    (tmp_path / "a.toml").write_text(text)
    in_force = RulesInForce(Canonicalizer(rules_files=[tmp_path / "a.toml"]).configuration)
    assert {rule.key for rule in in_force.rules} == {rule.key for rule in rules_in_force(rules)}
    file = LearnedFile(tmp_path / "a.toml")
    file.write(learn((), in_force=file.rules))
    assert (tmp_path / "a.toml").read_text() == text


def record(started, *rules, domains=("a.example",), audits=()):
    pairs = tuple(AuditedUrl(url, "http://a.example/", same) for url, same in audits)
    credit = Credit(RuleEntry("drop_params", "sid"), "a.example", SID.key)
    return CrawlRecord(started, rules, frozenset(domains), {credit: pairs} if pairs else {})


def test_order_of_crawls_and_rows_does_not_matter():
    """The file is the same, byte for byte, whatever the order of crawls and rows."""
    ref = RuleInForce("a.example", "drop_params", ["ref"])
    www = RuleInForce("b.example", "www", "strip")
    url = "http://a.example/?sid="
    crawls = [
        record("2026-01-01", SID, ref, audits=[(f"{url}1", True), (f"{url}2", True)]),
        record("2026-01-02", SID, audits=[(f"{url}2", True), (f"{url}3", True)]),
        record("2026-01-02", www, domains=["b.example"]),
    ]
    rows = pages(parameter="s")
    texts = set()
    for order in permutations(crawls):
        for observations in (rows, rows[::-1]):
            learned = learn(observations, in_force=combine(order))
            texts.add(to_toml(learned) + to_json(learned))
    (text,) = texts
    assert '"sid", # 4 of 4 audits the same: ' in text
    assert '"kind": "taken out"' in text


def test_example_of_a_rule_has_what_the_rule_takes_away():
    """Of a pair that two rules made one, each shows the URL with its own parameter."""
    pair = ("http://a.example/?page=1", "http://a.example/?reference=home")
    text = to_toml(
        learn(
            (),
            in_force=[
                RuleInForce("a.example", option, setting, 2, 0, examples=(pair,))
                for option, setting in [
                    ("default_params", {"page": "1"}),
                    ("drop_params", ["reference"]),
                ]
            ],
        )
    )
    assert '"page" = "1" # 2 of 2 audits the same: http://a.example/?page=1\n' in text
    assert '"reference", # 2 of 2 audits the same: http://a.example/?reference=home\n' in text


def test_rule_that_somebody_took_out_is_commented_out():
    """A rule that the last crawl of its domain did not have is commented out.

    Unless that crawl shows itself that the rule is right.
    """
    earlier = record("2026-01-01", SID)
    (rule,) = combine([earlier, record("2026-01-02", domains=["b.example"])])
    assert rule.is_current
    (rule,) = combine([earlier, record("2026-01-02")])
    assert not rule.is_current
    learned = learn(pages(), in_force=[rule])
    assert learned.rules == ()
    said = "in force during an earlier crawl, and not in the last one"
    assert f'#     "sid", # {said}\n' in to_toml(learned)
    # The last crawl has seen what it merges.
    assert learn(pages(parameter="sid"), in_force=[rule]).as_rules() == {
        "a.example": {"drop_params": ["sid"]}
    }


def test_one_store_given_twice_counts_once():
    """A store that is given twice counts once; audits of different crawls add up."""
    url = "http://a.example/?sid="
    crawl = record("2026-01-01", SID, audits=[(f"{url}{n}", True) for n in range(4)])
    (rule,) = combine([crawl, crawl])
    assert (rule.audited, rule.others) == (4, 0)
    (rule,) = combine([crawl, record("2026-01-02", SID, audits=[(f"{url}1", False)])])
    assert (rule.audited, rule.others) == (5, 1)
    assert rule.examples == ((f"{url}1", "http://a.example/"),)


def test_rule_stands_once():
    """A rule stands once: not for a part of its URLs too, nor among the unsure ones."""
    rules = [
        new("a.example/x", "drop_params", ["sid"]),
        new("a.example", "drop_params", ["sid"]),
        new("a.example/x", "drop_params", ["ref"]),
        new("a.example/x", "keep_params", ["id"]),
    ]
    unsure = [
        new("b.a.example", "drop_params", ["sid"]),
        new("a.example/y", "drop_params", ["ref"]),
    ]
    result = unite(rules, unsure, (), THRESHOLDS)
    assert result.rules == tuple(rules[1:])
    assert result.unsure == (unsure[1],)
    assert learn(()) == Learned()
