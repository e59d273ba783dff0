"""Profiles as files: what is read, and all that may be wrong with one."""

from pathlib import Path

import pytest
from command_line import urlcanon

from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.profiles.catalogue import chosen, names, our_profiles, profile, source_of
from scrapy_urlcanon.profiles.installation import Installation
from scrapy_urlcanon.profiles.profile import Profile
from scrapy_urlcanon.profiles.rules import BENCHMARK

FAULTY = """
name = 7
signz = []
[[signs]]
cookie = "a"
header = "b"
[[signs]]
element = "body"
with = "class"
[[signs]]
element = "*"
[[rules]]
merges = "a"
because = "b"
source = "c"
where = ["a?b=*", "#", "/forum/"]
options = { drop_parms = ["sid"], skip = ["/a"] }
certain = true
proved_by = "documentation"
since = "two"
[[parts]]
merges = "a"
because = "b"
source = "c"
proved_by = "hearsay"
links = ["a?p={p}", "{"]
id = "p"
"""


def test_all_problems_of_a_file_are_one_error():
    """Nobody has to mend a file line by line."""
    with pytest.raises(ConfigurationError) as error:
        Profile.read("mine.toml", FAULTY)
    text = str(error.value)
    for expected in (
        "mine.toml['name']: expected a text, got 7",
        "mine.toml['signz']: no such key; did you mean 'signs'?",
        "mine.toml['kind']: it is missing, or empty",
        "mine.toml['signs[0]']: expected one of generator",
        "mine.toml['signs[1].with']: expected attributes",
        "mine.toml['signs[2].element']: expected the name of an element, got '*'",
        "no such option; did you mean 'drop_params'?",
        "mine.toml['rules[0].options.skip']: it loses pages",
        "mine.toml['rules[0].certain']: only what a benchmark proved is certain",
        "mine.toml['rules[0].since']: expected a version",
        "expected no fragment",
        "['rules[0].where']: expected what stands below the place, 'forum/', got '/forum/'",
        "mine.toml['parts[0].proved_by']: expected 'benchmark' or 'documentation', got 'hearsay'",
        "mine.toml['parts[0].links']: '{': a brace is missing",
        "mine.toml['parts[0].links']: expected {part} in each",
        "mine.toml['parts[0].pages']: expected templates",
        "mine.toml['parts[0].id']: expected one {part} in it, got 'p'",
    ):
        assert expected in text


@pytest.mark.parametrize("text", ["[", "a = 1\na = 2", "signs = 1", "signs = [1]", "rules = [{}]"])
def test_broken_file_is_a_configuration_error(text):
    """Whatever stands in it."""
    with pytest.raises(ConfigurationError, match=r"mine\.toml"):
        Profile.read("mine.toml", text)


@pytest.mark.parametrize("name", names())
def test_ours_are_right(name):
    """No crawl checks their rules, nor reads those of a program that it does not find."""
    checked = Profile.read(f"profile {name}", source_of(name))
    assert checked == profile(name)
    assert checked.all_rules == profile(name).all_rules


def test_files_of_users_are_distinguished_from_names(tmp_path):
    """What is wrong with any of them is said at once."""
    (tmp_path / "mine.toml").write_text("name = 1", encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        chosen(["mediawki", tmp_path / "mine.toml", "not/there.toml"], setting="PROFILES")
    assert "no such profile: 'mediawki'; did you mean 'mediawiki'?" in str(error.value)
    assert "'not/there.toml': there is no such file" in str(error.value)
    assert "['name']: expected a text, got 1" in str(error.value)


@pytest.mark.parametrize("name", ["MediaWiki", "django-machina", "Apache listing", "machina"])
def test_setting_takes_the_names_that_are_shown(name, tmp_path):
    """As `explain`, the report and `scrapy urlcanon profiles` have them, which takes both too."""
    (found,) = chosen([name], setting="URLCANON_PROFILES")
    assert name.lower() in {found.name.lower(), "machina"}
    assert urlcanon("profiles", name, cwd=tmp_path).stdout.startswith(f"{found.name}, ")


def test_profile_of_a_user_takes_the_place_of_ours(tmp_path):
    """One name is one program."""
    path = tmp_path / "mine.toml"
    text = 'name = "MediaWiki"\nkind = "wiki"\n[[signs]]\ncookie = "a"\ncertain = true'
    path.write_text(text, "utf-8")
    found = [one for one in chosen(["*", path], setting="s") if one.name == "MediaWiki"]
    assert found == [Profile.read("mine.toml", text)]
    assert len(chosen(["*"], setting="s")) == len(names())


@pytest.mark.parametrize("name", names())
def test_our_profiles_are_complete(name):
    """Each rule says what it merges, why, and whence that is known, and can be put in force."""
    one = profile(name)
    installation = Installation(one, "example.com", None, "/a{b}/", (99,))
    for certain in (True, False):
        rules = list(installation.rules(certain=certain))
        rule_sets = list(installation.rule_sets(certain=certain))
        assert len(rule_sets) == sum(len(rule.where) for rule in rules)
    for rule in one.all_rules:
        assert rule.merges
        assert rule.because
        assert rule.source
        assert rule.proved_by == BENCHMARK or not rule.is_certain


def test_names_of_our_profiles_differ():
    """A file each, a name each; what one runs on is there."""
    known = {one.name for one in our_profiles()}
    assert len(known) == len(names())
    assert {name for one in our_profiles() for name in one.runs_on} <= known


def test_package_data_holds_the_files():
    """They are installed with the package."""
    setup = (Path(__file__).parents[2] / "setup.cfg").read_text(encoding="utf-8")
    assert "profiles/programs/*.toml" in setup
