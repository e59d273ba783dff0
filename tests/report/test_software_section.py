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


@pytest.mark.parametrize(
    ("version", "name", "certain"),
    [((1, 9), "Wiki 1.9", ("sessions",)), ((2, 1), "Wiki 2.1", ("sessions", "orders"))],
)
def test_only_rules_that_hold_for_the_version_are_said_to_be_in_force(version, name, certain):
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
    rules: dict[str, object] = {}
    exec(line, {}, rules)
    canonicalizer = Canonicalizer(rules["URLCANON_RULES"])
    url = "http://a.example:8080/w/print/home"
    assert canonicalizer.canonicalize(url) == "http://a.example:8080/w/home"
