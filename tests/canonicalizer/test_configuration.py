"""Layers of rules: which holds for a URL, which wins, and how a bad configuration is reported."""

import json

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.rule_files.loading import load_configuration

DROP = {"drop_params": ["a"]}


def canonical(rules, url, **keywords):
    return Canonicalizer(rules, **keywords).canonicalize(url)


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*", ["http://x/", "https://a.b.example/c", "http://192.0.2.1/"], []),
        (
            "example.com",
            ["http://example.com/", "https://a.b.example.com:81/c", "http://EXAMPLE.com./"],
            ["http://notexample.com/", "http://com/", "http://example.com.evil.example/"],
        ),
        ("Bücher.example", ["http://xn--bcher-kva.example/", "http://www.bücher.example/"], []),
        ("192.0.2.1", ["http://192.0.2.1/", "http://0xC0000201/"], ["http://1.192.0.2.1.example/"]),
        ("[2001:DB8::1]", ["http://[2001:db8:0::1]:8080/"], ["http://[2001:db8::2]/"]),
        (
            "example.com/forum/",
            ["http://example.com/forum", "http://www.example.com/forum/x"],
            ["http://example.com/forums", "http://example.com/", "http://example.com/x/forum/"],
        ),
        ("example.com/%7eme", ["http://example.com/~me/x"], ["http://example.com/~metoo"]),
        ("*/forum", ["http://x.example/forum/y"], ["http://x.example/y"]),
        (
            "example.com?title=Special:*",
            [
                "http://example.com/x?b=1&title=Special%3ALogin",
                "http://example.com/?title=Special:",
            ],
            [
                "http://example.com/?title=Page",
                "http://example.com/",
                "http://example.com/?Title=Special:",
            ],
        ),
        (
            "example.com/x?b&c=1",
            ["http://example.com/x?c=1&b=", "http://example.com/x?b=2&c=0&c=1"],
            ["http://example.com/x?b=2", "http://example.com/y?b=2&c=1"],
        ),
    ],
)
def test_pattern_matches(pattern, matching, others):
    """A pattern is a host with its subdomains, a path prefix, and conditions on the query."""
    canonicalizer = Canonicalizer({pattern: DROP})

    def drops(url):
        url += ("&" if "?" in url else "?") + "a=1"
        return "a=1" not in canonicalizer.canonicalize(url)

    assert [url for url in matching if not drops(url)] == []
    assert [url for url in others if drops(url)] == []


def test_specificity_orders_the_patterns_of_one_origin():
    """`*` < registrable domain < longer host < longer path < more conditions."""
    ascending = [
        "*",
        "*?a=1",
        "*/a",
        "com",
        "example.com",
        "example.com?a=1",
        "example.com?a=1&b=2",
        "example.com/a",
        "example.com/a/b",
        "www.example.com",
        "www.example.com/a?a=1",
    ]
    keys = [parse_pattern(pattern).specificity for pattern in ascending]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("turn", [1, -1])
def test_the_more_specific_pattern_wins_whatever_the_order(turn):
    """Within one origin it does not matter which rule stands first."""
    rules = {
        "*": {"trailing_slash": "add"},
        "example.com": {"trailing_slash": "strip"},
        "example.com/keep": {"trailing_slash": "keep"},
    }
    rules = dict(list(rules.items())[::turn])
    assert canonical(rules, "http://other.example/a") == "http://other.example/a/"
    assert canonical(rules, "http://example.com/a/") == "http://example.com/a"
    assert canonical(rules, "http://example.com/keep/a/") == "http://example.com/keep/a/"


def test_global_rules_stay_on_where_a_domain_rule_matches():
    """Lists unite over the layers."""
    rules = {"*": {"drop_params": ["ref"]}, "example.com": {"drop_params": ["sid"]}}
    assert canonical(rules, "http://example.com/?ref=1&sid=2&id=3") == "http://example.com/?id=3"


