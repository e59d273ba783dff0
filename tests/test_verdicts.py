"""What the audit says of right and wrong rules on sites whose pages move.

``make bench-verdicts`` is the same with a hundred seeds, all kinds and all options, and more.
"""

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from benchmarks.verdicts.cases import TWO_DOMAINS, Case, crawl

KINDS = {
    "nothing": "drop_params",
    "a visit counter": "keep_params",
    "a rotating sentence": "default_params",
    "an A/B test": "directory_index",
    "two blocks in turn": "path_case",
}
"""What moves, each with an option."""


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_right_entries_stand(kind):
    """Nothing is suspended, each page is reached, and few are fetched twice."""
    outcome = await crawl(Case(kind, KINDS[kind], has_wrong=False, seed=0))
    assert outcome.problems == []


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_wrong_entry_falls_alone(kind):
    """It is suspended and nothing else is, and no page is lost."""
    outcome = await crawl(Case(kind, KINDS[kind], has_wrong=True, seed=0))
    assert outcome.problems == []


@pytest.mark.parametrize(("kind", "seed"), [("three rotating ads", 909), ("users online", 917)])
@deferred_f_from_coro_f
async def test_entry_without_a_part_in_what_is_audited_for_it_goes_on_waiting(kind, seed):
    """The next variant that it may have merged is audited; here it is wrong, and falls."""
    outcome = await crawl(Case(kind, "path_case", has_wrong=True, seed=seed))
    assert outcome.problems == []


@deferred_f_from_coro_f
async def test_refused_audits_condemn_no_right_entry():
    """What an audit cannot tell counts against nothing, and no page is lost."""
    kind = "429 for what is fetched again"
    outcome = await crawl(Case(kind, "drop_params", has_wrong=False, seed=0))
    assert outcome.problems == []


@pytest.mark.parametrize(
    ("option", "seed"),
    [("www", 1250), ("drop_params", 1253), ("directory_index", 1357), ("keep_params", 1380)],
)
@deferred_f_from_coro_f
async def test_wrong_entry_falls_where_a_server_often_asks_who_is_there(option, seed):
    """However often what is fetched again is a captcha, no page is lost."""
    kind = "captcha for half of what is fetched again"
    outcome = await crawl(Case(kind, option, has_wrong=True, seed=seed))
    assert outcome.found_after
    assert outcome.reached == outcome.pages
    assert not outcome.right_suspended


@deferred_f_from_coro_f
async def test_rule_of_two_domains_falls_where_it_is_wrong():
    """On the other one it stands."""
    outcome = await crawl(Case(TWO_DOMAINS, "drop_params", has_wrong=True, seed=0))
    assert outcome.problems == []
