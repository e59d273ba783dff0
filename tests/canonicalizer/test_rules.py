"""Each rule does what its page says, and the page says what each rule does."""

import runpy
from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules import (
    ALWAYS_ON,
    BY_NAME,
    CATALOGUE,
    Catalogue,
    Classical,
    Example,
    PathRule,
    Presets,
    Rule,
    Skip,
)
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.canonicalizer.values import Choice
from scrapy_urlcanon.exceptions import ConfigurationError

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "rules_page.py"))

RULES = [option for option in CATALOGUE if issubclass(option, Rule)]
CHANGES = [
    pytest.param(rule.name, example, id=f"{rule.name}-{number}")
    for rule in RULES
    for number, example in enumerate(rule.changes)
]
KEEPS = [
    pytest.param(option.name, example, id=f"{option.name}-{number}")
    for option in CATALOGUE
    for number, example in enumerate(option.keeps)
]
LISTS = sorted(option.name for option in CATALOGUE if "list" in str(option.values))


def _canonicalizer(name, value):
    """Return a canonicalizer that has this option on and no other."""
    neutral = {option.name: PRESETS["scrapy"][option.name] for option in CATALOGUE}
    return Canonicalizer({"*": neutral | {"fragment": "keep"} | {name: value}})


@pytest.mark.parametrize(("name", "example"), CHANGES)
def test_rule_changes_its_examples(name, example):
    """What a rule must change becomes what its page says, by this rule."""
    explanation = _canonicalizer(name, example.value).explain(example.url)
    assert explanation.canonical == example.canonical != example.url
    step = next(step for step in explanation.steps if step.option == name)
    assert step.layer == "rules['*']"


@pytest.mark.parametrize(("name", "example"), CHANGES)
def test_rule_changes_nothing_without_the_entries_it_names(name, example):
    """Of what it has in a list or mapping it names what was at work; an audit turns off that."""
    canonicalizer = _canonicalizer(name, example.value)
    step = next(s for s in canonicalizer.explain(example.url).steps if s.option == name)
    # The list of tracking parameters is built in.
    has_entries = name == "tracking_params" or not isinstance(example.value, (str, bool))
    assert {bool(entry.entry) for entry in step.entries} == {has_entries}
    neutral = BY_NAME[name].neutral
    value = dict(neutral) if isinstance(neutral, Mapping) else neutral
    without = canonicalizer.canonicalize_without(example.url, step.entries)
    assert without == _canonicalizer(name, value).canonicalize(example.url)


@pytest.mark.parametrize(("name", "example"), KEEPS)
def test_rule_leaves_its_examples_alone(name, example):
    """What a rule must leave alone is canonical, whatever the value it has on."""
    assert example.canonical == example.url
    assert _canonicalizer(name, example.value).canonicalize(example.url) == example.url


@pytest.mark.parametrize(("name", "example"), [*CHANGES, *KEEPS])
def test_canonical_urls_of_the_examples_are_their_own(name, example):
    """A second pass changes nothing."""
    canonicalizer = _canonicalizer(name, example.value)
    canonical = canonicalizer.canonicalize(example.url)
    assert canonicalizer.explain(canonical).steps == ()
    assert canonicalizer.canonicalize(canonical) == canonical


@pytest.mark.parametrize(("name", "example"), CHANGES)
def test_neutral_value_turns_a_rule_off(name, example):
    """With its neutral value an option compiles to no rule."""
    neutral = BY_NAME[name].neutral
    value = dict(neutral) if isinstance(neutral, Mapping) else neutral
    policy = _canonicalizer(name, value).policy(example.url)
    assert name not in [rule.name for rule in policy.rules]


@pytest.mark.parametrize(("name", "example"), CHANGES)
def test_rule_changes_only_the_component_it_declares(name, example):
    """The declared component is all that differs between before and after."""
    canonicalizer = _canonicalizer(name, example.value)
    policy = canonicalizer.policy(example.url)
    (rule,) = (rule for rule in policy.rules if rule.name == name)
    components = {
        "authority": {"scheme", "userinfo", "host", "port"},
        "path": {"path"},
        "query": {"query"},
        "fragment": {"fragment"},
        "url": {"scheme", "userinfo", "host", "port", "path", "query", "fragment"},
    }[rule.component]
    before = split(example.url)
    after = rule.apply(before)
    changed = {f for f in before._fields if getattr(before, f) != getattr(after, f)}
    assert changed <= components