def test_exclamation_mark_takes_back():
    """`!name` takes back what a lower layer, a glob or the tracking list drops."""
    rules = {
        "*": {"drop_params": ["ref", "tx_*"]},
        "example.com": {"drop_params": ["!ref", "!tx_id", "!utm_id"]},
    }
    url = "http://example.com/?ref=1&tx_a=2&tx_id=3&utm_a=4&utm_id=5"
    assert canonical(rules, url) == "http://example.com/?ref=1&tx_id=3&utm_id=5"


def test_last_entry_decides():
    """A name that is taken back can be listed again further up."""
    rules = {"*": {"drop_params": ["a", "!a"]}, "example.com": {"drop_params": ["a"]}}
    assert canonical(rules, "http://other.example/?a=1") == "http://other.example/?a=1"
    assert canonical(rules, "http://example.com/?a=1") == "http://example.com/"


def test_keep_beats_drop():
    """What keep_params lists is dropped neither by name nor as a tracking parameter."""
    rules = {"*": {"drop_params": ["a", "b"], "keep_params": ["a", "gclid"]}}
    url = "http://example.com/?a=1&b=2&c=3&gclid=4&fbclid=5"
    assert canonical(rules, url) == "http://example.com/?a=1&gclid=4"


@pytest.mark.parametrize("back", [None, False])
def test_none_in_a_mapping_takes_a_name_back(back):
    """None in a mapping takes a name back; TOML, which has no None, uses false."""
    rules = {
        "*": {
            "default_params": {"page": "1", "lang": "en"},
            "drop_values": {"n": "digits"},
            "host_aliases": {"www.example.com": "example.com"},
        },
        "example.com": {
            "default_params": {"lang": back},
            "drop_values": {"n": back},
            "host_aliases": {"www.example.com": back},
        },
    }
    url = "http://www.example.com/?lang=en&n=1"
    assert canonical(rules, f"{url}&page=1") == url


def test_inherit_false_starts_afresh():
    """No layer below holds, not even the preset: what remains is what Scrapy merges."""
    rules = {"*": {"drop_params": ["ref"]}, "old.example.com": {"inherit": False}}
    url = "http://old.example.com/?ref=1&utm_id=2&b&a#top"
    assert canonical(rules, url) == "http://old.example.com/?a=&b=&ref=1&utm_id=2"


def test_inherit_false_keeps_the_layers_above():
    """A more specific rule adds to the fresh start."""
    rules = {
        "*": {"drop_params": ["a"]},
        "example.com": {"inherit": False, "drop_params": ["b"]},
        "example.com/x": {"drop_params": ["c"]},
    }
    assert canonical(rules, "http://example.com/x?a=1&b=2&c=3") == "http://example.com/x?a=1"


def test_later_origins_win(tmp_path):
    """Files come before rules, an earlier file before a later one, whatever the patterns."""
    one, two = tmp_path / "one.toml", tmp_path / "two.json"
    one.write_text('["www.example.com/a"]\ntrailing_slash = "keep"\nwww = "keep"\n')
    two.write_text(json.dumps({"example.com": {"trailing_slash": "add"}}))
    url = "http://www.example.com/a"
    assert canonical({}, url, rules_files=[one, two]) == "http://www.example.com/a/"
    assert canonical({}, url, rules_files=[two, one]) == "http://www.example.com/a"
    rules = {"*": {"trailing_slash": "strip", "www": "strip"}}
    assert canonical(rules, url + "/", rules_files=[one, two]) == "http://example.com/a"


def test_explain_names_the_layer_of_each_step(tmp_path):
    """Each step says which file, setting and pattern turned it on."""
    path = tmp_path / "urlcanon.toml"
    path.write_text('["example.com"]\ndrop_params = ["a"]\n')
    canonicalizer = Canonicalizer({"*": {"drop_params": ["b"]}}, rules_files=[path])
    explanation = canonicalizer.explain("http://EXAMPLE.com/?a=1&b=2&utm_id=3&c=4#top")
    assert [(step.option, step.layer) for step in explanation.steps] == [
        ("case", "always"),
        ("tracking_params", "preset safe"),
        ("drop_params", f"{path}['example.com'], rules['*']"),
        ("fragment", "preset safe"),
    ]


