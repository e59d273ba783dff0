from __future__ import annotations

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.rule_files.foreign import read_foreign


def _read(*lines):
    imported = read_foreign("\n".join(lines), name="list.txt")
    assert imported is not None
    assert imported.format == "removeparam"
    return imported


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("$removeparam=gclid", {"*": {"drop_params": ["gclid"]}}),
        ("*$removeparam=a%3Bb", {"*": {"drop_params": ["a;b"]}}),
        ("||a.example^$removeparam=ref", {"a.example": {"drop_params": ["ref"]}}),
        ("||a.example^$document,removeparam=ref", {"a.example": {"drop_params": ["ref"]}}),
        ("||A.example/data/$queryprune=mr", {"a.example/data/*": {"drop_params": ["mr"]}}),
        ("||a.example^$removeparam=l$", {"a.example": {"drop_params": ["l$"]}}),
        ("$removeparam=/^cm_mmc/", {"*": {"drop_params": ["cm_mmc*"]}}),
        ("$removeparam=/^(?:utm_|pk_kwd=)/", {"*": {"drop_params": ["utm_*", "pk_kwd"]}}),
        ("||a.*^$removeparam=x", {"a.*": {"drop_params": ["x"]}}),
        ("||a.$removeparam=x", {"a.*": {"drop_params": ["x"]}}),
        ("||a.example/*/b$removeparam=x", {"a.example/*/b*": {"drop_params": ["x"]}}),
        ("||a.example/x^$removeparam=x", {"a.example/x": {"drop_params": ["x"]}}),
        ("||a.example/x^*$removeparam=x", {"a.example/x": {"drop_params": ["x"]}}),
        ("||a.example/*$removeparam=x", {"a.example": {"drop_params": ["x"]}}),
        ("||a.example/x$removeparam=x", {"a.example/x*": {"drop_params": ["x"]}}),
        ("/$removeparam=x", {"*": {"drop_params": ["x"]}}),
        ("||a.example^$removeparam=x,~xhr,~image", {"a.example": {"drop_params": ["x"]}}),
        ("$removeparam=/^x_.*$/i", {"*": {"drop_params": ["x_*"]}}),
        ("$removeparam=/^.*_url=.*$/", {"*": {"drop_params": ["*_url"]}}),
        ("||a.example^$removeparam", {"a.example": {"keep_params": []}}),
        (
            "$removeparam=p,domain=a.example|b.example",
            {"a.example": {"drop_params": ["p"]}, "b.example": {"drop_params": ["p"]}},
        ),
        (
            "$removeparam=p,domain=~a.example",
            {"*": {"drop_params": ["p"]}, "a.example": {"drop_params": ["!p"]}},
        ),
    ],
)
def test_a_rule_that_names_parameters_is_read(line, rules):
    """It becomes the rule that does the same, with nothing left out."""
    imported = _read("[Adblock Plus 2.0]", "! a comment", line)
    assert imported.rules == rules
    assert imported.left_out == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a.example^$removeparam=x", "plain host"),
        ("|https://a.example/$removeparam=x", "plain host"),
        ("||a.example/?y=$removeparam=x", "depends on the query"),
        ("||a.example^x$removeparam=x", "no plain path"),
        ("||a.example/^$removeparam=x", "below it"),
        ("||a.example/x/^$removeparam=x", "below it"),
        ("||a.example/x/^*$removeparam=x", "below it"),
        ("||a.example^$third-party,removeparam=x", "nothing but the URL"),
        ("||a.example^$removeparam=x,domain=b.example", "page that asks"),
        ("$removeparam=x,domain=a.*", "plain hosts"),
        ("$removeparam=~x", "keeps one parameter"),
        ("$removeparam=/x/", "anywhere"),
        ("$removeparam=/^x$/", "too much"),
        ("$removeparam=/^a|b/", "first alternative"),
        ("$removeparam=/^__s=[A-Z]{6\\,}/", "without end"),
        ("$removeparam=/^x=1/", "value"),
        ("$removeparam=/^x/g", "flags"),
        ("||a.example^$xhr,removeparam=x", "nothing but the URL"),
        ("$removeparam=a*", "literal *"),
    ],
)
def test_what_cannot_be_expressed_is_listed(line, reason):
    """It gives no rule, and the list has line, text and reason."""
    imported = _read("! first", line)
    assert imported.rules == {}
    (left_out,) = imported.left_out
    assert (left_out.where, left_out.rule) == ("line 2", line)
    assert reason in left_out.reason