@pytest.mark.parametrize("example", Skip.changes, ids=lambda example: example.url)
def test_skip_names_the_template_and_changes_nothing(example):
    """The policy says by which template a URL is not fetched; the URL stays what it is."""
    canonicalizer = _canonicalizer("skip", example.value)
    policy = canonicalizer.policy(example.url)
    assert policy.skips(split(example.url)).entry in example.value
    assert canonicalizer.canonicalize(example.url) == example.url


@pytest.mark.parametrize("example", Skip.keeps, ids=lambda example: example.url)
def test_skip_lets_its_other_examples_through(example):
    """What no template fits is fetched."""
    policy = _canonicalizer("skip", example.value).policy(example.url)
    assert policy.skips(split(example.url)) is None


@pytest.mark.parametrize("normalization", ALWAYS_ON, ids=lambda n: n.name)
@pytest.mark.parametrize("preset", ["safe", "aggressive"])
def test_normalization_changes_and_keeps_its_examples(normalization, preset):
    """What is always on is on, by its own name."""
    canonicalizer = Canonicalizer(preset=preset)
    for url, canonical in normalization.changes:
        explanation = canonicalizer.explain(url)
        assert normalization.name in [step.option for step in explanation.steps]
        if preset == "safe":
            assert explanation.canonical == canonical
    for url in normalization.keeps:
        assert normalization.name not in [s.option for s in canonicalizer.explain(url).steps]


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_gives_every_option_a_valid_value(preset):
    """A preset is complete, and in the order in which the table shows it."""
    assert set(PRESETS[preset]) == set(BY_NAME)
    for name, value in PRESETS[preset].items():
        assert BY_NAME[name].values.problem(value) is None


@pytest.mark.parametrize("option", CATALOGUE, ids=lambda option: option.name)
def test_docstring_says_what_it_does_why_it_is_safe_and_when_it_is_wrong(option):
    """Every page has the three paragraphs, in that order, and examples of both kinds."""
    text = cleandoc(option.__doc__)
    places = [text.index(f"\n{section}:") for section in TOOL["SECTIONS"]]
    assert places == sorted(places)
    assert option.changes
    assert option.keeps


@pytest.mark.parametrize("known", [*ALWAYS_ON, *CATALOGUE], ids=lambda known: known.name)
def test_every_one_of_ours_has_the_name_that_the_field_knows_it_by(known):
    """With an example, and of an option with a valid value."""
    assert known.classical
    for row in known.classical:
        assert (row.value is None) == (known in ALWAYS_ON)
        assert known in ALWAYS_ON or known.values.problem(row.value) is None


class Tildes(PathRule):
    """Drop the tildes.

    What it does: it is a toy of these tests.

    Why it is safe: no crawl has it.

    When it is wrong: always.
    """

    name = "tildes"
    values = Choice(("keep", "drop"))
    neutral = "keep"
    presets = Presets(aggressive="drop")
    place = 225
    classical = (Classical("Tildes", "http://example.com/~ann", value="drop"),)
    changes = (Example("drop", "http://example.com/~ann", "http://example.com/ann"),)
    keeps = (Example("drop", "http://example.com/?a=~", "http://example.com/?a=~"),)

    def path(self, path):
        return path.replace("~", "")


def test_an_option_is_one_class():
    """A class put into a copy of the catalogue is all that a new option takes."""
    catalogue = Catalogue([*CATALOGUE, Tildes])
    assert [catalogue.presets[preset]["tildes"] for preset in PRESETS] == ["keep", "keep", "drop"]
    names = [option.name for option in catalogue]
    assert names[names.index("tildes") - 1] == "duplicate_slashes"
    page = TOOL["document"](catalogue)
    assert "| [`tildes`](#tildes) |  | `'keep'` | `'drop'` | Drop the tildes |" in page
    assert (
        "| Tildes | [`tildes`](#tildes) | `'drop'` | "
        "`http://example.com/~ann` → `http://example.com/ann` |"
    ) in page
    assert "## tildes\n\nDrop the tildes." in page
    rules = {"keep.example": {"tildes": "keep"}, "drop.example": {"tildes": "drop"}}
    for preset, on in (("aggressive", True), ("safe", False)):
        canonicalizer = Canonicalizer.from_configuration(
            Configuration.load(preset, [Source("rules", rules)], catalogue=catalogue)
        )
        for host, is_dropped in (("drop", True), ("keep", False), ("other", on)):
            url, without = f"https://{host}.example/~a", f"https://{host}.example/a"
            assert canonicalizer.canonicalize(url) == (without if is_dropped else url)
            assert canonicalizer.explain(url).canonical == (without if is_dropped else url)
    explanation = canonicalizer.explain("https://other.example/~a", options={"tildes": "drop"})
    assert [step.option for step in explanation.steps] == ["tildes"]
    with pytest.raises(ConfigurationError, match="expected 'keep' or 'drop'"):
        canonicalizer.explain("https://other.example/", options={"tildes": "up"})


