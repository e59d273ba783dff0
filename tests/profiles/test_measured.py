"""What the docs say was measured of profiles: nothing else than what was."""

from benchmarks.profiles.page import PAGE, text
from benchmarks.results import read
from scrapy_urlcanon.profiles.catalogue import our_profiles


def test_page_is_what_the_results_make_it():
    """``python -m benchmarks.profiles --programs --page`` writes it from the files of results."""
    assert PAGE.read_text(encoding="utf-8") == text(read("profiles"))


def test_rules_that_were_measured_are_called_certain():
    """A rule that was measured and is taken back, or becomes certain, is told so."""
    certain = {
        (profile.name, rule.merges): rule.is_certain
        for profile in our_profiles()
        for rule in profile.rules
    }
    for found in read("profiles").values():
        for met in found.get("rules", ()):
            assert certain[met["program"], met["merges"]] is met["certain"], met["merges"]