def test_rules_that_lead_to_each_other_settle():
    """The rules of the canonical URL hold for it too: it is its own canonical form."""
    rules = {
        "example.com": {"duplicate_slashes": "collapse"},
        "example.com/a": {"drop_params": ["x"]},
    }
    assert canonical(rules, "http://example.com//a?x=1") == "http://example.com/a"


def test_rules_that_contradict_each_other_leave_the_url_alone():
    """Where the rules go round in a circle, the URL is left as it is, and explain says so."""
    rules = {
        "example.com/a/index": {"trailing_slash": "strip"},
        "example.com": {"trailing_slash": "add"},
        "example.com/b?x": {"default_params": {"x": "1"}},
    }
    canonicalizer = Canonicalizer(rules)
    for url in ("http://example.com/a/index/", "http://example.com/b?x=1"):
        settled = canonicalizer.canonicalize(url)
        assert canonicalizer.canonicalize(settled) == settled


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ([], "rules: expected a mapping of patterns to options, got []"),
        ({"example.com": []}, "rules['example.com']: expected a mapping of options, got []"),
        ({"skip": ["/a"]}, "'skip' is an option: put it under a pattern, '*' for all"),
        ({1: {}}, "rules['1']: expected a text, got 1"),
        ({"http://example.com": {}}, "without a scheme"),
        ({"*.example.com": {}}, "a host stands for its subdomains too"),
        ({".example.com": {}}, "a host stands for its subdomains too"),
        ({"exam*.com": {}}, "expected a host or '*', got 'exam*.com'"),
        ({"example.com:80": {}}, "expected a host without a port"),
        ({"user@example.com": {}}, "expected a host, got 'user@example.com'"),
        ({"": {}}, "it has no host"),
        ({"/path": {}}, "it has no host"),
        ({"example.com#top": {}}, "expected no fragment"),
        ({"256.1.1.1": {}}, "'256.1.1.1' is not a host"),
        ({"example.com": {}, "EXAMPLE.com/": {}}, "it is the same pattern as 'example.com'"),
        ({"*": {"ww": "strip"}}, "rules['*']['ww']: no such option; did you mean 'www'?"),
        ({"*": {"inherit": "no"}}, "rules['*']['inherit']: expected True or False, got 'no'"),
        (
            {"*": {"www": "stripp"}},
            "or 'strip_www' or 'add', got 'stripp'; did you mean 'strip'?",
        ),
        ({"*": {"drop_params": "sid"}}, "expected a list of names, got 'sid'"),
        ({"*": {"drop_params": ["a", 1]}}, "expected names, and 1 is not one"),
        ({"*": {"drop_params": ["\ud800"]}}, "expected names, and '\\ud800' is not one"),
        ({"*": {"drop_params": ["!"]}}, "expected names, and '!' is not one"),
        ({"*": {"drop_params": None}}, "expected a list of names, got None"),
        ({"*": {"skip": "/a"}}, "expected a list of templates, got '/a'"),
        ({"*": {"skip": 5}}, "expected a list of templates, got 5"),
        ({"*": {"keep_params": "sid"}}, "expected a list of names or None, got 'sid'"),
        ({"*": {"default_params": ["a"]}}, "expected a mapping of names to texts, got ['a']"),
        ({"*": {"default_params": {"page": 1}}}, "expected names and texts, got 'page': 1"),
        ({"*": {"sort_query": "yes"}}, "expected True or False, got 'yes'"),
        (
            {"*": {"override": {"override": {}}}},
            "rules['*']['override']: in 'override': no such option",
        ),
        (
            {"*": {"override": {"inherit": False}}},
            "rules['*']['inherit']: in 'override': no such option",
        ),
    ],
)
def test_problem_is_named(rules, problem):
    """A problem comes with its place and what was expected."""
    with pytest.raises(ConfigurationError) as caught:
        Canonicalizer(rules)
    assert len(caught.value.problems) == 1
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("options", "doubts"),
    [
        ({"drop_params": ["sid="]}, ["'sid=' is more than a name"]),
        ({"drop_params": ["?sid", "&sid"]}, ["'?sid' is more", "'&sid' is more"]),
        ({"keep_params": ["sid,ref"]}, ["'sid,ref' is one name as it stands"]),
        ({"drop_params": ["sid|ref"]}, ["'sid|ref' is one name as it stands"]),
        ({"drop_params": ["^sid"]}, ["'^sid' is no regular expression"]),
        ({"drop_params": ["s[0-9]+"]}, ["'s[0-9]+' is no regular expression"]),
        ({"drop_params": ["a[]", "filter[price]", "x[1]", "l$"]}, []),
        ({"skip": [r"/p/\d+"]}, [r"'/p/\\d+' is no regular expression"]),
        ({"rewrite_path": [(r"/a/(\d+)", "/b")]}, [r"'/a/(\\d+)' is no regular expression"]),
        ({"skip": ["/a.html", "/{x:en|de}/p", "/{x}/a-b_(c)"]}, []),
        ({"drop_params": ["utm_.*", r"p\d"]}, ["'utm_.*' is no regular", r"'p\\d' is no regular"]),
        ({"skip": ["/admin/*", "!/b/*"]}, ["the '*' in '/admin/*' stands", "the '*' in '!/b/*'"]),
        ({"skip": ["/a?b=*"]}, ["the '*' in '/a?b=*' stands for itself: {rest:path} stands"]),
        ({"skip": ["/a?*"]}, ["the '*' in '/a?*' stands for itself: name each parameter"]),
        ({"rewrite_path": [["/a/*", "/b"], "!/c*"]}, ["the '*' in '/a/*'", "the '*' in '!/c*'"]),
        ({"drop_params": ["utm_*", "!utm_id", "a.b"], "keep_params": None}, []),
        ({"skip": ["/a/{rest:path}"], "rewrite_path": [["/a", "/*"], "!/c"], "www": "strip"}, []),
    ],
)
def test_what_probably_does_not_mean_what_was_intended_is_doubted(options, doubts):
    """A valid entry that is probably a mistake causes a warning."""
    configuration = load_configuration("safe", rules=[("MINE", {"a.example": options})])
    found = [*configuration.doubts()]
    assert len(found) == len(doubts)
    for problem, doubt in zip(found, doubts, strict=True):
        assert problem.message.startswith(doubt)
        assert (problem.origin, problem.pattern) == ("MINE", "a.example")
        assert problem.key in options