def test_two_options_cannot_be_in_one_place():
    """The order in which they apply would depend on chance."""
    with pytest.raises(ValueError, match="one place"):
        Catalogue([*CATALOGUE, type("Other", (Tildes,), {"place": 220})])
    with pytest.raises(ValueError, match="one name"):
        Catalogue([*CATALOGUE, type("Other", (Tildes,), {"name": "www"})])


def test_page_is_not_stale():
    """docs/rules.md is what the catalogue says now; `make docs` writes it."""
    assert TOOL["PAGE"].read_text(encoding="utf-8") == TOOL["document"]()


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_all_layers_unite(name):
    """A list of a domain adds to that of everywhere, and the layer of what fired is told."""
    example = next(iter(BY_NAME[name].changes))
    other = {
        "rewrite_path": [["/other/{a}", "/o/{a}"]],
        "skip": ["/other"],
    }.get(name, ["other"])
    canonicalizer = Canonicalizer(
        {"*": {name: example.value}, "unrelated.example": {name: other}}, preset="scrapy"
    )
    setting = canonicalizer.policy("http://unrelated.example/").options[name]
    assert len(setting.value) == len(example.value) + len(other)
    assert setting.layer == Layer("rules", "unrelated.example")


def test_unwrapped_url_is_under_the_rules_of_its_own_site():
    """What holds for the outer site does not touch the inner URL, and the other way round."""
    canonicalizer = Canonicalizer(
        {
            "out.example": {"nested_url": "unwrap", "path_case": "lower", "keep_params": []},
            "shop.example": {"drop_params": ["sid"]},
        }
    )
    explanation = canonicalizer.explain(
        "http://out.example/X/http://shop.example/A/../B?sid=1&id=2"
    )
    assert explanation.canonical == "http://shop.example/B?id=2"
    assert [step.option for step in explanation.steps] == [
        "nested_url",
        "dot_segments",
        "drop_params",
    ]


def test_separated_parameters_are_parameters_for_all_other_rules():
    """After the separator is known, names are dropped, sorted and matched by patterns."""
    canonicalizer = Canonicalizer(
        {
            "example.com": {"query_separator": ";", "drop_params": ["sid"]},
            "example.com/?t=1": {"drop_params": ["x"]},
        }
    )
    assert canonicalizer.canonicalize("http://example.com/?sid=1;x=2;t=1") == (
        "http://example.com/?t=1"
    )


def test_subdomain_becomes_a_path_of_the_host_that_is_left():
    """Where `www` is stripped, the label moves to the bare domain."""
    rules = {"*": {"subdomain_to_path": ["*"], "www": "strip"}}
    canonicalizer = Canonicalizer(rules)
    for url in ("http://ann.example.com/a", "http://www.example.com/ann/a"):
        assert canonicalizer.canonicalize(url) == "http://example.com/ann/a"


def test_lists_of_names_hold_in_any_case_where_names_are_lower():
    """With `param_case` lower, a name is dropped however it and the list are written."""
    canonicalizer = Canonicalizer(
        {"*": {"param_case": "lower", "drop_params": ["SID"], "default_params": {"Page": "1"}}}
    )
    for query in ("SID=1", "sid=1", "Sid=1&PAGE=1", "UTM_Source=x"):
        assert canonicalizer.canonicalize(f"http://example.com/?{query}") == "http://example.com/"


@pytest.mark.parametrize(
    ("aliases", "problem"),
    [
        ({"a.example": "b.example", "b.example": "a.example"}, "cannot be its own alias"),
        ({"a.example": "a.example."}, "a.example -> a.example"),
        ({"http://a.example": "b.example"}, "'http://a.example' is more than a host"),
        ({"a.example": "b.example:80"}, "is more than a host"),
        ({"a.example:http": "b.example"}, "is more than a host"),
        ({"*.a.example": "b.example"}, "is more than a host"),
        ({"a.example": "b example"}, "'b example' is not a host"),
        ({"a.example": 1}, "expected names and texts"),
        (["a.example"], "expected a mapping of hosts to hosts"),
    ],
)
def test_host_aliases_are_hosts_and_end_somewhere(aliases, problem):
    """What is no host, and what leads back to itself, is refused."""
    with pytest.raises(ConfigurationError) as error:
        Canonicalizer({"*": {"host_aliases": aliases}})
    assert problem in str(error.value)


