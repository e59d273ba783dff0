"""Random sites under wrong rules: what an audit must not lose (:mod:`differential.wrong_rules`)."""

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from differential.wrong_rules import WrongRules, lost

# Each lost pages once.
FOUND = [16, 30, 35, 36, 116, 188, 338, 422, 532, 556]
MORE = [pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 400) if seed not in FOUND]


@pytest.mark.parametrize("seed", [*range(6), *FOUND, *MORE])
@deferred_f_from_coro_f
async def test_audit_of_wrong_rules_loses_nothing(crawl, seed):
    """Whatever fails, is sent, is linked again, or is merged by several entries at once."""
    site = WrongRules(seed)
    crawls = []
    for settings in ({"URLCANON_ENABLED": False}, site.rules):
        spider = site.spider()
        crawls.append(await crawl(site.respond, {**site.settings, **settings}, spider=spider))
    assert not lost(site, *crawls)