def test_an_exception_takes_back():
    """``@@`` on a host keeps the parameter there, where other rules drop theirs."""
    imported = _read(
        "$removeparam=x",
        "||a.example^$removeparam=y",
        "@@||login.a.example^$removeparam=x",
        "@@||b.example^$removeparam",
    )
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://a.example/?x=1&y=1") == "http://a.example/"
    assert canonicalize("http://login.a.example/?x=1&y=1") == "http://login.a.example/?x=1"
    assert canonicalize("http://b.example/?x=1") == "http://b.example/?x=1"
    assert imported.left_out == ()


@pytest.mark.parametrize("modifiers", ["document", "doc,~third-party", "elemhide,urlblock"])
def test_a_page_that_is_allowed_keeps_its_parameters(modifiers):
    """An exception for the whole page is one for all its parameters; a plain one is not."""
    imported = _read("$removeparam=x", f"@@||a.example^${modifiers}", "@@||b.example^", "@@c$image")
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://www.a.example/?x=1") == "http://www.a.example/?x=1"
    assert canonicalize("http://b.example/?x=1") == "http://b.example/"
    assert [left_out.rule for left_out in imported.left_out] == ["2 rules without removeparam"]


def test_an_exception_beats_a_rule_for_a_path_below_it():
    """There the more specific pattern would win, so the exception overrides it."""
    imported = _read(
        "||a.example/b/$removeparam=x",
        "||a.example/b/$removeparam=y",
        "@@||a.example^$removeparam=x",
    )
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://a.example/b/?x=1&y=1") == "http://a.example/b/?x=1"


def test_an_exception_for_a_path_holds_where_that_begins():
    """What stands before its first glob is taken back as a prefix."""
    imported = _read("||a.example^$removeparam=x", "@@||a.example/b/log*out$removeparam=x")
    assert imported.rules["a.example/b/log*"] == {"drop_params": ["!x"]}
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://a.example/b/log/out?x=1") == "http://a.example/b/log/out?x=1"
    assert canonicalize("http://a.example/b/?x=1") == "http://a.example/b/"


def test_an_exception_for_the_beginning_of_a_host_holds_for_longer_ones():
    """Without ``^`` the name may go on, and ``a.com.au`` keeps its parameter too."""
    imported = _read("$removeparam=x", "@@||a.com$removeparam=x")
    canonicalize = Canonicalizer(imported.rules).canonicalize
    for kept in ("http://a.com/?x=1", "http://a.com.au/?x=1", "http://b.a.com.au/?x=1"):
        assert canonicalize(kept) == kept
    assert canonicalize("http://b.com/?x=1") == "http://b.com/"
    # What goes on in the middle of a label no pattern of ours can say.
    imported = _read("*$removeparam=x", "*$removeparam=y", "@@||a.co*$removeparam=x")
    assert imported.rules == {"*": {"drop_params": ["y"]}}


def test_an_exception_that_cannot_be_expressed_bars_its_parameter():
    """Wherever it would be removed it stays, and the list says so."""
    imported = _read(
        "$removeparam=x", "||b.example^$removeparam=x", "@@||img*.a$removeparam=x", "$removeparam=y"
    )
    assert imported.rules == {"*": {"drop_params": ["y"]}}
    assert [left_out.where for left_out in imported.left_out] == ["line 3"]


def test_badfilter_disables_the_same_rule():
    """A rule with ``badfilter`` turns the one of its text off."""
    imported = _read(
        "||a.example^$removeparam=x", "||a.example^$removeparam=x,badfilter", "$removeparam=y"
    )
    assert imported.rules == {"*": {"drop_params": ["y"]}}


