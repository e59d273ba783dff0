"""What the report says of the programs that sites run on."""

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.profiles.installation import Installation
from scrapy_urlcanon.profiles.profile import Profile
from scrapy_urlcanon.report.sections.software import KnownSoftware

TOLD = 'because = "it is"\nsource = "its documentation"\n'
CERTAIN = f'{TOLD}proved_by = "benchmark"\ncertain = true\n'
WIKI = Profile.read(
    "wiki.toml",
    f"""
name = "Wiki"
kind = "wiki"
signs = [{{generator = "Wiki", certain = true}}]

[[rules]]
merges = "sessions"
{CERTAIN}
options = {{drop_params = ["sid"]}}

[[rules]]
merges = "orders"
{CERTAIN}
since = "2.0"
options = {{drop_params = ["order"]}}

[[rules]]
merges = "prints"
{TOLD}
proved_by = "documentation"
where = ["print/"]
options = {{rewrite_path = [["/print/{{page}}", "/{{page}}"]]}}
""",
)

SHOP = Profile.read(
    "shop.toml",
    f"""
name = "Shop"
kind = "shop"
signs = [{{generator = "Shop", certain = true}}]

[[rules]]
merges = "where visitors came from"
{TOLD}
proved_by = "documentation"
where = ["list", "item"]
options = {{drop_params = ["ref"]}}

[[rules]]
merges = "orders and views of lists"
{TOLD}
proved_by = "documentation"
where = ["list"]
options = {{drop_params = ["order", "view"]}}
""",
)


@pytest.mark.parametrize(
    ("version", "name", "certain"),
    [((1, 9), "Wiki 1.9", ("sessions",)), ((2, 1), "Wiki 2.1", ("sessions", "orders"))],
)
def test_only_rules_that_hold_for_the_version_are_shown_as_in_force(version, name, certain):
    """A rule since a later version merges nothing there."""
    section = KnownSoftware(Canonicalizer())
    section.note_software(Installation(WIKI, "a.example", None, "/w/", version))
    (software,) = section.rows()
    assert (software.name, software.certain) == (name, certain)


def test_suspicion_of_a_program_on_a_port_is_a_rule_that_can_be_pasted():
    """A pattern has no port."""
    section = KnownSoftware(Canonicalizer())
    section.note_software(Installation(WIKI, "a.example", "8080", "/w/", (2,)))
    (software,) = section.rows()
    (line,) = software.suspicions
    canonicalizer = Canonicalizer(eval(f"{{{line}}}"))
    url = "http://a.example:8080/w/print/home"
    assert canonicalizer.canonicalize(url) == "http://a.example:8080/w/home"


def test_suspicions_can_be_pasted_together():
    """Of several lines for one pattern, as of several assignments, only the last one would hold."""
    section = KnownSoftware(Canonicalizer())
    section.note_software(Installation(SHOP, "a.example", None, "/"))
    (software,) = section.rows()
    canonicalizer = Canonicalizer(eval(f"{{{''.join(software.suspicions)}}}"))
    assert canonicalizer.canonicalize("http://a.example/list?order=1&ref=2&view=3") == (
        "http://a.example/list"
    )
    assert canonicalizer.canonicalize("http://a.example/item?ref=2") == "http://a.example/item"