def test_stronger_layer_decides_which_of_two_hosts_is_the_alias():
    """Layers unite; where they contradict each other the stronger one has its way."""
    rules = {
        "*": {"host_aliases": {"A.example": "b.example", "c.example": "d.example"}},
        "c.example": {"host_aliases": {"c.example": None}},
    }
    canonicalizer = Canonicalizer(rules)
    assert canonicalizer.canonicalize("http://a.example/") == "http://b.example/"
    assert canonicalizer.canonicalize("http://c.example/") == "http://c.example/"
    both = {"*": {"host_aliases": {"a.example": "b.example"}}}
    spider = [
        Source("rules", both),
        Source("spider", {"*": {"host_aliases": {"b.example": "a.example"}}}),
    ]
    canonicalizer = Canonicalizer.from_configuration(Configuration.load("safe", spider))
    for host in ("a.example", "b.example"):
        assert canonicalizer.canonicalize(f"http://{host}/") == "http://a.example/"


@pytest.mark.parametrize(
    ("query", "left"),
    [("SID=1&ID=2", "ID=2"), ("Utm_Source=x&sid=1", ""), ("PAGE=1", ""), ("S=0A1B&É=1", "")],
)
def test_names_are_found_in_any_case_and_left_as_they_are(query, left):
    """With `name_case` ignored, lists hold in any case; what stays is not rewritten."""
    options = {
        "name_case": "ignore",
        "drop_params": ["sid", "é"],
        "default_params": {"Page": "1"},
        "drop_values": {"s": "hex{4}"},
        "directory_index": ["Index.html"],
        "path_params": ["jsessionid"],
    }
    canonicalizer = Canonicalizer({"*": options})
    url = f"http://example.com/A;JSESSIONID=1/INDEX.HTML?{query}"
    expected = f"http://example.com/A/{left and '?'}{left}"
    assert canonicalizer.canonicalize(url) == expected
    assert canonicalizer.explain(url).canonical == expected


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"s": "hex{}"}, "expected a shape like hex{32} for 's'"),
        ({"s": "uuid{3}"}, "expected a shape"),
        ({"s": "hex{40-32}"}, "expected a shape"),
        ({"s": ""}, "expected a shape"),
        ({"s": "words"}, "expected a shape"),
        ({"s": 1}, "expected names and texts"),
        (["s"], "a mapping of names to shapes"),
    ],
)
def test_a_shape_that_is_none_is_an_error(value, problem):
    """It says what was expected."""
    with pytest.raises(ConfigurationError) as error:
        Canonicalizer({"*": {"drop_values": value}})
    assert problem in str(error.value)


def test_text_fragment_is_dropped_where_fragments_are_kept():
    """A script never sees it; what stands before it stays."""
    canonicalizer = Canonicalizer({"*": {"fragment": "keep"}})
    for url in ("http://example.com/a#b:~:text=c", "http://example.com/a#b"):
        assert canonicalizer.canonicalize(url) == "http://example.com/a#b"
    assert canonicalizer.canonicalize("http://example.com/#:~:text=c") == "http://example.com/"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_link_without_a_scheme_has_that_of_its_page(scheme):
    """So it is for a browser, and so has Scrapy joined it."""
    base = f"{scheme}://example.com/a/"
    assert Canonicalizer().canonicalize("//b.com/c", base=base) == f"{scheme}://b.com/c"
    assert Canonicalizer().canonicalize("../d#e", base=base) == f"{scheme}://example.com/d"
    assert Canonicalizer().canonicalize("//[/", base=base) == "//[/"


def test_what_a_list_takes_back_is_no_cause_of_what_it_drops():
    """An audit would blame it, and a report would list it."""
    canonicalizer = Canonicalizer({"*": {"path_params": ["sid*", "!sid1"]}})
    (step,) = canonicalizer.explain("http://example.com/a;sid1=1;sid2=2").steps
    assert step.after == "http://example.com/a;sid1=1"
    assert [entry.entry for entry in step.entries] == ["sid*"]