def test_a_rule_under_a_condition_is_listed():
    """``!#if`` makes a rule one for some browsers."""
    imported = _read("!#if (adguard)", "$removeparam=x", "!#endif", "$removeparam=y")
    assert imported.rules == {"*": {"drop_params": ["y"]}}
    assert [left_out.where for left_out in imported.left_out] == ["line 2"]


def test_other_rules_are_counted():
    """What blocks or hides is told in one line."""
    imported = _read("$removeparam=x", "||ads.example^", "example.com##.ad")
    (left_out,) = imported.left_out
    assert left_out.rule == "2 rules without removeparam"


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("!ext_ubol", ["x"]),
        ("env_chromium", ["y"]),
        ("!env_mobile && (adguard || !adguard)", ["x"]),
        ("true", ["x"]),
        ("true || false", ["x"]),
        ("(((", []),
        ("!" * 5000 + "a", []),
    ],
)
def test_a_condition_is_evaluated(condition, names):
    """For a crawler each name is false; `!#else` is for where the condition does not hold.

    Of one that cannot be read it is not known which of the two is for a crawler.
    """
    imported = _read(
        f"!#if {condition}",
        "$removeparam=x",
        "!#else",
        "$removeparam=y",
        "!#endif",
    )
    assert imported.rules == ({"*": {"drop_params": names}} if names else {})


@pytest.mark.parametrize(
    ("hint", "is_read"),
    [
        ("!+ PLATFORM(windows, mac)", False),
        ("!+ NOT_OPTIMIZED PLATFORM(ext_ublock)", False),
        ("!+ NOT_PLATFORM(ext_ff)", True),
        ("!+ NOT_OPTIMIZED", True),
        ("! PLATFORM(windows)", True),
    ],
)
def test_a_hint_is_for_the_next_rule(hint, is_read):
    """A crawler is no platform that has a name; an exception holds all the same."""
    imported = _read(hint, "$removeparam=x", "$removeparam=y", hint, "@@||a.example^$removeparam=y")
    names = ["x", "y"] if is_read else ["y"]
    assert imported.rules["*"] == {"drop_params": names}
    assert "!y" in imported.rules["a.example"]["drop_params"]
    assert [left_out.where for left_out in imported.left_out] == ([] if is_read else ["line 2"])


def test_an_exception_without_a_name_holds_where_it_says():
    """On hosts with any ending, and for all parameters, but nowhere else."""
    imported = _read(
        "$removeparam=x", "||bing.com/b^$removeparam=y", "@@||bing.*/ws/redirect/$removeparam"
    )
    canonicalize = Canonicalizer(imported.rules).canonicalize
    for url in ("https://www.bing.com/ws/redirect/?x=1", "https://bing.co.uk/ws/redirect/a?x=1"):
        assert canonicalize(url) == url
    assert canonicalize("https://www.bing.com/search?x=1") == "https://www.bing.com/search"
    assert canonicalize("https://www.bing.com/b?x=1&y=1") == "https://www.bing.com/b"


def test_a_path_with_a_slash_at_its_end_is_not_the_one_without():
    """``/x/`` there is not ``/x``, and a prefix as text is one."""
    imported = _read("||a.example/x/$removeparam=p", "||a.example/dp$removeparam=q")
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://a.example/x?p=1") == "http://a.example/x?p=1"
    assert canonicalize("http://a.example/x/?p=1") == "http://a.example/x/"
    assert canonicalize("http://a.example/dp17?q=1") == "http://a.example/dp17"


def test_a_list_that_is_included_is_listed():
    """What stands in it is not read."""
    imported = _read("!#include other.txt", "$removeparam=x")
    assert imported.rules == {"*": {"drop_params": ["x"]}}
    assert [left_out.rule for left_out in imported.left_out] == ["!#include other.txt"]