@pytest.mark.parametrize(
    "rules",
    [
        {f"a.example/{100_000 * 'x'}": {"www": 1}},
        {"a.example": {100_000 * "x": 1}},
        {f"a b{100_000 * 'x'}": {}},
    ],
)
def test_problem_of_what_is_very_long_is_short(rules):
    """Very long names are shortened in errors."""
    with pytest.raises(ConfigurationError) as caught:
        Canonicalizer(rules)
    assert "xxx … xxx" in str(caught.value)
    assert len(str(caught.value)) < 1_500


def test_all_problems_come_at_once():
    """The error holds every problem of every rule."""
    with pytest.raises(ConfigurationError) as caught:
        Canonicalizer({"a b": {"www": 1, "x": 2}, "*": {"y": 3}}, preset="none")
    assert [problem.key for problem in caught.value.problems] == [None, None, "www", "x", "y"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rules.toml", b'["example.com"\n', "cannot read"),
        ("rules.json", b'{"example.com": }', "cannot read"),
        ("rules.json", b"\xff\xfe", "cannot read"),
        ("rules.txt", b"", "expected a file whose name ends in .toml or .json"),
        ("rules.json", b"null", "expected a mapping of patterns to options"),
        ("rules.toml", b'"example.com" = 1', "expected a mapping of options, got 1"),
    ],
)
def test_bad_rules_file_is_named(tmp_path, name, content, problem):
    """A rule file that cannot be used is named, with the reason."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        Canonicalizer(rules_files=[path])
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)


def test_policy_shows_every_option_with_its_layer():
    """`policy` shows each option with the layer that set it."""
    options = Canonicalizer({"example.com": {"www": "strip"}}).policy("http://example.com/").options
    assert options["www"] == ("strip", Layer("rules", "example.com"))
    assert options["fragment"] == ("drop", Layer("preset safe"))


def test_policy_of_what_is_no_url_is_an_error():
    """There is no policy for a text that cannot be parsed."""
    with pytest.raises(ValueError, match="no scheme"):
        Canonicalizer().policy("example.com")


def test_what_overrides_is_stronger_than_more_specific_patterns_of_its_origin():
    """`override` wins over more specific patterns of its origin, and not over later origins."""
    rules = {
        "*": {"drop_params": ["a"], "override": {"drop_params": ["!b"]}},
        "example.com/x": {"drop_params": ["b", "c"]},
        "example.*": {"override": {"drop_params": ["!c"]}},
    }
    canonicalizer = Canonicalizer(rules)
    assert canonicalizer.canonicalize("http://example.com/x?a=1&b=1&c=1&d=1") == (
        "http://example.com/x?b=1&c=1&d=1"
    )
    later = [Source("file", rules), Source("rules", {"*": {"drop_params": ["b"]}})]
    canonicalizer = Canonicalizer.from_configuration(Configuration.load("safe", later))
    assert canonicalizer.canonicalize("http://example.com/x?a=1&b=1") == "http://example.com/x"
    with pytest.raises(
        ConfigurationError, match=r"\['drop_parms'\]: in 'override': no such option"
    ):
        Canonicalizer({"*": {"override": {"drop_parms": ["a"]}}})


def test_globs_of_hosts_paths_and_names():
    """``name.*`` is no prefix of a label, ``/x/*`` not ``/x``, and ``*`` in a name any text."""
    rules = {
        "google.*": {"drop_params": ["a"]},
        "example.com/x/*": {"drop_params": ["a"]},
        "example.org?*_id": {"drop_params": ["a"]},
    }
    canonicalizer = Canonicalizer(rules)
    for url, is_dropped in (
        ("http://www.google.co.uk/?", True),
        ("http://mygoogle.com/?", False),
        ("http://google/?", False),
        ("http://example.com/x/?", True),
        ("http://example.com/x?", False),
        ("http://example.org/?my_id=1&", True),
        ("http://example.org/?id=1&", False),
    ):
        assert ("a=1" not in canonicalizer.canonicalize(f"{url}a=1")) is is_dropped


def test_options_that_change_are_read_anew():
    """Options in a mapping that was changed since are read anew."""

    class Options(dict):
        pass

    canonicalizer = Canonicalizer()
    for options in ({"drop_params": ["a"]}, Options(drop_params=["a"])):
        for name in ("a", "b"):
            options["drop_params"][:] = [name]
            other = {"a": "b", "b": "a"}[name]
            found = canonicalizer.canonical_or_none("http://a.example/?a=1&b=1", options=options)
            assert found == f"http://a.example/?{other}=1"


def test_options_that_changed_are_not_those_that_they_were():
    """A changed mapping does not change what was remembered of the old one."""
    canonicalizer = Canonicalizer({"b.example": {"drop_params": ["x"]}})
    options = {"drop_params": ["a"]}
    canonicalizer.canonical_or_none("http://a.example/?a=1", options=options)
    options["drop_params"][:] = ["b"]
    found = canonicalizer.canonical_or_none(
        "http://b.example/?a=1&b=1", options={"drop_params": ["a"]}
    )
    assert found == "http://b.example/?b=1"