def test_a_path_anywhere_begins_with_a_segment():
    """``/x/`` is no part of ``/ax/``, at any depth."""
    imported = _read("/x/y$removeparam=p")
    canonicalize = Canonicalizer(imported.rules).canonicalize
    for path in ("/x/y", "/a/x/yz/b"):
        assert canonicalize(f"http://a.example{path}?p=1") == f"http://a.example{path}"
    for path in ("/ax/y", "/a/bx/y", "/x", "/y"):
        assert canonicalize(f"http://a.example{path}?p=1") == f"http://a.example{path}?p=1"


@pytest.mark.parametrize(
    ("exception", "kept"),
    [
        ("/login", {"login.a.example/b", "a.example/login", "a.example/b"}),
        ("^login*x", {"login.a.example/b", "a.example/login", "a.example/b"}),
        ("*login*", {"login.a.example/b", "a.example/login", "a.example/b"}),
        ("/*login", {"login.a.example/b", "a.example/login", "a.example/b"}),
        ("/login.a.example^", {"login.a.example/b"}),
        ("/login/", set()),
        ("^login?", {"a.example/login"}),
        ("?p=", {"login.a.example/b", "a.example/login", "a.example/b"}),
        ("|wss://a.example/", set()),
        ("/^ws:/", set()),
        (r"/^http:\/\/a\.example\/login\?/", {"a.example/login"}),
        (r"/^https?:\/\/login\.a\.(example|test)/", {"login.a.example/b"}),
        ("||a.example[x", {"login.a.example/b", "a.example/login", "a.example/b"}),
    ],
)
def test_an_exception_that_may_stand_in_a_host(exception, kept):
    """Where it does, its names are kept on that host too, or everywhere."""
    imported = _read("$removeparam=p", f"@@{exception}$removeparam=p")
    canonicalize = Canonicalizer(imported.rules).canonicalize
    urls = [f"http://{place}?p=1" for place in ("login.a.example/b", "a.example/login")]
    urls.append("http://a.example/b?p=1")
    found = {url for url in urls if canonicalize(url) == url}
    assert found >= {f"http://{place}?p=1" for place in kept}


def test_an_exception_holds_against_tracking_params():
    """What the list says a site needs is not dropped by default either."""
    imported = _read(
        "$removeparam=x",
        "@@||td.example^$removeparam=tduid",
        "@@||pay.example^$removeparam",
        "@@^mkt_unsubscribe=$removeparam=mkt_tok",
    )
    canonicalize = Canonicalizer(imported.rules).canonicalize
    for url in (
        "http://td.example/?tduid=1",
        "http://pay.example/?utm_source=1",
        "http://a.example/?mkt_tok=1&mkt_unsubscribe=1",
    ):
        assert canonicalize(url) == url
    assert canonicalize("http://td.example/?utm_source=1") == "http://td.example/"


@pytest.mark.parametrize(
    "exception",
    [
        "@@||a.example^$removeparam=id",
        "@@||a.example/p$removeparam=id",
        "@@||www.a.example^$removeparam=id",
        # What cannot be expressed may be for any parameter.
        "@@||a.example^$removeparam=/[a-z]+[0-9]/",
    ],
)
def test_a_rule_for_all_parameters_is_left_out_where_an_exception_keeps_one(exception):
    """No option drops all but some that a site needs."""
    imported = _read("||a.example^$removeparam", exception)
    url = "http://www.a.example/p?b1=2&id=1"
    assert Canonicalizer(imported.rules).canonicalize(url) == url
    assert "||a.example^$removeparam" in {left_out.rule for left_out in imported.left_out}


def test_an_exception_below_any_suffix_holds_wherever_its_path_may_stand():
    """``||a.*/login`` is for ``/in/login`` too: its ``*`` may be some of the path."""
    imported = _read("$removeparam=p", "@@||a.*/login$removeparam=p")
    canonicalize = Canonicalizer(imported.rules).canonicalize
    for path in ("/login", "/login/b", "/in/login"):
        assert canonicalize(f"http://a.example{path}?p=1") == f"http://a.example{path}?p=1"
    assert canonicalize("http://b.example/c?p=1") == "http://b.example/c"
